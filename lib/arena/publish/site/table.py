"""A board as CSV: one row for each framework, plain numbers, and the units in the header."""

import csv
import io
from collections.abc import Callable

from arena.base.text import printable
from arena.judge.leaderboard import Board, Row
from arena.publish.site import links
from arena.publish.site.edition import Edition
from arena.what.profile import Metric, unit_of

# What a metric's numbers are called; latencies are in nanoseconds.
_UNITS: dict[Metric, str] = {
    "messages/s": "messages_per_s",
    "requests/s": "requests_per_s",
    "p99 latency": "p99_ns",
}

Cell = str | float | None


def board_csv(board: Board, edition: Edition) -> str:
    """Return the board as RFC 4180 has it: commas, quotes where needed, lines that end in CRLF.

    `record` is the link to the record's page, from where the file lies.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    columns = _columns(board, edition)
    writer.writerow(columns)
    for row in board.rows:
        writer.writerow([_inert(of(row)) for of in columns.values()])
    return text.getvalue()


def _columns(board: Board, edition: Edition) -> dict[str, Callable[[Row], Cell]]:
    unit = _UNITS[board.metric]
    messages = unit_of(board.metric)
    page = f"{edition.board_folder(board)}/board.csv"

    def record(row: Row) -> str:
        path = row.record or (row.failure.record if row.failure else None)
        return links.relative(edition.record(path), page) if path else ""

    return {
        "rank": lambda row: row.rank,
        "framework": lambda row: row.framework,
        "display_name": lambda row: row.display_name,
        "language": lambda row: row.language,
        "type": lambda row: row.type,
        "bound": _bound,
        f"value_{unit}": lambda row: row.value or None,
        f"low_{unit}": lambda row: row.interval_low,
        f"high_{unit}": lambda row: row.interval_high,
        f"median_{unit}": lambda row: row.median or None,
        "runs": lambda row: len(row.rates) if row.rates else None,
        "cv": lambda row: row.cv,
        "latency_kind": lambda row: row.latency_kind,
        "latency_p50_ns": lambda row: row.p50_ns,
        "latency_p99_ns": lambda row: row.p99_ns,
        "latency_p999_ns": lambda row: row.p999_ns,
        f"server_cpu_s_per_million_{messages}_low": lambda row: row.server_cpu_s_per_million_low,
        f"server_cpu_s_per_million_{messages}_high": lambda row: row.server_cpu_s_per_million_high,
        "server_peak_bytes": lambda row: row.server_peak_bytes,
        "messages_per_data_frame": lambda row: row.messages_per_data_frame,
        "checks_passed": lambda row: row.checks_passed,
        "checks_warned": lambda row: " ".join(check.check for check in row.checks_warned),
        "flags": lambda row: " ".join(row.flags),
        "started_at": lambda row: row.started_at,
        "generator": lambda row: row.generator,
        "machine": lambda row: row.machine,
        "failure": lambda row: f"{row.failure.stage}: {row.failure.reason}" if row.failure else "",
        "failed_at": lambda row: row.failure.started_at if row.failure else "",
        "record": record,
    }


def _bound(row: Row) -> str:
    """Return how the value bounds what is true: `>=` it, or `<` the high end without a value."""
    if row.value == 0:
        return "<"
    return ">=" if "client-bound" in row.flags else ""


def _inert(cell: Cell) -> str:
    """Return a cell's text; a word that a spreadsheet would take for a formula begins with a '."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return repr(cell)
    text = printable(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
