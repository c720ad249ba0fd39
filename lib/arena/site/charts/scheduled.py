"""Loads by a schedule: calls due against calls sent, and their latency."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from arena.base.numbers import format_ns
from arena.judge.flags import missed
from arena.judge.leaderboard import Board
from arena.record.measurement import Run, Second
from arena.record.record import Record
from arena.site.charts.axes import latencies, rates, steps, top
from arena.site.charts.picture import Picture, Table, first_results
from arena.site.charts.seconds import HEIGHT, second_words, stairs, starts, time, timeline
from arena.site.charts.svg import ACCENT, BAD, FAINT, QUIET, Plot, Series, svg

_DUE, _SENT = Series("due", FAINT, 5), Series("sent", ACCENT)
_P99, _P50 = Series("p99", ACCENT), Series("p50", QUIET, dash="4 2")

# What the schedule is of, and the head of its table.
_HEADS = {
    "calls": ("Second", "Due", "Sent", "OK", "Failed", "p50", "p99"),
    "iterations": ("Second", "Due", "Begun", "OK requests", "Failed", "p50", "p99"),
}


def of_board(board: Board, boards: Sequence[Board], of: str = "calls") -> list[Picture]:
    """Return one picture per row; their latencies share an axis, so that they compare."""
    del boards
    found = first_results(board, lambda it: bool(it.seconds))
    ticks = _ticks(each for *_, it in found for each in it.seconds)
    return [_picture(name, name, it.seconds, ticks, of) for _, name, it in found]


def of_run(title: str, record: Record, run: Run, of: str = "calls") -> Picture | None:
    """Return the picture of a record's run; None if its seconds are unknown."""
    if not run.seconds:
        return None
    return _picture(title, record.framework.display_name, run.seconds, _ticks(run.seconds), of)


def _ticks(seconds: Iterable[Second]) -> tuple[float, ...]:
    """Return the ticks (ns) of an axis for all these latencies; empty if none is known."""
    values = [value for each in seconds for value in (each.p50_ns, each.p99_ns) if value]
    return steps(min(values), max(values)) if values else ()


def _picture(
    title: str, name: str, seconds: Sequence[Second], ticks: tuple[float, ...], of: str
) -> Picture:
    """Return the picture of a load's seconds; its schedule is one of calls or of iterations."""
    return Picture(
        title=title,
        label=f"{name}: {of} due and {of} sent per second, and below them the latency, "
        f"over {sum(each.length_s for each in seconds):.0f} seconds",
        svg=_drawn(seconds, ticks, of),
        words=(_words(seconds, of),),
        table=Table(_HEADS[of], tuple(_cells(at, each) for at, each in enumerate(seconds, 1))),
    )


def _words(seconds: Sequence[Second], of: str) -> str:
    count = sum(map(missed, seconds))
    if not count:
        return "Every second kept the schedule."
    return (
        f"✕ {count} of {len(seconds)} seconds missed the schedule: the {of} sent differ from the "
        f"{of} due by more than 5 %, and by more than one {of.removesuffix('s')}."
    )


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


def _drawn(seconds: Sequence[Second], ticks: tuple[float, ...], of: str) -> Markup:
    """Draw calls due and sent, and below them their latency, if `ticks` (ns) is not empty.

    Each second that missed its schedule has a band in the background and a cross at the top.
    """
    shown = timeline(seconds)
    due = stairs(shown, lambda second: second.intended)
    sent = stairs(shown, lambda second: second.sent)
    # With room for slightly more calls than were due, so that the rows of a board share an axis.
    highest = max([*(1.05 * (rate or 0) for _, rate in due), *(rate or 0 for _, rate in sent)])
    x = time(seconds, has_labels=not ticks)
    plots = [Plot(f"{of} per second", x, rates(top(highest), HEIGHT), HEIGHT, (_DUE, _SENT))]
    lines = [[(_DUE, due), (_SENT, sent)]]
    if ticks:
        y, title = latencies(ticks), "latency, on a log scale"
        plots.append(Plot(title, time(seconds), y, HEIGHT, (_P99, _P50)))
        middles = [(at + second.length_s / 2, second) for at, second in shown]
        p99 = [(at, second.p99_ns or None) for at, second in middles]
        p50 = [(at, second.p50_ns or None) for at, second in middles]
        lines.append([(_P99, p99), (_P50, p50)])
    late = [(at, at + second.length_s) for at, second in starts(seconds) if missed(second)]
    for plot, series in zip(plots, lines, strict=True):
        spans = [(plot.across(begin), plot.across(end)) for begin, end in late]
        bands = [((left, 0.0), right - left, plot.height) for left, right in spans]
        plot.boxes("missed", bands, BAD, 0.18)
        for each, points in series:
            plot.line(each, points)
        plot.crosses(((left + right) / 2, 5) for left, right in spans)
    return svg(plots)
