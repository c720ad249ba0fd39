"""What all pictures have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.judge.leaderboard import Board, Result

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


def first_results(
    board: Board, has_it: Callable[[Result], bool]
) -> Sequence[tuple[str, str, Result]]:
    """Return the first results that have something to draw, with framework and display name."""
    found = [(row.framework, row.display_name, row.result) for row in board.rows if row.result]
    return [each for each in found if has_it(each[-1])][:MOST]


def conditions(result: Result) -> tuple[object, ...]:
    """Return what must be the same for two results of a framework to compare, but the load."""
    cpus = (
        "unpinned" in result.flags,
        result.overrides.get("SERVER_CPUS"),
        result.overrides.get("LOADGEN_CPUS"),
    )
    return result.machine, result.runtime, result.standin, cpus
