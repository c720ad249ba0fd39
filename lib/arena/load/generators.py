"""Generators: the programs that make the load."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from arena.base.errors import UsageError
from arena.base.progress import Tick
from arena.base.text import nearest
from arena.base.workspace import Workspace
from arena.machine import builds
from arena.record.measurement import Cost, GeneratorHost, Measurement
from arena.record.record import GeneratorInfo
from arena.what.environment import GENERATORS
from arena.what.profile import MeasuredProfile

if TYPE_CHECKING:
    from arena.load.description import Description
    from arena.load.find import Located


@dataclass(frozen=True)
class Shot:
    """One bounded run of a generator: its end, its cost, and where its output is.

    `problem` describes what broke: the last printed lines are in `output`, all of them in `log`.
    `cost` is that of the whole program, without the CPU time that it spent on a warm-up before its
    window. `may_repeat`: it did not end after its window, or a fault of its own kept it from
    beginning. `generators` are the hosts of a fleet; the paths of their raw outputs are file names
    beside `raw`.
    """

    raw: Path
    log: Path
    cost: Cost
    problem: str | None = None
    output: str = ""
    may_repeat: bool = False
    generators: tuple[GeneratorHost, ...] = ()


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


def _descriptions() -> dict[str, "Description"]:
    from arena.load import ghz, h2load, volley

    return {each.name: each for each in (ghz.GHZ, h2load.H2LOAD, volley.VOLLEY)}


def require_known(name: str, where: str) -> None:
    """Raise UsageError if there is no generator of that name."""
    if name not in GENERATORS:
        raise UsageError(f"{where}: there is no generator `{name}`{nearest(name, [*GENERATORS])}")


def locate(name: str, workspace: Workspace, environment: Mapping[str, str]) -> "Located":
    """Return the program that makes the load for a requested generator; build nothing.

    UsageError if the environment names an unknown program.
    """
    from arena.load import find

    return find.locate(_descriptions()[name], workspace, environment)


def build(
    located: "Located", workspace: Workspace, cpus: Sequence[int] | None
) -> builds.Build[Generator]:
    """Build a generator if needed, and return it; HostError names the ways to provide it.

    `cpus` are the CPUs that it has to itself; None if it shares the server's.
    """
    return located.build(workspace, cpus)
