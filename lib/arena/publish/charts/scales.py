"""Axes that people can read, and labels that keep clear of each other."""

import math
from collections.abc import Sequence

# What a digit of an axis may be, from one power of ten to the next.
_STEPS = (1, 2, 5)
# An axis has room for so many labels.
FEW = 6
_TOPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def steps(low: float, high: float) -> tuple[float, ...]:
    """Return 1, 2, 5, 10 … for a log axis: from the last below `low` to the first above `high`.

    There are always two of them at least; both ends must be above 0.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
    every = [digit * 10.0**power for power in range(first, last + 1) for digit in _STEPS]
    begin = max(at for at, step in enumerate(every) if step <= low)
    end = min(at for at, step in enumerate(every) if step >= high)
    return tuple(every[begin : max(end, begin + 1) + 1])


def few(ticks: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks of a log axis, only its powers of ten if there would be too many."""
    return tuple(ticks) if len(ticks) <= FEW else powers(ticks[0], ticks[-1])


def powers(low: float, high: float) -> tuple[float, ...]:
    """Return the powers of ten from `low` to `high`."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return tuple(10.0**power for power in range(first, last + 1))


def top(value: float) -> float:
    """Return where an axis from 0 ends that shows this value; 1 for one that is all 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _TOPS if step * power >= value * (1 - 1e-9))


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Return the places, moved no further than needed for `gap` between each two of them.

    Those that stand too close move apart around their common middle.
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
