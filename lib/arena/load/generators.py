"""Generators: the programs that make the load.

A generator's description says how it is found, how it is called and how its output is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from arena.base.errors import UsageError
from arena.base.progress import Tick
from arena.base.text import nearest
from arena.base.workspace import Workspace
from arena.machine import builds
from arena.record.measurement import Cost, GeneratorHost, Measurement
from arena.record.record import GeneratorInfo
from arena.what import environment
from arena.what.loads import LoadShape
from arena.what.profile import MeasuredProfile

if TYPE_CHECKING:
    from arena.load.find import Located


@dataclass(frozen=True)
class Shot:
    """One bounded run of a generator: its end, its cost, and where its output is.

    `problem` describes what broke: the last printed lines are in `output`, all of them in `log`.
    `cost` is that of the whole program, without the CPU time that it spent on a warm-up before its
    window. `may_repeat`: it did not end after its window, or a fault of its own kept it from
    beginning. `generators` are the hosts of a fleet; the paths of their raw outputs are file names
    beside `raw`. `measured` is the measurement, if the raw output has been read already.
    """

    raw: Path
    log: Path
    cost: Cost
    problem: str | None = None
    output: str = ""
    may_repeat: bool = False
    generators: tuple[GeneratorHost, ...] = ()
    measured: Measurement | None = None


@dataclass(frozen=True)
class WarmUp:
    """A warm-up of `seconds` that goes on until the runner opens the window: `wait_s` at most."""

    seconds: float
    wait_s: float


# Called about ten times a second with the seconds since the program's start, and with whether its
# warm-up is over. The window opens when it first returns true; later values have no effect.
MayOpen = Callable[[float, bool], bool]


class Generator(Protocol):
    """One load generator, found on this host.

    Its name is that of the program that makes the load, and its boards use that name. If $GHZ is
    a drop-in for ghz, the name differs from the requested one.
    """

    name: str
    checks_replies: bool
    is_away: bool  # Whether it runs in a container, outside this process's tree.

    def info(self, profile: MeasuredProfile, warm_up: WarmUp | None = None) -> GeneratorInfo:
        """Return the program that makes the load, and its exact command line.

        With a warm-up, it is the command line of `fire_told`.
        """

    def lead_s(self, profile: MeasuredProfile) -> float:
        """Return the seconds of load that `fire` makes before the window opens."""

    def fire(
        self,
        profile: MeasuredProfile,
        stem: Path,
        on_tick: Tick,
        on_open: Callable[[], None] = lambda: None,
    ) -> Shot:
        """Run the load for its window; the raw output goes to `stem` plus a suffix.

        `on_open` is called once, when the window opens: before the program starts, or, after a lead
        of its own, at most a tick late.
        """

    def away_s(self) -> float | None:
        """Return the CPU seconds that it has used outside this process's tree so far.

        0 for a program of this host; None while its container does not run.
        """

    def tells_window(self, profile: MeasuredProfile) -> bool:
        """Return whether `fire_told` can make this profile's load."""

    def fire_told(
        self, profile: MeasuredProfile, warm_up: WarmUp, stem: Path, may_open: MayOpen
    ) -> Shot:
        """Warm up, and open the window when `may_open` says so: one program, one flow of load.

        `may_open` must say so within `warm_up.wait_s` of the warm-up's end; an exception from it
        ends the program. RuntimeError if `tells_window` is false.
        """

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        """Read a raw output; ValueError if it is broken."""


@dataclass(frozen=True)
class Way:
    """How a generator makes one kind of load.

    `arguments` takes a profile, the CPUs of the generator alone (None: it shares the server's) and
    the program's version; paths start at the project's root. `read` turns the raw output into
    a measurement; ValueError if it is broken. `told` is for a program that opens its window when it
    is told, `lead` for one that makes load before its window by itself.
    """

    arguments: Callable[[MeasuredProfile, Sequence[int] | None, str], list[str]]
    read: Callable[[Path, MeasuredProfile], Measurement]
    told: Told | None = None
    lead: Lead | None = None


@dataclass(frozen=True)
class Lead:
    """The load that a program makes before its window: `seconds` of it, 0 for some profiles.

    Its raw output holds the text `opened` from the moment the window is open.
    """

    seconds: Callable[[MeasuredProfile], float]
    opened: str


@dataclass(frozen=True)
class Told:
    """How a program warms up and opens its window when a line comes on its stdin.

    `arguments` takes a profile and its warm-up. When the warm-up's time is over, the program prints
    the line `warm` to stderr. `read` returns the measurement of a raw output, and the program's CPU
    seconds inside the window; ValueError if it is broken.
    """

    arguments: Callable[[MeasuredProfile, WarmUp], list[str]]
    warm: str
    read: Callable[[Path, MeasuredProfile], tuple[Measurement, float]]


@dataclass(frozen=True)
class Image:
    """A Docker image, and how to build it. Without a `version`, the program in it is asked."""

    name: str
    context: Path
    options: tuple[str, ...]
    version: str | None = None


@dataclass(frozen=True)
class Build:
    """How the runner builds the program itself: `run` builds it with a `tool`, at a path.

    `is_current` is whether the program there needs no new build.
    """

    tool: str
    called: str
    run: Callable[[Path, Workspace], builds.Build[None]]
    is_current: Callable[[Path, Workspace], bool] = lambda own, _: own.exists()


@dataclass(frozen=True, eq=False)
class Description:
    """A load generator.

    `ways` has every kind of load that it can make; `refuses` returns why it cannot make a given
    load after all, or nothing. `version_of` returns the version of the program that a command
    starts, or None for another program. `install` is the hint for people on how to get it. `image`
    returns the image of a given name, or the runner's. `own_name` is that of the program which the
    runner builds, if it is not the generator's. `stand_ins` are programs with the same
    command line: one found in its place is used under its own name.

    `prepare` writes the files below the root that the program needs; `folders` are those it reads.
    `report_codes` are the exit codes that come with a complete report, and `suffix` is that of its
    raw output. The program is killed `grace_s` after its window, if not earlier. `false_start` is
    what it prints if a fault of its own keeps it from beginning. One that `checks_replies` compares
    each of them with what the profile expects.
    """

    name: str
    ways: Mapping[type[LoadShape], Way]
    version_of: Callable[[Sequence[str]], str | None]
    install: str
    image: Callable[[Workspace, str | None], Image]
    build: Build | None = None
    own_name: str = ""
    is_on_path: bool = True
    stand_ins: tuple[Description, ...] = ()
    refuses: Callable[[MeasuredProfile], str] = lambda _: ""
    prepare: Callable[[MeasuredProfile, Workspace], None] = lambda _, __: None
    folders: tuple[str, ...] = ("requests",)
    report_codes: frozenset[int] = frozenset({0})
    suffix: str = ".json"
    grace_s: float = math.inf
    false_start: str = ""
    checks_replies: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that names the program."""
        return environment.program_variable(self.name)

    @property
    def image_variable(self) -> str:
        """The environment variable that names the image."""
        return environment.image_variable(self.name)

    def own_program(self, workspace: Workspace) -> Path:
        """Return the path of the program that the runner builds itself."""
        return workspace.tools / "bin" / (self.own_name or self.name)

    def way(self, profile: MeasuredProfile) -> Way:
        """Return how it makes a profile's load, which must be one that it can make."""
        return self.ways[type(profile.load)]

    def lead_s(self, profile: MeasuredProfile) -> float:
        """Return the seconds of load that the program makes before its window."""
        lead = self.way(profile).lead
        return lead.seconds(profile) if lead else 0.0

    def problem(self, profile: MeasuredProfile) -> str:
        """Return why it cannot make a profile's load; empty if it can."""
        if type(profile.load) not in self.ways:
            return f"a {profile.load.kind} load is not one it knows"
        return self.refuses(profile)


def descriptions() -> dict[str, Description]:
    """Return every generator by its name: `NAME` in the module `arena.load.<name>`."""
    modules = {name: import_module(f"arena.load.{name}") for name in environment.GENERATORS}
    return {name: getattr(module, name.upper()) for name, module in modules.items()}


def require_known(name: str, where: str) -> None:
    """Raise UsageError if there is no generator of that name."""
    if name not in environment.GENERATORS:
        raise UsageError(
            f"{where}: there is no generator `{name}`{nearest(name, [*environment.GENERATORS])}"
        )


def locate(name: str, workspace: Workspace, environment: Mapping[str, str]) -> Located:
    """Return the program that makes the load for a requested generator; build nothing.

    UsageError if the environment names an unknown program.
    """
    from arena.load import find

    return find.locate(descriptions()[name], workspace, environment)


def build(
    located: Located, workspace: Workspace, cpus: Sequence[int] | None
) -> builds.Build[Generator]:
    """Build a generator if needed, and return it; HostError names the ways to provide it.

    `cpus` are the CPUs that it has to itself; None if it shares the server's.
    """
    return located.build(workspace, cpus)
