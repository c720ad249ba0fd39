"""Scenarios: their throughput second by second, or iterations due against iterations begun."""

from collections.abc import Sequence

from arena.judge.leaderboard import Board
from arena.record.measurement import Run
from arena.record.record import Record
from arena.site.charts import closed, scheduled
from arena.site.charts.picture import Picture


def of_board(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return a picture for each of the first rows."""
    if board.metric.is_latency:
        return scheduled.of_board(board, boards, "iterations")
    return closed.of_board(board, boards)


def of_run(title: str, record: Record, run: Run) -> Picture | None:
    """Return the picture of a record's run; None without one."""
    if record.profile.load.follows_schedule:
        return scheduled.of_run(title, record, run, "iterations")
    return closed.of_run(title, record, run)
