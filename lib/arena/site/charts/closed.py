"""Longer closed loads: their throughput, second by second."""

from collections.abc import Sequence

from markupsafe import Markup

from arena.base.numbers import format_rate
from arena.judge.leaderboard import Board
from arena.record.measurement import Run, Second
from arena.record.record import Record
from arena.site.charts.axes import rates, top
from arena.site.charts.picture import Picture, Table, first_results
from arena.site.charts.seconds import HEIGHT, second_words, stairs, time, timeline
from arena.site.charts.svg import ACCENT, QUIET, Plot, Series, svg

# A load of more seconds than this is a sustained one; a shorter load has no chart over time.
_MORE_THAN = 6.5

_EACH = Series("each second", ACCENT)
_WHOLE = Series("whole run", QUIET, dash="4 2")


def is_sustained(seconds: Sequence[Second]) -> bool:
    """Return whether a closed load was long enough for a chart over time."""
    return sum(each.length_s for each in seconds) > _MORE_THAN


def of_board(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return a picture for each of the first rows whose load was long enough."""
    del boards
    return [
        _picture(name, name, board.metric, it.seconds, it.value)
        for _, name, it in first_results(board, lambda it: is_sustained(it.seconds))
    ]


def of_run(title: str, record: Record, run: Run) -> Picture | None:
    """Return the picture of a record's run; None if it is too short for one."""
    if not is_sustained(run.seconds):
        return None
    name = record.framework.display_name
    return _picture(title, name, record.profile.metric, run.seconds, run.rate)


def _picture(
    title: str, name: str, metric: str, seconds: Sequence[Second], whole: float
) -> Picture:
    """Return the picture of a load's seconds; `whole` is the figure of the run, in `metric`."""
    return Picture(
        title=title,
        label=f"{name}: {metric} in each of {len(seconds)} seconds",
        svg=_drawn(metric, seconds, whole),
        words=(),
        table=Table(
            ("Second", metric.partition("/")[0].capitalize(), "OK calls", "Failed"),
            tuple(
                (
                    second_words(at, each),
                    format_rate(each.messages),
                    f"{each.ok:,}",
                    f"{each.failed:,}",
                )
                for at, each in enumerate(seconds, 1)
            ),
        ),
    )


def _drawn(metric: str, seconds: Sequence[Second], whole: float) -> Markup:
    """Draw the throughput of each second; the whole run's is a dashed line."""
    each = stairs(timeline(seconds), lambda second: second.messages)
    highest = max(whole, *(rate or 0.0 for _, rate in each))
    plot = Plot(
        f"{metric}, by second", time(seconds), rates(top(highest), HEIGHT), HEIGHT, (_EACH, _WHOLE)
    )
    plot.line(_EACH, each)
    plot.line(_WHOLE, [(0.0, whole), (sum(second.length_s for second in seconds), whole)])
    return svg([plot])
