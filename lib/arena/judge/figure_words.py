"""Figures in words, with no finer digits than their interval justifies."""

from collections.abc import Sequence

from arena.base.units import (
    RATES,
    TIMES_NS,
    at_least,
    bar_words,
    format_ns,
    interval_words,
    place_of,
    rate_words,
    rounded,
)
from arena.record.measurement import Latency
from arena.what.loads import LoadShape
from arena.what.metrics import HIGHEST_RATE, LOWEST_RATE, Metric


def latency_words(latency: Latency, name: str) -> str:
    """Return one of its figures, such as `p99`: `1.20 ms`, or `≥ 2.00 s`; a dash if unknown."""
    ns = getattr(latency, name)
    return "–" if ns is None else at_least(format_ns(ns), is_bound=name in latency.at_least)


def is_bound(metric: Metric, flags: Sequence[str]) -> bool:
    """Return whether a headline with these flags is only a lower bound."""
    if metric.is_cost or metric is Metric.START:
        return False
    bounds = {"unreached"} if metric.is_latency else {"client-bound", "still-warming"}
    return not bounds.isdisjoint(flags)


def value_words(metric: Metric, value: float, high: float, flags: Sequence[str] = ()) -> str:
    """Return a figure, or the bound that is known: `≥ 1.02 M`, `1.20 ms`."""
    bound = is_bound(metric, flags)
    if metric is Metric.CAPACITY and value <= LOWEST_RATE:
        return f"< {LOWEST_RATE}"
    if metric.is_time:
        return at_least(format_ns(value), is_bound=bound)
    return rate_words(value, high, client_bound=bound)


def rounded_words(
    metric: Metric, value: float, low: float, high: float, flags: Sequence[str] = ()
) -> str:
    """Return a figure with no finer digits than its interval justifies: `≥ 0.82 M`, `1.2 ms`.

    A lower bound is rounded down. Without a value, only the upper bound `high` is known.
    """
    if (not value and high) or (metric is Metric.CAPACITY and value <= LOWEST_RATE):
        return value_words(metric, value, high, flags)
    bound = is_bound(metric, flags)
    has_no_end = bound and metric is Metric.CAPACITY
    place = place_of(value, value, value) if has_no_end else place_of(value, low, high)
    units = TIMES_NS if metric.is_time else RATES
    return at_least(rounded(value, place, units, down=bound), is_bound=bound)


def rounded_interval(
    metric: Metric, value: float, low: float, high: float, flags: Sequence[str] = ()
) -> str:
    """Return a figure's interval in the digits that it justifies; empty if its width is 0.

    That of a latency or a capacity that is only a lower bound has no end: `2.00 s or more`.
    """
    units = TIMES_NS if metric.is_time else RATES
    if (metric.is_latency or metric is Metric.CAPACITY) and is_bound(metric, flags):
        return f"{rounded(low, place_of(low, low, low), units, down=True)} or more"
    if low == high:
        return ""
    return interval_words(low, high, place_of(value or high, low, high), units)


def figure_words(metric: Metric, value: float, high: float, flags: Sequence[str] = ()) -> str:
    """Return a figure with its metric: `≥ 1.02 M messages/s`, `p99 latency 1.20 ms`."""
    return metric.of(value_words(metric, value, high, flags))


def rank_words(ranks: tuple[int, int]) -> str:
    """Return the best and the worst rank that is possible; only one if both are equal."""
    return "–".join(map(str, dict.fromkeys(ranks)))


def bar_of(metric: Metric, load: LoadShape, low: float, high: float) -> str:
    """Return an error bar in words; empty where the metric has none."""
    is_open = metric is Metric.CAPACITY and (high >= HIGHEST_RATE or high <= LOWEST_RATE)
    if metric.is_time or is_open:
        return ""
    if load.has_median:
        return f"median within {bar_words(low, high)}" if low < high else ""
    return bar_words(low, high) if low == high else f"the run's error bar {bar_words(low, high)}"
