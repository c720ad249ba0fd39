"""Generators: the programs that make the load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from arena.errors import UsageError, nearest
from arena.measurement import Cost, Measurement
from arena.profiles import Profile
from arena.progress import Progress, Tick
from arena.records import GeneratorInfo, MeasuredProfile
from arena.workspace import Workspace


@dataclass(frozen=True)
class Shot:
    """One bounded run of a generator: how it ended, what it cost, where its output is.

    `problem` says in words what broke, with the last lines it printed in `output` and all of
    them in `log`.
    """

    raw: Path
    log: Path
    cost: Cost
    problem: str | None = None
    output: str = ""


class Generator(Protocol):
    """One load generator, found on this host.

    Its name is that of the program which makes the load. The board goes by it: where $GHZ is
    a drop-in for ghz, it is not the name that was asked for.
    """

    name: str

    def info(self, profile: MeasuredProfile) -> GeneratorInfo:
        """Return which program makes the load, and its exact command line."""

    def fire(self, profile: MeasuredProfile, duration_s: float, raw: Path, on_tick: Tick) -> Shot:
        """Put the load on for a window, its output going to `raw`."""

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        """Read a raw output; ValueError if it is broken."""


class Module(Protocol):
    """What a generator's module offers: a way to find it, and its command line beforehand."""

    def resolve(
        self,
        workspace: Workspace,
        environment: Mapping[str, str],
        cpus: Sequence[int] | None,
        progress: Progress,
    ) -> Generator:
        """Find it on this host; HostError names the ways to provide it."""

    def check(self, environment: Mapping[str, str]) -> None:
        """Raise UsageError if the environment names one that is none."""

    def preview(
        self,
        profile: MeasuredProfile,
        workspace: Workspace,
        environment: Mapping[str, str],
        cpus: Sequence[int] | None,
    ) -> list[str]:
        """Return the command line it would be run with."""


def _modules() -> dict[str, Module]:
    from arena.generators import ghz, volley

    return {"ghz": ghz, "volley": volley}


def names() -> list[str]:
    """Return the names a profile or --generator may give."""
    return sorted(_modules())


def require_known(name: str, where: str) -> None:
    """Raise UsageError if there is no generator of that name."""
    if name not in names():
        raise UsageError(f"{where}: there is no generator `{name}`{nearest(name, names())}")


def resolve(
    profile: Profile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> Generator:
    """Find the profile's generator on this host, building it if need be.

    HostError names the ways to provide it.
    """
    return _modules()[profile.generator].resolve(workspace, environment, cpus, progress)


def check(profile: Profile, environment: Mapping[str, str]) -> None:
    """Raise UsageError if the environment names a generator that is none: before any work."""
    _modules()[profile.generator].check(environment)


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line the profile's generator would be run with."""
    return _modules()[profile.generator].preview(profile, workspace, environment, cpus)
