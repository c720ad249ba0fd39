"""Searches for a capacity: p99 against the rate, several frameworks in one picture."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from statistics import median

from arena.base.units import format_ns, format_rate
from arena.judge.leaderboard import Board
from arena.record.measurement import Run, Search, SearchWindow
from arena.record.record import Record
from arena.site.charts.axes import few, latencies, log, steps
from arena.site.charts.picture import Picture, Table, first_results
from arena.site.charts.svg import Plot, Series, svg

_HEIGHT = 190
_HEAD = ("Framework", "Calls/s", "Calls due", "Over the limit", "Failed", "p99", "Kept")

_COLOURS = [f"var(--way-{number})" for number in (1, 2, 3)]
_DASHES = ("", "6 2")
_SHAPES = ("circle", "square", "triangle", "diamond", "wedge")

# A framework in a drawing, by the name of its folder, and its search.
_Named = tuple[str, Search]


def of_board(board: Board, boards: Sequence[Board]) -> list[Picture]:
    """Return one picture of the first rows."""
    del boards
    found = first_results(board, lambda it: it.search is not None)
    named = [(framework, it.search) for framework, _, it in found if it.search]
    return [_picture("p99 against the rate", named)] if named else []


def of_run(title: str, record: Record, run: Run) -> Picture | None:
    """Return the picture of a record's run; None if it is no search."""
    return _picture(title, [(record.framework.name, run.search)]) if run.search else None


def _picture(title: str, found: Sequence[_Named]) -> Picture:
    words = tuple(f"{name}: {_words(search)}" for name, search in found)
    return Picture(
        title=title,
        label=f"p99 of the response times against the rate. {' '.join(words)}",
        svg=svg([_drawn(found)]),
        words=words,
        table=Table(
            _HEAD, tuple(_cells(name, each) for name, search in found for each in search.windows)
        ),
    )


def _words(search: Search) -> str:
    kept = [each.rate for each in search.windows if each.kept]
    broken = [each.rate for each in search.windows if not each.kept]
    most = f"kept up to {format_rate(max(kept))} calls/s" if kept else "never kept"
    least = f", broken from {format_rate(min(broken))} on" if broken else ""
    late = ", some windows sent late" if any(each.late for each in search.windows) else ""
    return f"the limit was {most}{least}{late}."


def _cells(name: str, it: SearchWindow) -> tuple[str, ...]:
    p99 = "–" if it.p99_ns is None else format_ns(it.p99_ns)
    kept = ("yes" if it.kept else "no") + ", sent late" * it.late
    counts = (f"{each:,}" for each in (it.rate, it.calls, it.over, it.failed))
    return (name, *counts, p99, kept)


def _drawn(found: Sequence[_Named]) -> Plot:
    """Draw the median p99 at each rate; windows that sent late are crossed."""
    curves = [_curve(search.windows) for _, search in found]
    times = [ns for curve in curves for _, ns in curve] or [1e6]
    rates = [each.rate for _, search in found for each in search.windows]
    ends = steps(min(rates), max(rates))
    labels = [(each, format_rate(each)) for each in few(ends)]
    series = [
        Series(
            name,
            _COLOURS[at % len(_COLOURS)],
            dash=_DASHES[at // len(_COLOURS) % len(_DASHES)],
            shape=_SHAPES[at % len(_SHAPES)],
        )
        for at, (name, _) in enumerate(found)
    ]
    y = latencies(steps(min(times), max(times)))
    x = log(ends[0], ends[-1], labels, "calls per second, on a log scale")
    plot = Plot("p99 latency, on a log scale", x, y, _HEIGHT, series)
    for own, curve in zip(series, curves, strict=True):
        plot.line(own, curve)
        plot.dots(own, curve)
    late = [
        (float(each.rate), each.p99_ns)
        for _, search in found for each in search.windows if each.late and each.p99_ns
    ]  # fmt: skip
    plot.crosses(plot.places(late))
    return plot


def _curve(windows: Sequence[SearchWindow]) -> list[tuple[float, float]]:
    """Return the median p99 (ns) at each rate at which it is known, the lowest rate first."""
    in_order = sorted(windows, key=attrgetter("rate"))
    found = [
        (rate, [each.p99_ns for each in own if each.p99_ns])
        for rate, own in groupby(in_order, attrgetter("rate"))
    ]
    return [(float(rate), median(known)) for rate, known in found if known]
