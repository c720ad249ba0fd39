"""Texts of the pages about types, loads and stand-ins."""

from arena.judge.entry import Entry
from arena.judge.figure_words import rounded_words
from arena.judge.leaderboard import Board
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

# The divisions, as text for a switch and for a sentence.
DIVISIONS = {"framework": "production and tuned", "engine": "engines"}

# Which servers a board has, by how many messages they send a DATA frame.
FRAMINGS = {"all": "any number", "single": "one"}


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


def entry_words(entry: Entry) -> str:
    """Return an entry's headline, or `failed`, or `invalid`."""
    if entry.value is None or entry.low is None or entry.high is None:
        return entry.status
    return rounded_words(entry.load.metric, entry.value, entry.low, entry.high, entry.flags)
