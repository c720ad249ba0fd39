"""Durations as people and generators write them."""

import re

_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(us|µs|ms|s|m|h)")
_SHORTEST_S = 1e-3
_LONGEST_S = 24 * 3600.0


def parse_duration(text: object) -> float:
    """Return the seconds in `5s`, `500ms` or `1m30s`; ValueError for any other text."""
    parts = _PART.findall(text) if isinstance(text, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration (write 5s, 500ms or 1m30s)")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not _SHORTEST_S <= seconds <= _LONGEST_S:
        raise ValueError(f"{text!r} must be at least 1ms and at most a day")
    return seconds


def format_duration(seconds: float) -> str:
    """Return a duration as generators read it: whole seconds, milliseconds or microseconds.

    >>> format_duration(5.0), format_duration(0.5)
    ('5s', '500ms')
    """
    for unit in ("s", "ms", "us"):
        count = seconds / _SECONDS[unit]
        if abs(count - round(count)) < 1e-6 * max(1.0, count):
            break
    return f"{round(count)}{unit}"
