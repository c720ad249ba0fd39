"""The leaderboard: derived from records alone, one board per profile x connections x generator.

Production and tuned frameworks are ranked together, engines apart. The newest good record of
a framework is its row; a newer failure is shown on that row and never takes its value away.
A trial, with other runs or another duration than the profile's, never replaces a full record.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.judge.entry import TRIAL, UNRANKED, Entry, Load, entry_of
from arena.judge.headline import figure_of
from arena.judge.interval import interval_of
from arena.record.measurement import BlastPoint, Cost, Run, Second
from arena.record.record import Check, Failure, Flag, Record
from arena.what.profile import LOWER_IS_BETTER, Kind, Metric

# Which types are ranked against each other.
DIVISIONS: dict[str, Literal["framework", "engine"]] = {
    "production": "framework",
    "tuned": "framework",
    "engine": "engine",
}

# The outcomes of a check, by how much they say against the server.
GRAVITY = {"pass": 0, "warn": 1, "fail": 2}

# The overrides that make a row's figures incomparable to others; the rest is in the record.
_LOAD = TRIAL | {"SERVER_CPUS", "LOADGEN_CPUS"}


class RowFailure(Failure):
    """A failure newer than the row's value, and its record."""

    status: str
    started_at: str
    record: str


class Row(Frozen):
    """One framework on a board. Without a good record yet, there is only its failure.

    `value`, `low`, `high`, `median` and `rates` are in the board's metric. From `interval_low` to
    `interval_high` is what all its runs leave possible: by it, rows share a rank. `seconds` and
    `points` are those of the headline's run, where it has them. `overrides` are those that changed
    the load. CPU seconds per million messages, or requests, the server's and the generator's, lie
    between their `_low` and their `_high`, which is absent if no call finished. `checks_passed`
    counts the contract's checks and `checks_warned` holds those that warn, before and after the
    runs: a check made twice counts once, by the worse of its outcomes.
    """

    rank: int | None
    framework: str
    display_name: str
    language: str
    type: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    rule: str | None = None
    median: float | None = None
    cv: float | None = None
    rates: tuple[float, ...] = ()
    seconds: tuple[Second, ...] = ()
    points: tuple[BlastPoint, ...] = ()
    p50_ns: float | None = None
    p99_ns: float | None = None
    p999_ns: float | None = None
    latency_kind: str | None = None
    server_cpu_s_per_million_low: float | None = None
    server_cpu_s_per_million_high: float | None = None
    generator_cpu_s_per_million_low: float | None = None
    generator_cpu_s_per_million_high: float | None = None
    server_peak_bytes: int | None = None
    messages_per_data_frame: float | None = None
    checks_passed: int | None = None
    checks_warned: tuple[Check, ...] = ()
    flags: tuple[Flag, ...] = ()
    overrides: dict[str, str] = Field(default_factory=dict)
    runtime: str | None = None
    machine: str | None = None
    generator: str | None = None
    standin: str | None = None
    started_at: str | None = None
    record: str | None = None
    failure: RowFailure | None = None


class Board(Frozen):
    """The ranked rows of one profile x connections x generator, of one division."""

    profile: str
    title: str
    call: str
    tls: bool
    connections: int
    generator: str
    division: Literal["framework", "engine"]
    kind: Kind = "closed"
    metric: Metric
    rows: tuple[Row, ...]

    @property
    def load(self) -> Load:
        """Return what its records have in common."""
        return self.profile, self.connections, self.generator, self.metric


class Leaderboard(Frozen):
    """Every board, sorted by profile, connections, generator and division."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    boards: tuple[Board, ...]

    @property
    def shown_records(self) -> list[str]:
        """The paths of the records that rows stand for, and of newer failures; sorted."""
        rows = [row for board in self.boards for row in board.rows]
        paths = {row.record for row in rows} | {row.failure.record for row in rows if row.failure}
        return sorted(path for path in paths if path)


def rank(records: Iterable[Record]) -> Leaderboard:
    """Derive the leaderboard of records at hand; their order does not matter."""
    by_path = {record.path: record for record in records}
    return rank_entries(map(entry_of, by_path.values()), by_path.__getitem__)


def rank_entries(entries: Iterable[Entry], read: Callable[[str], Record]) -> Leaderboard:
    """Derive the leaderboard of entries; `read` gives the record of a path, of those it needs."""
    histories: dict[Load, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(entries, key=lambda each: (each.started_at, each.path)):
        histories[entry.load][entry.framework].append(entry)
    boards = []
    for (_, connections, generator, _), frameworks in sorted(histories.items()):
        newest = max((h[-1] for h in frameworks.values()), key=lambda each: each.started_at)
        profile = read(newest.path).profile
        for division in ("framework", "engine"):
            rows = [
                _row(history, read)
                for history in frameworks.values()
                if DIVISIONS[history[-1].type] == division
            ]
            if rows:
                boards.append(
                    Board(
                        profile=profile.name,
                        title=profile.title,
                        call=profile.call,
                        tls=profile.tls,
                        connections=connections,
                        generator=generator,
                        division=division,
                        kind=profile.kind,
                        metric=profile.metric,
                        rows=_ranked(rows, profile.metric),
                    )
                )
    return Leaderboard(boards=tuple(boards))


def _ranked(rows: list[Row], metric: Metric) -> tuple[Row, ...]:
    """Order by value, the best first; who overlaps the best of a rank shares it.

    A row has the rank of the best row that it cannot be told from: their intervals overlap. The
    next rank counts all above it. Without a value there is no rank, nor with one of 0: no call
    finished, so it is only known to be lower than `high`. Nor is there one for a load that was
    not the schedule's, or for a sweep that was cut short.
    """
    sign = 1 if metric in LOWER_IS_BETTER else -1

    def order(row: Row) -> tuple[bool, bool, float, str]:
        return row.value is None, not _can_rank(row), sign * (row.value or 0), row.framework

    ranked: list[Row] = []
    best: Row | None = None
    for place, row in enumerate(sorted(rows, key=order), 1):
        if not _can_rank(row):
            ranked.append(row)
            continue
        if best is None or not _overlap(best, row):
            best = row.model_copy(update={"rank": place})
        ranked.append(row.model_copy(update={"rank": best.rank}))
    return tuple(ranked)


def _can_rank(row: Row) -> bool:
    return bool(row.value) and UNRANKED.isdisjoint(row.flags)


def _overlap(first: Row, second: Row) -> bool:
    (low, high), (other_low, other_high) = _interval(first), _interval(second)
    return low <= other_high and other_low <= high


def _interval(row: Row) -> tuple[float, float]:
    return row.interval_low or 0.0, row.interval_high or 0.0


def _row(history: list[Entry], read: Callable[[str], Record]) -> Row:
    """Make a framework's row from its entries, oldest first."""
    newest = read(history[-1].path)
    newest_first = [entry for entry in reversed(history) if entry.status == "ok"]
    good = next((each for each in newest_first if not each.is_trial), None)
    good = good or next(iter(newest_first), None)
    row = Row(
        rank=None,
        framework=newest.framework.name,
        display_name=newest.framework.display_name,
        language=newest.framework.language,
        type=newest.framework.type,
    )
    if newest.status != "ok" and newest.failure:
        failure = RowFailure(
            **newest.failure.model_dump(),
            status=newest.status,
            started_at=newest.started_at,
            record=newest.path,
        )
        row = row.model_copy(update={"failure": failure})
    return row.model_copy(update=_values(read(good.path))) if good else row


def _values(record: Record) -> dict[str, object]:
    headline, spread = record.headline, record.spread
    if headline is None or spread is None:
        return {}
    best = record.runs[headline.run - 1]
    runtime, maker = record.provenance.runtime, record.provenance.generator
    checks = _worst(record)
    low, high = interval_of(record.profile.metric, record.runs)
    return {
        "value": headline.value,
        "low": headline.low,
        "high": headline.high,
        "interval_low": low,
        "interval_high": high,
        "rule": headline.rule,
        "median": spread.median,
        "cv": spread.cv,
        "rates": tuple(figure_of(record.profile.metric, run)[0] for run in record.runs),
        "seconds": best.seconds,
        "points": best.points,
        "p50_ns": best.latency_ns.p50,
        "p99_ns": best.latency_ns.p99,
        "p999_ns": best.latency_ns.p999,
        "latency_kind": best.latency_ns.kind,
        "server_cpu_s_per_million_low": _per_million(best, best.server, best.rate_high),
        "server_cpu_s_per_million_high": _per_million(best, best.server, best.rate_low),
        "generator_cpu_s_per_million_low": _per_million(best, best.generator, best.rate_high),
        "generator_cpu_s_per_million_high": _per_million(best, best.generator, best.rate_low),
        "server_peak_bytes": best.server.peak_bytes,
        "messages_per_data_frame": record.messages_per_data_frame,
        "checks_passed": sum(check.status == "pass" for check in checks),
        "checks_warned": tuple(check for check in checks if check.status == "warn"),
        "flags": record.flags,
        "overrides": {
            name: value for name, value in record.provenance.overrides.items() if name in _LOAD
        },
        "runtime": runtime.name if runtime else None,
        "machine": record.provenance.host.words,
        "generator": f"{maker.name} {maker.version}" if maker else None,
        "standin": runtime.standin if runtime else None,
        "started_at": record.started_at,
        "record": record.path,
    }


def _worst(record: Record) -> list[Check]:
    """Return each of the record's checks once, in order: the first of its worst outcomes."""
    worst: dict[str, Check] = {}
    for check in (*record.contract, *record.contract_after):
        known = worst.setdefault(check.check, check)
        if GRAVITY[check.status] > GRAVITY[known.status]:
            worst[check.check] = check
    return list(worst.values())


def _per_million(run: Run, cost: Cost, rate: float) -> float | None:
    """Return CPU seconds for a million messages at a rate; None if that is 0.

    Cut calls were worked for too, so the cost has an error bar as the rate has. The rate of a
    blast is that of one point, and the cost that of them all.
    """
    messages = run.messages if run.points else rate * run.elapsed_s
    return cost.cpu_s / messages * 1e6 if messages else None
