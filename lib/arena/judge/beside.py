"""Figures beside the one that ranks: latencies, CPU time and memory, of a run or of many blocks."""

import math
import operator
from collections.abc import Iterator, Sequence
from statistics import median

from pydantic import Field

from arena.base.model import Frozen, Number
from arena.judge.flags import has_unknown_cost, is_late
from arena.judge.levels import Level
from arena.record.measurement import Cost, Latency, Run
from arena.record.record import Record
from arena.what.profile import MeasuredProfile
from parsers.common.figures import Whole

# The latencies beside a rate, by the names of their fields and as figures.
LATENCIES = {"p50": "p50_ns", "p99": "p99_ns", "p999": "p999_ns"}
CPU, GENERATOR_CPU = "server_cpu_s_per_million", "generator_cpu_s_per_million"
# Boards show the peak, with page cache in containers, only of records without anonymous memory.
MEMORY = "server_peak_bytes"
ANONYMOUS, HIGHEST = "server_anonymous_bytes", "server_highest_anonymous_bytes"
IDLE_MEMORY, KERNEL = "server_idle_anonymous_bytes", "server_kernel_bytes"
# What each of many connections, or open streams, holds: memory at the end without the idle one.
CONNECTION = "server_anonymous_bytes_per_connection"
_MANY_CONNECTIONS = 1_000
# The figures of memory, and their fields in a record.
MEMORIES = {
    ANONYMOUS: "anonymous_bytes",
    HIGHEST: "highest_bytes",
    IDLE_MEMORY: "idle_bytes",
    KERNEL: "kernel_bytes",
}
IDLE = "server_idle_cpu_s_per_s"
LISTENS = "listens_ns"
IMAGE = "image_bytes"
LOST_STREAMS = "lost_streams"
# Where each framework has a rate of its own.
DUE = "due_calls_per_s"
STREAM = "server_anonymous_bytes_per_stream"
# The figures that a result has in fields of its own; all others are in its `more`.
OWN = frozenset({*LATENCIES.values(), CPU, GENERATOR_CPU, MEMORY})

# A figure of one run: its name, and its bounds. None: nothing is known of the upper one.
Bounds = tuple[str, float, float | None]


class FigureEstimate(Frozen):
    """The estimate of a figure over the blocks of a night, made as that of the headline.

    `low` to `high` is the simultaneous 95 % interval of this figure of all frameworks; without a
    `high`, nothing is known of its end. `rank_set` and `letters` are by this figure, if it is
    ranked. Blocks on two `levels` have no estimate: then `value` is only there to sort by.
    """

    value: Number
    low: Number
    high: Number | None
    levels: tuple[Level, ...] = Field(default=(), exclude_if=operator.not_)
    rank_set: tuple[Whole, Whole] | None = Field(default=None, exclude_if=operator.not_)
    letters: str | None = Field(default=None, exclude_if=operator.not_)


class Beside(Frozen):
    """A figure between its bounds; without an `at_most`, only the lower one is known.

    Over the blocks of a night, the bounds are medians, and the blocks lie between `low` and `high`;
    a figure that is ranked has an `estimate`, too. Units are in the figures' names.
    """

    at_least: Number
    at_most: Number | None
    low: Number | None = None
    high: Number | None = None
    estimate: FigureEstimate | None = Field(default=None, exclude_if=operator.not_)

    @property
    def is_bound(self) -> bool:
        """Whether the figure may be higher than its lower bound."""
        return self.at_least != self.at_most

    @property
    def is_between(self) -> bool:
        """Whether the figure lies between two known bounds."""
        return self.at_most is not None and self.is_bound

    @property
    def middle(self) -> float:
        """The figure to sort by."""
        return self.at_least if self.at_most is None else (self.at_least + self.at_most) / 2


def of_run(profile: MeasuredProfile, run: Run, *, is_known: bool = True) -> Iterator[Bounds]:
    """Yield the figures of a run that are known; the server's cost only if it `is_known`."""
    for name, figure in LATENCIES.items():
        yield from of_response(figure, run, name)
    if run.streams:
        yield LOST_STREAMS, float(run.streams.lost), float(run.streams.lost)
    is_unknown = not is_known or has_unknown_cost(run)
    costs = [(CPU, run.server), (GENERATOR_CPU, run.generator)]
    for name, cost in costs[is_unknown:] if has_cost(profile, run) else ():
        if (least := per_million(run, cost, run.rate_at_most)) is not None:
            yield name, least, per_million(run, cost, run.rate_at_least)
    if not is_unknown:
        for figure, held in _memories(run, profile.connection_count):
            yield figure, float(held), float(held)
        if (idle := run.server.idle) is not None:
            yield IDLE, idle, idle
    if (rate := profile.load.own_rate) is not None:
        yield DUE, rate, rate
    if run.started:
        yield LISTENS, run.started.listens_s * 1e9, run.started.listens_s * 1e9


def has_cost(profile: MeasuredProfile, run: Run) -> bool:
    """Return whether the CPU time of a run can be compared by the million of its messages.

    A search has windows at many rates; of streams that live, the headline is the cost of a message.
    A call costs more at a lower rate, so that it cannot be compared where rates differ.
    """
    return not (run.search or run.streams or profile.load.differs)


def of_image(record: Record) -> Iterator[Bounds]:
    """Yield the size of the image of a server whose start was measured, unless it is a stand-in."""
    it = record.provenance.runtime
    if it and it.image_bytes and not it.standin and record.profile.load.is_start:
        yield IMAGE, it.image_bytes, it.image_bytes


def _memories(run: Run, connections: int) -> Iterator[tuple[str, float]]:
    memory = run.server.memory
    if memory is None:
        yield MEMORY, run.server.peak_bytes
        return
    for figure, name in MEMORIES.items():
        if (held := getattr(memory, name)) is not None:
            yield figure, held
    if memory.idle_bytes is None:
        return
    grown = memory.anonymous_bytes - memory.idle_bytes
    if connections >= _MANY_CONNECTIONS:
        yield CONNECTION, grown / connections
    if run.streams and run.streams.open_last:
        yield STREAM, grown / run.streams.open_last


def of_response(figure: str, run: Run, name: str) -> Iterator[Bounds]:
    """Yield a percentile of a run: if the generator was late, it lies between two bounds.

    They are that from when the requests were written, and that from when they were due.
    """
    for _, least, most in of_latency(figure, run.latency_ns, name):
        yield figure, getattr(run.written_ns, name) if is_late(run, name) else least, most


def of_latency(figure: str, latency: Latency, name: str) -> Iterator[Bounds]:
    """Yield a percentile under the name of a figure, if it is known."""
    if (ns := getattr(latency, name)) is not None:
        yield figure, ns, None if name in latency.at_least else ns


def of_steps(run: Run) -> Iterator[Bounds]:
    """Yield the p99 latency of each step of a run, by the step's name."""
    for step in run.steps:
        yield from of_latency(step.name, step.latency_ns, "p99")


def per_million(run: Run, cost: Cost, rate: float) -> float | None:
    """Return CPU seconds per million messages at a rate; None if the rate is 0.

    Cut calls cost CPU time too, so the cost has an error bar like the rate. The rate of a blast is
    that of one point; its cost covers all points.
    """
    messages = run.messages if run.points else rate * run.elapsed_s
    return cost.cpu_s / messages * 1e6 if messages else None


def alone(figures: Sequence[Bounds]) -> dict[str, Beside]:
    """Return the figures of one run by name."""
    return {name: Beside(at_least=least, at_most=most) for name, least, most in figures}


def over_blocks(blocks: Sequence[Sequence[Bounds]]) -> dict[str, Beside]:
    """Return the median of each figure that all blocks have, and how far the blocks spread.

    The medians of all lower bounds and of all upper ones are bounds of the true median.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for block in blocks:
        for name, least, most in block:
            found.setdefault(name, []).append((least, math.inf if most is None else most))
    return {
        name: Beside(
            at_least=median(least for least, _ in own),
            at_most=_known(median(most for _, most in own)),
            low=min(least for least, _ in own),
            high=_known(max(most for _, most in own)),
        )
        for name, own in found.items()
        if len(own) == len(blocks)
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
