"""The visits of a board's night: each figure of a block leads to its record."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from arena.judge.entry import Entry, Turn
from arena.judge.figure_words import value_words
from arena.judge.leaderboard import Board, Row
from arena.site.edition import Edition


@dataclass(frozen=True)
class VisitedRow:
    """A framework's visits, or its twin's; `cells` has those of each block, in words and a path."""

    display_name: str
    is_twin: bool
    cells: Sequence[Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class NightVisits:
    """All visits of a night, void ones and failures too: the numbers of the blocks, and a row each.

    `count` is the number of their records.
    """

    blocks: Sequence[int]
    rows: Sequence[VisitedRow]
    count: int


def visits_of(edition: Edition, board: Board, rows: Sequence[Row]) -> NightVisits | None:
    """Return the visits of the night that a board shows, in the order of the rows."""
    found: dict[tuple[str, bool], dict[int, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in edition.by_load.get(board.key, ()):
        if entry.turn and board.night and entry.turn.night == board.night.night:
            found[entry.framework, entry.turn.is_twin][entry.turn.block].append(entry)
    blocks = sorted({block for own in found.values() for block in own})
    visited = [
        VisitedRow(
            row.display_name,
            is_twin,
            [
                [(_words(each, each.turn), edition.page_or_json(each.path)) for each in own[block]]
                for block in blocks
            ],
        )
        for row in rows
        for is_twin in (False, True)
        if (own := found.get((row.framework, is_twin)))
    ]
    count = sum(len(cell) for row in visited for cell in row.cells)
    return NightVisits(blocks, visited, count) if visited else None


def _words(entry: Entry, turn: Turn | None) -> str:
    """Return a visit's figure, or why it has none that counts."""
    if entry.problem:
        return "altered"
    if turn is None or turn.figure is None:
        return entry.status
    return "void" if turn.is_void else value_words(entry.load.metric, turn.figure[1], 0)
