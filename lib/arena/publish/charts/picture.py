"""What all pictures have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.judge.leaderboard import Board, Row

# This many rows of a board have a picture.
MOST = 6


@dataclass(frozen=True)
class Table:
    """Numbers in words, row by row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A drawing with its words: `label` describes it to those who do not see it.

    `title` stands above it, `words` are sentences below it, `table` has the numbers that are
    drawn. `svg` is the content of an `svg` element from its viewBox on. Titles and labels hold
    names as their owners wrote them; a drawing holds none.
    """

    title: str
    label: str
    svg: Markup
    words: tuple[str, ...]
    table: Table


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
