"""Records: what was observed of one framework x profile x connections. Append-only.

A record is `results/<profile>/<connections>/<framework>/<UTC start>.json`; the folder of the same
name holds the generator's raw outputs and the server's log. Nothing here is judged: what follows
from a record (judge/derive.py) is made again each time, by the rules of the day. Nothing depends on
how a record was made, so it can be read, ranked and rendered years later.
"""

import operator
from typing import Annotated, Literal, Self

import pydantic
from pydantic import Field

from arena.base.model import Frozen
from arena.base.units import parse_cpus
from arena.record.measurement import (
    Disturbance,
    LimitsInForce,
    Most,
    Rate,
    Raw,
    Run,
    Seconds,
    is_none,
)
from arena.record.times import UtcTime
from arena.what.environment import TRIAL
from arena.what.framework import Framework
from arena.what.profile import MeasuredProfile
from parsers.common.figures import LEAST, MOST, Bounds, Whole


def _is_list(text: str) -> str:
    parse_cpus(text)
    return text


Quota = Annotated[float, Bounds(ge=LEAST, le=MOST)]
CpuList = Annotated[str, Field(max_length=1000), pydantic.AfterValidator(_is_list)]


class Failure(Frozen):
    """Where a session ended, why, and the log to read (a path below results/)."""

    stage: str
    reason: str
    log: str | None = None


class MeasuredFramework(Framework):
    """The framework as it was measured: its meta, a hash of its source, and the image it ran as.

    `release` is its library's name and version, `grpc-go 1.85.0`; None if nobody said or knows it.
    """

    source_sha256: str
    image_digest: str | None = None
    release: Annotated[str | None, Field(max_length=150)] = None


class Check(Frozen):
    """One contract check and its outcome; `warn` means that a SHOULD is not met.

    `detail` is a sentence on what was observed, `wire` has the wrong bytes in hex.
    """

    check: str
    status: Literal["pass", "warn", "fail"]
    detail: str = ""
    wire: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.detail}" if self.detail else self.check


class Offers(Frozen):
    """Which of gRPC's standard services a server has; none of them is required.

    `reflection` is the newest version that answers, and `lists_service` whether it names all
    services under test. `health` is the status of the whole server. `none` means that the server
    does not have the service, `unclear` that its answer is not what the service's .proto says.
    """

    reflection: Literal["v1", "v1alpha", "none", "unclear"]
    lists_service: bool = False
    health: Literal["serving", "not-serving", "unknown", "none", "unclear"]

    @property
    def words(self) -> str:
        """Both in a few words, for people."""
        if self.reflection in {"v1", "v1alpha"}:
            unlisted = "" if self.lists_service else " (without the service)"
            reflection = f"reflection {self.reflection}{unlisted}"
        else:
            reflection = _NOT_OFFERED[self.reflection] + "reflection"
        if self.health in _NOT_OFFERED:
            return f"{reflection}, {_NOT_OFFERED[self.health]}health service"
        return f"{reflection}, health: {self.health}"


_NOT_OFFERED = {"none": "no ", "unclear": "unclear "}


class Git(Frozen):
    """The runner's own version: the commit, and whether files differed from it."""

    commit: str
    dirty: bool


class GeneratorInfo(Frozen):
    """The load generator, and the exact command line of a run."""

    name: str
    version: str
    found: str
    argv: tuple[str, ...]


class Host(Frozen):
    """The machine: `cpus` are logical, `cores` physical; both count only those we may use.

    `family` is the CPU's vendor, family, model and stepping, `virtualisation` the hypervisor
    (`none` on bare metal). Records made before these were read have None.
    """

    cpu: str
    cpus: Most
    cores: Most
    kernel: str
    memory_bytes: Whole
    governor: str | None
    docker: str | None
    family: str | None = None
    virtualisation: str | None = None

    @property
    def words(self) -> str:
        """The machine in a few words."""
        return f"{self.cpu}, {self.cpus} CPUs"


class Cpus(Frozen):
    """The CPUs of each side, as lists like 0-3; both are None if the sides share all CPUs.

    With the policy `fleet`, the server has all CPUs of its host: the load comes from other hosts.
    `server_quota` is how many CPUs' time the server may use; None if it may use all of its CPUs.
    With the `idle` state `poll`, CPUs without work were kept awake; None: the kernel decided.
    """

    policy: Literal["pinned", "unpinned", "override", "fleet"]
    server: CpuList | None
    generator: CpuList | None
    server_quota: Quota | None = Field(default=None, exclude_if=is_none)
    idle: Literal["poll"] | None = Field(default=None, exclude_if=is_none)

    @property
    def generator_count(self) -> int | None:
        """The number of CPUs here that only the generator uses; None if any is shared."""
        if self.policy == "fleet":
            return 0
        if self.server is None or self.generator is None:
            return None
        server, generator = parse_cpus(self.server), parse_cpus(self.generator)
        return None if set(server) & set(generator) else len(generator)


class RuntimeInfo(Frozen):
    """How the server was started; `standin` names what a stand-in base image provides.

    `image_bytes` is the size of its image, with what it is based on; None natively.
    """

    name: str
    argv: tuple[str, ...]
    standin: str | None = None
    image_bytes: Whole | None = Field(default=None, exclude_if=operator.not_)


class Epoch(Frozen):
    """What may change a host's figures without changing its class.

    `toolchains` are versions by program, `locks` the SHA-256 of each lock file by its path,
    `sysctls` values by name, `mitigations` states by vulnerability.
    """

    kernel: str
    microcode: str | None
    mitigations: dict[str, str]
    governor: str | None
    boost: str | None
    toolchains: dict[str, str]
    locks: dict[str, str]
    sysctls: dict[str, str]


class Visit(Frozen):
    """A framework's turn in a block: which night, which block, and its place in the order.

    A night's id is the time of its start. Numbers are from 1. `blocks` is how many the night
    planned for this load, `size` the visits of each, twins included. `attempt` counts how often the
    block was begun; `repeat` is 0 for the first visit of an attempt and counts those that replace a
    void one. After `warm_up_s` of warm-up, the load went on for `waited_s`, until the host was
    quiet.
    """

    night: UtcTime
    seed: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    block: Annotated[int, Field(ge=1, le=1000)]
    blocks: Annotated[int, Field(ge=1, le=1000)]
    attempt: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    place: Annotated[int, Field(ge=1, le=100_000)]
    size: Annotated[int, Field(ge=1, le=100_000)]
    repeat: Annotated[int, Field(ge=0, le=100)] = 0
    is_twin: bool = False
    warm_up_s: Seconds
    waited_s: Seconds = 0.0


class Provenance(Frozen):
    """How a record was made. `stages_s` are the wall seconds of each stage.

    `generator_hosts` are the CPUs in words of each generator host of a fleet.
    """

    git: Git | None
    generator: GeneratorInfo | None
    host: Host
    cpus: Cpus
    runtime: RuntimeInfo | None
    overrides: dict[str, str]
    stages_s: dict[str, Seconds]
    epoch: Epoch | None = None
    generator_hosts: tuple[Annotated[str, Field(max_length=200)], ...] = ()


class Noted(Frozen):
    """What was judged of a record of schema 1 or 2 on its day, and cannot be derived again.

    Such a record lacks what that was judged from: the sentinel's limits, and the busiest thread of
    a generator host. Both have an item for each run: the signals that were over their limits, and
    the numbers of the generator hosts that were at theirs.
    """

    disturbed: Annotated[tuple[tuple[Disturbance, ...], ...], Field(max_length=100)]
    saturated: Annotated[tuple[tuple[Most, ...], ...], Field(max_length=100)]


class Record(Frozen):
    """The saved outcome of one framework x profile x connections (see docs/glossary.md).

    `contract` has the checks before the runs, `contract_after` those repeated after them; `offers`
    is what the server was found to have beside what they require.
    `messages_per_data_frame` shows how the server packs a stream without load. A `visit` belongs to
    a block; its profile is the load's, whatever the visit's own warm-up and number of runs.
    `limits` are the sentinel's, None if no run was watched. Only a record that was upgraded from an
    older schema has something `noted`.
    """

    schema_version: Annotated[Literal[3], Field(alias="schema")] = 3
    status: Literal["ok", "failed", "invalid"]
    started_at: UtcTime
    failure: Failure | None
    framework: MeasuredFramework
    profile: MeasuredProfile
    runs: Annotated[tuple[Run, ...], Field(max_length=100)]
    limits: LimitsInForce | None = None
    noted: Noted | None = None
    contract: tuple[Check, ...]
    contract_after: tuple[Check, ...] = ()
    offers: Offers | None = None
    messages_per_data_frame: Rate | None = None
    visit: Visit | None = None
    provenance: Provenance

    @pydantic.model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuse a record that cannot become a row of the leaderboard or a page."""
        if self.status != "ok" and self.failure is None:
            raise ValueError(f"a record that is {self.status} must say why: failure")
        if self.status == "ok" and not self.runs:
            raise ValueError("a record that is ok must have a run")
        if (noted := self.noted) is None:
            return self
        if self.limits:
            raise ValueError("noted: what the limits tell is not noted")
        if not len(noted.disturbed) == len(noted.saturated) == len(self.runs):
            raise ValueError("noted: it is not of each run")
        return self

    @property
    def is_trial(self) -> bool:
        """Whether an override made the load another one than the profile's."""
        return not TRIAL.keys().isdisjoint(self.provenance.overrides)

    @property
    def key(self) -> str:
        """The folder of this record below results/; file names in it sort by time."""
        return record_key(self.profile, self.framework)

    @property
    def raws(self) -> list[Raw]:
        """The raw outputs of its runs, and of each host of a fleet."""
        return [each for run in self.runs for each in (run.raw, *(it.raw for it in run.generators))]

    @property
    def path(self) -> str:
        """The record's file below its set's folder."""
        return f"{self.key}/{self.started_at}.json"


def record_key(profile: MeasuredProfile, framework: Framework) -> str:
    """Return the folder below results/ of a framework's records under a profile."""
    return f"{profile.name}/{profile.connection_count}/{framework.name}"
