"""Scheduled loads: the calls that were due against those that were sent, and their latency."""

from arena.charts.drawing import ScheduledDrawing
from arena.charts.picture import Picture, Table, first_rows, second_words
from arena.charts.scales import steps
from arena.figures import missed
from arena.leaderboard import Board, Row
from arena.measurement import Second
from arena.units import format_ns

_HEAD = ("Second", "Due", "Sent", "OK", "Failed", "p50", "p99")


def scheduled_pictures(board: Board) -> list[Picture]:
    """Return one picture a row; their latencies have the same axis, so that they compare."""
    rows = first_rows(board, lambda row: bool(row.seconds))
    latencies = [
        value
        for row in rows
        for each in row.seconds
        for value in (each.p50_ns, each.p99_ns)
        if value
    ]
    ticks = steps(min(latencies), max(latencies)) if latencies else ()
    return [
        Picture(
            row=row,
            label=_label(row),
            drawing=ScheduledDrawing(row.seconds, ticks),
            words=(_words(row),),
            table=Table(_HEAD, tuple(_cells(at, each) for at, each in enumerate(row.seconds, 1))),
        )
        for row in rows
    ]


def _label(row: Row) -> str:
    return (
        f"{row.display_name}: calls per second that were due and that were sent, and below them "
        f"the latency, over {sum(each.length_s for each in row.seconds):.0f} seconds"
    )


def _words(row: Row) -> str:
    count = sum(map(missed, row.seconds))
    if not count:
        return "Sent as it was due in every second."
    seconds = f"{count} of {len(row.seconds)} seconds"
    return f"✕ {seconds} missed the schedule: over 5 % more or fewer calls than due, and over one."


def _cells(number: int, second: Second) -> tuple[str, ...]:
    mark = " ✕ missed" if missed(second) else ""
    return (
        second_words(number, second),
        _count(second.intended),
        f"{_count(second.sent)}{mark}",
        _count(second.ok),
        _count(second.failed),
        *("–" if value is None else format_ns(value) for value in (second.p50_ns, second.p99_ns)),
    )


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
