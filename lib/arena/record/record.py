"""Records: the saved outcome of one framework x profile x connections. Append-only.

A record is `results/<profile>/<connections>/<framework>/<UTC start>.json`; the folder of the same
name holds the generator's raw outputs and the server's log. Nothing here depends on how a record
was made, so it can be read, ranked and rendered years later.
"""

from typing import Annotated, Literal, Self

import pydantic
from pydantic import Field

from arena.base.model import Frozen
from arena.base.units import parse_cpus
from arena.record.measurement import Most, Rate, Raw, Run, Seconds
from arena.record.times import UtcTime
from arena.what.environment import TRIAL
from arena.what.framework import Framework
from arena.what.profile import MeasuredProfile
from parsers.common.figures import Whole

# The name of a flag, which qualifies a headline. judge/flags.py has all flags of this runner;
# records of a newer one may have others.
FlagName = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=64)]


CpuList = Annotated[str, Field(max_length=1000)]


class Failure(Frozen):
    """Where a session ended, why, and the log to read (a path below results/)."""

    stage: str
    reason: str
    log: str | None = None


class MeasuredFramework(Framework):
    """The framework as it was measured: its meta, a hash of its source, and the image it ran as."""

    source_sha256: str
    image_digest: str | None = None


class Headline(Frozen):
    """The one number of a record, the rule that picked it, and the number of its run (from 1).

    `low` to `high` is the interval that ranks the record and spans its runs; `at_least` to
    `at_most` is the error bar of the one run.
    """

    metric: str
    value: Rate
    low: Rate
    high: Rate
    at_least: Rate
    at_most: Rate
    rule: str
    run: Most


class Spread(Frozen):
    """The spread of the runs' figures; `cv` is standard deviation / mean, None for a single run."""

    median: Rate
    min: Rate
    max: Rate
    cv: Rate | None


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
    """

    policy: Literal["pinned", "unpinned", "override", "fleet"]
    server: CpuList | None
    generator: CpuList | None

    @property
    def generator_count(self) -> int | None:
        """The number of CPUs here that only the generator uses; None if any is shared.

        ValueError if a list is none.
        """
        if self.policy == "fleet":
            return 0
        if self.server is None or self.generator is None:
            return None
        server, generator = parse_cpus(self.server), parse_cpus(self.generator)
        return None if set(server) & set(generator) else len(generator)


class RuntimeInfo(Frozen):
    """How the server was started; `standin` names what a stand-in base image provides."""

    name: str
    argv: tuple[str, ...]
    standin: str | None = None


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
    void one. `is_void`: the sentinel does not trust the run. After `warm_up_s` of warm-up, the load
    went on for `waited_s` until the host was quiet.
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
    is_void: bool = False
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


class Record(Frozen):
    """The saved outcome of one framework x profile x connections (see docs/glossary.md).

    `contract` has the checks before the runs, `contract_after` those repeated after them; `offers`
    is what the server was found to have beside what they require.
    `messages_per_data_frame` shows how the server packs a stream without load. A `visit` belongs to
    a block; its profile is the load's, whatever the visit's own warm-up and number of runs.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    status: Literal["ok", "failed", "invalid"]
    started_at: UtcTime
    failure: Failure | None
    framework: MeasuredFramework
    profile: MeasuredProfile
    headline: Headline | None
    runs: Annotated[tuple[Run, ...], Field(max_length=100)]
    spread: Spread | None
    flags: tuple[FlagName, ...]
    contract: tuple[Check, ...]
    contract_after: tuple[Check, ...] = ()
    offers: Offers | None = None
    messages_per_data_frame: Rate | None = None
    visit: Visit | None = None
    provenance: Provenance

    @pydantic.model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuse a record that cannot become a row of the leaderboard or a page."""
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
