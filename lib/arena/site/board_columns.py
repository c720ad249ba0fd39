"""The numbers of a board: columns of cells, each with its significant digits.

A column without a value in any row is left out. Its unit is in its head.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median_low

from arena.base.numbers import TIMES_NS, at_least, cost_words, in_unit
from arena.judge.beside import CPU, LATENCIES, MEMORY, Beside
from arena.judge.figure_words import is_bound, rounded_interval, rounded_words
from arena.judge.leaderboard import Board, Result, Row
from arena.judge.nights import BlockEstimate
from arena.site.words import share

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
    """Return the columns of rows, starting with the figure that orders them."""
    by_p99, unit = board.metric.is_latency, board.metric.unit
    columns = [
        *(_of_night(board, rows) if board.night else _of_runs(board, rows)),
        Column("", "Fastest at", "calls × connections", _each(rows, _point)),
        *_latencies(board, rows, by_p99=by_p99),
        *_steps(board, rows),
        Column("cpu", "Server CPU", f"s per million {unit}", _beside(board, rows, CPU, _cpu)),
        Column("memory", "Peak memory", "MiB", _beside(board, rows, MEMORY, _memory)),
        Column(
            "loaded",
            "Messages per DATA frame",
            "under load",
            tuple(_packed(packed_under_load(row)) for row in rows),
        ),
        *([] if board.night else [_packed_alone(rows)]),
    ]
    return [each for each in columns if any(cell.text != _NONE for cell in each.cells)]


def _of_runs(board: Board, rows: Sequence[Row]) -> list[Column]:
    """Return the headline and the median of a classic board."""
    return [
        Column("value", board.metric, "", _each(rows, lambda it: _headline(board, it))),
        Column("median", "Median of runs", "", _each(rows, lambda it: _median(board, it))),
    ]


def _of_night(board: Board, rows: Sequence[Row]) -> list[Column]:
    """Return the estimate of a night of blocks, and the classic headline with its rank."""
    return [
        Column("value", board.metric, "estimate", tuple(_estimate(board, row) for row in rows)),
        Column(CLASSIC, "Best of three", "classic", tuple(_classic(board, row) for row in rows)),
    ]


def _each(rows: Sequence[Row], of: Callable[[Result], Cell]) -> tuple[Cell, ...]:
    return tuple(of(row.result) if row.result else Cell(_NONE) for row in rows)


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


def sortable(value: float | None, *, is_least: bool = False) -> str:
    """Return a number with four digits, for a script to sort by; a lower bound has some more."""
    if value is None:
        return ""
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


def _headline(board: Board, result: Result) -> Cell:
    sort = sortable(result.value, is_least=_is_least(board, result))
    return Cell(headline_words(board, result), sort, is_headline=True)


def _is_least(board: Board, result: Result) -> bool:
    """Return whether the board ranks by a latency, and that of the result is only a lower bound."""
    return board.metric.is_latency and is_bound(board.metric, result.flags)


def _median(board: Board, result: Result) -> Cell:
    """Return the median and the spread; a single run has neither."""
    if len(result.rates) < 2 or not result.median:  # noqa: PLR2004 - one is no spread
        return Cell(_NONE, remark="one run" if len(result.rates) == 1 else "")
    # A median below a bound is rounded as the bound is: it must not stand above its headline.
    words = rounded_words(board.metric, result.median, result.low, result.high, result.flags)
    is_least = _is_least(board, result)
    words = words if is_least else words.removeprefix("≥ ")
    spread = "" if result.cv is None else f"± {share(result.cv)} %"
    return Cell(words, sortable(result.median, is_least=is_least), spread)


def _point(result: Result) -> Cell:
    """Return the point of a blast that is its headline."""
    for point in result.points:
        if point.rate == result.value:
            return Cell(f"{point.requests:,} × {min(point.connections, point.requests):,}")
    return Cell(_NONE)


def _latencies(board: Board, rows: Sequence[Row], *, by_p99: bool) -> list[Column]:
    """Return the latency columns, all in one unit."""
    titles = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
    columns = [
        (name, title, [board.beside(row).get(LATENCIES[name]) for row in rows])
        for name, title in titles.items()
        if not (by_p99 and name == "p99")
    ]
    return _in_one_unit(columns, "")


def step_names(board: Board, rows: Iterable[Row]) -> list[str]:
    """Return the names of all steps, in the order of their scenarios."""
    return list(dict.fromkeys(name for row in rows for name in board.steps(row)))


def _steps(board: Board, rows: Sequence[Row]) -> list[Column]:
    """Return a column for each step: its p99 latency, all in one unit."""
    columns = [
        (f"step-{at}", name, [board.steps(row).get(name) for row in rows])
        for at, name in enumerate(step_names(board, rows), 1)
    ]
    return _in_one_unit(columns, "p99, ")


def has_bounds(board: Board, rows: Iterable[Row]) -> bool:
    """Return whether some latency of the rows is only a lower bound."""
    return any(
        it.is_bound
        for row in rows
        for it in (
            *filter(None, map(board.beside(row).get, LATENCIES.values())),
            *board.steps(row).values(),
        )
    )


_Columns = Sequence[tuple[str, str, Sequence[Beside | None]]]


def _in_one_unit(columns: _Columns, what: str) -> list[Column]:
    """Return columns of times in the unit that fits the middle of the first one."""
    every = ([it.at_least for it in each if it and it.at_least] for *_, each in columns)
    middle = median_low(next(filter(None, every), [0.0]))
    power = max((each for each in TIMES_NS if middle >= 10.0**each), default=0)
    unit = f"{what}{TIMES_NS[power].strip()}"
    return [
        Column(key, title, unit, tuple(_time(each, power) for each in times))
        for key, title, times in columns
    ]


def _time(it: Beside | None, power: int) -> Cell:
    if it is None:
        return Cell(_NONE)
    text = at_least(in_unit(it.at_least / 10**power), is_bound=it.is_bound)
    return Cell(text, sortable(it.at_least, is_least=it.is_bound), _spread(it, 10**power))


def _spread(it: Beside, unit: float) -> str:
    """Return the lowest and the highest block in a unit; empty for one run, or if all are equal."""
    if it.low is None or it.low == it.high:
        return ""
    if it.high is None:
        return f"{in_unit(it.low / unit)} or more"
    words = cost_words(it.low / unit, it.high / unit)
    return words if "–" in words else ""


def _beside(
    board: Board, rows: Sequence[Row], name: str, cell: Callable[[Beside], Cell]
) -> tuple[Cell, ...]:
    found = (board.beside(row).get(name) for row in rows)
    return tuple(cell(it) if it else Cell(_NONE) for it in found)


def _cpu(it: Beside) -> Cell:
    return Cell(cost_words(it.at_least, it.at_most), sortable(it.middle), _spread(it, 1))


def _memory(it: Beside) -> Cell:
    return Cell(in_unit(it.at_least / (1 << 20)), sortable(it.at_least), _spread(it, 1 << 20))


def _packed_alone(rows: Sequence[Row]) -> Column:
    cells = _each(rows, lambda it: _packed(it.messages_per_data_frame))
    return Column("packed", "Messages per DATA frame", "without load", cells)


def packed_under_load(row: Row) -> float | None:
    """Return how a row packs messages under load: in all blocks, else in the classic record."""
    if row.estimate:
        return row.estimate.messages_per_data_frame
    return row.result.messages_per_data_frame_under_load if row.result else None


def _packed(packed: float | None) -> Cell:
    return Cell(_NONE) if packed is None else Cell(in_unit(packed), sortable(packed))
