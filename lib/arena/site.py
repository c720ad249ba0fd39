"""The page: rendered from the leaderboard alone, byte-identical for an identical one."""

from pathlib import Path

import jinja2

from arena.charts import CAPTIONS, MOST, Drawn, pictures_of
from arena.figures import value_words
from arena.leaderboard import Board, Leaderboard, Row
from arena.records import parse_utc
from arena.units import format_bytes, format_ns, format_rate, three_digits

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


def render(leaderboard: Leaderboard, templates: Path, last_page: str = "") -> str:
    """Return the page's HTML; what was drawn for the last page is not drawn again."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        rate=format_rate,
        ns=format_ns,
        bytes=format_bytes,
        cpu_per_million=_cpu_per_million,
        value=_value,
        three_digits=three_digits,
        unit=lambda metric: "messages" if metric == "messages/s" else "requests",
        pictures=lambda board: pictures_of(board, leaderboard.boards),
        svg=Drawn(last_page).svg,
        day=lambda text: parse_utc(text).strftime("%Y-%m-%d"),
    )
    return environment.get_template("index.html.j2").render(
        boards=leaderboard.boards,
        captions=CAPTIONS,
        most=MOST,
        flags=FLAGS,
        warning=WARNING,
        standin=STANDIN,
    )


def _value(row: Row, board: Board, value: float | None = None) -> str:
    """Return a row's headline, or another figure in the board's metric, in words."""
    if value is None:
        return value_words(board.metric, row.value or 0, row.high or 0, row.flags)
    return value_words(board.metric, value, 0)


def _cpu_per_million(row: Row) -> str:
    low, high = row.server_cpu_s_per_million_low, row.server_cpu_s_per_million_high
    if low is None:
        return "–"
    if high is None:
        return f"> {three_digits(low)} s"
    least, most = three_digits(low), three_digits(high)
    return f"{least} s" if least == most else f"{least} – {most} s"
