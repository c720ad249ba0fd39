"""What all pictures have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.charts.drawing import Drawing
from arena.leaderboard import Board, Row

# So many rows of a board have a picture.
MOST = 6


@dataclass(frozen=True)
class Table:
    """Numbers in words, row by row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """One row's picture: `label` says what it shows to those who do not see it.

    `words` are sentences below it, `table` has the numbers that were drawn.
    """

    row: Row
    label: str
    drawing: Drawing
    words: tuple[str, ...]
    table: Table


def first_rows(board: Board, has_it: Callable[[Row], bool]) -> Sequence[Row]:
    """Return the first rows that have something to draw."""
    return [row for row in board.rows if has_it(row)][:MOST]
