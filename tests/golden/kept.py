"""Kept files of the golden tests: how they are written, read and compared.

`GOLDEN_WRITE=1 pytest tests/golden` writes them anew. Only a new round, or a change of a rule that
is meant, is a reason to: look at the difference before you commit it.
"""

import hashlib
import json
import lzma
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
WRITE = bool(os.environ.get("GOLDEN_WRITE"))

# How many differences are shown, and how much of each value.
_MOST = 20
_LONGEST = 300


def plain(value: Any) -> Any:
    """Return a value of JSON without what is null or empty, and with 5 for 5.0.

    So a field that is new and empty, or a number that has become a float, makes no difference.
    """
    if isinstance(value, dict):
        found = {key: plain(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in (None, [], {}, "")}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def digest(value: Any) -> str:
    """Return the first 16 digits of the SHA-256 of a value of JSON, in one form."""
    return sha256(value)[:16]


def sha256(value: Any) -> str:
    """Return the SHA-256 of a value of JSON, in one form."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read(name: str) -> Any:
    """Return the content of a kept file; empty without one."""
    path = FOLDER / name
    if not path.exists():
        return {}
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def write(name: str, content: Any, lines: int = 2) -> None:
    """Write a kept file: `lines` levels of it have a line for each of their values."""
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    data = (_text(content, lines) + "\n").encode()
    path.write_bytes(lzma.compress(data, preset=9) if path.suffix == ".xz" else data)


def require(name: str, found: Any, lines: int = 2) -> None:
    """Fail, with what differs, if something is not what is kept of it; or keep it."""
    if WRITE:
        write(name, found, lines)
    require_equal(name, read(name), found)


def require_equal(name: str, kept: Any, found: Any) -> None:
    """Fail, with what differs, if something is not what the kept file of this name has of it."""
    require_none(f"{name}: kept → now", [*differences(kept, json.loads(json.dumps(found)))])


def require_none(what: str, wrong: Sequence[str]) -> None:
    """Fail if something is wrong, with a line for each of the first things."""
    if wrong:
        more = [f"… and {len(wrong) - _MOST} more"] if len(wrong) > _MOST else []
        pytest.fail("\n".join([what, *wrong[:_MOST], *more]), pytrace=False)


def differences(kept: Any, found: Any, where: str = "") -> Iterator[str]:
    """Yield a line for each value that differs, with the keys that lead to it."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in (*kept, *(found.keys() - kept.keys())):
            if key not in found or key not in kept:
                yield f"{where}/{key}: {_short(kept.get(key))} → {_short(found.get(key))}"
            else:
                yield from differences(kept[key], found[key], f"{where}/{key}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for at, pair in enumerate(zip(kept, found, strict=True)):
            yield from differences(*pair, f"{where}/{at}")
    elif type(kept) is not type(found) or kept != found:
        yield f"{where}: {_short(kept)} → {_short(found)}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST]


def _text(value: Any, lines: int) -> str:
    if not lines or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(_text(each, lines - 1) for each in value) + "\n]"
    parts = (f"{json.dumps(key)}: {_text(each, lines - 1)}" for key, each in value.items())
    return "{\n" + ",\n".join(parts) + "\n}"
