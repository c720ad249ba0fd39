"""Scheduled loads: the calls that were due against those that were sent, and their latency."""

from collections.abc import Iterable, Sequence

from arena.base.numbers import format_ns
from arena.judge.flags import missed
from arena.judge.leaderboard import Board
from arena.publish.charts.drawing import ScheduledDrawing
from arena.publish.charts.picture import Picture, Table, first_rows, second_words
from arena.publish.charts.scales import steps
from arena.record.measurement import Second

_HEAD = ("Second", "Due", "Sent", "OK", "Failed", "p50", "p99")


def scheduled_pictures(board: Board) -> list[Picture]:
    """Return one picture a row; their latencies have the same axis, so that they compare."""
    rows = first_rows(board, lambda row: bool(row.seconds))
    ticks = latency_ticks(each for row in rows for each in row.seconds)
    return [
        scheduled_picture(row.display_name, row.display_name, row.seconds, ticks) for row in rows
    ]


def latency_ticks(seconds: Iterable[Second]) -> tuple[float, ...]:
    """Return the ticks (ns) of an axis for the latencies of all these; none if none is known."""
    values = [value for each in seconds for value in (each.p50_ns, each.p99_ns) if value]
    return steps(min(values), max(values)) if values else ()


def scheduled_picture(
    title: str, name: str, seconds: Sequence[Second], ticks: tuple[float, ...]
) -> Picture:
    """Return the picture of a scheduled load's seconds."""
    return Picture(
        title=title,
        label=f"{name}: calls per second that were due and that were sent, and below them "
        f"the latency, over {sum(each.length_s for each in seconds):.0f} seconds",
        drawing=ScheduledDrawing(tuple(seconds), ticks),
        words=(_words(seconds),),
        table=Table(_HEAD, tuple(_cells(at, each) for at, each in enumerate(seconds, 1))),
    )


def _words(seconds: Sequence[Second]) -> str:
    count = sum(map(missed, seconds))
    if not count:
        return "Sent as it was due in every second."
    which = f"{count} of {len(seconds)} seconds"
    return f"✕ {which} missed the schedule: over 5 % more or fewer calls than due, and over one."


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
