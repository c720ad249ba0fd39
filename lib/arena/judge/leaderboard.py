"""The leaderboard: derived from records alone, a board for each load, generator and host class.

Production and tuned frameworks are ranked together, engines apart. The newest good record of
a framework is its row; a newer failure is shown on that row and never removes its value. Trials of
each size, and records from before a profile was edited, have boards of their own.
"""

import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Literal

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
    of_response,
    of_run,
    per_million,
)
from arena.judge.derive import RULES, derive
from arena.judge.entry import DIVISIONS, Division, Entry, by_load, entry_of, packed_under_load
from arena.judge.flags import UNPLACED, is_late
from arena.judge.headline import figure_of, is_sure
from arena.judge.host_class import HostClass, host_class_of
from arena.judge.load_key import Key, LoadKey, Place, differences
from arena.judge.nights import (
    LEAST_RANKED,
    Altered,
    BlockEstimate,
    BoardNight,
    Night,
    TwinHistory,
    Verdict,
    by_division,
    judged,
    nights_of,
    other_nights,
    shown_night,
)
from arena.judge.twins import NO_LOOKS, TwinBook
from arena.record.measurement import BlastPoint, Search, Second, Step
from arena.record.record import Check, Failure, Record
from arena.what.environment import CPUS, TRIAL
from arena.what.loads import KINDS, LoadShape
from arena.what.metrics import Metric

# A server with more messages a DATA frame than this packs them, in spite of HttpArena's rule.
_ONE_A_FRAME = 1.01

# The place of a record: its profile, connections and framework.
_PLACE = re.compile(r"([^/]+)/([0-9]{1,7})/([^/]+)/[^/]+")

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


class Difference(Frozen):
    """A fact in which a load differs from the current one, as JSON: `duration_s`, 1.0, 5.0."""

    fact: str
    here: str
    current: str


class Board(Frozen):
    """The ranked rows of one load, one generator, one class of hosts and one division.

    `is_home` tells whether the class is that of the set's current load, whatever the profile.

    A profile may have records of several loads with these connections, this generator and this
    class. One is current: the newest that is not a trial, or the newest trial if all are trials.
    `load` is this load's name, such as `5s-x-3`; `differences` compares it with the current one.
    Boards of the same load under several generators have the same `load_digest`. With a
    `generator_warm_up`, the generator made load before each window by itself. The `call` of a
    scenario is empty.

    `night` is the fullest recent night of blocks, `twin_history` that of all nights. With `framing`
    `single`, the board has only servers that send one message a DATA frame; it is given if it
    differs from that of all. `altered` records are not as they were saved and do not count. Those
    that cannot be read are on every current board of their profile and connections.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    profile: str
    title: str
    call: str
    tls: bool
    connections: int
    generator: str
    host_class: HostClass
    is_home: bool
    load: str
    load_digest: str
    generator_warm_up: str
    is_current: bool
    is_trial: bool
    differences: tuple[Difference, ...]
    division: Division
    kind: str = "closed"
    metric: Metric
    rows: tuple[Row, ...]
    framing: Literal["all", "single"] = "all"
    night: BoardNight | None = None
    twin_history: TwinHistory | None = None
    altered: tuple[Altered, ...] = ()

    @property
    def shape(self) -> type[LoadShape]:
        """Return the kind of load of its records."""
        return KINDS[self.kind]

    @property
    def place(self) -> Place:
        """Return the part of the key that it shares with its profile's other loads."""
        return self.profile, self.connections, self.generator, self.host_class.id

    @property
    def key(self) -> Key:
        """Return the key that identifies its load."""
        return *self.place, self.load_digest, self.generator_warm_up

    def beside(self, row: Row) -> Mapping[str, Beside]:
        """Return a row's latencies, costs and memory by name: those of its blocks, if any count."""
        shown = row.estimate if self.night else row.result
        return shown.beside if shown else {}

    def steps(self, row: Row) -> Mapping[str, Beside]:
        """Return the p99 latency of each step of a row (ns), from the same runs."""
        if self.night:
            return row.estimate.steps if row.estimate else {}
        return row.result.step_p99s if row.result else {}


class Leaderboard(Frozen):
    """All boards, by profile, connections and generator; the home class comes first, then others.

    Within a class, the current load comes first. `rules` is the version of those that judged them.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    rules: Annotated[int, Field(ge=1, le=1000)]
    boards: tuple[Board, ...]


def shown_records(boards: Iterable[Board]) -> list[str]:
    """Return the sorted paths of the records of all results and newer failures.

    The visits of a night are not among them: a board shows them as one estimate.
    """
    rows = [row for board in boards for row in board.rows]
    return sorted({part.record for row in rows for part in (row.result, row.failure) if part})


def named_records(boards: Sequence[Board]) -> Iterator[str]:
    """Yield the path of every record that boards name: also the visits of a night."""
    yield from shown_records(boards)
    for board in boards:
        yield from (each.record for each in board.altered)
        yield from (path for row in board.rows if row.estimate for path in row.estimate.records)


def night_records(boards: Iterable[Board], entries: Iterable[Entry]) -> list[str]:
    """Return the paths of all visits of the nights that boards show: twins and voids too."""
    nights = {(board.key, board.night.night) for board in boards if board.night}
    return [
        each.path for each in entries if each.turn and (each.load.key, each.turn.night) in nights
    ]


def rank(records: Iterable[Record]) -> Leaderboard:
    """Derive the leaderboard from records; their order does not matter."""
    by_path = {record.path: record for record in records}
    return rank_entries(map(entry_of, by_path.values()), by_path.__getitem__)


def rank_entries(
    entries: Iterable[Entry],
    read: Callable[[str], Record],
    twins: TwinBook = NO_LOOKS,
    broken: Mapping[str, str] = MappingProxyType({}),
) -> Leaderboard:
    """Derive the leaderboard from entries; `read` returns the record of a path.

    `twins` says when somebody looked at the twins of a load, or what they were in a round. `broken`
    says what is wrong with records that cannot be read, by path.
    """
    unreadable = _unreadable(broken)
    places: dict[Place, list[list[Entry]]] = defaultdict(list)
    in_time = sorted(entries, key=lambda each: (each.started_at, each.path))
    home = max(in_time, key=_claim).load.host_class if in_time else ""
    for own in by_load(in_time).values():
        places[own[0].load.place].append(own)

    def order(place: Place) -> tuple[object, ...]:
        *rest, host_class = place
        return *rest, host_class != home, host_class

    boards = [
        board
        for place in sorted(places, key=order)
        for board in _boards(places[place], home, read, twins, unreadable[place[:2]])
    ]
    return Leaderboard(rules=RULES, boards=tuple(boards))


def _boards(
    loads: list[list[Entry]],
    home: str,
    read: Callable[[str], Record],
    twins: TwinBook,
    unreadable: Sequence[Altered],
) -> Iterator[Board]:
    """Yield the boards of one place, the current load's first.

    Each load is the list of its entries, oldest first. `home` is the id of the home class.
    """
    loads = sorted(loads, key=lambda own: max(map(_claim, own)), reverse=True)
    sizes = Counter(own[0].load.size for own in loads)
    newest = read(loads[0][-1].path)
    host_class = host_class_of(newest)
    for own in loads:
        load, last = own[0].load, read(own[-1].path)
        profile = last.profile
        is_current = own is loads[0]
        is_plain = is_current or sizes[load.size] == 1
        histories: dict[str, list[Entry]] = defaultdict(list)
        for entry in own:
            histories[entry.framework].append(entry)
        rows = _told_apart([_row(history, read) for history in histories.values()])
        groups: dict[Division, list[Row]] = {"framework": [], "engine": []}
        for row in rows:
            groups[DIVISIONS[row.type]].append(row)
        nights = nights_of(own)
        history = twins.history_of(load, nights, by_division(own).values())
        for division, group in groups.items():
            if not group:
                continue
            names = _names(group)
            board = Board(
                profile=profile.name,
                title=profile.title,
                call=profile.call,
                tls=profile.tls,
                connections=load.connections,
                generator=load.generator,
                host_class=host_class,
                is_home=host_class.id == home,
                load=load.size if is_plain else f"{load.size}-{_mark(load)}",
                load_digest=load.digest,
                generator_warm_up=load.generator_warm_up,
                is_current=is_current,
                is_trial=all(entry.is_trial for entry in own),
                differences=tuple(
                    Difference(fact=fact, here=here, current=there)
                    for fact, (here, there) in differences(last, newest).items()
                ),
                division=division,
                kind=profile.load.kind,
                metric=profile.metric,
                rows=(),
                twin_history=history,
                altered=(
                    *(
                        Altered(framework=each.framework, record=each.path, problem=each.problem)
                        for each in own
                        if each.problem and each.framework in names
                    ),
                    *(unreadable if is_current else ()),
                ),
            )
            night = shown_night(nights, names)
            full = _with_rows(board, group, nights, night)
            yield full
            if profile.replies > 1:
                single = [row for row in full.rows if _is_single(row)]
                if single and any(_packing(row) for row in full.rows if row not in single):
                    single_board = full.model_copy(update={"framing": "single"})
                    yield _with_rows(single_board, single, nights, night)


def _unreadable(broken: Mapping[str, str]) -> Mapping[tuple[str, int], list[Altered]]:
    """Return the records that cannot be read, by profile and connections, as their paths say."""
    found: dict[tuple[str, int], list[Altered]] = defaultdict(list)
    for path, problem in sorted(broken.items()):
        if path.isprintable() and (place := _PLACE.fullmatch(path)):
            profile, connections, framework = place.groups()
            said = f"it cannot be read: {problem}"
            altered = Altered(framework=framework, record=path, problem=said)
            found[profile, int(connections)].append(altered)
    return found


def _with_rows(
    board: Board, rows: Sequence[Row], nights: Sequence[Night], night: Night | None
) -> Board:
    """Return a board of these rows: ranked in the classic way, and as the night's blocks say."""
    ranked = _ranked(rows, board.metric)
    names = _names(rows)
    shown = None
    if night and not night.frameworks.isdisjoint(names):
        verdict = judged(night, names, board.twin_history)
        ranked = tuple(_estimated(row, verdict) for row in ranked)
        ranked = tuple(sorted(ranked, key=partial(by_estimate, board.metric)))
        shown = verdict.summary.model_copy(update=other_nights(nights, night, names))
    return board.model_copy(update={"rows": ranked, "night": shown})


def _names(rows: Iterable[Row]) -> frozenset[str]:
    return frozenset(row.framework for row in rows)


def _estimated(row: Row, verdict: Verdict) -> Row:
    name = row.framework
    return row.model_copy(
        update={
            "estimate": verdict.estimates.get(name),
            "rank_set": verdict.rank_sets.get(name),
            "letters": verdict.letters.get(name),
        }
    )


def by_estimate(metric: Metric, row: Row) -> tuple[bool, bool, float]:
    """Return the sort key of a row by its estimate, whether it has a rank or not.

    Rows that have none come last, and keep their order.
    """
    return row.estimate is None, *(row.estimate.order(metric) if row.estimate else (False, 0.0))


def _packing(row: Row) -> float | None:
    """Return how many messages a DATA frame has: under load, or else without load."""
    if row.estimate and row.estimate.messages_per_data_frame:
        return row.estimate.messages_per_data_frame
    if row.result is None:
        return None
    return row.result.messages_per_data_frame_under_load or row.result.messages_per_data_frame


def _is_single(row: Row) -> bool:
    packing = _packing(row)
    return packing is not None and packing <= _ONE_A_FRAME


def _mark(load: LoadKey) -> str:
    """Return what tells a load from others of the same size and place, as part of a URL."""
    return load.digest[:6] + (load.generator_warm_up and f"-{load.generator_warm_up}")


def _claim(entry: Entry) -> tuple[bool, bool, str, str]:
    """Return the sort key that picks what is current: no trial, then good, then newest."""
    return not entry.is_trial, entry.is_good, entry.started_at, entry.path


def _ranked(rows: Iterable[Row], metric: Metric) -> tuple[Row, ...]:
    """Order by value, the best first; a row whose interval overlaps the leader's shares its rank.

    The leader of a rank is its best row. The next rank counts all ranked rows above it. A row that
    cannot have a rank stands by its value; it is behind all others if its load was not the
    profile's, or if its value is 0: no call finished, so only the upper bound `high` is known.
    With fewer than two rows that can have a rank, none has.
    """
    sign = 1 if metric.lower_is_better else -1

    def order(row: Row) -> tuple[int, float, str]:
        if row.result is None:
            return 2, 0.0, row.framework
        return not has_place(row.result), sign * row.result.value, row.framework

    ordered = sorted(rows, key=order)
    ranks: dict[str, int] = {}
    rank, leader = 0, None
    for row in ordered:
        if (it := row.result) and can_rank(it):
            if leader is None or leader.low > it.high or it.low > leader.high:
                rank, leader = len(ranks) + 1, it
            ranks[row.framework] = rank
    if len(ranks) < LEAST_RANKED:
        ranks = {}
    return tuple(row.model_copy(update={"rank": ranks.get(row.framework)}) for row in ordered)


def can_rank(result: Result) -> bool:
    """Return whether a result can have a rank at all."""
    return bool(result.value) and can_compare(result)


def can_compare(result: Result) -> bool:
    """Return whether a result's interval says how far it is from others."""
    return is_sure(result.low, result.high, len(result.rates), result.points, result.flags)


def has_place(result: Result) -> bool:
    """Return whether a result's figure is one of the profile's load, and so has a place."""
    return bool(result.value) and UNPLACED.isdisjoint(result.flags)


def _row(history: list[Entry], read: Callable[[str], Record]) -> Row:
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


def _told_apart(rows: list[Row]) -> list[Row]:
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

    def cost_at(rate: float) -> float | None:
        return per_million(best, best.server, rate) if is_known else None

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
        server_cpu_s_per_million_at_least=cost_at(best.rate_at_most),
        server_cpu_s_per_million_at_most=cost_at(best.rate_at_least),
        generator_cpu_s_per_million_at_least=per_million(best, best.generator, best.rate_at_most),
        generator_cpu_s_per_million_at_most=per_million(best, best.generator, best.rate_at_least),
        server_peak_bytes=best.server.peak_bytes if is_known else None,
        sampled=sum(run.sampled.calls - run.sampled.failed for run in record.runs if run.sampled)
        or None,
        messages_per_data_frame=record.messages_per_data_frame,
        messages_per_data_frame_under_load=packed_under_load(record.profile, best),
        more=alone(
            [it for it in (*of_run(best, is_known=is_known), *of_image(record)) if it[0] not in OWN]
        )
        | alone(
            [
                bounds
                for name, figure in LATENCIES.items()
                if is_late(best, name)
                for bounds in of_response(figure, best, name)
            ]
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
