"""Reading what people wrote and writing what must not be lost.

Reading turns every fault into a UsageError that names the file and the key. Writing goes
to a temporary name in the same folder, is fsynced, and then takes its place in one step.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from arena.errors import HostError, UsageError, nearest

Model = TypeVar("Model", bound=pydantic.BaseModel)

# Nobody writes a profile or a meta.json by hand that is longer than this.
_LONGEST_INPUT_BYTES = 1 << 20

# How much of a log's end is looked at, and the lines that open a stack trace in it.
_TAIL_BYTES = 1 << 16
_CAUSE = re.compile(r"(?i)panic:|fatal error|thread '.*' .*panicked|traceback|unhandled exception")

# What programs colour their output with (ECMA-48: SGR).
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Frozen(pydantic.BaseModel):
    """The base of every noun: immutable, and closed to keys it does not know."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


def shown(path: Path) -> str:
    """Return the path as a message shows it: relative to the working directory where possible."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def read_input(path: Path) -> str:
    """Return a hand-written file's text; UsageError if it is missing, huge or not UTF-8."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_INPUT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read ({error.strerror})") from error
    if len(data) > _LONGEST_INPUT_BYTES:
        raise UsageError(f"{shown(path)}: is larger than 1 MiB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)}: is not UTF-8 text") from error


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML file's mapping; UsageError with the line where it is broken."""
    import yaml

    def parse(text: str) -> Any:
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark else ""
            raise ValueError(where + (getattr(error, "problem", None) or "is not YAML")) from error

    return _mapping(path, parse)


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON file's object; UsageError with the line where it is broken."""

    def parse(text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}") from error

    return _mapping(path, parse)


def _mapping(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    try:
        data = parse(read_input(path))
    except ValueError as error:
        # Also what only looks like a date or a number: `2026-13-45`, or one of 5000 digits.
        raise UsageError(f"{shown(path)}: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{shown(path)}: is nested too deeply") from error
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise UsageError(f"{shown(path)}: must be a mapping of keys to values")
    return data


def validated(model: type[Model], data: dict[str, Any], path: Path, keys: Sequence[str]) -> Model:
    """Check `data` against `model`; UsageError naming the file and the first key at fault.

    `keys` are those a person may write, to be offered in place of an unknown one.
    """
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        # An unknown key is often a required one misspelt: it says more than the missing one.
        first = min(
            error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden"
        )
        key = ".".join(str(part) for part in first["loc"]) or "(whole file)"
        if first["type"] == "extra_forbidden":
            nested = len(first["loc"]) > 1
            hint = "" if nested else nearest(key, list(keys))
            raise UsageError(f"{shown(path)}: {key}: unknown key{hint}") from error
        what = first["msg"].removeprefix("Value error, ")
        given = "" if first["type"] == "missing" else f", not {first['input']!r:.60}"
        raise UsageError(f"{shown(path)}: {key}: {what}{given}") from error


def to_json(model: pydantic.BaseModel) -> str:
    """Return the model as indented JSON that ends in a newline."""
    return model.model_dump_json(indent=2) + "\n"


def write_atomic(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step; HostError if it cannot be written."""
    _write(path, text, os.replace)


def write_new(path: Path, text: str) -> None:
    """Create `path` in one step; HostError if it exists already: nothing is overwritten."""
    _write(path, text, _put_new)


def _write(path: Path, text: str, put: Any) -> None:
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        put(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _put_new(temporary: str, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: take the name first, then fill it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        Path(temporary).replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tail(path: Path, lines: int = 8) -> str:
    """Return the last lines of a log, printable; empty if there is none.

    If they are those of a long stack, the line that says what happened comes before them.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    plain = _COLOUR.sub("", text)
    kept = [line.rstrip() for line in plain.splitlines() if line.strip()]
    before = kept[:-lines]
    causes = [before[at : at + 2] for at, line in enumerate(before) if _CAUSE.match(line)]
    # Rust says where it panicked, and in the next line why.
    cause = causes[-1][: 1 + causes[-1][0].endswith(":")] if causes else []
    return "\n".join(printable(line) for line in cause + kept[-lines:])


def printable(text: str) -> str:
    """Return the text without control characters: a log must not steer the terminal."""
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
