"""The numbers of a board: columns of cells, each with its significant digits.

A column without a value in any row is left out. Its unit is in its head.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from arena.base.numbers import TIMES_NS, cost_words, in_unit
from arena.judge.figure_words import rounded_interval, rounded_words
from arena.judge.leaderboard import Board, Result

_NONE = "–"


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


def columns_of(board: Board, results: Sequence[Result]) -> list[Column]:
    """Return the columns of results, starting with the headline."""
    by_p99, unit = board.metric.is_latency, board.metric.unit
    columns = [
        Column("value", board.metric, "", tuple(_headline(board, each) for each in results)),
        Column("median", "Median of runs", "", tuple(_median(board, each) for each in results)),
        Column("", "Fastest at", "calls × connections", tuple(map(_point, results))),
        *_latencies(results, by_p99=by_p99),
        Column("cpu", "Server CPU", f"s per million {unit}", tuple(map(_cpu, results))),
        Column("memory", "Peak memory", "MiB", tuple(map(_memory, results))),
        Column("packed", "Messages per DATA frame", "", tuple(map(_packed, results))),
    ]
    return [each for each in columns if any(cell.text != _NONE for cell in each.cells)]


def headline_words(board: Board, result: Result) -> str:
    """Return a headline with the digits that its interval justifies."""
    return rounded_words(board.metric, result.value, result.low, result.high, result.flags)


def interval_words(board: Board, result: Result) -> str:
    """Return the interval as text; empty if it has no width."""
    return rounded_interval(board.metric, result.value, result.low, result.high)


def sortable(value: float | None) -> str:
    """Return a number with four digits, for a script to sort by."""
    return "" if value is None else f"{value:.4g}".replace("e+0", "e").replace("e+", "e")


def _headline(board: Board, result: Result) -> Cell:
    return Cell(headline_words(board, result), sortable(result.value), is_headline=True)


def _median(board: Board, result: Result) -> Cell:
    """Return the median and the spread; a single run has neither."""
    if len(result.rates) < 2 or not result.median:  # noqa: PLR2004 - one is no spread
        return Cell(_NONE, remark="one run" if len(result.rates) == 1 else "")
    words = rounded_words(board.metric, result.median, result.low, result.high)
    spread = "" if result.cv is None else f"± {_percent(result.cv)} %"
    return Cell(words, sortable(result.median), spread)


def _percent(share: float) -> str:
    """Return a share in percent, with two digits."""
    percent = share * 100
    return f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"  # noqa: PLR2004


def _point(result: Result) -> Cell:
    """Return the point of a blast that is its headline."""
    for point in result.points:
        if point.rate == result.value:
            return Cell(f"{point.requests:,} × {min(point.connections, point.requests):,}")
    return Cell(_NONE)


def _latencies(results: Sequence[Result], *, by_p99: bool) -> list[Column]:
    """Return the latency columns, all in the unit that fits the middle of the first one."""
    columns: list[tuple[str, str, Sequence[float | None]]] = [
        ("p50", "p50", [each.p50_ns for each in results]),
        *([] if by_p99 else [("p99", "p99", [each.p99_ns for each in results])]),
        ("p999", "p99.9", [each.p999_ns for each in results]),
    ]
    known = next((found for _, _, each in columns if (found := [v for v in each if v])), [0.0])
    middle = median_low(known)
    power = max((each for each in TIMES_NS if middle >= 10.0**each), default=0)
    return [
        Column(key, title, TIMES_NS[power].strip(), tuple(_time(value, power) for value in values))
        for key, title, values in columns
    ]


def _time(value: float | None, power: int) -> Cell:
    return Cell(_NONE) if value is None else Cell(in_unit(value / 10**power), sortable(value))


def _cpu(result: Result) -> Cell:
    least = result.server_cpu_s_per_million_at_least
    most = result.server_cpu_s_per_million_at_most
    if least is None:
        return Cell(_NONE)
    return Cell(cost_words(least, most), sortable(least if most is None else (least + most) / 2))


def _memory(result: Result) -> Cell:
    return Cell(in_unit(result.server_peak_bytes / (1 << 20)), sortable(result.server_peak_bytes))


def _packed(result: Result) -> Cell:
    packed = result.messages_per_data_frame
    return Cell(_NONE) if packed is None else Cell(in_unit(packed), sortable(packed))
