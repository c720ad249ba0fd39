"""Axes with round labels, and labels that do not overlap."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.base.units import RATES, TIMES_NS

# A digit of a log axis, from one power of ten to the next.
_DIGITS = (1, 2, 5)
# The maximum number of labels on an axis.
FEW = 6
_TOPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True)
class Axis:
    """One axis of a plot: `share` maps a value to its position, from 0 (start) to 1 (end).

    `ticks` are values with their labels; with `has_grid`, each has a line across the plot.
    """

    share: Callable[[float], float]
    ticks: Sequence[tuple[float, str]]
    title: str = ""
    has_grid: bool = False


def linear(
    end: float, label: Callable[[float], str], steps: int, title: str = "", *, has_grid: bool
) -> Axis:
    """Return an axis from 0 to its end, with even steps, at most this many."""
    power = 10.0 ** math.floor(math.log10(end / steps))
    step = next(digit * power for digit in (1, 2, 5, 10) if end <= digit * power * steps)
    count = math.floor(end / step + 1e-9)
    ticks = [(number * step, label(number * step)) for number in range(count + 1)]
    return Axis(lambda value: value / end, ticks, title, has_grid)


def log(
    first: float,
    last: float,
    ticks: Iterable[tuple[float, str]],
    title: str = "",
    *,
    has_grid: bool = False,
) -> Axis:
    """Return a log axis; `first` may be the larger end."""
    length = math.log(last / first)
    return Axis(lambda value: math.log(value / first) / length, tuple(ticks), title, has_grid)


def rates(end: float, height: float) -> Axis:
    """Return a y axis of a rate or a share from 0 to its end: 0, 50 k, 100 k."""
    steps = min(FEW, int(height / 15))  # px that a label needs
    return linear(end, lambda value: _in_units(value, RATES), steps, has_grid=True)


def latencies(ticks: Sequence[float]) -> Axis:
    """Return a y axis of nanoseconds, on a log scale from the first tick to the last."""
    labels = [(ns, _in_units(ns, TIMES_NS)) for ns in few(ticks)]
    return log(ticks[0], ticks[-1], labels, has_grid=True)


def _in_units(value: float, units: Mapping[int, str]) -> str:
    """Return a round number in its shortest form: `5 ms`, `1.5 M`, and a plain 0."""
    power = max((each for each in units if value >= 10.0**each * (1 - 1e-9)), default=0)
    return f"{value / 10.0**power:g}{units[power]}"


def steps(low: float, high: float) -> tuple[float, ...]:
    """Return 1, 2, 5, 10 … for a log axis: from the last below `low` to the first above `high`.

    There are at least two; both ends must be above 0.
    """
    # One power more on each side: the logarithm of a power of ten may be rounded across it.
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    every = [digit * 10.0**power for power in range(first, last + 1) for digit in _DIGITS]
    begin = max(at for at, step in enumerate(every) if step <= low)
    end = min(at for at, step in enumerate(every) if step >= high)
    return tuple(every[begin : max(end, begin + 1) + 1])


def few(ticks: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks of a log axis; only its powers of ten if there would be too many."""
    return tuple(ticks) if len(ticks) <= FEW else powers(ticks[0], ticks[-1])


def powers(low: float, high: float) -> tuple[float, ...]:
    """Return the powers of ten from `low` to `high`."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return tuple(10.0**power for power in range(first, last + 1))


def top(value: float) -> float:
    """Return a round end for an axis from 0 that covers this value; 1 if the value is 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _TOPS if step * power >= value * (1 - 1e-9))


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Return the places, moved only as far as needed for `gap` between neighbours.

    Places that are too close move apart around their common middle.
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    clusters: list[tuple[float, int]] = []
    for at in order:
        middle, size = places[at], 1
        while clusters:
            other, others = clusters[-1]
            if middle - other >= gap * (size + others) / 2:
                break
            clusters.pop()
            middle = (middle * size + other * others) / (size + others)
            size += others
        clusters.append((middle, size))
    moved = [0.0] * len(places)
    left = iter(order)
    for middle, size in clusters:
        for number in range(size):
            moved[next(left)] = middle + gap * (number - (size - 1) / 2)
    return moved
