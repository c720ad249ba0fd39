"""A JSON object that trusts none of its values: each is asked for by key, kind and range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from parsers.ghz.checks import UINT64_MAX
from parsers.ghz.errors import GhzParseError, quoted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object, and its place in the report for the errors.

    Every method raises GhzParseError that names the key, for one that is missing (unless the
    method says otherwise) or not what it should be.
    """

    members: Mapping[str, object]
    where: str = ""

    @classmethod
    def of(cls, value: object, what: str, where: str = "") -> JsonObject:
        """Wrap a value that `json` loaded; `what` names it if it is no object."""
        if not isinstance(value, dict):
            raise GhzParseError(f"{what} must be a JSON object, is {quoted(value)}")
        return cls(value, where)

    def whole(self, key: str, most: int) -> int:
        """Get an integer from 0 to `most`."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "must be a whole number, is", value)
        if not 0 <= value <= most:
            raise self._wrong(key, "is out of range:", value)
        return value

    def real(self, key: str) -> float:
        """Get a number that is not negative."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self._wrong(key, "must be a number, is", value)
        if not 0 <= value <= UINT64_MAX:
            raise self._wrong(key, "is out of range:", value)
        return float(value)

    def wholes(self, key: str) -> list[int]:
        """Get a list of integers from 0 on."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "must be a list, is", value)
        label = self._label(key)
        items = JsonObject({f"[{place}]": item for place, item in enumerate(value)}, label)
        return [items.whole(place, UINT64_MAX) for place in items.members]

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
        return {name: counted.whole(name, UINT64_MAX) for name in counted.members}

    def child(self, key: str) -> JsonObject:
        """Get an object; an empty one if the key is missing."""
        label = self._label(key)
        return JsonObject.of(self.members.get(key, {}), f"`{label}`", label)

    def children(self, key: str) -> Iterator[JsonObject]:
        """Walk a list of objects, which ghz may write as null, or leave out, when empty."""
        value = self.members.get(key)
        if value is None:
            return
        if not isinstance(value, list):
            raise self._wrong(key, "must be a list, is", value)
        for place, item in enumerate(value):
            label = f"{self._label(key)}[{place}]"
            yield JsonObject.of(item, f"`{label}`", label)

    def _get(self, key: str) -> object:
        try:
            return self.members[key]
        except KeyError:
            raise GhzParseError(
                f"key `{self._label(key)}` is missing: not a whole report"
            ) from None

    def _label(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def _wrong(self, key: str, complaint: str, value: object) -> GhzParseError:
        return GhzParseError(f"`{self._label(key)}` {complaint} {quoted(value)}")
