"""The racks of a fleet, from the host on which a night runs."""

import asyncio
import hashlib
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress, report_error
from arena.base.text import printable
from arena.base.workspace import Workspace
from arena.machine.cpus import CpuPlan
from arena.measure.fleet.agent import RefusedError
from arena.measure.fleet.fleet import Fleet, Seen, generators_of, look_around, members_of
from arena.measure.fleet.generator import located
from arena.measure.fleet.members import Calls, LostError
from arena.measure.generators.find import Located
from arena.measure.racks.rack import Asked, Ended, LostRackError, Offer

if TYPE_CHECKING:
    from arena.measure.fleet.link import Doing, Link

# A rack that does not answer for so long is lost. On it, the session ends by itself.
SILENT_S = 10.0

_WATCH_S = 3.0
_LOOK_S = 1.0
_OFFER_S = 60.0
_END_S = 3.0

# The results are fetched in parts, again and again for so long.
_FETCH_S = 30.0
_PART_S = 10.0
_AGAIN_S = 0.2

# The beginnings of a session's lines that are shown.
_SHOWN = ("block ", "void:", "error:", "warning:")


class Sessions(Calls, Protocol):
    """Calls hosts, and runs sessions on them as tasks."""

    async def task(self, name: str, verb: str, resource: str, **given: Any) -> Any:
        """Call a method that takes as long as it takes, and has the resource meanwhile."""


async def run_session(
    calls: Sessions, server: str, resource: str, asked: Asked, lines: "deque[str]"
) -> Ended:
    """Run a session on a server's host, and return what came of it; LostError if it is lost.

    `lines` get what it prints. If this is cancelled, the session ends.
    """
    session, at, heard_s = uuid.uuid4().hex, 0, time.monotonic()
    given = {"words": asked.words, "night": asked.night, "diary": asked.diary}
    task = asyncio.ensure_future(calls.task(server, "session", resource, session=session, **given))
    is_over = False
    try:
        while not task.done():
            await asyncio.wait([task], timeout=_LOOK_S)
            if task.done():
                break
            try:
                said = await calls.call(server, "watch", _WATCH_S, session=session, at=at)
            except LostError as error:
                if time.monotonic() - heard_s > SILENT_S:
                    raise LostError(f"no answer for {SILENT_S:g} s ({error})") from error
            else:
                at, heard_s = said["at"], time.monotonic()
                lines.extend(said["text"].splitlines())
        ended = task.result()
        is_over = True
        archive = await _fetched(calls, server, session, ended["bytes"])
        if hashlib.sha256(archive).hexdigest() != ended["sha256"]:
            raise LostError("its results were damaged on their way")
        return Ended(ended["code"], ended["error"], archive)
    finally:
        if not is_over:
            task.cancel()
            with suppress(LostError, RefusedError):
                await calls.call(server, "end", _END_S, session=session)


async def _fetched(calls: Sessions, server: str, session: str, size: int) -> bytes:
    """Fetch the results of a session; LostError if they do not come in time."""
    archive, deadline = b"", time.monotonic() + _FETCH_S
    while len(archive) < size:
        try:
            part = await calls.call(server, "fetch", _PART_S, session=session, at=len(archive))
        except LostError as error:
            if time.monotonic() > deadline:
                raise LostError(f"its results cannot be fetched ({error})") from error
            await asyncio.sleep(_AGAIN_S)
            continue
        if not part:
            break
        archive += part
        deadline = time.monotonic() + _FETCH_S
    return archive


@dataclass
class FleetRack:
    """A rack of a fleet that was joined: its server's host and its generator hosts."""

    name: str
    server: str
    host_class: str
    fleet: Fleet
    link: "Link"
    shows: Progress

    def __post_init__(self) -> None:
        self._lines: deque[str] = deque()
        self._doing: Doing[Ended] | None = None

    def offer(self, runtime: str, frameworks: Sequence[str]) -> Offer:
        """Return what it can measure; LostRackError if it does not answer, or cannot."""
        try:
            said = self.link.wait(
                self.link.call(
                    self.server, "offer", _OFFER_S, runtime=runtime,
                    frameworks=list(frameworks),
                    hosts=[each.facts.words for each in self.fleet.members],
                )
            )  # fmt: skip
        except (LostError, RefusedError) as error:
            raise LostRackError(str(error)) from error
        return Offer(**said)

    def begin(self, asked: Asked) -> None:
        """Start a session."""
        resource = f"rack:{self.host_class}"
        work = run_session(self.link, self.server, resource, asked, self._lines)
        self._doing = self.link.begin(work)

    def poll(self) -> Ended | None:
        """Return how the session ended, and show what it has printed."""
        while self._lines:
            if (line := self._lines.popleft()).startswith(_SHOWN):
                self.shows.say(f"rack {self.name}: {printable(line)}")
        if self._doing is None or not self._doing.done():
            return None
        try:
            return self._doing.result()
        except (LostError, RefusedError) as error:
            raise LostRackError(str(error)) from error

    def stop(self) -> None:
        """Have the session end now."""
        if self._doing:
            self._doing.stop()

    def await_stop(self) -> None:
        """Wait until the rack knows it."""
        if self._doing:
            self._doing.cancel()


@dataclass(frozen=True)
class Racks:
    """The racks of a class that are ready."""

    racks: Sequence[FleetRack]

    @property
    def generator(self) -> tuple[Located, CpuPlan]:
        """The generator of a rack, as a plan needs it, and the CPUs of its server."""
        fleet = self.racks[0].fleet
        return located(fleet, "", fleet.members[0].facts.volley_version)


def find_racks(
    workspace: Workspace, address: str, wanted: str | None, shows: Progress
) -> Racks | None:
    """Return the racks of a class; None if the fleet has no racks.

    A rack that is not ready is reported and left out; HostError if none is ready, UsageError if
    there are several classes and none was `wanted`.
    """
    link, seen, _ = look_around(workspace, address)
    servers: dict[str, list[Seen]] = defaultdict(list)
    for each in seen:
        if each.place.serves:
            servers[each.place.rack].append(each)
    if not servers:
        return None
    found = []
    for name, own in sorted(servers.items()):
        try:
            found.append(_rack(link, name, own, seen, shows))
        except HostError as error:
            report_error(f"rack {name} is left out: {error}")
    classes = sorted({each.host_class for each in found})
    if wanted is None and len(classes) > 1:
        raise UsageError(f"--class: the racks are of several: choose {' or '.join(classes)}")
    racks = [each for each in found if wanted in (None, each.host_class)]
    if not racks:
        of = f" of the class {wanted}" if wanted else ""
        raise HostError(f"no rack{of} is ready (./scripts/fleet.sh status shows all hosts)")
    return Racks(racks)


def _rack(
    link: "Link", name: str, servers: Sequence[Seen], seen: Sequence[Seen], shows: Progress
) -> FleetRack:
    if len(servers) > 1:
        raise HostError(f"it has {len(servers)} server's hosts: a rack has one")
    [server] = servers
    if server.facts is None:
        raise HostError(f"{server.name} is not ready: {server.why}")
    fleet = Fleet(link, members_of(generators_of(seen, name)), "")
    return FleetRack(name, server.name, server.facts.host_class, fleet, link, shows)
