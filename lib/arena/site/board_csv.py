"""The numbers of a board as CSV."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from arena.base.text import printable
from arena.judge.beside import (
    CONNECTION,
    CPU,
    DUE,
    IDLE,
    IMAGE,
    LATENCIES,
    LISTENS,
    LOST_STREAMS,
    MEMORIES,
    MEMORY,
    STREAM,
    Beside,
    FigureEstimate,
)
from arena.judge.figure_words import is_bound
from arena.judge.leaderboard import Board
from arena.judge.levels import Level
from arena.judge.row import Result, Row
from arena.site import words
from arena.site.board_columns import packed_under_load, step_names
from arena.site.edition import Edition, relative
from arena.what.metrics import Metric

# A cell of the CSV, and what returns that of a row.
_Plain = str | float | None
_Value = Callable[[Row], _Plain]
_Figures = Callable[[Row], Mapping[str, Beside]]

_ABOUT = ("letters", "framework", "display_name", "language", "type")


def board_csv(board: Board, edition: Edition) -> str:
    """Return the board as RFC 4180 defines it: commas, quotes where needed, CRLF line ends.

    Rows, ranks and figures are those of the page. On a board with a night of blocks, `rank`,
    `estimate` and `block_1` to the last whole block are the night's, latencies, costs and memory
    are medians over its blocks with the lowest and the highest one, and `classic_rank`, `value` and
    `runs` are those of the classic record. Those that are ranked have columns with `_estimate` to
    `_levels` after the name of their median; blocks on two levels have no estimate, but
    `0.9x5 2.1x3` as their levels: 0.9 in 5 blocks, and 2.1 in 3. `latency_at_least` has the
    latencies that are only lower bounds. Each step of a scenario has a column with its p99, and one
    that has `>=` if it is one. `record` is the link to the record's page, relative to the file.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    columns = _values(board, edition)
    writer.writerow(columns)
    for row in board.rows:
        writer.writerow([_inert(of(row)) for of in columns.values()])
    return text.getvalue()


def _values(board: Board, edition: Edition) -> dict[str, _Value]:
    """Return what fills each column, by its name."""
    unit = board.metric.column
    page = f"{edition.board_folder(board)}/board.csv"

    def record(row: Row) -> str:
        shown = row.result or row.failure
        return relative(edition.record(shown.record), page) if shown else ""

    def same(*names: str) -> dict[str, _Value]:
        return {name: of(attrgetter(name)) for name in names}

    def end(at: int) -> _Value:
        return lambda row: found[at] if (found := words.ranks(row, board)) else None

    def block(at: int) -> _Value:
        return by_night(lambda it: it.rates[at] if at < len(it.rates) else None)

    # Cells are empty without a result, or an estimate of a night.
    of, by_night = partial(_of, "result"), partial(_of, "estimate")
    level_of = by_night(lambda it: level_cell(it.levels))
    levels = {"estimate_levels": level_of} if any(map(level_of, board.rows)) else {}
    blocks = max((len(row.estimate.rates) for row in board.rows if row.estimate), default=0)
    return {
        "rank": lambda row: words.rank(row, board),
        "rank_low": end(0),
        "rank_high": end(1),
        **({"classic_rank": lambda row: row.rank} if board.night else {}),
        **{name: attrgetter(name) for name in _ABOUT},
        "bound": of(lambda it: _bound(board.metric, it)),
        f"value_{unit}": of(lambda it: it.value or None),
        f"low_{unit}": of(attrgetter("low")),
        f"high_{unit}": of(attrgetter("high")),
        f"median_{unit}": of(lambda it: it.median or None),
        "estimate_bound": by_night(
            lambda it: ">=" if it.is_bound and not board.metric.is_time else ""
        ),
        f"estimate_{unit}": by_night(lambda it: None if it.levels else it.value),
        f"estimate_low_{unit}": by_night(attrgetter("low")),
        f"estimate_high_{unit}": by_night(attrgetter("high")),
        **levels,
        "blocks": by_night(attrgetter("blocks")),
        **{f"block_{at + 1}_{unit}": block(at) for at in range(blocks)},
        "voids": by_night(attrgetter("voids")),
        **_of_steady(board),
        "still_warming": by_night(lambda it: "yes" if it.still_warming else ""),
        "runs": of(lambda it: len(it.rates)),
        **same("cv", "latency_kind"),
        **_of_beside(board),
        **same("messages_per_data_frame"),
        "messages_per_data_frame_under_load": packed_under_load,
        **same("checks_passed"),
        "checks_warned": of(lambda it: " ".join(check.check for check in it.checks_warned)),
        "flags": of(lambda it: " ".join(it.flags)),
        **same("started_at", "generator", "machine"),
        "host_class": of(lambda _: board.host_class.id),
        "failure": lambda row: f"{row.failure.stage}: {row.failure.reason}" if row.failure else "",
        "failed_at": lambda row: row.failure.started_at if row.failure else "",
        "record": record,
    }


def _of_steady(board: Board) -> dict[str, _Value]:
    """Return the columns of starts; none if no row has any."""
    if not any(row.estimate and row.estimate.steady for row in board.rows):
        return {}

    def of(name: str) -> _Value:
        return lambda row: getattr(row.estimate and row.estimate.steady, name, None)

    names = {
        "steady_after_s": "value", "steady_after_low_s": "low", "steady_after_high_s": "high",
        "steady_starts": "starts", "cpu_s_until_steady": "cpu_s",
        "peak_bytes_until_steady": "peak_bytes",
    }  # fmt: skip
    return {column: of(name) for column, name in names.items()}


def _of(field: str, part: Callable[[Any], _Plain]) -> _Value:
    return lambda row: part(it) if (it := getattr(row, field)) else None


def _of_beside(board: Board) -> dict[str, _Value]:
    """Return the columns of latencies, steps, costs and memory, as the board shows them."""
    found: dict[str, _Value] = {}

    def add(of: _Figures, name: str, **columns: str) -> None:
        for part, column in columns.items():
            if board.night or part not in {"low", "high"}:
                found[column] = partial(_part, of, name, part)
        stem = columns["at_least"].removesuffix("_at_least")
        if any((it := of(row).get(name)) and it.estimate for row in board.rows):
            found.update(_of_estimate(of, name, stem))

    for short, name in LATENCIES.items():
        at = f"latency_{short}"
        add(board.beside, name, at_least=f"{at}_ns", low=f"{at}_low_ns", high=f"{at}_high_ns")
        if any((it := board.beside(row).get(name)) and it.is_between for row in board.rows):
            add(board.beside, name, at_least=f"{at}_ns", at_most=f"{at}_at_most_ns")
    found["latency_at_least"] = lambda row: " ".join(
        short
        for short, name in LATENCIES.items()
        if (it := board.beside(row).get(name)) and it.at_most is None
    )
    for step in step_names(board, board.rows):
        name, at = printable(step), "latency_p99"
        ends = {each: f"{at}_{each}_ns_{name}" for each in ("low", "high")}
        add(board.steps, step, at_least=f"{at}_ns_{name}", bound=f"{at}_bound_{name}", **ends)
    cost = f"{CPU}_{board.metric.unit}"
    add(board.beside, CPU, **{it: f"{cost}_{it}" for it in ("at_least", "at_most", "low", "high")})
    for name in (DUE, IDLE, LISTENS, IMAGE, LOST_STREAMS, MEMORY, *MEMORIES, CONNECTION, STREAM):
        if name == MEMORY or any(name in board.beside(row) for row in board.rows):
            add(board.beside, name, at_least=name, low=f"{name}_low", high=f"{name}_high")
    return found


def _of_estimate(of: _Figures, name: str, stem: str) -> dict[str, _Value]:
    """Return the columns of a figure's estimate, after that of its median."""

    def value(part: Callable[[FigureEstimate], _Plain]) -> _Value:
        return lambda row: part(it.estimate) if (it := of(row).get(name)) and it.estimate else None

    return {
        f"{stem}_estimate": value(lambda it: None if it.levels else it.value),
        f"{stem}_estimate_low": value(attrgetter("low")),
        f"{stem}_estimate_high": value(attrgetter("high")),
        f"{stem}_rank_low": value(lambda it: it.rank_set and it.rank_set[0]),
        f"{stem}_rank_high": value(lambda it: it.rank_set and it.rank_set[1]),
        f"{stem}_letters": value(attrgetter("letters")),
        f"{stem}_levels": value(lambda it: level_cell(it.levels)),
    }


def level_cell(levels: Sequence[Level]) -> str:
    """Return levels for a cell of the CSV: `0.9x5 2.1x3`; empty if there is one."""
    return " ".join(f"{each.value!r}x{each.blocks}" for each in levels)


def _part(of: _Figures, name: str, part: str, row: Row) -> _Plain:
    """Return a part of a row's figure: one of its ends, or whether it is only a lower bound."""
    if (it := of(row).get(name)) is None:
        return None
    if part == "bound":
        return ">=" if it.is_bound else ""
    value: float | None = getattr(it, part)
    return round(value) if name.endswith("_bytes") and value is not None else value


def _bound(metric: Metric, result: Result) -> str:
    """Return how the value bounds the truth: `>=` it, or `<` the high end if there is no value."""
    if not result.value or "below-lowest" in result.flags:
        return "" if metric.is_time else "<"
    return ">=" if is_bound(metric, result.flags) else ""


def _inert(cell: _Plain) -> str:
    """Return a cell's text; a text that a spreadsheet would take for a formula gets a leading '."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return repr(cell)
    text = printable(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
