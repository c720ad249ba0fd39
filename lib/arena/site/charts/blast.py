"""Blasts: throughput and failures against N, one line per way to spread the calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from markupsafe import Markup

from arena.base.units import format_rate
from arena.judge.figure_words import latency_words
from arena.judge.leaderboard import Board
from arena.judge.row import Result
from arena.record.measurement import BlastPoint, Run
from arena.record.record import Record
from arena.site.charts.axes import FEW, Axis, apart, log, powers, rates, top
from arena.site.charts.picture import Picture, Table, first_results
from arena.site.charts.seconds import is_sustained
from arena.site.charts.svg import FONT_PX, Plot, Series, svg
from arena.what.loads import Closed

# Throughput has stopped growing at the first N whose throughput is this close to the highest.
FULL = 0.95

_HEAD = ("Connections", "N", "Requests/s", "Interval", "p50", "p99", "Failed")

_RATES_PX, _FAILURES_PX = 170, 70

# The styles of the ways; each list starts again at its end.
_COLOURS = [f"var(--way-{number})" for number in (1, 2, 3)]
_DASHES = ("", "6 2", "2 2", "8 2 2 2", "4 4")
_SHAPES = ("circle", "square", "triangle", "diamond", "wedge")


@dataclass(frozen=True)
class Spreading:
    """One way to spread the requests of a blast, its points by N.

    `sustained` is the requests per second that the same connections sustain, if known.
    """

    series: Series
    points: Sequence[BlastPoint]
    sustained: float | None

    @cached_property
    def full_at(self) -> int | None:
        """The N at which throughput stops growing; None if it never stops, or no call succeeded."""
        highest = max(point.rate for point in self.points)
        near = (point.requests for point in self.points[:-1] if point.rate >= FULL * highest > 0)
        return next(near, None)

    @cached_property
    def fails_at(self) -> int | None:
        """The N at which the first call fails; None if no call fails."""
        return next((each.requests for each in self.points if any(each.failed.values())), None)


def of_board(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return one picture per row, with the sustained rate of the same connections, if known."""
    return [
        _picture(name, name, it.points, _sustained(board, framework, it, boards))
        for framework, name, it in first_results(board, lambda it: bool(it.points))
    ]


def of_run(title: str, record: Record, run: Run) -> Picture | None:
    """Return the picture of a record's run; None if it has no points."""
    return _picture(title, record.framework.display_name, run.points, {}) if run.points else None


def _picture(
    title: str, name: str, points: Sequence[BlastPoint], sustained: Mapping[int, float]
) -> Picture:
    """Return the picture of a blast's points; `sustained` maps connections to requests/s."""
    ways = ways_of(points, sustained)
    return Picture(
        title=title,
        label=f"{name}: requests per second, and failed calls, against N, the number of requests "
        f"sent at once. {' '.join(map(_words, ways))}",
        svg=_drawn(ways),
        words=(*map(_words, ways), *["No call failed."][any(way.fails_at for way in ways) :]),
        table=Table(_HEAD, tuple(_cells(point) for way in ways for point in way.points)),
    )


def ways_of(points: Sequence[BlastPoint], sustained: Mapping[int, float]) -> tuple[Spreading, ...]:
    """Return the points grouped by connections, the fewest connections first."""
    ways = []
    for at, connections in enumerate(sorted({point.connections for point in points})):
        own = [each for each in points if each.connections == connections]
        own.sort(key=lambda each: each.requests)
        colour, dash, shape = (each[at % len(each)] for each in (_COLOURS, _DASHES, _SHAPES))
        series = Series(_name(connections, own), colour, dash=dash, shape=shape)
        ways.append(Spreading(series, own, sustained.get(connections)))
    return tuple(ways)


def _name(connections: int, points: Sequence[BlastPoint]) -> str:
    if connections == 1:
        return "1 connection"
    # Most points have as many connections as requests.
    if 2 * sum(point.requests <= connections for point in points) > len(points):
        return f"one per request, up to {connections:,}"
    return f"{connections:,} connections"


def _sustained(
    board: Board, framework: str, result: Result, boards: Sequence[Board]
) -> dict[int, float]:
    """Return the framework's sustained requests/s in a closed load, by connections.

    Only a load of the same calls counts, from the same generator and base image.
    """
    found: dict[int, float] = {}
    made = result.generator, result.standin
    for other in sustained_boards(board, boards):
        for row in other.rows:
            it = row.result if row.framework == framework else None
            if it and is_sustained(it.seconds) and (it.generator, it.standin) == made:
                found.setdefault(other.connections, it.value)
    return found


def sustained_boards(board: Board, boards: Sequence[Board]) -> list[Board]:
    """Return the boards of closed loads that make the same calls as this blast."""
    same = attrgetter("call", "tls", "generator", "metric", "division", "host_class.id")
    return [each for each in boards if each.shape is Closed and same(each) == same(board)]


def _words(way: Spreading) -> str:
    name, best = way.series.name, max(point.rate for point in way.points)
    if not best:
        return f"{name}: no call succeeded."
    full = f"still growing at N = {way.points[-1].requests:,}"
    if way.full_at is not None:
        full = f"stops growing at N = {way.full_at:,}"
    fails = f", first failure at N = {way.fails_at:,}" if way.fails_at else ""
    return f"{name}: best {format_rate(best)} requests/s, {full}{fails}."


def _cells(point: BlastPoint) -> tuple[str, ...]:
    latency = point.latency_ns
    return (
        f"{point.connections:,}",
        f"{point.requests:,}",
        format_rate(point.rate),
        f"{format_rate(point.rate_at_least)} – {format_rate(point.rate_at_most)}",
        *(latency_words(latency, name) for name in ("p50", "p99")),
        ", ".join(f"{count:,} {status}" for status, count in sorted(point.failed.items())) or "0",
    )


def _drawn(ways: Sequence[Spreading]) -> Markup:
    """Draw throughput against N, and below it the share of failed calls, if any failed."""
    highest = max(
        *(point.rate_at_most for way in ways for point in way.points),
        *(way.sustained or 0.0 for way in ways),
    )
    has_failures = any(way.fails_at for way in ways)
    x, y = _requests(ways, has_labels=not has_failures), rates(top(highest), _RATES_PX)
    title, legend = "requests per second: median and interval", [way.series for way in ways]
    plot = Plot(title, x, y, _RATES_PX, legend)
    for way in ways:
        spans = [(each.requests, each.rate_at_least, each.rate_at_most) for each in way.points]
        plot.upright(way.series.colour, spans)
    for way in ways:
        points = [(each.requests, each.rate) for each in way.points]
        plot.line(way.series, points)
        plot.dots(way.series, points)
    _mark_sustained(plot, ways)
    for way in ways:
        full = [(each.requests, each.rate) for each in way.points if each.requests == way.full_at]
        plot.shapes(plot.places(full), "ring", stroke=way.series.colour)
    failed = [
        (each.requests, each.rate)
        for way in ways for each in way.points if each.requests == way.fails_at
    ]  # fmt: skip
    plot.crosses(plot.places(failed))
    return svg([plot, _failures(ways)] if has_failures else [plot])


def _failures(ways: Sequence[Spreading]) -> Plot:
    """Return the plot of failures: the share of failed calls at each N (%)."""
    shares = [
        [
            (each.requests, 100 * failed / (each.ok + failed))
            for each in way.points
            if (failed := sum(each.failed.values())) or each.ok
        ]
        for way in ways
    ]
    end = top(max(share for line in shares for _, share in line))
    x, y = _requests(ways, has_labels=True), rates(end, _FAILURES_PX)
    plot = Plot("failed calls, %", x, y, _FAILURES_PX)
    for way, line in zip(ways, shares, strict=True):
        plot.line(way.series, line)
    for way, line in zip(ways, shares, strict=True):
        plot.crosses(plot.places(point for point in line if point[0] == way.fails_at))
    return plot


def _requests(ways: Sequence[Spreading], *, has_labels: bool) -> Axis:
    numbers = sorted({point.requests for way in ways for point in way.points})
    # The outermost points keep a distance from the edges, so that their marks fit.
    low, high = numbers[0] * 0.75, numbers[-1] * 1.33
    ticks = numbers if len(numbers) <= FEW else powers(low, high)
    if not has_labels:
        return log(low, high, ())
    labels = [(each, f"{each:,.0f}") for each in ticks]
    return log(low, high, labels, "N requests at once, on a log scale")


def _mark_sustained(plot: Plot, ways: Sequence[Spreading]) -> None:
    """Draw a dashed line with its figure for each way whose sustained rate is known."""
    known = [(way.series, way.sustained) for way in ways if way.sustained]
    lines = [plot.down(rate) for _, rate in known]
    # If two lines are close, one label is above and the other below.
    for (series, rate), line, label in zip(known, lines, apart(lines, FONT_PX * 1.2), strict=True):
        y = max(label if label != line else line - FONT_PX * 0.6, FONT_PX / 2)
        plot.rule(series, line)
        plot.shapes([(6, y)], series.shape, fill=series.colour)
        plot.text((12, y), f"sustained {format_rate(rate)}", series.colour)
