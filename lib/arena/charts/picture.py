"""What all pictures have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.charts.drawing import Drawing
from arena.leaderboard import Board, Row
from arena.measurement import Second

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


def second_words(number: int, second: Second) -> str:
    """Return what a table calls a second, and how much of it there was."""
    return f"{number}" if second.length_s == 1 else f"{number} ({second.length_s:.2f} s of it)"


def first_rows(board: Board, has_it: Callable[[Row], bool]) -> Sequence[Row]:
    """Return the first rows that have something to draw."""
    return [row for row in board.rows if has_it(row)][:MOST]
