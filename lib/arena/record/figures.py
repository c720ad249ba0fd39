"""The figure of a run in a metric, and the interval of several runs."""

from collections.abc import Sequence

from arena.record.measurement import Run
from arena.what.metrics import Metric

# HttpArena ranks by the best of this many runs.
BEST_OF = 3


def figure_of(metric: Metric, run: Run) -> tuple[float, float, float]:
    """Return a run's figure in a metric, and the two ends of its error bar."""
    if metric.is_latency:
        p99_ns = run.latency_ns.p99 or 0.0
        return p99_ns, p99_ns, p99_ns
    return run.rate, run.rate_at_least, run.rate_at_most


def interval_of(metric: Metric, runs: Sequence[Run]) -> tuple[float, float]:
    """Return the two ends of the interval that ranks a record, which must have a run.

    It spans the error bars of the runs from which the headline is picked, so it covers both the
    generator's uncertainty and the scatter of the runs. If any run has a latency, those without one
    are left out: they are never the best.
    """
    every = [figure_of(metric, run) for run in runs[:BEST_OF]]
    known = [figure for figure in every if figure[0] > 0]
    figures = known if known and metric.lower_is_better else every
    return min(least for _, least, _ in figures), max(most for _, _, most in figures)
