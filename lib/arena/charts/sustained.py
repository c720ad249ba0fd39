"""Closed loads that last: their throughput, second by second."""

from arena.charts.drawing import SustainedDrawing
from arena.charts.picture import Picture, Table, first_rows, second_words
from arena.leaderboard import Board, Row
from arena.units import format_rate

# A load of more seconds than this is a sustained one; a shorter one has no course to show.
_MORE_THAN = 6.5


def is_sustained(row: Row) -> bool:
    """Return whether a closed load's row has a course over time."""
    return sum(each.length_s for each in row.seconds) > _MORE_THAN and row.value is not None


def sustained_pictures(board: Board) -> list[Picture]:
    """Return one picture for each of the rows that have a course over time."""
    return [
        Picture(
            row=row,
            label=f"{row.display_name}: {board.metric} in each of {len(row.seconds)} seconds",
            drawing=SustainedDrawing(row.seconds, board.metric, row.value or 0.0),
            words=(),
            table=Table(
                ("Second", board.metric.partition("/")[0].capitalize(), "OK calls", "Failed"),
                tuple(
                    (
                        second_words(at, each),
                        format_rate(each.messages),
                        f"{each.ok:,}",
                        f"{each.failed:,}",
                    )
                    for at, each in enumerate(row.seconds, 1)
                ),
            ),
        )
        for row in first_rows(board, is_sustained)
    ]
