"""The interval that ranks a record."""

from collections.abc import Sequence

from arena.judge.headline import BEST_OF, figure_of
from arena.record.measurement import Run
from arena.what.profile import LOWER_IS_BETTER, Metric


def interval_of(metric: Metric, runs: Sequence[Run]) -> tuple[float, float]:
    """Return the interval of a record: the least and the greatest that any run leaves possible.

    It spans the error bars of the runs that the headline is picked from, so that it holds what
    the generator could not know and how far the runs scatter. There must be a run. One without a
    latency says nothing of the others' latencies: it is no best one.
    """
    every = [figure_of(metric, run) for run in runs[:BEST_OF]]
    known = [figure for figure in every if figure[0] > 0]
    figures = known if known and metric in LOWER_IS_BETTER else every
    return min(low for _, low, _ in figures), max(high for _, _, high in figures)
