"""Mutants: files that somebody has changed with bad intent or by accident, drawn by lot."""

import io
import json
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Any

TEXTS = (
    "", "\ud800", "a\udfffb", "\0", "a\nb", "\x1b[31m", "\u202e", "<script>x</script>", "{{ 7*7 }}",
    "../../x", "index.html", "x" * 5000, "1e3", "2026-02-30T00-00-00.000000Z",
)  # fmt: skip
NUMBERS = (
    -1, 0, 1, 7, 2**31, 2**63, 2**64, 10**18, 10**25, 10**400, -(10**400), 0.0, -0.0, 0.1, 5e-324,
    -5e-324, 1e-320, 1e-30, 1e18, 1e308, -1e308, float("inf"), float("nan"),
)  # fmt: skip
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"": ""}, {"\ud800": 1}, [None] * 3)


def places(data: Any, shape: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each place of a value: its field, what holds it, and its key or number there."""
    keys = data.keys() if isinstance(data, dict) else range(len(data))
    for key in list(keys):
        field = f"{shape}.{key}" if isinstance(data, dict) else f"{shape}[]"
        yield field, data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key], field)


def place(data: Any, lot: Random) -> tuple[Any, Any]:
    """Return a place by lot: all fields are drawn as often, however many values they have."""
    found = defaultdict(list)
    for field, holder, key in places(data):
        found[field].append((holder, key))
    return lot.choice(lot.choice(list(found.values()))) if found else ({"": data}, "")


def mutant(data: Mapping[str, Any], lot: Random) -> dict[str, Any]:
    """Return a copy of a file's data with a change or two, mostly to a value of the same type."""
    made: dict[str, Any] = deepcopy(dict(data))
    for _ in range(lot.choice((1, 1, 1, 2))):
        holder, key = place(made, lot)
        value = holder[key]
        alike = {str: TEXTS, int: NUMBERS, float: NUMBERS}.get(type(value), OTHERS)
        match lot.randrange(12):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[lot.choice(("\ud800", "surprise", "", "a\nb", key.upper()))] = value
            case 2:
                other, name = place(made, lot)
                holder[key] = deepcopy(other[name])
            case 3:
                holder[key] = deepcopy(lot.choice((*TEXTS, *NUMBERS, *OTHERS)))
            case 4 | 5 if isinstance(value, list):
                holder[key] = value * lot.choice((0, 2, 50))
            case 4 | 5 if isinstance(value, int) and not isinstance(value, bool):
                holder[key] = lot.choice((-1, 1)) * value * 10 ** lot.randint(0, 25)
            case 4 | 5 | 6 | 7 if isinstance(value, float):
                holder[key] = value * 10.0 ** lot.randint(-300, 280)
            case _:
                holder[key] = deepcopy(lot.choice(alike))
    return made


def damaged(data: bytes, lot: Random) -> bytes:
    """Return bytes of which some are changed, lost or doubled."""
    made = bytearray(data)
    for _ in range(lot.choice((1, 1, 3, 10))):
        at = lot.randrange(len(made))
        # The fields of a header of tar are what matters most.
        at = at // 512 * 512 + lot.choice((0, 1, 100, 124, 127, 135, 148, 156, 157, 257, 345, 500))
        match lot.randrange(5):
            case 0:
                del made[at:]
            case 1:
                made[at:at] = made[at : at + 512]
            case 2:
                del made[at : at + lot.choice((1, 512))]
            case _:
                made[at : at + 1] = bytes([lot.choice((0, 0x20, 0x2F, 0x38, 0x80, 0xFF))])
        made = made or bytearray(512)
    return bytes(made)


def archive_of(files: Mapping[str, bytes], lot: Random) -> bytes:
    """Return a tar archive of files, perhaps with a member that is none."""
    buffer = io.BytesIO()
    kinds = [tarfile.REGTYPE] * 9 + [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE]
    form = lot.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT))
    with tarfile.open(fileobj=buffer, mode="w", format=form) as made:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.type, member.size = lot.choice(kinds), len(content)
            member.linkname = lot.choice(("../../../etc/passwd", name, "run-1.json"))
            made.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def as_json(data: Mapping[str, Any]) -> bytes:
    """Return data as a file that Python reads back; other readers may not."""
    return json.dumps(data).encode()
