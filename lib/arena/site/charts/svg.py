"""Drawing: plots as SVG text, one path per series.

Colours are the page's own variables, so a picture is light or dark like the page. Colour never
stands alone: a dash, a width or a shape shows the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markupsafe import Markup, escape

from arena.site.charts.axes import Axis

# In px. A plot fits a narrow phone; a page puts pictures side by side if there is
# room. The labels of every y axis have the same width, so that plots line up.
WIDTH = 300
LEFT = 44
RIGHT = 14
FONT_PX = 11
_LINE_PX = 15
# From the middle of a line of text to its baseline.
_FOOT = 4

INK, QUIET, FAINT, LINE, ACCENT, BAD, PAPER = (
    f"var(--{name})" for name in ("ink", "quiet", "faint", "line", "accent", "bad", "paper")
)

# Marks at a point, drawn from its middle.
SHAPES = {
    "circle": "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
    "square": "m-2.5-2.5h5v5h-5z",
    "triangle": "m0-3l3 5h-6z",
    "diamond": "m0-3.5l3 3.5l-3 3.5l-3-3.5z",
    "wedge": "m0 3l3-5h-6z",
    "ring": "m-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0",
    "cross": "m-3-3l6 6m0-6l-6 6",
}

# A value on each axis, or None on the y axis; and a place in px from the plot's top left.
Point = tuple[float, float | None]
Place = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """The style of a series, and its name in the legend."""

    name: str
    colour: str
    width: float = 1.5
    dash: str = ""
    shape: str = ""


@dataclass
class Plot:
    """A plot area between two axes, below a title and a legend; `height` (px) is the area's."""

    title: str
    x: Axis
    y: Axis
    height: float
    legend: Sequence[Series] = ()
    left: float = LEFT
    _marks: list[str] = field(default_factory=list)

    @property
    def width(self) -> float:
        """The width of the plot area (px)."""
        return LEFT + WIDTH - self.left

    def across(self, value: float) -> float:
        """Return the distance of an x value from the left (px)."""
        return self.x.share(value) * self.width

    def down(self, value: float) -> float:
        """Return the distance of a y value from the top (px)."""
        return (1 - self.y.share(value)) * self.height

    def line(self, series: Series, points: Iterable[Point]) -> None:
        """Draw a line with a gap where a point has no value; a point between two gaps is a dot."""
        lines, alone = [], []
        for is_known, group in groupby(points, lambda point: point[1] is not None):
            places = [(self.across(x), self.down(y)) for x, y in group if y is not None]
            if is_known:
                lines.append("M" + "L".join(map(_pair, places)))
                alone += places if len(places) == 1 else []
        self._path("line", lines, stroke=series.colour, width=series.width, dash=series.dash)
        self.shapes(alone, "circle", fill=series.colour)

    def shapes(
        self, places: Iterable[Place], shape: str, *, fill: str = "", stroke: str = ""
    ) -> None:
        """Draw a shape at each place."""
        paths = [f"M{_pair(place)}{SHAPES[shape]}" for place in places]
        self._path(shape, paths, fill=fill, stroke=stroke, width=1.5 if stroke else 0)

    def dots(self, series: Series, points: Iterable[tuple[float, float]]) -> None:
        """Draw a series' shape at each point."""
        self.shapes(self.places(points), series.shape or "circle", fill=series.colour)

    def crosses(self, places: Iterable[Place]) -> None:
        """Draw crosses at places where something went wrong."""
        self.shapes(places, "cross", stroke=BAD)

    def places(self, points: Iterable[tuple[float, float]]) -> list[Place]:
        """Return the places of points."""
        return [(self.across(x), self.down(y)) for x, y in points]

    def upright(self, colour: str, spans: Iterable[tuple[float, float, float]]) -> None:
        """Draw a vertical line for each span: x, low and high."""
        paths = [
            f"M{_pair((self.across(x), self.down(low)))}V{_number(self.down(high))}"
            for x, low, high in spans
        ]
        self._path("interval", paths, stroke=colour, width=1, opacity=0.6)

    def rule(self, series: Series, y: float) -> None:
        """Draw a dashed line across the plot at a height (px)."""
        path = f"M0 {_number(y)}h{self.width:g}"
        self._path("rule", [path], stroke=series.colour, width=1, dash="10 4")

    def boxes(
        self, kind: str, boxes: Iterable[tuple[Place, float, float]], fill: str, opacity: float
    ) -> None:
        """Draw boxes: the top left place, the width and the height (px)."""
        paths = [
            f"M{_pair(place)}h{_number(width)}v{_number(height)}h{_number(-width)}z"
            for place, width, height in boxes
        ]
        self._path(kind, paths, fill=fill, opacity=opacity)

    def text(self, place: Place, words: str, colour: str) -> None:
        """Write text that starts at a place, with room around it."""
        x, y = place
        halo = f' stroke="{PAPER}" stroke-width="3"'
        self._marks.append(_text(x, y + _FOOT, words, f' fill="{colour}"{halo}'))

    def _path(
        self, kind: str, paths: Sequence[str], *, fill: str = "", stroke: str = "",
        width: float = 0, dash: str = "", opacity: float = 1,
    ) -> None:  # fmt: skip
        if paths:
            attributes = {
                "fill": fill, "stroke": stroke, "stroke-width": width and f"{width:g}",
                "stroke-dasharray": dash, "opacity": "" if opacity == 1 else f"{opacity:g}",
            }  # fmt: skip
            words = "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
            self._marks.append(f'<path class="{kind}"{words} d="{"".join(paths)}"/>')

    def svg(self) -> tuple[str, float]:
        """Return the plot with all its text, and its total height (px)."""
        y = FONT_PX
        parts = []
        if self.title:
            parts.append(_text(0, y, self.title, f' fill="{QUIET}"'))
            y += _LINE_PX
        x = 0.0
        for series in self.legend:
            # A letter is at most 6.5 px wide.
            length = 24 + 6.5 * len(series.name)
            if x + length > self.left + self.width:
                x, y = 0.0, y + _LINE_PX
            parts.append(_key(x, y, series))
            x += length
        y += _FOOT * 3 if self.legend else -_FOOT
        parts.append(f'<g transform="translate({_number(self.left)} {_number(y)})">')
        parts += [*self._axes(), *self._marks, "</g>"]
        lines = bool(self.x.ticks) + bool(self.x.title)
        return "".join(parts), y + self.height + lines * _LINE_PX + _FOOT

    def _axes(self) -> Iterator[str]:
        """Yield the grid and the ticks as one path, and their labels."""
        below, lines, labels = self.height + FONT_PX + 5, [f"M0 {self.height:g}h{self.width:g}"], []
        for value, label in self.y.ticks:
            y = self.down(value)
            lines.append(f"M0 {_number(y)}h{self.width:g}" if self.y.has_grid else "")
            labels.append(_text(-6, y + _FOOT, label, ' text-anchor="end"'))
        for value, label in self.x.ticks:
            x = self.across(value)
            length = -self.height if self.x.has_grid else 4
            lines.append(f"M{_number(x)} {self.height:g}v{length:g}")
            labels.append(_text(x, below, label, ' text-anchor="middle"'))
        if self.x.title:
            labels.append(
                _text(self.width / 2, below + _LINE_PX, self.x.title, ' text-anchor="middle"')
            )
        yield f'<path class="axes" stroke="{LINE}" d="{"".join(lines)}"/>'
        yield f'<g fill="{QUIET}">{"".join(labels)}</g>'


def svg(plots: Sequence[Plot]) -> Markup:
    """Return an `svg` element's content from its viewBox on: the plots, one below the other."""
    parts, y = [], 0.0
    for plot in plots:
        drawn, height = plot.svg()
        parts.append(f'<g transform="translate(0 {_number(y)})">{drawn}</g>')
        y += height + 2 * _FOOT
    view = f'viewBox="0 0 {LEFT + WIDTH + RIGHT} {_number(y)}"'
    return Markup(  # noqa: S704 - all words in it are escaped
        f'{view} fill="none" font-size="{FONT_PX}">{"".join(parts)}</svg>'
    )


def _key(x: float, y: float, series: Series) -> str:
    middle = y - _FOOT
    if series.shape:
        mark = f'<path fill="{series.colour}" d="M{_pair((x + 6, middle))}{SHAPES[series.shape]}"/>'
    else:
        dash = f' stroke-dasharray="{series.dash}"' if series.dash else ""
        mark = (
            f'<path stroke="{series.colour}" stroke-width="{series.width:g}"{dash} '
            f'd="M{_pair((x, middle))}h12"/>'
        )
    return mark + _text(x + 16, y, series.name, f' fill="{INK}"')


def _text(x: float, y: float, words: str, attributes: str) -> str:
    return f'<text x="{_number(x)}" y="{_number(y)}"{attributes}>{escape(words)}</text>'


def _pair(place: Place) -> str:
    return f"{_number(place[0])} {_number(place[1])}"


def _number(value: float) -> str:
    """Return a number of px, rounded: a tenth of a px is invisible."""
    return f"{round(value, 1):g}"
