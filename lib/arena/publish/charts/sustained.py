"""Closed loads that last: their throughput, second by second."""

from collections.abc import Sequence

from arena.base.numbers import format_rate
from arena.judge.leaderboard import Board
from arena.publish.charts.drawing import SustainedDrawing
from arena.publish.charts.picture import Picture, Table, first_rows, second_words
from arena.record.measurement import Second

# A load of more seconds than this is a sustained one; a shorter one has no course to show.
_MORE_THAN = 6.5


def is_sustained(seconds: Sequence[Second], value: float | None) -> bool:
    """Return whether a closed load that came to a value has a course over time."""
    return sum(each.length_s for each in seconds) > _MORE_THAN and value is not None


def sustained_pictures(board: Board) -> list[Picture]:
    """Return one picture for each of the rows that have a course over time."""
    return [
        sustained_picture(
            row.display_name, row.display_name, board.metric, row.seconds, row.value or 0.0
        )
        for row in first_rows(board, lambda row: is_sustained(row.seconds, row.value))
    ]


def sustained_picture(
    title: str, name: str, metric: str, seconds: Sequence[Second], whole: float
) -> Picture:
    """Return the picture of a load's seconds; `whole` is what all of them came to, in `metric`."""
    return Picture(
        title=title,
        label=f"{name}: {metric} in each of {len(seconds)} seconds",
        drawing=SustainedDrawing(tuple(seconds), metric, whole),
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
