"""Blocks on two levels: a figure that is now low and now high has no estimate in between."""

from collections.abc import Sequence
from statistics import median

from arena.base.model import Frozen, Number
from arena.judge.ranking import Figure
from parsers.common.figures import Whole

# Blocks are on two levels if their figures, in order, have a gap of this factor somewhere, with so
# many blocks at least on either side.
_GAP = 2.0
_LEAST_BLOCKS = 2


class Level(Frozen):
    """One of two levels: the median of the blocks on it, and how many they are."""

    value: Number
    blocks: Whole


def levels_of(values: Sequence[float]) -> tuple[Level, ...]:
    """Return the two levels of positive values, the lower one first; empty if there is one."""
    ordered = sorted(values)
    places = range(_LEAST_BLOCKS, len(ordered) - _LEAST_BLOCKS + 1)
    gap, at = max(((ordered[at] / ordered[at - 1], at) for at in places), default=(0.0, 0))
    if gap < _GAP:
        return ()
    parts = (ordered[:at], ordered[at:])
    return tuple(Level(value=median(each), blocks=len(each)) for each in parts)


def over_levels(figures: Sequence[Figure]) -> Sequence[Figure]:
    """Return figures such that ranks hold on both levels, if the blocks are on two.

    Then each reaches from where it is, moved to the lower level, to where it is on the upper one,
    by the ratio of the levels. `value` stays.
    """
    levels = levels_of([each.value for each in figures])
    if not levels:
        return figures
    lower, upper = levels
    ratio = upper.value / lower.value
    on_lower = sorted(each.value for each in figures)[: lower.blocks]
    return [
        each._replace(at_most=each.at_most * ratio)
        if each.value <= on_lower[-1]
        else each._replace(at_least=each.at_least / ratio)
        for each in figures
    ]
