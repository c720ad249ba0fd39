"""Drawings as SVG, by Altair and vl-convert: no browser, no network, nothing random.

A drawing is made in two steps. Its sheet, with all the words, is drawn once without a mark, and
kept; the marks are drawn without a word, and put into their places on it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import vl_convert

from arena.publish.charts.draw_blast import blast
from arena.publish.charts.draw_latency import latency
from arena.publish.charts.draw_seconds import scheduled, sustained
from arena.publish.charts.draw_tax import tax
from arena.publish.charts.drawing import (
    BlastDrawing,
    Drawing,
    LatencyDrawing,
    ScheduledDrawing,
    SustainedDrawing,
    TaxDrawing,
)
from arena.publish.charts.marks import FONT_PX, INK, LINE, QUIET
from arena.publish.charts.sheet import Rows, Sheet

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
        "columnPadding": 14,
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

_DRAWERS: dict[type, Callable[[Any], tuple[Sheet, Rows]]] = {
    ScheduledDrawing: scheduled,
    SustainedDrawing: sustained,
    BlastDrawing: blast,
    LatencyDrawing: latency,
    TaxDrawing: tax,
}

# The parts of a Vega specification that have words, and need room for them.
_WORDED = ("axes", "legends", "title")

_TAG = re.compile(r'<g(?: class="([^"]*)")?[^>]*>|</g>')
# Where marks go that the sheet has none of.
_HOLE = re.compile(r'<g class="(mark-\S+ role-(?:mark|scope) [^"]*)"[^>]*/>')
# What a page needs nothing of: names of roles, boxes without a colour, and the third decimal of
# what is no word.
_NEEDLESS = re.compile(
    r' (?:role|pointer-events|aria-[a-z]+|font-family)="[^"]*"| opacity="1"'
    r'|<path class="(?:back|fore)ground"[^>]*/>|(?<=\.\d\d)\d+(?=[^<>]*>)'
)
_ROOT = re.compile(r'^<svg [^>]*(viewBox="[^"]*")')


def draw(drawing: Drawing) -> str:
    """Return an SVG from its viewBox on, to stand in an element of the page."""
    sheet, rows = _DRAWERS[type(drawing)](drawing)
    return _drawn(sheet, json.dumps([{"name": name, "values": rows[name]} for name in rows]))


@dataclass(frozen=True)
class _Prepared:
    """A sheet as it was drawn, and the Vega specification of its marks: JSON but for its data."""

    svg: str
    marks: dict[str, Any]


# More than a board, its records and its frameworks have in common; some kilobytes each.
@lru_cache(maxsize=512)
def _drawn(sheet: Sheet, rows: str) -> str:
    prepared = _prepared(sheet)
    given = {each["name"]: each for each in json.loads(rows)}
    data = [given.get(each["name"], each) for each in prepared.marks["data"]]
    found = _groups(vl_convert.vega_to_svg(json.dumps({**prepared.marks, "data": data})))

    def filled(hole: re.Match[str]) -> str:
        marks = found[hole[1]]
        return f'<g class="{hole[1]}">{marks}</g>' if marks else ""

    svg = _HOLE.sub(filled, prepared.svg)
    return _ROOT.sub(r"\1", _NEEDLESS.sub("", svg))


@lru_cache(maxsize=512)
def _prepared(sheet: Sheet) -> _Prepared:
    with alt.utils.schemapi.debug_mode(arg=False):
        chart = sheet.chart().to_dict(validate=False)
    spec = vl_convert.vegalite_to_vega(chart, vl_version=_VEGA_LITE, config=_CONFIG)
    return _Prepared(vl_convert.vega_to_svg(spec), _wordless(spec))


def _wordless(spec: Any) -> Any:
    """Return a specification without what has words, in all its groups."""
    if isinstance(spec, list):
        return [_wordless(each) for each in spec]
    if isinstance(spec, dict):
        return {key: _wordless(each) for key, each in spec.items() if key not in _WORDED}
    return spec


def _groups(svg: str) -> dict[str, str]:
    """Return the content of groups by their class: that of marks is no other's."""
    found: dict[str, str] = {}
    opened: list[tuple[str, int]] = []
    for tag in _TAG.finditer(svg):
        if tag[0] == "</g>":
            name, begin = opened.pop()
            found[name] = svg[begin : tag.start()]
        elif tag[0].endswith("/>"):
            found[tag[1] or ""] = ""
        else:
            opened.append((tag[1] or "", tag.end()))
    return found
