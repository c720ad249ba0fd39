"""Generators: the programs that make the load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from arena.base.errors import UsageError
from arena.base.progress import Progress, Tick
from arena.base.text import nearest
from arena.base.workspace import Workspace
from arena.record.measurement import Cost, Measurement
from arena.record.record import GeneratorInfo
from arena.what.measured import MeasuredProfile
from arena.what.profile import Profile


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

    def fire(self, profile: MeasuredProfile, stem: Path, on_tick: Tick) -> Shot:
        """Put the load on for its window, the raw output going to `stem` and a suffix."""

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

    def refuses(self, profile: Profile) -> str:
        """Return why it cannot make a profile's load; empty if it can."""

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
    from arena.measure.generators import ghz, h2load, volley

    return {"ghz": ghz, "h2load": h2load, "volley": volley}


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


def check(profiles: Iterable[Profile], environment: Mapping[str, str]) -> None:
    """Raise UsageError, before any work, if a profile's generator cannot make its load.

    Or if the environment names a generator that is none.
    """
    used = set()
    for profile in profiles:
        if why := _modules()[profile.generator].refuses(profile):
            raise UsageError(f"{profile.name}: {profile.generator} cannot make this load: {why}")
        used.add(profile.generator)
    for name in sorted(used):
        _modules()[name].check(environment)


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line the profile's generator would be run with."""
    return _modules()[profile.generator].preview(profile, workspace, environment, cpus)
