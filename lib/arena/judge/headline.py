"""The headline of a record, and the spread of its runs."""

from collections.abc import Sequence
from statistics import fmean, median, stdev

from arena.judge.flags import UNRANKED, kept_schedule
from arena.record.measurement import BEST_OF, BlastPoint, Run, figure_of, interval_of
from arena.record.record import Headline, Spread
from arena.what.metrics import Metric
from arena.what.profile import MeasuredProfile


def headline_of(profile: MeasuredProfile, runs: Sequence[Run]) -> Headline | None:
    """Pick the best of the first three runs, HttpArena's rule; None without a run."""
    first = runs[:BEST_OF]
    if not first:
        return None
    number, best = _best(profile.metric, first)
    value, at_least, at_most = figure_of(profile.metric, best)
    low, high = interval_of(profile.metric, runs)
    return Headline(
        metric=profile.metric,
        value=value,
        low=low,
        high=high,
        at_least=at_least,
        at_most=at_most,
        rule=_rule(len(runs), best),
        run=number,
    )


def _best(metric: Metric, runs: Sequence[Run]) -> tuple[int, Run]:
    """Return the best run and its number, from 1.

    For a latency, it is the lowest of the runs that have one. Sending less lowers latencies, so a
    run that kept its schedule is better than any that did not. Among these, a p99 that is known is
    better than any lower bound of one.
    """

    def order(numbered: tuple[int, Run]) -> tuple[bool, bool, bool, float]:
        _, run = numbered
        value, _, _ = figure_of(metric, run)
        if metric.lower_is_better:
            return value > 0, kept_schedule(run), "p99" not in run.latency_ns.at_least, -value
        return True, True, True, value

    return max(enumerate(runs, 1), key=order)


def _rule(runs: int, best: Run) -> str:
    of = ""
    for point in best.points:
        if point.rate == best.rate:
            most = min(point.connections, point.requests)
            over = f"{most:,} connection{'s' * (most != 1)}"
            calls = f"{point.requests:,} call{'s' * (point.requests != 1)}"
            of = f"{calls} at once over {over}, the fastest point of "
            break
    if runs == 1:
        return f"{of}one run"
    the = "the " if of else ""
    first = f"the first {BEST_OF} of " if runs > BEST_OF else ""
    return f"{of}{the}best of {first}{runs} runs"


def is_sure(
    low: float, high: float, runs: int, points: Sequence[BlastPoint], flags: Sequence[str]
) -> bool:
    """Return whether a figure with this interval can be compared to others.

    An interval that several runs made, or the shots of a blast, and that has a width says how far
    the figure scatters. No flag takes its rank.
    """
    return low < high and (runs > 1 or bool(points)) and UNRANKED.isdisjoint(flags)


def spread_of(metric: Metric, runs: Sequence[Run]) -> Spread | None:
    """Return the spread of the figures of all runs; None without a run."""
    figures = [figure_of(metric, run)[0] for run in runs]
    if not figures:
        return None
    mean = fmean(figures)
    return Spread(
        median=median(figures),
        min=min(figures),
        max=max(figures),
        cv=stdev(figures) / mean if len(figures) > 1 and mean else None,
    )
