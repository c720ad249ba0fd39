"""A night's result under one load, as lines of text for a terminal."""

from collections.abc import Iterator

from arena.base.text import columns
from arena.judge.archive import Archive
from arena.judge.figure_words import rounded_interval, rounded_words
from arena.judge.leaderboard import Board, Row, rank_entries
from arena.judge.load_key import Place


def night_lines(archive: Archive, night: str, place: Place) -> Iterator[str]:
    """Yield the boards of a night alone: who has which rank, the estimates, and what is wrong.

    `place` has the profile, the connections, the generator and the id of the host class.
    """
    entries = [
        each
        for each in archive.entries.values()
        if each.turn and each.turn.night == night and each.load.place == place
    ]
    for board in rank_entries(entries, archive.read).boards:
        if board.framing == "all":
            yield from _lines(board)


def _lines(board: Board) -> Iterator[str]:
    name = f"{board.profile}, {board.connections} connections, {board.generator}"
    found = board.night
    if found is None:
        yield f"{name}: no block is whole, so there is no estimate"
        return
    whole = f"{found.blocks} of {found.planned} blocks are whole"
    yield f"{name}: {whole}, {found.voids} of {found.visits} visits void"
    yield from columns([_cells(board, row) for row in board.rows], right=(2,))
    if found.why_not:
        yield found.why_not
    elif found.detectable is not None:
        share = f"{100 * found.detectable:.1f} %"
        yield f"This night can usually tell two frameworks apart that differ by {share}."
    for twin in found.twins:
        verdict = "tied" if twin.is_tied else "NOT TIED: this board invents differences"
        yield f"{twin.framework} and its twin: {verdict} (ratio {twin.ratio:.3f})"


def _cells(board: Board, row: Row) -> tuple[str, ...]:
    """Return the cells of a row: ranks, name, estimate, interval, letters, remarks."""
    best, worst = row.rank_set or (0, 0)
    rank = f"{best}" if best == worst else f"{best}–{worst}"
    remarks = [f"{row.failure.status}: {row.failure.reason}"] if row.failure else []
    estimate, metric = row.estimate, board.metric
    if estimate is None:
        return "–", row.framework, "–", "", "", ", ".join(remarks)
    if estimate.still_warming:
        remarks.append("still warming up")
    if estimate.voids:
        remarks.append(f"{estimate.voids} void")
    figures = metric, estimate.value, estimate.low, estimate.high
    return (
        rank if row.rank_set else "–",
        row.framework,
        rounded_words(*figures),
        rounded_interval(*figures),
        row.letters or "",
        ", ".join(remarks),
    )
