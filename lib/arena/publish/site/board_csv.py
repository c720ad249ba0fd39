"""A board as CSV: one row for each framework, plain numbers, and the units in the header."""

import csv
import io
from collections.abc import Callable

from arena.base.text import printable
from arena.judge.figure_words import is_bound
from arena.judge.leaderboard import Board, Result, Row
from arena.judge.nights import BlockEstimate
from arena.publish.site import board_columns, links
from arena.publish.site.edition import Edition
from arena.record.measurement import Latency
from arena.what.metrics import Metric

Cell = str | float | None


def board_csv(board: Board, edition: Edition) -> str:
    """Return the board as RFC 4180 defines it: commas, quotes where needed, CRLF line ends.

    `rank`, `value` and `runs` are classic; `estimate`, `blocks`, `rank_low` and `rank_high` are
    those of the board's night of blocks. `latency_at_least` has the latencies that are only lower
    bounds. Each step of a scenario has a column with its p99, and one that has `>=` if it is one.
    `record` is the link to the record's page, relative to the file.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    columns = _columns(board, edition)
    writer.writerow(columns)
    for row in board.rows:
        writer.writerow([_inert(of(row)) for of in columns.values()])
    return text.getvalue()


def _columns(board: Board, edition: Edition) -> dict[str, Callable[[Row], Cell]]:
    unit = board.metric.column
    cost = f"server_cpu_s_per_million_{board.metric.unit}"
    steps = board_columns.step_names(row.result for row in board.rows)
    page = f"{edition.board_folder(board)}/board.csv"

    def record(row: Row) -> str:
        shown = row.result or row.failure
        return links.relative(edition.record(shown.record), page) if shown else ""

    def of(part: Callable[[Result], Cell]) -> Callable[[Row], Cell]:
        return lambda row: part(row.result) if row.result else None

    def of_step(name: str, part: Callable[[Latency], Cell]) -> Callable[[Row], Cell]:
        return of(lambda it: part(told) if (told := board_columns.latency_of(it, name)) else None)

    def by_blocks(part: Callable[[BlockEstimate], Cell]) -> Callable[[Row], Cell]:
        return lambda row: part(row.estimate) if row.estimate else None

    return {
        "rank": lambda row: row.rank,
        "rank_low": lambda row: row.rank_set[0] if row.rank_set else None,
        "rank_high": lambda row: row.rank_set[1] if row.rank_set else None,
        "letters": lambda row: row.letters,
        "framework": lambda row: row.framework,
        "display_name": lambda row: row.display_name,
        "language": lambda row: row.language,
        "type": lambda row: row.type,
        "bound": of(lambda it: _bound(board.metric, it)),
        f"value_{unit}": of(lambda it: it.value or None),
        f"low_{unit}": of(lambda it: it.low),
        f"high_{unit}": of(lambda it: it.high),
        f"median_{unit}": of(lambda it: it.median or None),
        f"estimate_{unit}": by_blocks(lambda it: it.value),
        f"estimate_low_{unit}": by_blocks(lambda it: it.low),
        f"estimate_high_{unit}": by_blocks(lambda it: it.high),
        "blocks": by_blocks(lambda it: it.blocks),
        "voids": by_blocks(lambda it: it.voids),
        "still_warming": by_blocks(lambda it: "yes" if it.still_warming else ""),
        "runs": of(lambda it: len(it.rates)),
        "cv": of(lambda it: it.cv),
        "latency_kind": of(lambda it: it.latency_kind),
        "latency_p50_ns": of(lambda it: it.p50_ns),
        "latency_p99_ns": of(lambda it: it.p99_ns),
        "latency_p999_ns": of(lambda it: it.p999_ns),
        "latency_at_least": of(lambda it: " ".join(it.latency_at_least)),
        **{
            f"latency_p99_ns_{printable(name)}": of_step(name, lambda told: told.p99)
            for name in steps
        },
        **{
            f"latency_p99_bound_{printable(name)}": of_step(
                name, lambda told: ">=" if "p99" in told.at_least else ""
            )
            for name in steps
        },
        f"{cost}_at_least": of(lambda it: it.server_cpu_s_per_million_at_least),
        f"{cost}_at_most": of(lambda it: it.server_cpu_s_per_million_at_most),
        "server_peak_bytes": of(lambda it: it.server_peak_bytes),
        "messages_per_data_frame": of(lambda it: it.messages_per_data_frame),
        "messages_per_data_frame_under_load": board_columns.packed_under_load,
        "checks_passed": of(lambda it: it.checks_passed),
        "checks_warned": of(lambda it: " ".join(check.check for check in it.checks_warned)),
        "flags": of(lambda it: " ".join(it.flags)),
        "started_at": of(lambda it: it.started_at),
        "generator": of(lambda it: it.generator),
        "machine": of(lambda it: it.machine),
        "host_class": of(lambda _: board.host_class.id),
        "failure": lambda row: f"{row.failure.stage}: {row.failure.reason}" if row.failure else "",
        "failed_at": lambda row: row.failure.started_at if row.failure else "",
        "record": record,
    }


def _bound(metric: Metric, result: Result) -> str:
    """Return how the value bounds the truth: `>=` it, or `<` the high end if there is no value."""
    if not result.value:
        return "<"
    return ">=" if is_bound(metric, result.flags) else ""


def _inert(cell: Cell) -> str:
    """Return a cell's text; a text that a spreadsheet would take for a formula gets a leading '."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return repr(cell)
    text = printable(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
