"""The numbers of a board: columns of cells, each with its significant digits.

A column without a value in any row is left out. Its unit is in its head.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median_low

from arena.base.units import TIMES_NS, at_least, cost_words, in_column, in_unit
from arena.judge.beside import (
    ANONYMOUS,
    CONNECTION,
    CPU,
    DUE,
    HIGHEST,
    IDLE,
    IDLE_MEMORY,
    IMAGE,
    KERNEL,
    LATENCIES,
    LISTENS,
    LOST_STREAMS,
    MEMORY,
    STREAM,
    Beside,
)
from arena.judge.figure_words import is_bound, rank_words, rounded_interval, rounded_words
from arena.judge.figures import step_key
from arena.judge.leaderboard import Board
from arena.judge.levels import Level
from arena.judge.row import Result, Row
from arena.judge.steady import PLATEAU_S, SteadyAfter
from arena.judge.verdicts import BlockEstimate
from arena.site import words
from arena.what.metrics import Metric

_NONE = "–"

# A bound sorts after a figure of the same four digits, and before the next one.
_AFTER = 1 + 1e-5

# The key of the classic headline on a board of blocks: rows can be ordered by it instead.
CLASSIC = "classic"

# The titles of the columns of figures beside the headline.
TITLES = {
    LATENCIES["p50"]: "p50",
    LATENCIES["p99"]: "p99",
    LATENCIES["p999"]: "p99.9",
    CPU: "Server CPU",
    IDLE: "Idle CPU",
    ANONYMOUS: "Memory",
    HIGHEST: "Memory, highest sample",
    IDLE_MEMORY: "Idle memory",
    KERNEL: "Kernel memory",
    CONNECTION: "Memory a connection",
    LOST_STREAMS: "Lost streams",
    STREAM: "Memory a stream",
    MEMORY: "Peak memory",
}

# The columns of memory: their keys in the page's address, and figures.
_MEMORIES = {
    "anonymous": ANONYMOUS,
    "highest": HIGHEST,
    "idle-memory": IDLE_MEMORY,
    "kernel": KERNEL,
    "memory": MEMORY,
}


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
        has_classic = has_best_of_three(board)
        classic = tuple(_classic(board, row) if has_classic else Cell(_NONE) for row in rows)
        second = Column(CLASSIC, "Best of three", "classic", classic)
    else:
        first = Column("value", board.metric, "", each(partial(_headline, board)))
        second = Column("median", "Median of runs", "", each(partial(_median, board)))
    latencies = (
        (name, TITLES[figure], [board.beside(row).get(figure) for row in rows])
        for name, figure in LATENCIES.items()
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
        Column("due", "Rate", "calls/s", beside(DUE, _count)),
        *_in_one_unit(
            [("listens", "Listens after", [board.beside(it).get(LISTENS) for it in rows])]
        ),
        *_of_starts([row.estimate.steady if row.estimate else None for row in rows]),
        *_in_one_unit(latencies),
        *_in_one_unit(steps, "p99, "),
        Column("cpu", TITLES[CPU], cpu, beside(CPU, _cpu)),
        Column("idle", TITLES[IDLE], "% of one", beside(IDLE, _idle)),
        Column("streams", TITLES[LOST_STREAMS], "", beside(LOST_STREAMS, _count)),
        *(
            Column(key, TITLES[figure], "MiB", beside(figure, _memory))
            for key, figure in _MEMORIES.items()
        ),
        Column(
            "connection",
            TITLES[CONNECTION],
            "KiB",
            beside(CONNECTION, partial(_memory, unit=1 << 10)),
        ),
        Column("stream", TITLES[STREAM], "KiB", beside(STREAM, partial(_memory, unit=1 << 10))),
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
    if it.levels:
        return _levels(it.levels, partial(_at, board.metric))[0]
    return rounded_words(board.metric, it.value, it.low, it.high, flags)


def _at(metric: Metric, value: float) -> str:
    return rounded_words(metric, value, value, value)


def _levels(levels: Sequence[Level], say: Callable[[float], str]) -> tuple[str, str]:
    """Return both levels of blocks, and how many blocks are on each."""
    low, high = (say(each.value) for each in levels)
    on_low, on_high = (each.blocks for each in levels)
    shares = f"{low} in {on_low} of {on_low + on_high} blocks, {high} in {on_high}"
    return f"{low} or {high}", shares


def has_best_of_three(board: Board) -> bool:
    """Return whether some row has several runs of one start, whose best is its classic figure."""
    return any(row.result and len(row.result.rates) > 1 for row in board.rows)


def has_estimates(board: Board) -> bool:
    """Return whether figures beside the headline have estimates: by older rules, none has."""
    return any(it.estimate for row in board.rows for it in figures_of(board, row).values())


def figures_of(board: Board, row: Row) -> dict[str, Beside]:
    """Return the figures of a row beside its headline, and those of its steps, by name."""
    steps = {step_key(step): it for step, it in board.steps(row).items()}
    return {**board.beside(row), **steps}


def title_of(figure: str) -> str:
    """Return what a figure is called: as its column, or as its step with its percentile."""
    first, _, step = figure.partition("/")
    title = TITLES.get(first, first)
    return f"{title} of {step}" if step else title


def figure_words(board: Board, row: Row) -> str:
    """Return the figure that orders a row: its estimate, else its headline; empty without both."""
    headline = headline_words(board, row.result) if row.result else ""
    return estimate_words(board, row) or headline


def headline_words(board: Board, result: Result) -> str:
    """Return a headline with the digits that its interval justifies."""
    return rounded_words(board.metric, result.value, result.low, result.high, result.flags)


def interval_words(board: Board, of: Result | BlockEstimate) -> str:
    """Return the interval as text; empty if it has no width."""
    flags = of.flags if isinstance(of, Result) else ("client-bound",) * of.is_bound
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
    levels = row.estimate.levels
    shares = _levels(levels, partial(_at, board.metric))[1] if levels else ""
    sort = sortable(row.estimate.value)
    return Cell(estimate_words(board, row), sort, shares, is_headline=True)


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


def _ranked(it: Beside, unit: float, *, is_time: bool = False) -> Cell | None:
    """Return a figure's estimate in a unit, with its interval and rank set; None without one.

    A time that is only known to lie between two bounds, or above one, says so.
    """
    if (of := it.estimate) is None:
        return None
    if of.levels:
        text, remark = _levels(of.levels, lambda value: in_unit(value / unit))
    else:
        high = None if of.high is None else of.high / unit
        text, remark = in_column(of.value / unit, of.low / unit, high)
        if is_time and it.is_bound:
            text = _bounds(it, unit, text)
    ranks = f"rank {rank_words(of.rank_set)}" if of.rank_set else ""
    sort = sortable(of.value, is_least=is_time and it.at_most is None)
    return Cell(text, sort, ", ".join(filter(None, (remark, ranks))))


def _bounds(it: Beside, unit: float, least: str) -> str:
    """Return a time that is only known to lie between two bounds, or above the least."""
    if it.at_most is None:
        return at_least(least, is_bound=True)
    return cost_words(it.at_least / unit, it.at_most / unit)


def _time(it: Beside, unit: int) -> Cell:
    if ranked := _ranked(it, unit, is_time=True):
        return ranked
    text = _bounds(it, unit, in_unit(it.at_least / unit))
    return Cell(text, sortable(it.at_least, is_least=it.is_bound), _spread(it, unit))


def _cpu(it: Beside) -> Cell:
    shown = Cell(cost_words(it.at_least, it.at_most), sortable(it.middle), _spread(it, 1))
    return _ranked(it, 1) or shown


def _memory(it: Beside, unit: int = 1 << 20) -> Cell:
    shown = Cell(in_unit(it.at_least / unit), sortable(it.at_least), _spread(it, unit))
    return _ranked(it, unit) or shown


def _count(it: Beside) -> Cell:
    return Cell(f"{it.at_least:,.0f}", sortable(it.at_least), _spread(it, 1))


def _idle(it: Beside) -> Cell:
    shown = Cell(in_unit(100 * it.at_least), sortable(it.at_least), _spread(it, 0.01))
    return _ranked(it, 0.01) or shown


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
        Column("steady-memory", "Peak memory until steady", "MiB", each(memory)),
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
