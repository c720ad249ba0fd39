"""Rows of a board: a framework's newest good result, and a newer failure."""

import operator
from collections import Counter
from collections.abc import Callable

from pydantic import Field

from arena.base.model import Frozen
from arena.judge.beside import (
    CPU,
    GENERATOR_CPU,
    LATENCIES,
    MEMORY,
    OWN,
    Beside,
    Bounds,
    alone,
    of_image,
    of_latency,
    of_run,
)
from arena.judge.derive import derive
from arena.judge.entry import Entry, packed_under_load
from arena.judge.flags import is_late
from arena.judge.headline import figure_of
from arena.judge.verdicts import BlockEstimate
from arena.record.measurement import BlastPoint, Search, Second, Step
from arena.record.record import Check, Failure, Record
from arena.what.environment import CPUS, TRIAL

# The outcomes of a check, by severity.
GRAVITY = {"pass": 0, "warn": 1, "fail": 2}

# The overrides that make a row's figures incomparable to others; the rest is in the record.
_LOAD = frozenset({*TRIAL, *CPUS})


class RowFailure(Failure):
    """A failure newer than the row's value, and its record."""

    status: str
    started_at: str
    record: str


class Result(Frozen):
    """A good record's figures. The value, its bounds, median and `rates` are in the board's metric.

    `low` to `high` is the interval that ranks the row; `at_least` to `at_most` is the error bar of
    the headline's run. `seconds`, `points`, `search`, `steps`, latencies, costs and memory are of
    that run. `latency_at_least` names its percentiles (`p99`) that are lower bounds.

    CPU seconds per million messages or requests lie between `_at_least` and `_at_most`; the latter
    is absent if no call finished. `overrides` are those that changed the load. `checks_passed`
    counts the contract checks that pass, `checks_warned` holds those that warn. A check made before
    and after the runs counts once, by its worse outcome.
    """

    value: float
    low: float
    high: float
    at_least: float
    at_most: float
    rule: str
    median: float
    cv: float | None
    rates: tuple[float, ...]
    seconds: tuple[Second, ...]
    points: tuple[BlastPoint, ...]
    search: Search | None = Field(default=None, exclude_if=operator.not_)
    steps: tuple[Step, ...] = ()
    p50_ns: float | None
    p99_ns: float | None
    p999_ns: float | None
    latency_at_least: tuple[str, ...] = ()
    latency_kind: str
    server_cpu_s_per_million_at_least: float | None
    server_cpu_s_per_million_at_most: float | None
    generator_cpu_s_per_million_at_least: float | None
    generator_cpu_s_per_million_at_most: float | None
    server_peak_bytes: int | None
    sampled: int | None = None
    messages_per_data_frame: float | None
    messages_per_data_frame_under_load: float | None = None
    more: dict[str, Beside] = Field(default_factory=dict, exclude_if=operator.not_)
    checks_passed: int
    checks_warned: tuple[Check, ...]
    flags: tuple[str, ...]
    overrides: dict[str, str]
    runtime: str | None
    machine: str
    generator: str | None
    standin: str | None
    release: str | None = Field(default=None, exclude_if=operator.not_)
    started_at: str
    record: str

    @property
    def beside(self) -> dict[str, Beside]:
        """Latencies, costs and memory, by name."""
        found: list[Bounds] = [
            (figure, ns, None if name in self.latency_at_least else ns)
            for name, figure in LATENCIES.items()
            if (ns := getattr(self, figure)) is not None
        ]
        found += [
            (name, least, getattr(self, f"{name}_at_most"))
            for name in (CPU, GENERATOR_CPU)
            if (least := getattr(self, f"{name}_at_least")) is not None
        ]
        if (peak := self.server_peak_bytes) is not None:
            found.append((MEMORY, peak, peak))
        return alone(found) | self.more

    @property
    def step_p99s(self) -> dict[str, Beside]:
        """The p99 latency of each step (ns)."""
        every = (of_latency(step.name, step.latency_ns, "p99") for step in self.steps)
        return alone([bounds for each in every for bounds in each])


class Row(Frozen):
    """One framework on a board: its newest good result, and a newer failure.

    A framework without a good record has only a failure. `rank` is the classic one, by the result.
    In a night of blocks, a framework has an `estimate`; `rank_set` holds its possible ranks, from
    the best to the worst, and frameworks that share one of the `letters` cannot be told apart.
    """

    rank: int | None
    framework: str
    display_name: str
    language: str
    type: str
    result: Result | None
    failure: RowFailure | None
    estimate: BlockEstimate | None = None
    rank_set: tuple[int, int] | None = None
    letters: str | None = None


def row_of(history: list[Entry], read: Callable[[str], Record]) -> Row:
    """Make a framework's row from its entries, oldest first."""
    newest = read(history[-1].path)
    good = next((each for each in reversed(history) if each.is_good and each.is_classic), None)
    return Row(
        rank=None,
        framework=newest.framework.name,
        display_name=newest.framework.display_name,
        language=newest.framework.language,
        type=newest.framework.type,
        result=_result(read(good.path), good.flags) if good else None,
        failure=_failure(newest, history[-1].problem),
    )


def told_apart(rows: list[Row]) -> list[Row]:
    """Return the rows of a board; of those with the same display name, each has its folder's, too.

    Readers know a row by its display name alone.
    """
    names = Counter(row.display_name.casefold() for row in rows)
    return [
        row.model_copy(update={"display_name": f"{row.display_name} ({row.framework})"})
        if names[row.display_name.casefold()] > 1
        else row
        for row in rows
    ]


def _failure(record: Record, problem: str) -> RowFailure | None:
    if problem:
        return RowFailure(
            stage="record",
            reason=problem,
            status="altered",
            started_at=record.started_at,
            record=record.path,
        )
    if record.status == "ok" or record.failure is None:
        return None
    about = {"status": record.status, "started_at": record.started_at, "record": record.path}
    return RowFailure(**dict(record.failure), **about)


def _result(record: Record, flags: tuple[str, ...]) -> Result:
    """Return the result of a good record, with the flags of its entry."""
    derived = derive(record)
    headline, spread = derived.headline, derived.spread
    if headline is None or spread is None:
        raise ValueError("a good record has a headline")
    best = record.runs[headline.run - 1]
    runtime, maker = record.provenance.runtime, record.provenance.generator
    checks = _worst(record)

    is_known = "cost-unknown" not in flags

    figures = {
        name: (least, most)
        for name, least, most in (
            *of_run(record.profile, best, is_known=is_known),
            *of_image(record),
        )
    }
    # The others of its own are in fields without bounds.
    late = {figure for name, figure in LATENCIES.items() if is_late(best, name)}
    unknown = None, None
    cpu_least, cpu_most = figures.get(CPU, unknown)
    made_least, made_most = figures.get(GENERATOR_CPU, unknown)

    return Result(
        value=headline.value,
        low=headline.low,
        high=headline.high,
        at_least=headline.at_least,
        at_most=headline.at_most,
        rule=headline.rule,
        median=spread.median,
        cv=spread.cv,
        rates=tuple(figure_of(record.profile.metric, run).value for run in record.runs),
        seconds=best.seconds,
        points=best.points,
        search=best.search,
        steps=best.steps,
        p50_ns=best.latency_ns.p50,
        p99_ns=best.latency_ns.p99,
        p999_ns=best.latency_ns.p999,
        latency_at_least=best.latency_ns.at_least,
        latency_kind=best.latency_ns.kind,
        server_cpu_s_per_million_at_least=cpu_least,
        server_cpu_s_per_million_at_most=cpu_most,
        generator_cpu_s_per_million_at_least=made_least,
        generator_cpu_s_per_million_at_most=made_most,
        server_peak_bytes=best.server.peak_bytes if is_known and not best.server.memory else None,
        sampled=sum(run.sampled.calls - run.sampled.failed for run in record.runs if run.sampled)
        or None,
        messages_per_data_frame=record.messages_per_data_frame,
        messages_per_data_frame_under_load=packed_under_load(record.profile, best),
        more=alone(
            [(name, *each) for name, each in figures.items() if name not in OWN or name in late]
        ),
        checks_passed=sum(check.status == "pass" for check in checks),
        checks_warned=tuple(check for check in checks if check.status == "warn"),
        flags=flags,
        overrides={
            name: value for name, value in record.provenance.overrides.items() if name in _LOAD
        },
        runtime=runtime.name if runtime else None,
        machine=record.provenance.host.words,
        generator=f"{maker.name} {maker.version}" if maker else None,
        standin=runtime.standin if runtime else None,
        release=record.framework.release,
        started_at=record.started_at,
        record=record.path,
    )


def _worst(record: Record) -> list[Check]:
    """Return each of the record's checks once, in order, with its worst outcome."""
    worst: dict[str, Check] = {}
    for check in (*record.contract, *record.contract_after):
        known = worst.setdefault(check.check, check)
        if GRAVITY[check.status] > GRAVITY[known.status]:
            worst[check.check] = check
    return list(worst.values())
