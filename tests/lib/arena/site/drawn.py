"""What a picture's SVG shows, in px of its plots."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from arena.judge.derive import derive
from arena.record.record import Record
from arena.site.charts.latency import latency_picture
from arena.site.charts.picture import Picture
from arena.site.kinds import run_picture


def headline_run(record: Record) -> int | None:
    headline = derive(record).headline
    return headline.run if headline else None


def latency_of(record: Record) -> Picture | None:
    """Return the picture of a record's latencies."""
    return latency_picture(record, headline_run(record))


def course_of(record: Record) -> Picture | None:
    """Return the picture of the headline's run."""
    return run_picture(record, headline_run(record))


Places = list[tuple[float, float]]


class Drawn:
    """The SVG of a picture."""

    def __init__(self, picture: Picture | None) -> None:
        assert picture
        self.svg = picture.svg
        self.root = ET.fromstring(f"<svg {self.svg}")

    @property
    def words(self) -> list[str]:
        """Every text, in order."""
        return [text.text or "" for text in self.root.iter("text")]

    def marks(self, kind: str, colour: str = "") -> list[ET.Element]:
        """Return the marks of a kind, in all plots, of any colour unless one is named."""
        wanted = {f"var(--{colour})"} if colour else None
        return [
            mark
            for mark in self.root.iter("path")
            if mark.get("class") == kind
            and (not wanted or wanted & {mark.get("stroke"), mark.get("fill")})
        ]

    def places(self, kind: str, colour: str = "") -> list[Places]:
        """Return the corners of each mark of a kind; of shapes, their middles."""
        return [_corners(mark.get("d", "")) for mark in self.marks(kind, colour)]

    def boxes(self, kind: str) -> list[tuple[float, ...]]:
        """Return left, top, width and height of each box of a kind."""
        number = r"(-?[\d.]+)"
        found = [
            re.findall(rf"M{number} {number}h{number}v{number}", mark.get("d", ""))
            for mark in self.marks(kind)
        ]
        return [tuple(map(float, box)) for boxes in found for box in boxes]


def _corners(path: str) -> Places:
    corners: Places = []
    for command, numbers in re.findall(r"([MLV])([-\d. ]+)", path):
        values = list(map(float, numbers.split()))
        x, y = (corners[-1][0], values[0]) if command == "V" else values
        if (x, y) not in corners[-1:]:
            corners.append((x, y))
    return corners


def heights(places: Sequence[tuple[float, float]]) -> list[float]:
    return [y for _, y in places]
