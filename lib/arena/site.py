"""The page: rendered from the leaderboard alone, byte-identical for an identical one."""

from pathlib import Path

import jinja2

from arena.leaderboard import Leaderboard, Row
from arena.records import headline_words, parse_utc
from arena.units import format_bytes, format_ns, format_rate, three_digits

# What a flag means to a reader of the page, in a sentence or two.
FLAGS = {
    "client-bound": "The generator used all its CPUs, or more CPU than the server: "
    "the server may be faster than this.",
    "littles-law": "Calls per second × mean latency misses the calls in flight by over 15 %. "
    "The latencies are only those of calls that finished: long ones that were cut are missing.",
    "cut-calls": "Calls were still open when the window closed; the error bar covers them.",
    "none-finished": "No call finished inside the window, so there is no latency, and a rate "
    "that is made of calls is only known to be lower.",
    "failed-calls": "Some calls failed; only those that succeeded are counted.",
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


def render(leaderboard: Leaderboard, templates: Path) -> str:
    """Return the page's HTML."""
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
        headline=lambda row: headline_words(row.value, row.high, row.flags),
        three_digits=three_digits,
        unit=lambda metric: metric.removesuffix("/s"),
        day=lambda text: parse_utc(text).strftime("%Y-%m-%d"),
    )
    return environment.get_template("index.html.j2").render(
        boards=leaderboard.boards, flags=FLAGS, warning=WARNING, standin=STANDIN
    )


def _cpu_per_million(row: Row) -> str:
    low, high = row.server_cpu_s_per_million_low, row.server_cpu_s_per_million_high
    if low is None:
        return "–"
    if high is None:
        return f"> {three_digits(low)} s"
    least, most = three_digits(low), three_digits(high)
    return f"{least} s" if least == most else f"{least} – {most} s"
