"""The numbers of a text report, each refused unless it looks exactly as a generator prints it."""

from __future__ import annotations

import re
from decimal import Decimal

from parsers.common.errors import ParseError, quoted
from parsers.common.json_values import INT64_MAX

_WHOLE = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[0-9]{1,19}(\.[0-9]{1,9})?")
_DURATION_PART = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_DURATION = re.compile(rf"(?:{_DURATION_PART.pattern} ?)+")
_NS_PER = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}


def whole(text: str, label: str) -> int:
    """Read digits. Raises ParseError, as all here, that names the label."""
    return _in_range(int(_checked(_WHOLE, text, label, "a whole number")), text, label)


def real(text: str, label: str) -> float:
    """Read a number such as `183.50`."""
    return float(_checked(_DECIMAL, text, label, "a number"))


def duration_ns(text: str, label: str) -> int:
    """Read `139.48 ms`, `1.24 s`, `8350 ns`, `12µs`, `1m2.5s` or `1h0m3s` in ns."""
    text = _checked(_DURATION, text, label, "a duration such as `1.24 s`")
    parts = _DURATION_PART.findall(text)
    return _in_range(int(sum(Decimal(part) * _NS_PER[unit] for part, unit in parts)), text, label)


def _in_range(number: int, text: str, label: str) -> int:
    if number > INT64_MAX:
        raise ParseError(f"`{label}` is out of range: {quoted(text)}")
    return number


def _checked(shape: re.Pattern[str], text: str, label: str, what: str) -> str:
    text = text.strip()
    if not shape.fullmatch(text):
        raise ParseError(f"`{label}` must be {what}, is {quoted(text)}")
    return text
