"""A board as CSV: one row for each framework, plain numbers, and the units in the header."""

import csv
import io
from collections.abc import Callable, Mapping
from functools import partial

from arena.base.text import printable
from arena.judge.beside import CPU, LATENCIES, MEMORY, Beside
from arena.judge.figure_words import is_bound
from arena.judge.leaderboard import Board, Result, Row
from arena.judge.nights import BlockEstimate
from arena.site import board_columns, links, words
from arena.site.edition import Edition
from arena.what.metrics import Metric

Cell = str | float | None

# What returns some figures of a row by name.
_Figures = Callable[[Row], Mapping[str, Beside]]


def board_csv(board: Board, edition: Edition) -> str:
    """Return the board as RFC 4180 defines it: commas, quotes where needed, CRLF line ends.

    Rows, ranks and figures are those of the page. On a board with a night of blocks, `rank`,
    `estimate` and `block_1` to the last whole block are the night's, latencies, costs and memory
    are medians over its blocks with the lowest and the highest one, and `classic_rank`, `value` and
    `runs` are those of the classic record. `latency_at_least` has the latencies that are only lower
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
    page = f"{edition.board_folder(board)}/board.csv"

    def record(row: Row) -> str:
        shown = row.result or row.failure
        return links.relative(edition.record(shown.record), page) if shown else ""

    def of(part: Callable[[Result], Cell]) -> Callable[[Row], Cell]:
        return lambda row: part(row.result) if row.result else None

    def end(at: int) -> Callable[[Row], Cell]:
        return lambda row: found[at] if (found := words.ranks(row, board)) else None

    return {
        "rank": lambda row: words.rank(row, board),
        "rank_low": end(0),
        "rank_high": end(1),
        **({"classic_rank": lambda row: row.rank} if board.night else {}),
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
        **_of_blocks(board),
        "runs": of(lambda it: len(it.rates)),
        "cv": of(lambda it: it.cv),
        "latency_kind": of(lambda it: it.latency_kind),
        **_beside(board),
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


def _of_blocks(board: Board) -> dict[str, Callable[[Row], Cell]]:
    """Return the columns of the night's estimates and blocks; empty cells without a night."""
    unit = board.metric.column

    def of(part: Callable[[BlockEstimate], Cell]) -> Callable[[Row], Cell]:
        return lambda row: part(row.estimate) if row.estimate else None

    def rate(at: int) -> Callable[[Row], Cell]:
        return of(lambda it: it.rates[at] if at < len(it.rates) else None)

    blocks = max((len(row.estimate.rates) for row in board.rows if row.estimate), default=0)
    return {
        "estimate_bound": of(lambda it: ">=" if it.is_bound else ""),
        f"estimate_{unit}": of(lambda it: it.value),
        f"estimate_low_{unit}": of(lambda it: it.low),
        f"estimate_high_{unit}": of(lambda it: it.high),
        "blocks": of(lambda it: it.blocks),
        **{f"block_{at + 1}_{unit}": rate(at) for at in range(blocks)},
        "voids": of(lambda it: it.voids),
        "still_warming": of(lambda it: "yes" if it.still_warming else ""),
    }


def _beside(board: Board) -> dict[str, Callable[[Row], Cell]]:
    """Return the columns of latencies, steps, costs and memory, as the board shows them."""
    found: dict[str, Callable[[Row], Cell]] = {}

    def add(of: _Figures, name: str, **columns: str) -> None:
        for part, column in columns.items():
            if board.night or part not in {"low", "high"}:
                found[column] = partial(_part, of, name, part)

    for short, name in LATENCIES.items():
        at = f"latency_{short}"
        add(board.beside, name, at_least=f"{at}_ns", low=f"{at}_low_ns", high=f"{at}_high_ns")
    found["latency_at_least"] = lambda row: " ".join(
        short
        for short, name in LATENCIES.items()
        if (it := board.beside(row).get(name)) and it.is_bound
    )
    for step in board_columns.step_names(board, board.rows):
        name, at = printable(step), "latency_p99"
        ends = {each: f"{at}_{each}_ns_{name}" for each in ("low", "high")}
        add(board.steps, step, at_least=f"{at}_ns_{name}", bound=f"{at}_bound_{name}", **ends)
    cost = f"{CPU}_{board.metric.unit}"
    add(board.beside, CPU, **{it: f"{cost}_{it}" for it in ("at_least", "at_most", "low", "high")})
    add(board.beside, MEMORY, at_least=MEMORY, low=f"{MEMORY}_low", high=f"{MEMORY}_high")
    return found


def _part(of: _Figures, name: str, part: str, row: Row) -> Cell:
    """Return a part of a row's figure: one of its ends, or whether it is only a lower bound."""
    if (it := of(row).get(name)) is None:
        return None
    if part == "bound":
        return ">=" if it.is_bound else ""
    value: float | None = getattr(it, part)
    return round(value) if name == MEMORY and value is not None else value


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
