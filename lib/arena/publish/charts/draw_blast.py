"""A blast's drawing: throughput and failures against N, one line per way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, TypeVar

import altair as alt

from arena.base.numbers import format_rate
from arena.publish.charts.drawing import BlastDrawing, Way
from arena.publish.charts.marks import (
    FONT_PX,
    PAPER,
    SOLID,
    cross,
    from_zero,
    of,
    plot,
    series,
    stack,
)
from arena.publish.charts.scales import FEW, apart, powers, top
from arena.publish.charts.sheet import Rows

_RATES_HEIGHT = 170
_FAILURES_HEIGHT = 70

# How ways are told apart.
_COLOURS = [f"var(--way-{number})" for number in (1, 2, 3)]
_DASHES: list[Sequence[float]] = [SOLID, (6, 2), (2, 2), (8, 2, 2, 2), (4, 4)]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down"]

_Style = TypeVar("_Style")


@dataclass(frozen=True)
class _Sheet:
    """The ways' names, every N, and where the axes end; that of failures only if there are any."""

    ways: tuple[str, ...]
    numbers: tuple[int, ...]
    top: float
    failures_top: float | None

    def chart(self) -> alt.VConcatChart:
        plots = [self._rates(has_n=self.failures_top is None)]
        if self.failures_top is not None:
            plots.append(self._failures(self.failures_top))
        return stack(plots)

    def _rates(self, *, has_n: bool) -> alt.LayerChart:
        legend = alt.Legend(columns=1, symbolStrokeWidth=0)
        channels = self._channels(legend)
        colour, shape = channels["color"], self._shapes(legend)
        x, y = self._requests(has_labels=has_n), from_zero("rate", self.top)
        base = of("points").encode(x=x, y=y)
        bars = of("points").mark_rule(strokeWidth=1, opacity=0.6)
        points = base.mark_point(filled=True, size=22, opacity=1)
        rings = of("full").mark_point(shape="circle", size=150, strokeWidth=1.5, opacity=1)
        layers = [
            bars.encode(x=x, y=from_zero("low", self.top), y2="high:Q", color=colour),
            base.mark_line(strokeWidth=1.5).encode(**channels),
            *self._sustained(),
            points.encode(color=colour, shape=shape),
            rings.encode(x=x, y=y, color=colour).properties(name="full"),
            cross(of("fails").encode(x=x, y=y), 90, "fails"),
        ]
        return plot(layers, _RATES_HEIGHT, "requests per second, median and its interval")

    def _sustained(self) -> list[alt.Chart]:
        """Return a dashed line, and its label, for each way that is known to sustain something."""
        colour = self._channels(None)["color"]
        base = of("sustained")
        rules = base.mark_rule(strokeDash=[10, 4], strokeWidth=1)
        beside = base.encode(y=alt.Y("label:Q", scale=None), color=colour)
        shapes = beside.mark_point(filled=True, size=22, opacity=1)
        words = beside.mark_text(
            align="left", baseline="middle", fontSize=FONT_PX, stroke=PAPER, strokeWidth=3
        )
        return [
            rules.encode(y=from_zero("rate", self.top), color=colour).properties(name="sustained"),
            shapes.encode(x=alt.value(6), shape=self._shapes(None)),
            words.encode(x=alt.value(12), text="words:N"),
        ]

    def _failures(self, end: float) -> alt.LayerChart:
        place: dict[str, Any] = {"x": self._requests(), "y": from_zero("share", end)}
        lines = of("shares").mark_line(strokeWidth=1.5)
        layers = [
            lines.encode(**place, **self._channels(None)),
            cross(of("failing").encode(**place), 90, "fails"),
        ]
        return plot(layers, _FAILURES_HEIGHT, "failed calls, %")

    def _channels(self, legend: alt.Legend | None) -> dict[str, Any]:
        colours, dashes = self._round(_COLOURS), self._round(_DASHES)
        return series("way", self.ways, colours, dashes, legend=legend)

    def _shapes(self, legend: alt.Legend | None) -> alt.Shape:
        scale = alt.Scale(domain=list(self.ways), range=self._round(_SHAPES))
        return alt.Shape("way:N", scale=scale, legend=legend)

    def _round(self, styles: Iterable[_Style]) -> list[_Style]:
        """Return a style for each way; they go round when they run out."""
        return list(islice(cycle(styles), len(self.ways)))

    def _requests(self, *, has_labels: bool = True) -> alt.X:
        # The outermost points keep clear of the edges, for their marks' sake.
        low, high = self.numbers[0] * 0.75, self.numbers[-1] * 1.33
        ticks = self.numbers if len(self.numbers) <= FEW else powers(low, high)
        return alt.X(
            "n:Q",
            title="N requests at once, on a log scale" if has_labels else None,
            scale=alt.Scale(type="log", domain=[low, high], nice=False),
            axis=alt.Axis(
                values=list(ticks), format=",", grid=False, labels=has_labels, ticks=has_labels
            ),
        )


def blast(drawing: BlastDrawing) -> tuple[_Sheet, Rows]:
    """Return throughput against N, and below it the share of calls that failed, if any did."""
    ways = drawing.ways
    points: list[dict[str, Any]] = [
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
    shares: list[dict[str, Any]] = [
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
    highest = max(
        *(row["high"] for row in points),
        *(way.sustained or 0.0 for way in ways),
    )
    sheet = _Sheet(
        ways=tuple(way.name for way in ways),
        numbers=tuple(sorted({row["n"] for row in points})),
        top=top(highest),
        failures_top=(
            top(max(row["share"] for row in shares)) if any(way.fails_at for way in ways) else None
        ),
    )
    return sheet, {
        "points": points,
        "full": [row for row in points if row["full"]],
        "fails": [row for row in points if row["fails"]],
        "sustained": _labelled(ways, sheet.top),
        "shares": shares,
        "failing": [row for row in shares if row["fails"]],
    }


def _labelled(ways: Sequence[Way], end: float) -> list[dict[str, Any]]:
    """Return what each way sustains, where it is known, and where its label has room (px)."""
    known = [(way.name, way.sustained) for way in ways if way.sustained]
    lines = [_RATES_HEIGHT * (1 - rate / end) for _, rate in known]
    # A label stands on its line; where two lines are close, one is above and the other below.
    labels = [
        max(label if label != line else line - FONT_PX * 0.6, FONT_PX / 2)
        for line, label in zip(lines, apart(lines, FONT_PX * 1.2), strict=True)
    ]
    return [
        {"way": name, "rate": rate, "label": label, "words": f"sustained {format_rate(rate)}"}
        for (name, rate), label in zip(known, labels, strict=True)
    ]
