"""The parts that all pictures share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.judge.leaderboard import Board
from arena.judge.row import Result

# The number of a board's rows that have a picture.
MOST = 6


@dataclass(frozen=True)
class Table:
    """Numbers as text, row by row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A drawing with its text: `label` describes it to people who cannot see it.

    `title` is above it, `words` are sentences below it, and `table` has the numbers that are
    drawn. `svg` is the content of an `svg` element from its viewBox on. Titles and labels may hold
    names written by other people; a drawing holds none.
    """

    title: str
    label: str
    svg: Markup
    words: tuple[str, ...]
    table: Table


def first_results(
    board: Board, has_it: Callable[[Result], bool]
) -> Sequence[tuple[str, str, Result]]:
    """Return the first results that can be drawn, with framework and display name."""
    found = [(row.framework, row.display_name, row.result) for row in board.rows if row.result]
    return [each for each in found if has_it(each[-1])][:MOST]
