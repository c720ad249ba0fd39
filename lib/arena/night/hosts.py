"""What runs the sessions of a night: this host, or racks of a fleet (the package arena_fleet)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self

from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.load.find import Located
from arena.load.generators import Generator
from arena.night.engine import Blocks
from arena.run.plan import Away, Plan
from arena.run.request import Request
from arena.run.runner import Outcome


class NightPlace(Protocol):
    """Runs planned sessions and blocks: on this host, or on racks, several at the same time."""

    @property
    def shows(self) -> Progress:
        """Where it reports."""

    @property
    def width(self) -> int:
        """How many sessions run at the same time."""

    @property
    def cannot(self) -> str:
        """Why some sessions may be left."""

    @property
    def code(self) -> int:
        """The exit code of errors that are of no session."""

    def host_class(self, plan: Plan, environment: Mapping[str, str]) -> str:
        """Return the class that the place has now."""

    def runnable(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans that can be run, and report the others; HostError if there is none."""

    def find_generators(self, plans: Sequence[Plan]) -> dict[Located, Generator]:
        """Return the generators, by the plans that need them."""

    def run(
        self,
        plans: Sequence[Plan],
        found: Mapping[Located, Generator],
        *,
        may_begin: Callable[[Plan], bool] = ...,
        ended: Callable[[Outcome], None],
        goes_on: bool = False,
    ) -> Sequence[Plan]:
        """Run those sessions that `may_begin`; return those that did not end."""

    def once(self) -> Self:
        """Return the runner for a night of blocks."""

    def blocks(
        self, found: Mapping[Located, Generator], host_class: Callable[[], str], **given: Any
    ) -> Blocks:
        """Return what makes blocks; takes the fields of `Blocks`."""


class RackPlace(NightPlace, Protocol):
    """Runs them on racks."""

    def only_night(self, command: str) -> AbstractContextManager[Self]:
        """Hold the lock of this checkout's nights on racks for the block."""


class Racks(Protocol):
    """The racks of a class that are ready."""

    def joined(self) -> Away:
        """Return the generator of a rack, as a plan needs it, and the CPUs of its server."""

    def runner(
        self, workspace: Workspace, request: Request, plans: Sequence[Plan], shows: Progress
    ) -> RackPlace:
        """Return what runs the sessions on those racks that can make one night together."""


class LoadHosts(Protocol):
    """Hosts that make the load instead of this one."""

    def joined(self) -> Away:
        """Return its generator, and the CPUs of the server, which runs here."""

    def racks(self) -> Racks | None:
        """Return the racks of the requested class; None if the fleet has none."""


# Returns the fleet that is to make the load, if any; the program may begin again, to have Dask.
FleetOf = Callable[[], LoadHosts | None]
