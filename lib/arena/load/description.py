"""A generator's description: how it is found, how it is called, how its output is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.base.progress import Tick
from arena.base.workspace import Workspace
from arena.machine import builds
from arena.record.measurement import Measurement
from arena.what import environment
from arena.what.loads import LoadShape
from arena.what.profile import MeasuredProfile

if TYPE_CHECKING:
    from arena.load.generators import Shot, WarmUp
    from arena.load.program import Program


@dataclass(frozen=True)
class Way:
    """How a generator makes one kind of load.

    `arguments` takes a profile, the CPUs of the generator alone (None: it shares the server's) and
    the program's version; paths start at the project's root. `read` turns the raw output into
    a measurement; ValueError if it is broken. `fire` makes the load if that takes more than one
    start of the program. `told` is for a program that opens its window when it is told, `lead` for
    one that makes load before its window by itself.
    """

    arguments: Callable[[MeasuredProfile, Sequence[int] | None, str], list[str]]
    read: Callable[[Path, MeasuredProfile], Measurement]
    fire: Callable[[Program, MeasuredProfile, Path, Tick], Shot] | None = None
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
    the line `warm` to stderr. `cpu_s` reads the program's CPU seconds inside the window from its
    raw output; ValueError if it is broken.
    """

    arguments: Callable[[MeasuredProfile, WarmUp], list[str]]
    warm: str
    cpu_s: Callable[[Path], float]


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
