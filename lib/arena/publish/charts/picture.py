"""What all pictures have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.judge.leaderboard import Board, Row
from arena.publish.charts.drawing import Drawing
from arena.record.measurement import Second

# So many rows of a board have a picture.
MOST = 6


@dataclass(frozen=True)
class Table:
    """Numbers in words, row by row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A drawing with its words: `label` says what it shows to those who do not see it.

    `title` stands above it, `words` are sentences below it, `table` has the numbers that were
    drawn. Titles and labels hold names as their owners wrote them; a drawing holds none.
    """

    title: str
    label: str
    drawing: Drawing
    words: tuple[str, ...]
    table: Table

    @property
    def svg(self) -> Markup:
        """The drawing, from its viewBox on, to stand in an `svg` element of a page."""
        # Loaded when there is something to draw: this takes longer than a whole page.
        from arena.publish.charts.draw import draw

        return Markup(draw(self.drawing))  # noqa: S704 - made of numbers alone


def second_words(number: int, second: Second) -> str:
    """Return what a table calls a second, and how much of it there was."""
    return f"{number}" if second.length_s == 1 else f"{number} ({second.length_s:.2f} s of it)"


def first_rows(board: Board, has_it: Callable[[Row], bool]) -> Sequence[Row]:
    """Return the first rows that have something to draw."""
    return [row for row in board.rows if has_it(row)][:MOST]


def conditions(row: Row) -> tuple[object, ...]:
    """Return what must be the same for figures of two rows to stand side by side, but the load."""
    cpus = (
        "unpinned" in row.flags,
        row.overrides.get("SERVER_CPUS"),
        row.overrides.get("LOADGEN_CPUS"),
    )
    return row.framework, row.machine, row.runtime, row.standin, cpus
