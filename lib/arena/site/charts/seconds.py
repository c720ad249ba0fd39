"""Loads over time: throughput by second; or what was due against what was sent, and its latency."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from markupsafe import Markup

from arena.base.units import format_ns, format_rate
from arena.judge.flags import missed
from arena.judge.leaderboard import Board
from arena.record.measurement import Run, Second
from arena.record.record import Record
from arena.site.charts.axes import Axis, latencies, linear, rates, steps, top
from arena.site.charts.picture import Picture, Table, first_results
from arena.site.charts.svg import ACCENT, BAD, FAINT, QUIET, Plot, Point, Series, svg
from arena.what.loads import LoadShape, Scenario

# The size of each plot over time, in px.
_HEIGHT = 90

# A closed load of more seconds than this is a sustained one; a shorter one has no chart over time.
_MORE_THAN = 6.5

# A last second shorter than this is left out of the lines: in such a short time, one call more or
# less changes the rate too much. Longer parts of a second are scaled to calls per second. A mark
# for a missed schedule stays, and the numbers are in the table.
_SHORTEST_S = 0.5

_EACH, _WHOLE = Series("each second", ACCENT), Series("whole run", QUIET, dash="4 2")
_DUE, _SENT = Series("due", FAINT, 5), Series("sent", ACCENT)
_P99, _P50 = Series("p99", ACCENT), Series("p50", QUIET, dash="4 2")

# What the schedule is of, and the head of its table.
_HEADS = {
    "calls": ("Second", "Due", "Sent", "OK", "Failed", "p50", "p99"),
    "iterations": ("Second", "Due", "Begun", "OK requests", "Failed", "p50", "p99"),
}

# A second of a load with its start (s).
_Started = tuple[float, Second]


def of_board(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return a picture for each of the first rows whose load was long enough.

    Latencies of a schedule share an axis, so that they compare.
    """
    del boards
    if not board.metric.is_time:
        return [
            _throughput(name, name, board.metric, it.seconds, it.value)
            for _, name, it in first_results(board, lambda it: is_sustained(it.seconds))
        ]
    found = first_results(board, lambda it: bool(it.seconds))
    ticks, of = _ticks(each for *_, it in found for each in it.seconds), _scheduled(board.shape)
    return [_schedule(name, name, it.seconds, ticks, of) for _, name, it in found]


def of_run(title: str, record: Record, run: Run) -> Picture | None:
    """Return the picture of a record's run; None if its seconds are unknown or too few."""
    name, load = record.framework.display_name, record.profile.load
    if load.follows_schedule:
        of = _scheduled(type(load))
        return _schedule(title, name, run.seconds, _ticks(run.seconds), of) if run.seconds else None
    if not is_sustained(run.seconds):
        return None
    return _throughput(title, name, record.profile.metric, run.seconds, run.rate)


def is_sustained(seconds: Sequence[Second]) -> bool:
    """Return whether a closed load was long enough for a chart over time."""
    return sum(each.length_s for each in seconds) > _MORE_THAN


def _scheduled(shape: type[LoadShape]) -> str:
    return "iterations" if shape is Scenario else "calls"


def _throughput(
    title: str, name: str, metric: str, seconds: Sequence[Second], whole: float
) -> Picture:
    """Return the picture of a closed load; `whole` is the figure of the run, a dashed line."""
    each = _stairs(_timeline(seconds), lambda second: second.messages)
    y = rates(top(max(whole, *(rate or 0.0 for _, rate in each))), _HEIGHT)
    plot = Plot(f"{metric}, by second", _time(seconds), y, _HEIGHT, (_EACH, _WHOLE))
    plot.line(_EACH, each)
    plot.line(_WHOLE, [(0.0, whole), (sum(second.length_s for second in seconds), whole)])
    head = ("Second", metric.partition("/")[0].capitalize(), "OK calls", "Failed")
    rows = (
        (_words(at, it), format_rate(it.messages), f"{it.ok:,}", f"{it.failed:,}")
        for at, it in enumerate(seconds, 1)
    )
    label = f"{name}: {metric} in each of {len(seconds)} seconds"
    return Picture(title, label, svg([plot]), (), Table(head, tuple(rows)))


def _ticks(seconds: Iterable[Second]) -> tuple[float, ...]:
    """Return the ticks (ns) of an axis for all these latencies; empty if none is known."""
    values = [value for each in seconds for value in (each.p50_ns, each.p99_ns) if value]
    return steps(min(values), max(values)) if values else ()


def _schedule(
    title: str, name: str, seconds: Sequence[Second], ticks: tuple[float, ...], of: str
) -> Picture:
    """Return the picture of a load by a schedule, which is one of calls or of iterations."""
    words = "Every second kept the schedule."
    if count := sum(map(missed, seconds)):
        words = (
            f"✕ {count} of {len(seconds)} seconds missed the schedule: the {of} sent differ from "
            f"the {of} due by more than 5 %, and by more than one {of.removesuffix('s')}."
        )
    label = (
        f"{name}: {of} due and {of} sent per second, and below them the latency, "
        f"over {sum(each.length_s for each in seconds):.0f} seconds"
    )
    table = Table(_HEADS[of], tuple(_cells(at, each) for at, each in enumerate(seconds, 1)))
    return Picture(title, label, _drawn(seconds, ticks, of), (words,), table)


def _cells(number: int, second: Second) -> tuple[str, ...]:
    due, sent, ok, failed = (
        "–" if value is None else f"{value:,}"
        for value in (second.intended, second.sent, second.ok, second.failed)
    )
    times = ("–" if ns is None else format_ns(ns) for ns in (second.p50_ns, second.p99_ns))
    mark = " ✕ missed" if missed(second) else ""
    return (_words(number, second), due, sent + mark, ok, failed, *times)


def _drawn(seconds: Sequence[Second], ticks: tuple[float, ...], of: str) -> Markup:
    """Draw calls due and sent, and below them their latency, if `ticks` (ns) is not empty.

    Each second that missed its schedule has a band in the background and a cross at the top.
    """
    shown = _timeline(seconds)
    due = _stairs(shown, lambda second: second.intended)
    sent = _stairs(shown, lambda second: second.sent)
    # With room for slightly more calls than were due, so that the rows of a board share an axis.
    highest = max([*(1.05 * (rate or 0) for _, rate in due), *(rate or 0 for _, rate in sent)])
    x = _time(seconds, has_labels=not ticks)
    plots = [Plot(f"{of} per second", x, rates(top(highest), _HEIGHT), _HEIGHT, (_DUE, _SENT))]
    lines = [[(_DUE, due), (_SENT, sent)]]
    if ticks:
        y, title = latencies(ticks), "latency, on a log scale"
        plots.append(Plot(title, _time(seconds), y, _HEIGHT, (_P99, _P50)))
        middles = [(at + second.length_s / 2, second) for at, second in shown]
        p99 = [(at, second.p99_ns or None) for at, second in middles]
        p50 = [(at, second.p50_ns or None) for at, second in middles]
        lines.append([(_P99, p99), (_P50, p50)])
    late = [(at, at + second.length_s) for at, second in _starts(seconds) if missed(second)]
    for plot, series in zip(plots, lines, strict=True):
        spans = [(plot.across(begin), plot.across(end)) for begin, end in late]
        bands = [((left, 0.0), right - left, plot.height) for left, right in spans]
        plot.boxes("missed", bands, BAD, 0.18)
        for each, points in series:
            plot.line(each, points)
        plot.crosses(((left + right) / 2, 5) for left, right in spans)
    return svg(plots)


def _starts(seconds: Sequence[Second]) -> list[_Started]:
    found = accumulate((second.length_s for second in seconds), initial=0.0)
    return list(zip(found, seconds, strict=False))


def _timeline(seconds: Sequence[Second]) -> list[_Started]:
    """Return the seconds that lines show, each with its start; all if none is long enough."""
    found = _starts(seconds)
    return [each for each in found if each[1].length_s >= _SHORTEST_S] or found


def _stairs(seconds: Sequence[_Started], count: Callable[[Second], int | None]) -> list[Point]:
    """Return both ends of each second, at the second's rate (1/s)."""
    points: list[Point] = []
    for start, second in seconds:
        found = count(second)
        rate = None if found is None else found / second.length_s
        points += [(start, rate), (start + second.length_s, rate)]
    return points


def _time(seconds: Sequence[Second], *, has_labels: bool = True) -> Axis:
    """Return the axis of these seconds; it ends after them, on a half or whole second."""
    length_s = sum(second.length_s for second in seconds)
    end_s = max(math.ceil(2 * length_s - 1e-6) / 2, 1.0)
    axis = linear(end_s, "{:g}".format, 8, "seconds", has_grid=False)
    return axis if has_labels else Axis(axis.share, ())


def _words(number: int, second: Second) -> str:
    """Return a second's label in a table, with its length if that is not 1 s."""
    return f"{number}" if second.length_s == 1 else f"{number} ({second.length_s:.2f} s long)"
