"""The values of JSON and of text, each checked; and the one error that the readers raise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NoReturn

INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1

_QUOTED_MAX = 40

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# The numbers of a text report, each refused unless it looks exactly as a generator prints it.
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


class ParseError(ValueError):
    """The input is not a complete, sane report. The message is one line that says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def quoted(value: object) -> str:
    """Show a value in ASCII, on one line and shortened; of a list or an object only its type."""
    text = type(value).__name__ if isinstance(value, (list, dict)) else ascii(value)
    return text if len(text) <= _QUOTED_MAX else text[: _QUOTED_MAX - 3] + "..."


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object, and its place in the report for the errors.

    Every method raises ParseError that names the key if the value is not what it should be, or
    is missing (unless the method says otherwise).
    """

    members: Mapping[str, object]
    where: str = ""

    @classmethod
    def of(cls, value: object, what: str, where: str = "") -> JsonObject:
        """Wrap a value that `json` loaded; `what` names it if it is no object."""
        if not isinstance(value, dict):
            raise ParseError(f"{what} must be a JSON object, is {quoted(value)}")
        return cls(value, where)

    def whole(self, key: str, most: int = UINT64_MAX) -> int:
        """Get an integer from 0 to `most`."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "must be a whole number, is", value)
        if not 0 <= value <= most:
            raise self._wrong(key, "is out of range:", value)
        return value

    def real(self, key: str, most: float = UINT64_MAX) -> float:
        """Get a number from 0 to `most`."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self._wrong(key, "must be a number, is", value)
        if not 0 <= value <= most:
            raise self._wrong(key, "is out of range:", value)
        return float(value)

    def wholes(self, key: str) -> list[int]:
        """Get a list of integers from 0 on."""
        return self._numbers(key, (int,), UINT64_MAX)

    def wholes_or_nulls(self, key: str) -> list[int | None]:
        """Get a list of integers from 0 on, some of which may be null."""
        values = self._list(key, self._get(key))
        known = [0 if value is None else value for value in values]
        JsonObject({key: known}, self.where).wholes(key)
        return values

    def reals(self, key: str, most: float) -> list[float]:
        """Get a list of numbers from 0 to `most`; a million of them take a tenth of a second."""
        return self._numbers(key, (int, float), most)

    def _numbers(self, key: str, kinds: tuple[type, ...], most: float) -> list[Any]:
        values = self._list(key, self._get(key))
        for place, value in enumerate(values):
            if type(value) not in kinds or not 0 <= value <= most:
                raise self._wrong(f"{key}[{place}]", "is not a number in its range:", value)
        return values

    def flag(self, key: str) -> bool:
        """Get true or false."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "must be true or false, is", value)
        return value

    def string(self, key: str) -> str:
        """Get a string."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "must be a string, is", value)
        return value

    def strings(self, key: str) -> list[str]:
        """Return a list of strings; empty without the member."""
        found = self._list(key, self.members.get(key, []))
        if not all(isinstance(each, str) for each in found):
            raise self._wrong(key, "must be a list of strings", found)
        return found

    def time_us(self, key: str) -> int:
        """Get an RFC 3339 time, with Go's up to nine decimals, in microseconds since 1970."""
        text = self.string(key)
        try:
            return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
        except (ValueError, TypeError, OverflowError):
            raise self._wrong(key, "is not an RFC 3339 time:", text) from None

    def counts(self, key: str) -> dict[str, int]:
        """Get an object of counts, which ghz may write as null when empty."""
        value = self._get(key)
        label = self._label(key)
        counted = JsonObject.of({} if value is None else value, f"`{label}`", label)
        return {name: counted.whole(name) for name in counted.members}

    def child(self, key: str) -> JsonObject:
        """Get an object; an empty one if the key is missing."""
        label = self._label(key)
        return JsonObject.of(self.members.get(key, {}), f"`{label}`", label)

    def children(self, key: str) -> Iterator[JsonObject]:
        """Walk a list of objects, which ghz may write as null, or leave out, when empty."""
        value = self.members.get(key)
        for place, item in enumerate(self._list(key, [] if value is None else value)):
            label = f"{self._label(key)}[{place}]"
            yield JsonObject.of(item, f"`{label}`", label)

    def _list(self, key: str, value: object) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(key, "must be a list, is", value)
        return value

    def _get(self, key: str) -> object:
        try:
            return self.members[key]
        except KeyError:
            raise ParseError(f"key `{self._label(key)}` is missing: not a whole report") from None

    def _label(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def _wrong(self, key: str, complaint: str, value: object) -> ParseError:
        return ParseError(f"`{self._label(key)}` {complaint} {quoted(value)}")


def load(text: str) -> JsonObject:
    """Load a text that is one JSON object. Raises ParseError."""
    report, end = load_at(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise ParseError("broken or incomplete JSON: more text stands behind its end")
    return report


def load_at(text: str, start: int) -> tuple[JsonObject, int]:
    """Load the JSON object that begins at `start`; return it and where it ends."""
    try:
        loaded, end = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode(text, start)
    except RecursionError:
        raise ParseError("JSON nested too deeply for a report") from None
    except ValueError as error:
        raise ParseError(f"broken or incomplete JSON: {error}") from None
    return JsonObject.of(loaded, "the report"), end


def _refuse_constant(constant: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads though JSON does not have them."""
    raise ValueError(f"{constant} is not a number of JSON")


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
