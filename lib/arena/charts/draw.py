"""Drawings as SVG, by Altair and vl-convert: no browser, no network, nothing random."""

import re
from typing import Any

import vl_convert

from arena.charts.draw_blast import blast
from arena.charts.draw_seconds import scheduled, sustained
from arena.charts.drawing import BlastDrawing, Drawing, ScheduledDrawing
from arena.charts.marks import FONT_PX, INK, LINE, QUIET

_VEGA_LITE = "6.1"

_CONFIG: dict[str, Any] = {
    "aria": False,
    "background": "transparent",
    "font": "sans-serif",
    "padding": {"left": 2, "right": 12, "top": 2, "bottom": 2},
    "axis": {
        "domainColor": LINE,
        "gridColor": LINE,
        "tickColor": LINE,
        "labelColor": QUIET,
        "labelFontSize": FONT_PX,
        "titleColor": QUIET,
        "titleFontSize": FONT_PX,
        "titleFontWeight": "normal",
    },
    "legend": {
        "orient": "top",
        "title": None,
        "offset": 4,
        "padding": 0,
        "rowPadding": 1,
        "labelColor": INK,
        "labelFontSize": FONT_PX,
        "labelLimit": 260,
        "symbolSize": 90,
        "symbolOpacity": 1,
    },
    "title": {
        "anchor": "start",
        "color": QUIET,
        "fontSize": FONT_PX,
        "fontWeight": "normal",
        "offset": 4,
    },
    "view": {"stroke": "transparent"},
}

# What a page needs nothing of: names of roles, boxes without a colour, and the third decimal.
_NEEDLESS = re.compile(
    r' (?:role|pointer-events|aria-[a-z]+|font-family)="[^"]*"| opacity="1"'
    r'|<path class="(?:back|fore)ground"[^>]*/>|(?<=\.\d\d)\d+'
)
_ROOT = re.compile(r'^<svg [^>]*(viewBox="[^"]*")')


def draw(drawing: Drawing) -> str:
    """Return an SVG from its viewBox on, to stand in an element of the page."""
    if isinstance(drawing, ScheduledDrawing):
        chart = scheduled(drawing)
    elif isinstance(drawing, BlastDrawing):
        chart = blast(drawing)
    else:
        chart = sustained(drawing)
    svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=_VEGA_LITE, config=_CONFIG)
    return _ROOT.sub(r"\1", _NEEDLESS.sub("", svg))
