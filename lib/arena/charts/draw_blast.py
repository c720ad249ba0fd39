"""A blast's drawing: throughput and failures against N, one line per way."""

from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import Any, TypeVar

import altair as alt

from arena.charts.drawing import BlastDrawing, Way
from arena.charts.marks import FONT_PX, PAPER, SOLID, cross, data, from_zero, plot, series, stack
from arena.charts.scales import FEW, apart, powers, top
from arena.units import format_rate

_RATES_HEIGHT = 170
_FAILURES_HEIGHT = 70

# How ways are told apart.
_COLOURS = [f"var(--way-{number})" for number in (1, 2, 3)]
_DASHES: list[Sequence[float]] = [SOLID, (6, 2), (2, 2), (8, 2, 2, 2), (4, 4)]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down"]

_Style = TypeVar("_Style")


def blast(drawing: BlastDrawing) -> alt.VConcatChart:
    """Return throughput against N, and below it the share of calls that failed, if any did."""
    ways = drawing.ways
    fails = any(way.fails_at for way in ways)
    plots = [_rates(ways, has_n=not fails)]
    if fails:
        plots.append(_failures(ways))
    return stack(plots)


def _rates(ways: Sequence[Way], *, has_n: bool) -> alt.LayerChart:
    rows = [
        {
            "way": way.name,
            "n": point.requests,
            "rate": point.rate,
            "low": point.rate_low,
            "high": point.rate_high,
            "full": point.requests == way.full_at,
            "fails": point.requests == way.fails_at,
        }
        for way in ways
        for point in way.points
    ]
    highest = max(
        *(point.rate_high for way in ways for point in way.points),
        *(way.sustained or 0.0 for way in ways),
    )
    legend = alt.Legend(columns=1, symbolStrokeWidth=0)
    channels = _channels(ways, legend)
    colour, shape = channels["color"], _shapes(ways, legend)
    x, y = _requests(ways, has_labels=has_n), from_zero("rate", highest)
    base = data(rows).encode(x=x, y=y)
    bars = data(rows).mark_rule(strokeWidth=1, opacity=0.6)
    points = base.mark_point(filled=True, size=22, opacity=1)
    rings = data(row for row in rows if row["full"]).mark_point(
        shape="circle", size=150, strokeWidth=1.5, opacity=1
    )
    failing = data(row for row in rows if row["fails"])
    layers = [
        bars.encode(x=x, y=from_zero("low", highest), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=1.5).encode(**channels),
        *_sustained(ways, highest),
        points.encode(color=colour, shape=shape),
        rings.encode(x=x, y=y, color=colour).properties(name="full"),
        cross(failing.encode(x=x, y=y), 90, "fails"),
    ]
    return plot(layers, _RATES_HEIGHT, "requests per second, median and its interval")


def _sustained(ways: Sequence[Way], highest: float) -> list[alt.Chart]:
    """Return a dashed line, and its label, for each way that is known to sustain a throughput."""
    known = [(way.name, way.sustained) for way in ways if way.sustained]
    if not known:
        return []
    lines = [_RATES_HEIGHT * (1 - rate / top(highest)) for _, rate in known]
    # A label stands on its line; where two lines are close, one is above and the other below.
    labels = [
        max(label if label != line else line - FONT_PX * 0.6, FONT_PX / 2)
        for line, label in zip(lines, apart(lines, FONT_PX * 1.2), strict=True)
    ]
    base = data(
        {"way": name, "rate": rate, "label": label, "words": f"sustained {format_rate(rate)}"}
        for (name, rate), label in zip(known, labels, strict=True)
    )
    colour = _channels(ways, None)["color"]
    rules = base.mark_rule(strokeDash=[10, 4], strokeWidth=1)
    beside = base.encode(y=alt.Y("label:Q", scale=None), color=colour)
    shapes = beside.mark_point(filled=True, size=22, opacity=1)
    words = beside.mark_text(
        align="left", baseline="middle", fontSize=FONT_PX, stroke=PAPER, strokeWidth=3
    )
    return [
        rules.encode(y=from_zero("rate", highest), color=colour).properties(name="sustained"),
        shapes.encode(x=alt.value(6), shape=_shapes(ways, None)),
        words.encode(x=alt.value(12), text="words:N"),
    ]


def _failures(ways: Sequence[Way]) -> alt.LayerChart:
    rows: list[dict[str, Any]] = [
        {
            "way": way.name,
            "n": point.requests,
            "share": 100 * failed / (point.ok + failed),
            "fails": point.requests == way.fails_at,
        }
        for way in ways
        for point in way.points
        if (failed := sum(point.failed.values())) or point.ok
    ]
    place: dict[str, Any] = {
        "x": _requests(ways),
        "y": from_zero("share", max(row["share"] for row in rows)),
    }
    failing = data(row for row in rows if row["fails"])
    layers = [
        data(rows).mark_line(strokeWidth=1.5).encode(**place, **_channels(ways, None)),
        cross(failing.encode(**place), 90, "fails"),
    ]
    return plot(layers, _FAILURES_HEIGHT, "failed calls, %")


def _channels(ways: Sequence[Way], legend: alt.Legend | None) -> dict[str, Any]:
    names = [way.name for way in ways]
    return series("way", names, _round(_COLOURS, ways), _round(_DASHES, ways), legend=legend)


def _shapes(ways: Sequence[Way], legend: alt.Legend | None) -> alt.Shape:
    scale = alt.Scale(domain=[way.name for way in ways], range=_round(_SHAPES, ways))
    return alt.Shape("way:N", scale=scale, legend=legend)


def _round(styles: Iterable[_Style], ways: Sequence[Way]) -> list[_Style]:
    """Return a style for each way; they go round when they run out."""
    return list(islice(cycle(styles), len(ways)))


def _requests(ways: Sequence[Way], *, has_labels: bool = True) -> alt.X:
    every = sorted({point.requests for way in ways for point in way.points})
    # The outermost points keep clear of the edges, for their marks' sake.
    low, high = every[0] * 0.75, every[-1] * 1.33
    ticks = every if len(every) <= FEW else powers(low, high)
    return alt.X(
        "n:Q",
        title="N requests at once, on a log scale" if has_labels else None,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            values=list(ticks), format=",", grid=False, labels=has_labels, ticks=has_labels
        ),
    )
