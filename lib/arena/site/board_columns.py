"""The numbers of a board: columns of cells, each with its significant digits; and all as CSV.

A column without a value in any row is left out. Its unit is in its head.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from statistics import median_low
from typing import Any

from arena.base.text import printable
from arena.base.units import TIMES_NS, at_least, cost_words, in_unit
from arena.judge.beside import CPU, IDLE, IMAGE, LATENCIES, LISTENS, MEMORY, Beside
from arena.judge.figure_words import is_bound, rounded_interval, rounded_words
from arena.judge.leaderboard import Board, Result, Row
from arena.judge.nights import BlockEstimate
from arena.judge.steady import PLATEAU_S, SteadyAfter
from arena.site import words
from arena.site.edition import Edition, relative
from arena.what.metrics import Metric

_NONE = "–"

# A bound sorts after a figure of the same four digits, and before the next one.
_AFTER = 1 + 1e-5

# The key of the classic headline on a board of blocks: rows can be ordered by it instead.
CLASSIC = "classic"


@dataclass(frozen=True)
class Cell:
    """A cell's text, the number that it sorts by, and a smaller remark."""

    text: str
    sort: str = ""
    remark: str = ""
    is_headline: bool = False


@dataclass(frozen=True)
class Column:
    """One kind of number: `key` is its name in the page's address, if rows can be sorted by it."""

    key: str
    title: str
    unit: str
    cells: tuple[Cell, ...]


def columns_of(board: Board, rows: Sequence[Row]) -> list[Column]:
    """Return the columns of rows, starting with the figure that orders them.

    That is the estimate of a night of blocks, with the classic headline beside it; or the headline,
    with the median of its runs.
    """

    def each(of: Callable[[Result], Cell]) -> tuple[Cell, ...]:
        return tuple(of(row.result) if row.result else Cell(_NONE) for row in rows)

    def beside(name: str, cell: Callable[[Beside], Cell]) -> tuple[Cell, ...]:
        found = (board.beside(row).get(name) for row in rows)
        return tuple(cell(it) if it else Cell(_NONE) for it in found)

    if board.night:
        first = Column(
            "value", board.metric, "estimate", tuple(_estimate(board, it) for it in rows)
        )
        # A start has one run, so there is no best of several.
        classic = tuple(
            Cell(_NONE) if board.shape.is_start else _classic(board, row) for row in rows
        )
        second = Column(CLASSIC, "Best of three", "classic", classic)
    else:
        first = Column("value", board.metric, "", each(partial(_headline, board)))
        second = Column("median", "Median of runs", "", each(partial(_median, board)))
    titles = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
    latencies = (
        (name, title, [board.beside(row).get(LATENCIES[name]) for row in rows])
        for name, title in titles.items()
        if not (board.metric.is_latency and name == "p99")
    )
    steps = (
        (f"step-{at}", name, [board.steps(row).get(name) for row in rows])
        for at, name in enumerate(step_names(board, rows), 1)
    )
    cpu, data = f"s per million {board.metric.unit}", "Messages per DATA frame"
    alone = () if board.night else each(lambda it: _packed(it.messages_per_data_frame))
    columns = (
        first,
        second,
        Column("", "Fastest at", "calls × connections", each(_point)),
        *_in_one_unit(
            [("listens", "Listens after", [board.beside(it).get(LISTENS) for it in rows])]
        ),
        *_of_starts([row.estimate.steady if row.estimate else None for row in rows]),
        *_in_one_unit(latencies),
        *_in_one_unit(steps, "p99, "),
        Column("cpu", "Server CPU", cpu, beside(CPU, _cpu)),
        Column("idle", "Idle CPU", "% of one", beside(IDLE, _idle)),
        Column("memory", "Peak memory", "MiB", beside(MEMORY, _memory)),
        Column("image", "Image", "MiB", beside(IMAGE, _memory)),
        Column("loaded", data, "under load", tuple(_packed(packed_under_load(it)) for it in rows)),
        Column("packed", data, "without load", alone),
    )
    return [each for each in columns if any(cell.text != _NONE for cell in each.cells)]


def estimate_words(board: Board, row: Row) -> str:
    """Return a row's estimate with the digits that its interval justifies; empty without one."""
    if (it := row.estimate) is None:
        return ""
    flags = ("client-bound",) * it.is_bound
    return rounded_words(board.metric, it.value, it.low, it.high, flags)


def figure_words(board: Board, row: Row) -> str:
    """Return the figure that orders a row: its estimate, else its headline; empty without both."""
    headline = headline_words(board, row.result) if row.result else ""
    return estimate_words(board, row) or headline


def headline_words(board: Board, result: Result) -> str:
    """Return a headline with the digits that its interval justifies."""
    return rounded_words(board.metric, result.value, result.low, result.high, result.flags)


def interval_words(board: Board, of: Result | BlockEstimate) -> str:
    """Return the interval as text; empty if it has no width."""
    flags = of.flags if isinstance(of, Result) else ()
    return rounded_interval(board.metric, of.value, of.low, of.high, flags)


def sortable(value: float, *, is_least: bool = False) -> str:
    """Return a number with four digits, for a script to sort by; a lower bound has some more."""
    digits = f"{value:.4g}"
    if is_least:
        digits = f"{float(digits) * _AFTER:.6g}"
    return digits.replace("e+0", "e").replace("e+", "e")


def _estimate(board: Board, row: Row) -> Cell:
    if row.estimate is None:
        return Cell(_NONE)
    return Cell(estimate_words(board, row), sortable(row.estimate.value), is_headline=True)


def _classic(board: Board, row: Row) -> Cell:
    if row.result is None:
        return Cell(_NONE)
    rank = "" if row.rank is None else f"rank {row.rank}"
    return Cell(headline_words(board, row.result), sortable(row.result.value), rank)


def _is_least(board: Board, result: Result) -> bool:
    """Return whether the board ranks by a latency, and that of the result is only a lower bound."""
    return board.metric.is_latency and is_bound(board.metric, result.flags)


def _headline(board: Board, result: Result) -> Cell:
    sort = sortable(result.value, is_least=_is_least(board, result))
    return Cell(headline_words(board, result), sort, is_headline=True)


def _median(board: Board, result: Result) -> Cell:
    """Return the median and the spread; a single run has neither."""
    if len(result.rates) < 2 or not result.median:  # noqa: PLR2004 - one is no spread
        return Cell(_NONE, remark="one run" if len(result.rates) == 1 else "")
    # A median below a bound is rounded as the bound is: it must not stand above its headline.
    text = rounded_words(board.metric, result.median, result.low, result.high, result.flags)
    is_least = _is_least(board, result)
    text = text if is_least else text.removeprefix("≥ ")
    spread = "" if result.cv is None else f"± {words.share(result.cv)} %"
    return Cell(text, sortable(result.median, is_least=is_least), spread)


def _point(result: Result) -> Cell:
    """Return the point of a blast that is its headline."""
    for point in result.points:
        if point.rate == result.value:
            return Cell(f"{point.requests:,} × {min(point.connections, point.requests):,}")
    return Cell(_NONE)


def step_names(board: Board, rows: Iterable[Row]) -> list[str]:
    """Return the names of all steps, in the order of their scenarios."""
    return list(dict.fromkeys(name for row in rows for name in board.steps(row)))


def has_bounds(board: Board, rows: Iterable[Row]) -> bool:
    """Return whether some latency of the rows is only a lower bound."""
    every = ((board.beside(row), board.steps(row)) for row in rows)
    return any(
        it.at_most is None
        for beside, steps in every
        for it in (
            *(beside[name] for name in LATENCIES.values() if name in beside),
            *steps.values(),
        )
    )


def _in_one_unit(
    columns: Iterable[tuple[str, str, Sequence[Beside | None]]], what: str = ""
) -> list[Column]:
    """Return columns of times in the unit that fits the middle of the first one."""
    columns = list(columns)
    every = ([it.at_least for it in each if it and it.at_least] for *_, each in columns)
    middle = median_low(next(filter(None, every), [0.0]))
    power = max((each for each in TIMES_NS if middle >= 10.0**each), default=0)
    unit = f"{what}{TIMES_NS[power].strip()}"
    return [
        Column(key, title, unit, tuple(_time(it, 10**power) if it else Cell(_NONE) for it in times))
        for key, title, times in columns
    ]


def _time(it: Beside, unit: int) -> Cell:
    text = at_least(in_unit(it.at_least / unit), is_bound=it.is_bound)
    if it.at_most is not None:
        text = cost_words(it.at_least / unit, it.at_most / unit)
    return Cell(text, sortable(it.at_least, is_least=it.is_bound), _spread(it, unit))


def _cpu(it: Beside) -> Cell:
    return Cell(cost_words(it.at_least, it.at_most), sortable(it.middle), _spread(it, 1))


def _memory(it: Beside) -> Cell:
    return Cell(in_unit(it.at_least / (1 << 20)), sortable(it.at_least), _spread(it, 1 << 20))


def _idle(it: Beside) -> Cell:
    return Cell(in_unit(100 * it.at_least), sortable(it.at_least), _spread(it, 0.01))


def _of_starts(found: Sequence[SteadyAfter | None]) -> list[Column]:
    """Return when frameworks are steady after a start, and what starts cost until then."""

    def each(of: Callable[[SteadyAfter], Cell | None]) -> tuple[Cell, ...]:
        return tuple((it and of(it)) or Cell(_NONE) for it in found)

    def after(it: SteadyAfter) -> Cell:
        low, value, high = (
            f"> {PLATEAU_S[0]}" if at is None else str(at) for at in (it.low, it.value, it.high)
        )
        sort = PLATEAU_S[0] + 1 if it.value is None else it.value
        return Cell(value, sortable(sort), "" if low == high else f"{low} to {high}")

    def cost(it: SteadyAfter) -> Cell | None:
        return None if it.cpu_s is None else Cell(in_unit(it.cpu_s), sortable(it.cpu_s))

    def memory(it: SteadyAfter) -> Cell | None:
        peak = it.peak_bytes
        return None if peak is None else Cell(in_unit(peak / (1 << 20)), sortable(peak))

    return [
        Column("steady", "Steady after", "s of load", each(after)),
        Column("steady-cpu", "CPU until steady", "s", each(cost)),
        Column("steady-memory", "Memory until steady", "MiB", each(memory)),
    ]


def _spread(it: Beside, unit: float) -> str:
    """Return the lowest and the highest block in a unit; empty for one run, or if all are equal."""
    if it.low is None or it.low == it.high:
        return ""
    if it.high is None:
        return f"{in_unit(it.low / unit)} or more"
    text = cost_words(it.low / unit, it.high / unit)
    return text if "–" in text else ""


def packed_under_load(row: Row) -> float | None:
    """Return how a row packs messages under load: in all blocks, else in the classic record."""
    if row.estimate:
        return row.estimate.messages_per_data_frame
    return row.result.messages_per_data_frame_under_load if row.result else None


def _packed(packed: float | None) -> Cell:
    return Cell(_NONE) if packed is None else Cell(in_unit(packed), sortable(packed))


# A cell of the CSV, and what returns that of a row.
_Plain = str | float | None
_Value = Callable[[Row], _Plain]

_ABOUT = ("letters", "framework", "display_name", "language", "type")


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
        f"estimate_{unit}": by_night(attrgetter("value")),
        f"estimate_low_{unit}": by_night(attrgetter("low")),
        f"estimate_high_{unit}": by_night(attrgetter("high")),
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

    def add(of: Callable[[Row], Mapping[str, Beside]], name: str, **columns: str) -> None:
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
    for step in step_names(board, board.rows):
        name, at = printable(step), "latency_p99"
        ends = {each: f"{at}_{each}_ns_{name}" for each in ("low", "high")}
        add(board.steps, step, at_least=f"{at}_ns_{name}", bound=f"{at}_bound_{name}", **ends)
    cost = f"{CPU}_{board.metric.unit}"
    add(board.beside, CPU, **{it: f"{cost}_{it}" for it in ("at_least", "at_most", "low", "high")})
    if any(IDLE in board.beside(row) for row in board.rows):
        add(board.beside, IDLE, at_least=IDLE, low=f"{IDLE}_low", high=f"{IDLE}_high")
    for name in (LISTENS, IMAGE):
        if any(name in board.beside(row) for row in board.rows):
            add(board.beside, name, at_least=name, low=f"{name}_low", high=f"{name}_high")
    add(board.beside, MEMORY, at_least=MEMORY, low=f"{MEMORY}_low", high=f"{MEMORY}_high")
    return found


def _part(of: Callable[[Row], Mapping[str, Beside]], name: str, part: str, row: Row) -> _Plain:
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
