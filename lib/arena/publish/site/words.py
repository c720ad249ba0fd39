"""What the pages say of flags, types, loads and stand-ins, in a sentence or two."""

from arena.judge.entry import Entry
from arena.judge.leaderboard import Board
from arena.judge.words import rounded_words

# What a flag means to a reader of the page, in a sentence or two.
FLAGS = {
    "client-bound": "The generator used all its CPUs, or more CPU than the server: "
    "the server may be faster than this.",
    "littles-law": "Calls per second × mean latency misses the calls in flight by over 15 %. "
    "The latencies are only those of calls that finished: long ones that were cut are missing.",
    "missed-schedule": "In some second the generator sent over 5 % more or fewer calls than were "
    "due, and over one. That is not the schedule's load, so the row has no rank; its picture marks "
    "the seconds.",
    "cut-short": "The sweep's time was over before each point had six shots. The fastest of points "
    "with few shots is fast by chance, so the row has no rank.",
    "cut-calls": "Calls were still open when the window closed; the error bar covers them.",
    "none-finished": "No call finished inside the window, so there is no latency, and a rate "
    "that is made of calls is only known to be lower.",
    "failed-calls": "Some calls failed; only those that succeeded are counted.",
    "status-unchecked": "The generator reads no gRPC status: a call counts once its HTTP status "
    "is 2xx, even if it failed. That the server answers rightly was checked before and after.",
    "approximate": "The generator can only come near this load. How a number is made says how "
    "near, and why.",
    "unpinned": "Server and generator shared the CPUs.",
}

WARNING = (
    "The contract found something that a server should do otherwise. "
    "Its answers are right all the same."
)

STANDIN = (
    "The server's image was built on a local copy of its official base image, "
    "made where no image registry could be reached."
)

# What a type promises; docs/rules.md has the rules.
TYPES = {
    "production": "The library's own server as its documentation shows it, with default or "
    "documented production settings.",
    "tuned": "The library's own server with settings that nobody has to use, each of them "
    "explained. Ranked with production.",
    "engine": "No rules but the contract: framing and HTTP/2 may be its own. Ranked apart.",
}

# The divisions, as a switch and as a sentence call them.
DIVISIONS = {"framework": "production and tuned", "engine": "engines"}


def count(number: int, noun: str) -> str:
    """Return a number of things: `1 run`, `1,024 connections`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def connections(board: Board) -> str:
    """Return a board's connections: so many, or of a blast at most so many."""
    most = "up to " if board.kind == "blast" else ""
    return most + count(board.connections, "connection")


def entry_words(entry: Entry) -> str:
    """Return an entry's headline, or `failed`, or `invalid`."""
    if entry.value is None or entry.low is None or entry.high is None:
        return entry.status
    return rounded_words(entry.metric, entry.value, entry.low, entry.high, entry.flags)
