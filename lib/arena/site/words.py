"""Texts of the pages about types, loads and stand-ins."""

from collections import Counter
from collections.abc import Sequence

from arena.judge.entry import Entry
from arena.judge.figure_words import rank_words, rounded_words
from arena.judge.host_class import HostClass
from arena.judge.leaderboard import Board, has_place
from arena.judge.row import Row
from arena.load.generators import descriptions
from arena.what.loads import LoadShape

WARNING = (
    "A check found something that the server should do differently. "
    "Its replies are correct nevertheless."
)

STANDIN = (
    "The server's image was built on a local copy of its official base image, "
    "because no image registry could be reached."
)

# What a type promises; docs/rules.md has the rules.
TYPES = {
    "production": "The library's own server as its documentation shows it, with default or "
    "documented production settings.",
    "tuned": "The library's own server with optional settings, each of them explained. "
    "Ranked with production.",
    "engine": "Only the contract applies: framing and HTTP/2 may be its own. Ranked apart.",
}

# The framings of a board of streams: all servers, or those that send each message in a frame.
FRAMINGS = {"all": "all", "single": "one message a frame"}

# Generators that check no reply.
UNCHECKING = tuple(name for name, each in descriptions().items() if not each.checks_replies)

# What a generator's latencies leave out. volley's have calls that never ended, with their ages.
ENDED = {
    name: f"{name}'s latencies are of calls that ended: a call without an end is in none of its "
    "percentiles."
    for name in UNCHECKING
}

BOUNDS = "≥ before a latency marks a lower bound: too many calls were open at the end to know more."

# The divisions, as text for a switch and for a sentence.
DIVISIONS = {"framework": "production and tuned", "engine": "engines"}


def count(number: int, noun: str) -> str:
    """Return a count of things: `1 run`, `1,024 connections`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def connections(load: type[LoadShape], number: int) -> str:
    """Return a load's connections: `8 connections`, or `up to 8` if it has several counts."""
    return "up to " * load.joins_connections + count(number, "connection")


def load(board: Board) -> str:
    """Return the size of a board's load: 5 s three times, or 1000 calls once."""
    return board.load.replace("-calls", " calls").replace("-x-", " × ")


def load_note(board: Board) -> str:
    """Return a remark on a board of another load or host than the usual ones; else nothing."""
    kind = "trial" if board.is_trial else "" if board.is_current else "older load"
    return ", ".join([*([kind, load(board)] if kind else []), *filter(None, [host_note(board)])])


def host_note(board: Board) -> str:
    """Return the hosts of a board, if they are not of the home class; else nothing."""
    return "" if board.is_home else board.host_class.words


def apart(texts: Sequence[str]) -> list[str]:
    """Return what tells texts apart: each without the parts, between commas, that all share."""
    parts = [text.split(", ") for text in texts]
    shared = set[str]().union(*parts[:1]).intersection(*parts) if parts[1:] else set()
    own = (", ".join(each for each in found if each not in shared) for found in parts)
    return [short or text for short, text in zip(own, texts, strict=True)]


def hosts_apart(classes: Sequence[HostClass]) -> list[str]:
    """Return what tells classes of hosts apart: of those in equal words, the kind of CPU too."""
    counts = Counter(each.words for each in classes)
    return apart(
        [f"{it.words}, {it.kind_of_cpu}" if counts[it.words] > 1 else it.words for it in classes]
    )


def entry_words(entry: Entry) -> str:
    """Return an entry's headline; `altered`, `failed` or `invalid` if it does not count."""
    if entry.problem:
        return "altered"
    if entry.value is None or entry.low is None or entry.high is None:
        return entry.status
    return rounded_words(entry.load.metric, entry.value, entry.low, entry.high, entry.flags)


def ranks(row: Row, board: Board) -> tuple[int, int] | None:
    """Return a row's best and worst possible rank, by blocks if the board has a night of them."""
    if board.night:
        return row.rank_set
    return None if row.rank is None else (row.rank, row.rank)


def has_only_failed(row: Row) -> bool:
    """Return whether a row has a failure and no figure."""
    return row.failure is not None and not (row.result or row.estimate)


def leaders(board: Board) -> list[Row]:
    """Return the first row of a board; with a rank, all rows that may be the first, best first.

    Empty if no row has a figure of the profile's load.
    """
    placed = [row for row in board.rows if is_placed(row, board)]
    return first_ranked(board) if placed[:1] and leads(placed[0], board) else placed[:1]


def first_ranked(board: Board) -> list[Row]:
    """Return the rows that may be the first of those with a rank, the best one first."""
    return [row for row in board.rows if leads(row, board)]


def is_placed(row: Row, board: Board) -> bool:
    """Return whether a row stands where its figure puts it, with a rank or without one."""
    return bool(row.estimate if board.night else row.result and has_place(row.result))


def leads(row: Row, board: Board) -> bool:
    """Return whether a row may be the first of its board."""
    found = ranks(row, board)
    return found is not None and found[0] == 1


def rank(row: Row, board: Board) -> str:
    """Return a row's rank: `2`, or a range if it may be any of them; empty without one."""
    found = ranks(row, board)
    return "" if found is None else rank_words(found)


def share(part: float) -> str:
    """Return a share in percent, with two digits: `4.5`, `12`."""
    percent = part * 100
    return f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"  # noqa: PLR2004
