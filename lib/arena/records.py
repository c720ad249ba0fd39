"""Records: the saved outcome of one framework x profile x connections. Append-only.

A record is `results/<profile>/<connections>/<framework>/<UTC start>.json`; the folder of the
same name beside it holds the generator's raw outputs and the server's log. Nothing here knows
how a record came about, so one can be read, ranked and rendered years later.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field, ValidationError

from arena.errors import HostError
from arena.files import Frozen, shown, to_json, write_new
from arena.frameworks import Framework
from arena.interrupts import held
from arena.measurement import Run
from arena.profiles import Profile
from arena.units import rate_words

# What is added to a record as an option leaves the number as it is: every older record is read
# as before. A runner from before the addition leaves out, and says so, what it does not know.
SCHEMA = 1

# Little's law holds in a closed loop; a record further off than this says so.
LITTLES_LAW_TOLERANCE = 0.15
# A generator that used this share of its CPUs had nothing left to give.
CLIENT_BOUND_SHARE = 0.90
# HttpArena ranks by the best of this many runs.
BEST_OF = 3

_DRAFT = ".httparena-draft-"

_UTC_PATTERN = r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}Z$"

Flag = Literal[
    "client-bound", "littles-law", "cut-calls", "none-finished", "failed-calls", "unpinned"
]


class Failure(Frozen):
    """Where a session ended, why, and the log to read (a path below results/)."""

    stage: str
    reason: str
    log: str | None = None


class MeasuredFramework(Framework):
    """The framework as it was: its meta, a hash of its source, and the image it ran as."""

    source_sha256: str
    image_digest: str | None = None


class MeasuredProfile(Profile):
    """The profile as it was run: overrides applied, one connection count."""

    connection_count: int

    @property
    def concurrency(self) -> int:
        """Calls in flight at any time."""
        return self.connection_count * self.streams_per_connection


class Headline(Frozen):
    """The one number that ranks a record, its error bar, the rule and the run (from 1)."""

    metric: str
    value: float
    low: float
    high: float
    rule: str
    run: int


class Spread(Frozen):
    """How the runs' rates lie; `cv` is standard deviation / mean, absent for a single run."""

    median: float
    min: float
    max: float
    cv: float | None


class Check(Frozen):
    """One contract check and how it came out; `warn` means that a SHOULD is missed.

    `detail` says in a sentence what was seen, `wire` shows the bytes that were wrong, in hex.
    """

    check: str
    status: Literal["pass", "warn", "fail"]
    detail: str = ""
    wire: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.detail}" if self.detail else self.check


class Git(Frozen):
    """The runner's own version: the commit, and whether files differed from it."""

    commit: str
    dirty: bool


class GeneratorInfo(Frozen):
    """Which program made the load, and the exact command line of a run."""

    name: str
    version: str
    found: str
    argv: tuple[str, ...]


class Host(Frozen):
    """The machine: `cpus` are logical, `cores` physical, both as far as we may use them."""

    cpu: str
    cpus: int
    cores: int
    kernel: str
    memory_bytes: int
    governor: str | None
    docker: str | None


class Cpus(Frozen):
    """Which CPUs each side had, as lists like 0-3; both are None when they share all."""

    policy: Literal["pinned", "unpinned", "override"]
    server: str | None
    generator: str | None


class RuntimeInfo(Frozen):
    """How the server was started; `standin` names what a stand-in base image provides."""

    name: str
    argv: tuple[str, ...]
    standin: str | None = None


class Provenance(Frozen):
    """How this number came about. `stages_s` are wall seconds of each stage."""

    git: Git | None
    generator: GeneratorInfo | None
    host: Host
    cpus: Cpus
    runtime: RuntimeInfo | None
    overrides: dict[str, str]
    stages_s: dict[str, float]


class Record(Frozen):
    """The saved outcome of one framework x profile x connections (see docs/glossary.md).

    `contract` is what was checked before the runs, `contract_after` what was checked again
    after them. `messages_per_data_frame` is how the server packs a stream, under no load.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    status: Literal["ok", "failed", "invalid"]
    started_at: Annotated[str, Field(pattern=_UTC_PATTERN)]
    failure: Failure | None
    framework: MeasuredFramework
    profile: MeasuredProfile
    headline: Headline | None
    runs: tuple[Run, ...]
    spread: Spread | None
    flags: tuple[Flag, ...]
    contract: tuple[Check, ...]
    contract_after: tuple[Check, ...] = ()
    messages_per_data_frame: float | None = None
    provenance: Provenance

    @pydantic.model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuse what the leaderboard could not make a row of, or the page not show."""
        parse_utc(self.started_at)
        if self.status != "ok":
            if self.failure is None:
                raise ValueError(f"a record that is {self.status} must say why: failure")
            return self
        if self.headline is None or self.spread is None:
            raise ValueError("a record that is ok must have a headline and a spread")
        if not 1 <= self.headline.run <= len(self.runs):
            raise ValueError(f"headline: there is no run {self.headline.run}")
        return self

    @property
    def key(self) -> str:
        """The folder of this record below results/; file names in it sort by time."""
        return record_key(self.profile, self.framework)

    @property
    def path(self) -> str:
        """The record's file below its set's folder."""
        return f"{self.key}/{self.started_at}.json"


def record_key(profile: MeasuredProfile, framework: Framework) -> str:
    """Return where the records of a framework under a profile lie below results/."""
    return f"{profile.name}/{profile.connection_count}/{framework.name}"


def utc_now() -> str:
    """Return this moment as records name it: sortable, and fit for a file name."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")


def parse_utc(text: str) -> datetime:
    """Return the moment that utc_now wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H-%M-%S.%fZ").replace(tzinfo=UTC)


def headline_of(profile: MeasuredProfile, runs: Sequence[Run]) -> Headline | None:
    """Pick the best of the first three runs, HttpArena's rule; None without a run."""
    first = runs[:BEST_OF]
    if not first:
        return None
    number, best = max(enumerate(first, 1), key=lambda pair: pair[1].rate)
    return Headline(
        metric=profile.metric,
        value=best.rate,
        low=best.rate_low,
        high=best.rate_high,
        rule=_rule(len(runs)),
        run=number,
    )


def _rule(runs: int) -> str:
    if runs > BEST_OF:
        return f"best of the first {BEST_OF} of {runs} runs"
    return f"best of {runs} runs" if runs > 1 else "one run"


def headline_words(value: float, high: float, flags: Sequence[Flag]) -> str:
    """Return a headline's value as far as its flags let it be known."""
    return rate_words(value, high, client_bound="client-bound" in flags)


def spread_of(runs: Sequence[Run]) -> Spread | None:
    """Describe how the rates of all runs lie; None without a run."""
    rates = [run.rate for run in runs]
    if not rates:
        return None
    mean = fmean(rates)
    return Spread(
        median=median(rates),
        min=min(rates),
        max=max(rates),
        cv=stdev(rates) / mean if len(rates) > 1 and mean else None,
    )


def flags_of(
    profile: MeasuredProfile,
    runs: Sequence[Run],
    headline: Headline | None,
    generator_cpus: int | None,
) -> tuple[Flag, ...]:
    """Say what a reader must know before trusting the headline.

    `generator_cpus` is how many CPUs the generator had for itself; None when it shared the
    server's. client-bound: it used 90 % of its own, or, sharing, more CPU than the server.
    Cut calls matter only where they make the rate uncertain: not if messages were counted.
    """
    if headline is None:
        return ()
    best = runs[headline.run - 1]
    flags: list[Flag] = []
    if generator_cpus is None:
        bound = best.generator.cpu_s > best.server.cpu_s
    else:
        bound = best.generator.cpu_s >= CLIENT_BOUND_SHARE * generator_cpus * best.elapsed_s
    if bound:
        flags.append("client-bound")
    latency = best.latency_ns
    if latency.mean is not None and latency.kind == "service":
        # Calls/s by way of the messages: those that were counted of cut calls are work, too.
        calls_per_s = best.messages / profile.messages_per_call / best.elapsed_s
        in_flight = calls_per_s * latency.mean / 1e9
        if abs(in_flight / profile.concurrency - 1) > LITTLES_LAW_TOLERANCE:
            flags.append("littles-law")
    if best.calls.cut and best.rate_low < best.rate_high:
        flags.append("cut-calls")
    if not best.calls.ok:
        flags.append("none-finished")
    if any(run.calls.failed for run in runs):
        flags.append("failed-calls")
    if generator_cpus is None:
        flags.append("unpinned")
    return tuple(flags)


class Draft:
    """A session's files while it runs: a hidden folder inside results/, on the same disk.

    `save` gives everything its final name, the record last; leaving the block without saving
    deletes it all, so an interrupt leaves nothing half-written.
    """

    def __init__(self, results: Path) -> None:
        self._results = results
        self.folder = Path()

    def __enter__(self) -> Self:
        try:
            self._results.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._results))
            self.folder.chmod(0o755)
        except OSError as error:
            raise HostError(
                f"{shown(self._results)}: records cannot be written there ({error.strerror}); "
                "make it a writable folder, or try without saving: --no-save"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def save(self, record: Record) -> Path:
        """Move the raw outputs to their place and create the record; return its path."""
        path = self._results / record.path
        beside = path.with_suffix("")
        with held():
            try:
                beside.parent.mkdir(parents=True, exist_ok=True)
                self.folder.rename(beside)
            except OSError as error:
                raise HostError(f"{shown(beside)}: cannot be written ({error.strerror})") from error
            try:
                write_new(path, to_json(record))
            except HostError:
                shutil.rmtree(beside, ignore_errors=True)
                raise
        return path


def clear_drafts(results: Path) -> None:
    """Remove what a killed session left; call it only while holding the host's lock."""
    for folder in results.glob(f"{_DRAFT}*"):
        shutil.rmtree(folder, ignore_errors=True)


def read_record(path: Path) -> Record:
    """Read one record; ValueError with one line if it is broken."""
    try:
        data = json.loads(path.read_bytes())
        return Record.model_validate(upgraded(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except (OSError, RecursionError) as error:
        raise ValueError(str(error)) from error


def upgraded(data: Any) -> Any:
    """Return a record of an older schema as today's; ValueError if it is from the future."""
    if not isinstance(data, dict) or not isinstance(data.get("schema"), int):
        raise ValueError("is not a record: it has no `schema`")  # noqa: TRY004
    if data["schema"] > SCHEMA:
        raise ValueError(f"schema {data['schema']} is newer than this runner's {SCHEMA}")
    return data


def read_records(results: Path) -> Iterator[tuple[str, Record | ValueError]]:
    """Yield every record file of a set as (path below it, record or what is wrong), by path."""
    for path in sorted(results.glob("*/*/*/*.json")):
        name = path.relative_to(results).as_posix()
        try:
            record = read_record(path)
            if record.path != name:
                raise ValueError(f"it belongs to {record.path}")  # noqa: TRY301
            yield name, record
        except ValueError as error:
            yield name, error
