"""The hand of all drawings: colours, dashes, shapes, axes and series, as Altair knows them.

Colours are the page's own variables, so that a picture is light or dark as the page is. What a
colour tells, a dash, a width or a shape tells as well.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from arena.publish.charts.scales import few

# Of a plot without its axes, in px: a narrow phone's. A page lays pictures side by side where
# there is room. The axis of every plot takes the same room beside it, so that they line up.
WIDTH = 300
AXIS_WIDTH = 42
FONT_PX = 11

INK, QUIET, FAINT, LINE, ACCENT, BAD, PAPER = (
    f"var(--{name})" for name in ("ink", "quiet", "faint", "line", "accent", "bad", "paper")
)

SOLID: tuple[float, ...] = (1, 0)

# A legend of lines, whatever other marks there are.
AS_LINES = alt.Legend(symbolType="stroke")

_CROSS = "M-.7,-.7L.7,.7M-.7,.7L.7,-.7"


def _in_units(*units: tuple[float, str]) -> str:
    """Return Vega's words for what units.py writes: `5 ms`, `1.5 M`, and a plain 0."""
    choices = (
        f"datum.value >= {scale:.0f} ? format(datum.value / {scale:.0f}, '~g') + ' {unit}' : "
        for scale, unit in units
    )
    return "".join(choices) + "format(datum.value, '~g')"


_NS = _in_units((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_RATE = _in_units((1e9, "G"), (1e6, "M"), (1e3, "k"))


def of(name: str) -> alt.Chart:
    """Return a chart of the rows of that name, without a mark yet."""
    return alt.Chart(alt.NamedData(name=name))


def plot(layers: Sequence[alt.Chart], height: int, title: str) -> alt.LayerChart:
    """Return the layers over each other, below a title."""
    return alt.LayerChart(layer=list(layers), width=WIDTH, height=height, title=title)


def stack(plots: Sequence[alt.LayerChart]) -> alt.VConcatChart:
    """Return the plots below each other, each with its own series and legend."""
    own = alt.ScaleResolveMap(
        color="independent",
        shape="independent",
        strokeDash="independent",
        strokeWidth="independent",
    )
    return alt.VConcatChart(vconcat=list(plots), spacing=10, resolve=alt.Resolve(scale=own))


def series(
    field: str,
    names: Sequence[str],
    colours: Sequence[str],
    dashes: Sequence[Sequence[float]],
    widths: Sequence[float] = (),
    legend: alt.Legend | None = AS_LINES,
) -> dict[str, Any]:
    """Return the channels that tell series apart; together they make one legend, or None."""

    def scale(values: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=list(names), range=list(values))

    channels: dict[str, Any] = {
        "color": alt.Color(f"{field}:N", scale=scale(colours), legend=legend),
        "strokeDash": alt.StrokeDash(f"{field}:N", scale=scale(dashes), legend=legend),
    }
    if widths:
        channels["strokeWidth"] = alt.StrokeWidth(f"{field}:N", scale=scale(widths), legend=legend)
    return channels


def cross(base: alt.Chart, size: int, name: str) -> alt.Chart:
    """Return crosses: something went wrong here."""
    mark = base.mark_point(shape=_CROSS, color=BAD, size=size, strokeWidth=2, opacity=1)
    named: alt.Chart = mark.properties(name=name)
    return named


def y_axis(**changes: Any) -> alt.Axis:
    """Return a y axis of nothing but labels and a grid."""
    return alt.Axis(
        title=None,
        minExtent=AXIS_WIDTH,
        maxExtent=AXIS_WIDTH,
        domain=False,
        ticks=False,
        **changes,
    )


def from_zero(field: str, end: float) -> alt.Y:
    """Return a y axis from 0 to its end: 0, 50 k, 100 k."""
    scale = alt.Scale(domain=[0, end], nice=False)
    return alt.Y(f"{field}:Q", scale=scale, axis=y_axis(labelExpr=_RATE, tickCount=4))


def latencies(field: str, ticks: Sequence[float]) -> alt.Y:
    """Return a y axis of nanoseconds, on a log scale from the first tick to the last."""
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    return alt.Y(f"{field}:Q", scale=scale, axis=y_axis(values=list(few(ticks)), labelExpr=_NS))
