"""The drawing of what generators cost: their CPU beside the server's, under each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt

from arena.base.numbers import cost_words
from arena.publish.charts.drawing import TaxDrawing, Toll
from arena.publish.charts.marks import (
    ACCENT,
    AXIS_WIDTH,
    FONT_PX,
    INK,
    QUIET,
    WIDTH,
    of,
    plot,
    stack,
)
from arena.publish.charts.sheet import Rows

_NAMES_WIDTH = 112
_BAR_HEIGHT = 20


@dataclass(frozen=True)
class _Sheet:
    """Two bars for each generator, to `top` CPU seconds."""

    generators: tuple[str, ...]
    unit: str
    top: float

    def chart(self) -> alt.VConcatChart:
        bars = [name for each in self.generators for name in _bars(each)]
        y = alt.Y(
            "bar:N",
            title=None,
            scale=alt.Scale(domain=bars, paddingInner=0.3, paddingOuter=0.15),
            axis=alt.Axis(
                minExtent=_NAMES_WIDTH,
                maxExtent=_NAMES_WIDTH,
                labelLimit=_NAMES_WIDTH - 4,
                domain=False,
                ticks=False,
            ),
        )
        scale = alt.Scale(domain=[0, self.top], nice=False)
        title = f"CPU seconds per million {self.unit}"
        x = alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4, domain=False))
        zero = alt.X("zero:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4, domain=False))
        colour = alt.Color(
            "side:N",
            scale=alt.Scale(domain=["server", "own"], range=[QUIET, ACCENT]),
            legend=None,
        )
        words = of("bars").mark_text(align="left", baseline="middle", dx=4, fontSize=FONT_PX)
        layers = [
            of("bars").mark_bar().encode(x=zero, x2="low:Q", y=y, color=colour)
            .properties(name="known"),
            of("bars").mark_bar(opacity=0.4).encode(x=x, x2="high:Q", y=y, color=colour)
            .properties(name="possible"),
            words.encode(
                x=alt.X("high:Q", title=title, scale=scale), y=y, text="words:N",
                color=alt.value(INK),
            ),
        ]  # fmt: skip
        drawn = plot(layers, _BAR_HEIGHT * len(bars), "")
        drawn.width, drawn.title = WIDTH + AXIS_WIDTH - _NAMES_WIDTH, alt.Undefined
        return stack([drawn])


def tax(drawing: TaxDrawing) -> tuple[_Sheet, Rows]:
    """Return a bar as far as the cost is known, paler as far as it may go, and its figure."""
    rows = [row for toll in drawing.tolls for row in _rows(toll, drawing.top)]
    generators = tuple(toll.generator for toll in drawing.tolls)
    return _Sheet(generators, drawing.unit, drawing.top), {"bars": rows}


def _rows(toll: Toll, end: float) -> Iterator[dict[str, Any]]:
    for bar, side, (low, high) in zip(
        _bars(toll.generator), ("server", "own"), (toll.server, toll.own), strict=True
    ):
        yield {
            "bar": bar,
            "side": side,
            "zero": 0,
            "low": low,
            "high": min(high, end) if high is not None else low,
            "words": cost_words(low, high),
        }


def _bars(generator: str) -> tuple[str, str]:
    """Return the names of a generator's two bars."""
    return f"server under {generator}", f"{generator} itself"
