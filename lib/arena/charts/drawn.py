"""Drawings as SVG, each drawn once: the last page keeps those that it shows."""

import hashlib
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from arena import figures, units
from arena.charts.picture import Picture

# What a drawing is made by: when any of it changes, all is drawn anew.
_LIBRARIES = ("altair", "vl-convert-python")
_SOURCES = (
    *map(str, sorted(Path(__file__).parent.glob("*.py"))),
    figures.__file__,
    units.__file__,
)

_KEPT = re.compile(
    r'<svg [^>]*data-drawing="([0-9a-f]{16})" (viewBox="[^"]*">.*?</svg>)', re.DOTALL
)


class Drawn:
    """Makes SVG of pictures, or finds it in the last page.

    A drawing has its numbers' key there, so that one that would come out the same is not drawn
    again; no other file needs to be kept, or cleared away.
    """

    def __init__(self, last_page: str = "") -> None:
        self._kept: dict[str, str] = dict(_KEPT.findall(last_page))

    def svg(self, picture: Picture) -> Markup:
        """Return the picture as an element for the page."""
        key = _key(picture)
        if key not in self._kept:
            # Loaded when there is something to draw: this takes longer than all the rest.
            from arena.charts.draw import draw

            self._kept[key] = draw(picture.drawing)
        head = Markup('<svg role="img" aria-label="{}" data-drawing="{}" ').format(
            picture.label, key
        )
        return head + Markup(self._kept[key])  # noqa: S704 - made of numbers alone


def _key(picture: Picture) -> str:
    """Return what a drawing depends on, in 16 hex digits: its numbers, this code, the libraries."""
    return hashlib.sha256((_code() + repr(picture.drawing)).encode()).hexdigest()[:16]


@cache
def _code() -> str:
    code = hashlib.sha256(b"".join(Path(each).read_bytes() for each in _SOURCES)).hexdigest()
    return " ".join([code, *map(version, _LIBRARIES)])
