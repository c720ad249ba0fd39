"""Strips: figures as marks on one line, drawn without text.

The marks are paths of whole numbers in a box of WIDTH by HEIGHT, so that a board's row costs few
bytes: dots are lines of length zero with round ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

WIDTH = 400
HEIGHT = 28
_MARGIN = 10
_MIDDLE = HEIGHT // 2
_TICK = 24

# Values that differ by more than this factor are usually drawn on a logarithmic scale.
_FAR = 20


@dataclass(frozen=True)
class Strip:
    """The data of up to four paths: an interval, dots, highlighted dots, and a tick."""

    bar: str = ""
    dots: str = ""
    best: str = ""
    tick: str = ""


@dataclass(frozen=True)
class Scale:
    """The scale from `least`, which is 0 unless the scale is logarithmic, to `most`."""

    most: float
    least: float = 0.0

    @property
    def is_log(self) -> bool:
        """Whether equal steps are equal ratios."""
        return self.least > 0

    def at(self, value: float) -> int:
        """Return the position of a value."""
        if self.is_log:
            # Logarithms are subtracted: the ends may be too far apart for a ratio.
            least = log(self.least)
            share = (log(max(value, self.least)) - least) / (log(self.most) - least)
        else:
            share = value / self.most if self.most else 0.0
        return round(_MARGIN + min(share, 1.0) * (WIDTH - 2 * _MARGIN))

    def strip(
        self,
        values: Iterable[float],
        best: Iterable[float] = (),
        interval: tuple[float, float] | None = None,
        middle: float | None = None,
    ) -> Strip:
        """Return a strip of some values, the highlighted ones, an interval and a middle."""
        bar = ""
        if interval and interval[0] < interval[1]:
            left, right = map(self.at, interval)
            bar = f"M{left} {_MIDDLE}h{max(right - left, 1)}"
        top = (HEIGHT - _TICK) // 2
        tick = "" if middle is None else f"M{self.at(middle)} {top}v{_TICK}"
        return Strip(bar, self._dots(values), self._dots(best), tick)

    def _dots(self, values: Iterable[float]) -> str:
        places = sorted({self.at(value) for value in values})
        return "".join(f"M{place} {_MIDDLE}h0" for place in places)


def scale_of(values: Iterable[float], far: float = _FAR) -> Scale:
    """Return the scale for some values: logarithmic if they differ by more than the factor `far`.

    On a linear scale, all values below a hundredth of the best would look alike.
    """
    known = [value for value in values if value > 0]
    if not known:
        return Scale(0.0)
    least, most = min(known), max(known)
    return Scale(most, least) if most > far * least else Scale(most)


def line(figures: Sequence[tuple[float, float, float]]) -> Strip:
    """Return figures over time, oldest first: low, value and high; the top is the highest.

    The bars are their intervals.
    """
    most = max((high for _, _, high in figures), default=0.0) or 1.0
    step = (WIDTH - 2 * _MARGIN) / max(len(figures) - 1, 1)
    tall = HEIGHT * 2
    bars, dots, corners = [], [], []
    for number, figure in enumerate(figures):
        across = round(_MARGIN + number * step)
        low, value, high = (round(tall - 4 - each / most * (tall - 8)) for each in figure)
        bars.append(f"M{across} {low}V{high}")
        dots.append(f"M{across} {value}h0")
        corners.append(f"{across} {value}")
    return Strip("".join(bars), "".join(dots), "", "M" + "L".join(corners))
