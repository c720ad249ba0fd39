"""A search for a capacity: what `volley find -O json` prints, schema 1. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from parsers.common.command import parse_saved
from parsers.common.values import INT64_MAX, JsonObject, ParseError, load, quoted

_SCHEMA = 1
_MAX_BYTES = 16 * 2**20
"""Reports of ten thousand windows stay below this."""

_MOST_RATE = 10_000_000
_ANSWERS = ("found", "below", "at-least")


@dataclass(frozen=True)
class Window:
    """A window at `rate` calls a second: of the calls that were due in it, `over` took too long."""

    rate: int
    calls: int
    over: int
    failed: int
    wrong: int
    p99_ns: int | None
    late: bool
    kept: bool


@dataclass(frozen=True)
class FindReport:
    """The answer, and the windows in their order.

    `at_least` to `at_most` is the 95 % interval of the `rate` (calls/s), or what is known of it.
    """

    answer: str
    rate: float
    at_least: float
    at_most: float
    elapsed_s: float
    windows: tuple[Window, ...]


def parse_file(path: str | Path) -> FindReport:
    """Read a saved report; `-` is stdin. Raises ParseError, also for an unreadable file."""
    return parse_saved(path, _MAX_BYTES, "volley find", parse)


def parse(text: str) -> FindReport:
    """Read one report. Raises ParseError."""
    report = load(text)
    if (schema := report.whole("find")) != _SCHEMA:
        raise ParseError(f"`find` is {schema}: only schema {_SCHEMA} can be read")
    elapsed_s = report.real("elapsed_s", 1e9)
    windows = tuple(map(_window, report.children("steps")))
    if not windows or not elapsed_s:
        raise ParseError("`steps` has no window: the search was ended before its first one")
    told = report.child("answer")
    answer, rate = told.string("kind"), told.real("rate", _MOST_RATE)
    if answer not in _ANSWERS:
        raise ParseError(f"`answer.kind` must be {' or '.join(_ANSWERS)}, is {quoted(answer)}")
    low = 1.0 if answer == "below" else told.real("low", _MOST_RATE)
    high = _MOST_RATE if answer == "at-least" else told.real("high", 2 * _MOST_RATE)
    if not 0 < low <= rate <= high:
        raise ParseError(f"`answer` has the rate {rate:g}, but the bounds {low:g} and {high:g}")
    return FindReport(answer, rate, low, high, elapsed_s, windows)


def _window(told: JsonObject) -> Window:
    calls, over, failed, wrong = (
        told.whole(name, INT64_MAX) for name in ("calls", "over", "failed", "wrong")
    )
    rate = told.whole("rate", _MOST_RATE)
    if not rate or max(over, failed) > calls:
        raise ParseError(f"`{told.where}`: {over} over the limit, {failed} failed of {calls} calls")
    is_known = told.members.get("p99_ns") is not None
    p99_ns = told.whole("p99_ns", 10**15) if is_known else None
    return Window(rate, calls, over, failed, wrong, p99_ns, told.flag("late"), told.flag("kept"))
