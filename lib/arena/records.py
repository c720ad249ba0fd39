"""Records: the saved outcome of one framework x profile x connections. Append-only.

A record is `results/<profile>/<connections>/<framework>/<UTC start>.json`; the folder of the
same name beside it holds the generator's raw outputs and the server's log. Nothing here knows
how a record came about, so one can be read, ranked and rendered years later.
"""

import json
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field, ValidationError

from arena.errors import HostError
from arena.files import Frozen, shown, to_json, write_new
from arena.frameworks import Framework
from arena.interrupts import held
from arena.measurement import Rate, Run
from arena.profiles import Profile

# What is added to a record as an option leaves the number as it is: every older record is read
# as before. A runner from before the addition leaves out, and says so, what it does not know.
SCHEMA = 1

# The most calls in flight that warm a server up for a load that is not a closed one.
_WARM_UP_CALLS = 100

_DRAFT = ".httparena-draft-"


def parse_utc(text: str) -> datetime:
    """Return the moment that utc_now wrote."""
    # A twentieth of what strptime takes, and there are a hundred thousand records.
    day, _, time = text.partition("T")
    return datetime.fromisoformat(f"{day}T{time.replace('-', ':')}")


def _moment(text: str) -> str:
    parse_utc(text)
    return text


# As `utc_now` writes a moment.
UtcTime = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}Z$"),
    pydantic.AfterValidator(_moment),
]

Flag = Literal[
    "client-bound",
    "littles-law",
    "missed-schedule",
    "cut-short",
    "cut-calls",
    "none-finished",
    "failed-calls",
    "status-unchecked",
    "approximate",
    "unpinned",
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
    def label(self) -> str:
        """Its name, with the connections where it has records of several counts."""
        count = self.connection_count
        several = len(self.record_connections) > 1
        return f"{self.name} at {count} connection{'s' * (count != 1)}" if several else self.name

    @property
    def in_flight(self) -> int:
        """Calls that are open at any time; in a scheduled load, and in a blast, at most."""
        if self.sweep:
            return self.sweep[-1]
        return self.concurrency or self.connection_count * (self.streams_per_connection or 1)

    def warm_up(self) -> "MeasuredProfile":
        """Return the closed load that warms a server up for this one."""
        changes: dict[str, object] = {"duration_s": self.warmup_s}
        if self.kind != "closed":
            in_flight = min(self.in_flight, _WARM_UP_CALLS)
            changes |= {
                "kind": "closed",
                "schedule": None,
                "requests": None,
                "sweep": (),
                "repetitions": None,
                "concurrency": in_flight,
                "connection_count": min(self.connection_count, in_flight),
            }
        return self.model_copy(update=changes)


def measured_profile(profile: Profile, connections: int) -> MeasuredProfile:
    """Return the profile for one of its connection counts."""
    return MeasuredProfile(**profile.model_dump(), connection_count=connections)


class Headline(Frozen):
    """The one number that ranks a record, its error bar, the rule and the run (from 1)."""

    metric: str
    value: Rate
    low: Rate
    high: Rate
    rule: str
    run: int


class Spread(Frozen):
    """How the runs' rates lie; `cv` is standard deviation / mean, absent for a single run."""

    median: Rate
    min: Rate
    max: Rate
    cv: Rate | None


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

    @property
    def words(self) -> str:
        """The machine in a few words."""
        return f"{self.cpu}, {self.cpus} CPUs"


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
    started_at: UtcTime
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
        return parse_record(path.read_bytes())
    except OSError as error:
        raise ValueError(str(error)) from error


def parse_record(data: bytes) -> Record:
    """Return the record that a file holds; ValueError with one line if it is broken."""
    try:
        return Record.model_validate_json(data)
    except ValidationError:
        pass  # It may be of an older schema; and else there are better words for what is wrong.
    try:
        return Record.model_validate(upgraded(json.loads(data)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from error
    except RecursionError as error:
        raise ValueError(str(error)) from error


def upgraded(data: Any) -> Any:
    """Return a record of an older schema as today's; ValueError if it is from the future."""
    if not isinstance(data, dict) or not isinstance(data.get("schema"), int):
        raise ValueError("is not a record: it has no `schema`")  # noqa: TRY004
    if data["schema"] > SCHEMA:
        raise ValueError(f"schema {data['schema']} is newer than this runner's {SCHEMA}")
    return data
