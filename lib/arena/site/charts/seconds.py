"""The seconds of a load as points over time, and the time axis."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from arena.record.measurement import Second
from arena.site.charts.axes import Axis, linear
from arena.site.charts.svg import Point

# The size of each plot over time, in px.
HEIGHT = 90

# A last second shorter than this is left out of the lines: in such a short time, one call more or
# less changes the rate too much. Longer parts of a second are scaled to calls per second. A mark
# for a missed schedule stays, and the numbers are in the table.
_SHORTEST_S = 0.5


def starts(seconds: Sequence[Second]) -> list[tuple[float, Second]]:
    """Return each second with its start (s)."""
    found = accumulate((second.length_s for second in seconds), initial=0.0)
    return list(zip(found, seconds, strict=False))


def timeline(seconds: Sequence[Second]) -> list[tuple[float, Second]]:
    """Return the seconds that lines show, each with its start; all if none is long enough."""
    found = starts(seconds)
    return [each for each in found if each[1].length_s >= _SHORTEST_S] or found


def stairs(
    seconds: Sequence[tuple[float, Second]], count: Callable[[Second], int | None]
) -> list[Point]:
    """Return both ends of each second, at the second's rate (1/s)."""
    points: list[Point] = []
    for start, second in seconds:
        found = count(second)
        rate = None if found is None else found / second.length_s
        points += [(start, rate), (start + second.length_s, rate)]
    return points


def time(seconds: Sequence[Second], *, has_labels: bool = True) -> Axis:
    """Return the axis of these seconds; it ends after them, on a half or whole second."""
    length_s = sum(second.length_s for second in seconds)
    end_s = max(math.ceil(2 * length_s - 1e-6) / 2, 1.0)
    axis = linear(end_s, "{:g}".format, 8, "seconds", has_grid=False)
    return axis if has_labels else Axis(axis.share, ())


def second_words(number: int, second: Second) -> str:
    """Return a second's label in a table, with its length if that is not 1 s."""
    return f"{number}" if second.length_s == 1 else f"{number} ({second.length_s:.2f} s long)"
