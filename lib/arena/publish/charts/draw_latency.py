"""The drawing of latency by percentile: one curve per run, its axis by what is left above."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from arena.publish.charts.drawing import Curve, LatencyDrawing
from arena.publish.charts.marks import (
    ACCENT,
    AS_LINES,
    QUIET,
    SOLID,
    latencies,
    of,
    plot,
    series,
    stack,
)
from arena.publish.charts.scales import steps
from arena.publish.charts.sheet import Rows

_HEIGHT = 150
_SERIES = ("headline's run", "other runs")
_COLOURS = dict(zip(_SERIES, (ACCENT, QUIET), strict=True))

# The label of each share of calls that took longer. Those of the p75 and the p95 have no room.
_LABELS = {0.5: "p50", 0.25: "", 0.1: "p90", 0.05: "", 0.01: "p99", 0.001: "p99.9"}
# The most stands so much further right than the last percentile: it belongs to no share of calls.
_BEYOND = 10
# Marks at the ends of the axis keep clear of its edges, for their labels' sake.
_MARGIN = 1.5


@dataclass(frozen=True)
class _Sheet:
    """Latency from tick to tick; percentiles as far as `last`, the share that is left above."""

    ticks: tuple[float, ...]
    last: float
    has_max: bool
    has_others: bool

    def chart(self) -> alt.VConcatChart:
        legend = AS_LINES if self.has_others else None
        channels = series(
            "series", _SERIES, list(_COLOURS.values()), [SOLID, SOLID], [2, 1], legend=legend
        )
        place: dict[str, Any] = {"x": self._shares(), "y": latencies("ns", self.ticks)}
        # Not by the series: the legend would show them, and not the line.
        own = alt.Color("colour:N", scale=None)
        dots = of("points").mark_point(filled=True, size=14, opacity=1)
        most = of("most").mark_point(filled=True, size=22, opacity=1)
        layers = [
            of("points").mark_line().encode(**place, **channels, detail=alt.Detail("run:N")),
            dots.encode(**place, color=own),
            most.encode(**place, color=own).properties(name="most"),
        ]
        return stack([plot(layers, _HEIGHT, "latency, on a log scale")])

    def _shares(self) -> alt.X:
        labels = {share: label for share, label in _LABELS.items() if share >= self.last}
        if self.has_max:
            labels[self.last / _BEYOND] = "max"
        shares = list(labels)
        words = [f"datum.value > {share * 0.9:g} ? '{label}' : " for share, label in labels.items()]
        return alt.X(
            "above:Q",
            title="percentile, 1 − p on a log scale",
            scale=alt.Scale(
                type="log",
                domain=[shares[-1] / _MARGIN, shares[0] * _MARGIN],
                reverse=True,
                nice=False,
            ),
            axis=alt.Axis(
                values=shares, labelExpr="".join(words) + "''", labelOverlap=False, grid=False
            ),
        )


def latency(drawing: LatencyDrawing) -> tuple[_Sheet, Rows]:
    """Return the curves; the most of a run is a dot beyond its last percentile."""
    # The headline's is drawn last, so that no other hides it.
    curves = [(_SERIES[1], curve) for curve in drawing.others]
    if drawing.headline:
        curves.append((_SERIES[0], drawing.headline))
    values = [ns for _, curve in curves for ns in _values(curve)]
    last = min(share for _, curve in curves for share, _ in curve.points)
    rows = {
        "points": [
            {"run": run, "series": name, "colour": _COLOURS[name], "above": share, "ns": ns}
            for run, (name, curve) in enumerate(curves)
            for share, ns in curve.points
        ],
        "most": [
            {"colour": _COLOURS[name], "above": last / _BEYOND, "ns": curve.max_ns}
            for name, curve in curves
            if curve.max_ns
        ],
    }
    sheet = _Sheet(
        ticks=steps(min(values), max(values)),
        last=last,
        has_max=bool(rows["most"]),
        has_others=bool(drawing.others),
    )
    return sheet, rows


def _values(curve: Curve) -> Sequence[float]:
    values = [ns for _, ns in curve.points]
    return [*values, curve.max_ns] if curve.max_ns else values
