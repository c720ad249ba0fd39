"""The racks of a fleet, from the host on which a night runs."""

import asyncio
import hashlib
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress
from arena.base.text import printable
from arena.base.workspace import Workspace
from arena.night.engine import ENDS
from arena.record.arrivals import MOST_BYTES
from arena.run.plan import Away, Plan
from arena.run.request import Request
from arena.run.runner import frameworks_of
from arena_fleet.agent import RefusedError
from arena_fleet.fleet import (
    Caller,
    Fleet,
    LostError,
    Place,
    Seen,
    answer,
    generators_of,
    look_around,
    members_of,
    rack_lacks,
)
from arena_fleet.generator import joined, located
from arena_fleet.rack import Asked, Finished, Offer, Printed, SessionEnd
from arena_fleet.runner import RackRunner, class_of_racks

if TYPE_CHECKING:
    from arena_fleet.link import Doing, Link

# How far a rack may be off its class, in percent, unless told otherwise.
QUARANTINE = 2.0

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

# Without --wait, another session may be in progress for so long: that of a night that was killed.
_OTHER_S = 30.0

# The beginnings of a session's lines that are shown, and one more of a session with several visits:
# the error of a single one is reported at its end.
_SHOWN = ("block ", "void:", "warning:")
_ERROR = "error:"


class Sessions(Caller, Protocol):
    """Caller hosts, and runs sessions on them as tasks."""

    async def task(self, name: str, verb: str, resource: str, **given: Any) -> Any:
        """Call a method that takes as long as it takes, and has the resource meanwhile."""


@dataclass
class _Session:
    """A session on a server host: `lines` get what it prints."""

    calls: Sessions
    server: str
    id: str
    lines: "deque[str]"
    at: int = 0

    async def look(self) -> bool:
        """Take what has been printed; return whether the session waits for another one."""
        given = {"session": self.id, "at": self.at}
        said = answer(Printed, await self.calls.call(self.server, "watch", _WATCH_S, **given))
        self.at = said.at
        self.lines.extend(said.text.splitlines())
        return said.waits

    async def until_over(self, task: asyncio.Future[Any], *, may_wait: bool) -> bool:
        """Look until the session ends; return whether it has begun. LostError if it is silent."""
        began_s = heard_s = time.monotonic()
        has_waited = False
        while not (await asyncio.wait([task], timeout=_LOOK_S))[0]:
            try:
                waits = await self.look()
            except LostError as error:
                if time.monotonic() - heard_s > SILENT_S:
                    raise LostError(f"no answer for {SILENT_S:g} s ({error})") from error
                continue
            heard_s = time.monotonic()
            if waits and not has_waited:
                self.lines.append("warning: it waits for another session, perhaps another night's")
            has_waited |= waits
            if waits and not may_wait and heard_s - began_s > _OTHER_S:
                return False
        return True

    async def results(self, size: int, sha256: str) -> bytes:
        """Fetch the results; LostError if they do not come in time, or not whole."""
        if size > MOST_BYTES:
            raise LostError(
                f"its results have {size:,} bytes, and at most {MOST_BYTES:,} are taken"
            )
        archive, part = bytearray(), b"-"
        try:
            while part and len(archive) < size:
                given = {"session": self.id, "at": len(archive)}
                part = await self.asked("fetch", _FETCH_S, _PART_S, **given)
                archive += part
        except (LostError, TypeError, ValueError) as error:
            raise LostError(f"its results cannot be fetched ({error})") from error
        if hashlib.sha256(archive).hexdigest() != sha256:
            raise LostError("its results were damaged on their way")
        return bytes(archive)

    async def asked(self, verb: str, within_s: float, each_s: float, **given: Any) -> Any:
        """Call a method again and again until it answers; LostError if it does not in time."""
        deadline = time.monotonic() + within_s
        while True:
            try:
                return await self.calls.call(self.server, verb, each_s, **given)
            except LostError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_AGAIN_S)


async def run_session(
    calls: Sessions, server: str, resource: str, asked: Asked, lines: "deque[str]"
) -> SessionEnd:
    """Run a session on a server host, and return what came of it; LostError if it is lost.

    `lines` get what it prints. If this is cancelled, the session ends. One that did not begin has
    no results.
    """
    own, is_over = _Session(calls, server, uuid.uuid4().hex, lines), False
    try:
        await own.asked("facts", SILENT_S, _WATCH_S)
    except LostError as error:
        return SessionEnd(HostError.exit_code, str(error))
    given = {"session": own.id, "asked": asked.model_dump(mode="json")}
    task = asyncio.ensure_future(calls.task(server, "session", resource, **given))
    try:
        if not await own.until_over(task, may_wait=asked.request.wait):
            why = "another night uses this rack: wait for its end, or queue with --wait"
            return SessionEnd(HostError.exit_code, why)
        said, is_over = task.result(), True
        ended = answer(Finished, said)
        if not all(asked.block and asked.block.has(each) for each in ended.events):
            raise LostError("it tells of a block that it was not asked for")
        with suppress(LostError):
            await own.look()
        archive = await own.results(ended.bytes, ended.sha256)
        return SessionEnd(ended.code, ended.error, archive, ended.events)
    finally:
        if not is_over:
            task.cancel()
            with suppress(LostError, RefusedError):
                await calls.call(server, "end", _END_S, session=own.id)


@dataclass
class FleetRack:
    """A rack of a fleet that was joined: its server host and its generator hosts."""

    name: str
    server: str
    host_class: str
    fleet: Fleet
    link: "Link"
    shows: Progress

    def __post_init__(self) -> None:
        self._lines: deque[str] = deque()
        self._doing: Doing[SessionEnd] | None = None
        self._shown: tuple[str, ...] = _SHOWN

    def offer(self, runtime: str, frameworks: Sequence[str]) -> Offer:
        """Return what it can measure; HostError if it does not answer, or cannot."""
        given = {"runtime": runtime, "frameworks": list(frameworks)}
        hosts = [each.facts.words for each in self.fleet.members]
        first = self.fleet.members[0].facts
        volley = f"volley {first.volley_version} ({first.volley_sha256[:12]})"
        try:
            said = self.link.wait(
                self.link.call(self.server, "offer", _OFFER_S, hosts=hosts, **given)
            )
            return answer(Offer, said).changed(volley=volley)
        except (LostError, RefusedError) as error:
            raise HostError(str(error)) from error

    def begin(self, asked: Asked) -> None:
        """Start a session."""
        resource = f"rack:{self.host_class}"
        self._shown = (*_SHOWN, _ERROR) if asked.block else _SHOWN
        work = run_session(self.link, self.server, resource, asked, self._lines)
        self._doing = self.link.begin(work)

    def poll(self) -> SessionEnd | None:
        """Return how the session ended, and show what it has printed."""
        while self._lines:
            line = self._lines.popleft()
            # The reason of a session's end is reported with what came of its block.
            if line.startswith(self._shown) and ENDS not in line:
                self.shows.say(f"rack {self.name}: {printable(line)}")
        if self._doing is None or not self._doing.done():
            return None
        try:
            return self._doing.result()
        except (LostError, RefusedError) as error:
            return SessionEnd(HostError.exit_code, str(error), is_lost=True)

    def stop(self) -> None:
        """Have the session end now."""
        if self._doing:
            self._doing.stop()

    def await_stop(self) -> None:
        """Wait until the rack knows it."""
        if self._doing:
            self._doing.close()


@dataclass(frozen=True)
class FleetRacks:
    """The racks of a class that are ready."""

    racks: Sequence[FleetRack]

    def joined(self) -> Away:
        """Return the generator of a rack, as a plan needs it, and the CPUs of its server."""
        fleet = self.racks[0].fleet
        return located(fleet, "", fleet.members[0].facts.volley_version)

    def runner(
        self, workspace: Workspace, request: Request, plans: Sequence[Plan], shows: Progress
    ) -> RackRunner:
        """Return what runs the sessions on those racks that can make one night together."""
        frameworks = frameworks_of(plans)
        fit, offers = class_of_racks(self.racks, frameworks, workspace, request.runtime, shows)
        percent = QUARANTINE if request.quarantine is None else request.quarantine
        return RackRunner(workspace, request, shows, fit, offers, percent / 100)


@dataclass(frozen=True)
class RequestedFleet:
    """The fleet that a request names by its address."""

    workspace: Workspace
    request: Request
    environment: Mapping[str, str]
    shows: Progress

    @property
    def _address(self) -> str:
        return self.request.fleet or ""

    def joined(self) -> Away:
        """Join it, or a rack of it; return its generator, and the CPUs of the server: all here."""
        rack = self.request.rack
        return joined(self.workspace, self._address, self.environment, self.shows, rack)

    def racks(self) -> FleetRacks | None:
        """Return the racks of the requested class; None if the fleet has none.

        A rack that is not ready is left out with a warning; HostError if none is ready, UsageError
        if there are several classes and none was requested.
        """
        link, seen, _ = look_around(self.workspace, self._address)
        if not any(each.place.serves for each in seen):
            return None
        found = []
        for name in sorted({each.place.rack for each in seen} - {""}):
            try:
                found.append(_rack(link, name, seen, self.shows))
            except HostError as error:
                self.shows.say(f"warning: rack {name} is left out: {error}")
        wanted = self.request.host_class
        classes = sorted({each.host_class for each in found})
        if wanted is None and len(classes) > 1:
            raise UsageError(f"--class: the racks are of several: choose {' or '.join(classes)}")
        racks = [each for each in found if wanted in (None, each.host_class)]
        if not racks:
            of = f" of the class {wanted}" if wanted else ""
            raise HostError(f"no rack{of} is ready (./scripts/fleet.sh status shows all hosts)")
        return FleetRacks(racks)


def _rack(link: "Link", name: str, seen: Sequence[Seen], shows: Progress) -> FleetRack:
    if why := rack_lacks(seen, name):
        raise HostError(why)
    server = next(each for each in seen if each.place == Place(name, serves=True))
    if server.facts is None:
        raise HostError(f"{server.name} is not ready: {server.why}")
    fleet = Fleet(link, members_of(generators_of(seen, name), server.facts), "")
    return FleetRack(name, server.name, server.facts.host_class, fleet, link, shows)
