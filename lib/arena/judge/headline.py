"""The headline of a record, and the spread of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from arena.judge.flags import UNRANKED, has_unknown_cost, is_late, kept_schedule
from arena.judge.ranking import Figure
from arena.record.measurement import BlastPoint, Run
from arena.what.metrics import Metric
from arena.what.profile import MeasuredProfile

# HttpArena ranks by the best of this many runs.
BEST_OF = 3


@dataclass(frozen=True)
class Headline:
    """The one number of a record, the rule that picked it, and the number of its run (from 1).

    `low` to `high` is the interval that ranks the record and spans its runs; `at_least` to
    `at_most` is the error bar of the one run.
    """

    metric: str
    value: float
    low: float
    high: float
    at_least: float
    at_most: float
    rule: str
    run: int


@dataclass(frozen=True)
class Spread:
    """The spread of the runs' figures; `cv` is standard deviation / mean, None for a single run."""

    median: float
    min: float
    max: float
    cv: float | None


def figure_of(metric: Metric, run: Run) -> Figure:
    """Return a run's figure in a metric, with its error bar; zeros if it is not known."""
    if metric.is_latency:
        p99_ns = run.latency_ns.p99 or 0.0
        least_ns = run.written_ns.p99 if run.written_ns and is_late(run, "p99") else None
        low_ns = p99_ns if least_ns is None else least_ns
        return Figure(low_ns, (low_ns + p99_ns) / 2, p99_ns)
    if metric.is_cost:
        is_known = run.calls.ok and not has_unknown_cost(run)
        cpu_ns = run.server.cpu_s * 1e9 / run.calls.ok if is_known else 0.0
        return Figure(cpu_ns, cpu_ns, cpu_ns)
    if metric is Metric.START:
        first_ns = run.started.first_reply_s * 1e9 if run.started else 0.0
        return Figure(first_ns, first_ns, first_ns)
    return Figure(run.rate_at_least, run.rate, run.rate_at_most)


def interval_of(metric: Metric, runs: Sequence[Run]) -> tuple[float, float]:
    """Return the two ends of the interval that ranks a record, which must have a run.

    It spans the error bars of the runs from which the headline is picked, so it covers both the
    generator's uncertainty and the scatter of the runs. If any run has a latency, those without one
    are left out: they are never the best.
    """
    every = [figure_of(metric, run) for run in runs[:BEST_OF]]
    known = [figure for figure in every if figure.value > 0]
    figures = known if known and metric.lower_is_better else every
    return min(each.at_least for each in figures), max(each.at_most for each in figures)


def headline_of(profile: MeasuredProfile, runs: Sequence[Run]) -> Headline | None:
    """Pick the best of the first three runs, HttpArena's rule; None without a run."""
    first = runs[:BEST_OF]
    if not first:
        return None
    number, best = _best(profile.metric, first)
    figure = figure_of(profile.metric, best)
    low, high = interval_of(profile.metric, runs)
    return Headline(
        metric=profile.metric,
        value=figure.value,
        low=low,
        high=high,
        at_least=figure.at_least,
        at_most=figure.at_most,
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
        value = figure_of(metric, run).value
        if metric.lower_is_better:
            is_known = not metric.is_latency or "p99" not in run.latency_ns.at_least
            return value > 0, kept_schedule(run), is_known, -value
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
    figures = [figure_of(metric, run).value for run in runs]
    if not figures:
        return None
    mean = fmean(figures)
    return Spread(
        median=median(figures),
        min=min(figures),
        max=max(figures),
        cv=stdev(figures) / mean if len(figures) > 1 and mean else None,
    )
