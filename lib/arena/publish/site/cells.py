"""The numbers of a board: columns of cells, each with the digits that it can bear.

A column in which no row has anything is left out. Its unit stands in its head.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from arena.base.numbers import TIMES_NS, cost_words, in_unit
from arena.judge.leaderboard import Board, Row
from arena.judge.words import rounded_interval, rounded_words
from arena.what.profile import unit_of

_NONE = "–"


@dataclass(frozen=True)
class Cell:
    """A cell's words, the number that it sorts by, and a smaller remark."""

    text: str
    sort: str = ""
    remark: str = ""
    is_headline: bool = False


@dataclass(frozen=True)
class Column:
    """One kind of number: `key` is what the page's address calls it, if it can be sorted by."""

    key: str
    title: str
    unit: str
    cells: tuple[Cell, ...]


def columns_of(board: Board, rows: Sequence[Row]) -> list[Column]:
    """Return the columns of rows that have a value, from the headline on."""
    by_p99, unit = board.metric == "p99 latency", unit_of(board.metric)
    columns = [
        Column("value", board.metric, "", tuple(_headline(board, row) for row in rows)),
        Column("median", "Median of runs", "", tuple(_median(board, row) for row in rows)),
        Column("", "Fastest at", "calls × connections", tuple(map(_point, rows))),
        *_latencies(rows, by_p99=by_p99),
        Column("cpu", "Server CPU", f"s per million {unit}", tuple(map(_cpu, rows))),
        Column("memory", "Peak memory", "MiB", tuple(map(_memory, rows))),
        Column("packed", "Messages per DATA frame", "", tuple(map(_packed, rows))),
    ]
    return [each for each in columns if any(cell.text != _NONE for cell in each.cells)]


def interval_of_row(board: Board, row: Row) -> str:
    """Return a row's interval in words; empty where it has no width."""
    low, high = row.interval_low or 0.0, row.interval_high or 0.0
    return rounded_interval(board.metric, row.value or 0.0, low, high)


def sortable(value: float | None) -> str:
    """Return a number short, with four digits, for a script to sort by."""
    return "" if value is None else f"{value:.4g}".replace("e+0", "e").replace("e+", "e")


def _headline(board: Board, row: Row) -> Cell:
    low, high = row.interval_low or 0.0, row.interval_high or 0.0
    words = rounded_words(board.metric, row.value or 0.0, low, high, row.flags)
    return Cell(words, sortable(row.value), is_headline=True)


def _median(board: Board, row: Row) -> Cell:
    """Return the median and the spread; one run has neither."""
    if len(row.rates) < 2 or not row.median:  # noqa: PLR2004 - one is no spread
        return Cell(_NONE, remark="one run" if len(row.rates) == 1 else "")
    low, high = row.interval_low or 0.0, row.interval_high or 0.0
    words = rounded_words(board.metric, row.median, low, high)
    spread = "" if row.cv is None else f"± {_percent(row.cv)} %"
    return Cell(words, sortable(row.median), spread)


def _percent(share: float) -> str:
    """Return a share in percent, with two digits."""
    percent = share * 100
    return f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"  # noqa: PLR2004


def _point(row: Row) -> Cell:
    """Return the point of a blast that is its headline."""
    for point in row.points:
        if point.rate == row.value:
            return Cell(f"{point.requests:,} × {min(point.connections, point.requests):,}")
    return Cell(_NONE)


def _latencies(rows: Sequence[Row], *, by_p99: bool) -> list[Column]:
    """Return the columns of latencies, all in the unit that fits the middle of the first one."""
    columns: list[tuple[str, str, Sequence[float | None]]] = [
        ("p50", "p50", [row.p50_ns for row in rows]),
        *([] if by_p99 else [("p99", "p99", [row.p99_ns for row in rows])]),
        ("p999", "p99.9", [row.p999_ns for row in rows]),
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


def _cpu(row: Row) -> Cell:
    low, high = row.server_cpu_s_per_million_low, row.server_cpu_s_per_million_high
    if low is None:
        return Cell(_NONE)
    return Cell(cost_words(low, high), sortable(low if high is None else (low + high) / 2))


def _memory(row: Row) -> Cell:
    if row.server_peak_bytes is None:
        return Cell(_NONE)
    return Cell(in_unit(row.server_peak_bytes / (1 << 20)), sortable(row.server_peak_bytes))


def _packed(row: Row) -> Cell:
    packed = row.messages_per_data_frame
    return Cell(_NONE) if packed is None else Cell(in_unit(packed), sortable(packed))
