"""The hosts of a fleet, as a benchmark sees them, and whether they can make a load together."""

import asyncio
import ipaddress
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import click
import psutil
import pydantic

from arena.base.errors import HostError, UsageError
from arena.base.model import Model
from arena.base.text import printable
from arena.base.workspace import Workspace
from arena_fleet.agent import RefusedError
from arena_fleet.certificates import own_folder
from arena_fleet.facts import (
    EXCHANGES,
    MOST_BOUND_NS,
    Exchange,
    HostFacts,
    Offset,
    Share,
    boot_id,
    divide,
    monotonic_ns,
    offset_of,
    problems,
    read_message,
    require_slug,
)

if TYPE_CHECKING:
    from arena_fleet.link import Link

# One exchange of clocks takes milliseconds; a host that needs so long is not there.
_CLOCK_S = 2.0
_TRIES = 4
_FACTS_S = 5.0

_ADDRESS = re.compile(r"tls://(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]+)):(\d{1,5})")

# Set for the interpreter that was switched to, which must have Dask then.
_SWITCHED = "ARENA_FLEET_INTERPRETER"

Answer = TypeVar("Answer")


class LostError(Exception):
    """A host did not answer; the text says how: it has gone, or it is silent.

    The text may have names, paths and addresses; `words`, for records, have none.
    """

    def __init__(self, text: str, words: str = "") -> None:
        super().__init__(text)
        self.words = words or text


def answer(model: type[Model], said: object) -> Model:
    """Return what a host has answered; LostError if that is not what was asked for."""
    try:
        return model.model_validate(said)
    except pydantic.ValidationError as error:
        what = "its answer cannot be read: use the same checkout on all hosts"
        raise LostError(what) from error


class Place(NamedTuple):
    """Where a host belongs: the name of its rack, if any, and whether it is the server host.

    A worker declares both as resources of Dask, so they are known of silent hosts, too.
    """

    rack: str = ""
    serves: bool = False

    def resources(self, host_class: str) -> dict[str, float]:
        """Return what the worker of a host of a class declares."""
        kind = "rack" if self.serves else "generator"
        return {f"{kind}:{host_class}": 1, **({f"in:{self.rack}": 1} if self.rack else {})}

    @classmethod
    def named(cls, rack: str | None, *, serves: bool) -> Self:
        """Return the place that options name; UsageError if there is none such."""
        if serves and not rack:
            raise UsageError("--serves: is for the server host of a rack (add --rack NAME)")
        if rack is not None:
            require_slug("--rack", rack)
        return cls(rack or "", serves)

    @classmethod
    def read(cls, resources: Mapping[str, float]) -> Self:
        """Return the place of a worker with these resources."""
        rack = "".join(each[3:] for each in resources if each.startswith("in:"))
        return cls(rack, any(each.startswith("rack:") for each in resources))


NO_RACK = Place()


class Caller(Protocol):
    """Asks hosts by name. Nothing is repeated here; every call has a deadline."""

    async def names(self) -> list[str]:
        """Return who is there now; LostError if the coordinator does not answer."""

    async def call(self, name: str, verb: str, deadline_s: float, **given: Any) -> Any:
        """Call a method of the host's agent; RefusedError as it raises it, else LostError."""


@dataclass(frozen=True)
class Member:
    """A generator host: its number from 1, of so many, its facts and its share of the load."""

    number: int
    of: int
    facts: HostFacts
    share: Share

    @property
    def threads(self) -> int:
        """The threads of each of its processes, if it has connections enough."""
        return max(1, int(self.facts.cpus) // self.share.count)

    @property
    def words(self) -> str:
        """Its name in records and errors: its number."""
        return f"generator {self.number} of {self.of}"

    def not_ready(self, why: object) -> HostError:
        """Return the error of a host that cannot take part."""
        return HostError(f"{self.words}: {printable(str(why))}")


async def clock_of(calls: Caller, name: str) -> Offset:
    """Estimate the offset of a host's clock; LostError if it does not answer.

    A busy moment of a host is no reason to refuse it: it has some tries to be exact enough.
    """
    exchanges: list[Exchange] = []
    for _ in range(_TRIES):
        for _ in range(EXCHANGES):
            sent_ns = monotonic_ns()
            there_ns = await calls.call(name, "clock", _CLOCK_S)
            if type(there_ns) is not int or not 0 <= there_ns < 1 << 63:
                raise LostError("its clock is no number")
            exchanges.append(Exchange(sent_ns, there_ns, monotonic_ns()))
        if offset_of(exchanges).bound_ns <= MOST_BOUND_NS:
            break
    return offset_of(exchanges)


async def of_all(
    members: Sequence[Member], ask: Callable[[Member], Awaitable[Answer]]
) -> list[Answer | Exception]:
    """Ask all hosts at the same time; return the answer of each, or why there is none."""

    async def one(member: Member) -> Answer | Exception:
        try:
            return await ask(member)
        except (LostError, RefusedError) as error:
            return error

    return list(await asyncio.gather(*map(one, members)))


@dataclass(frozen=True)
class Seen:
    """A host of the fleet: its facts and its clock, or why it did not tell them."""

    name: str
    facts: HostFacts | None
    offset: Offset | None
    why: str = ""
    place: Place = NO_RACK


async def look(link: "Link") -> list[Seen]:
    """Return all hosts, sorted by name; LostError if the coordinator does not answer."""
    return [await _look_at(link, name) for name in await link.names()]


async def _look_at(link: "Link", name: str) -> Seen:
    place = link.place(name)
    try:
        facts = read_message(await link.call(name, "facts", _FACTS_S))
        return Seen(name, facts, await clock_of(link, name), place=place)
    except (LostError, RefusedError, HostError) as error:
        return Seen(name, None, None, printable(str(error)), place)


def _racks(seen: Sequence[Seen]) -> list[str]:
    return sorted({each.place.rack for each in seen} - {""})


def generators_of(seen: Sequence[Seen], rack: str | None) -> list[Seen]:
    """Return the generator hosts of a rack.

    Without a name, it is the rack whose server host is this machine, or else the hosts that are
    in no rack.
    """
    if rack is None:
        here = (each for each in seen if each.facts and each.facts.boot_id == boot_id())
        rack = next((each.place.rack for each in here if each.place.serves), "")
    found = [each for each in seen if each.place == Place(rack)]
    if rack and not found:
        raise HostError(f"rack {rack} has no generator hosts: start workers with --rack {rack}")
    if not found and (racks := _racks(seen)):
        raise HostError(
            f"this machine serves no rack (racks: {', '.join(racks)}): run it on a server host"
        )
    return found


def rack_lacks(seen: Sequence[Seen], rack: str) -> str:
    """Return what a rack lacks of one server host, and a generator host at least; or nothing."""
    hosts = Counter(each.place for each in seen)
    if not hosts[Place(rack)]:
        return f"it has no generator hosts (start workers with --rack {rack})"
    servers = hosts[Place(rack, serves=True)]
    if not servers:
        return f"it has no server host (start its worker with --rack {rack} --serves)"
    return "" if servers == 1 else f"it has {servers} server hosts, and needs one"


def members_of(seen: Sequence[Seen], server: HostFacts | None = None) -> list[Member]:
    """Return the members; HostError if one cannot take part. `server` is the host of their rack."""
    if not seen:
        raise HostError(
            "the fleet has no generator hosts: start workers (./scripts/fleet.sh worker --help)"
        )
    hosts = [each.facts for each in seen if each.facts]
    whys = [(number, each.why) for number, each in enumerate(seen, 1) if not each.facts]
    for number, why in whys or problems(hosts, [each.offset for each in seen], server):
        name = seen[number - 1].name
        raise HostError(f"generator {number} of {len(seen)}: {name} is not ready: {why}")
    shares = divide([each.cpus for each in hosts], [each.parts for each in hosts])
    return [
        Member(number, len(hosts), facts, share)
        for number, (facts, share) in enumerate(zip(hosts, shares, strict=True), 1)
    ]


@dataclass(frozen=True)
class Fleet:
    """A joined fleet. `server` is this host's address, as the generator hosts see it."""

    link: "Link"
    members: Sequence[Member]
    server: str

    @property
    def is_local(self) -> bool:
        """Whether its hosts share this machine with the server."""
        return any(each.facts.is_local for each in self.members)


def join(workspace: Workspace, address: str, rack: str | None = None) -> Fleet:
    """Join a fleet; HostError if it does not answer, or if one of its hosts is not ready.

    In a fleet of racks, only the generator hosts of one rack are joined.
    """
    link, seen, server = look_around(workspace, address)
    return Fleet(link, members_of(generators_of(seen, rack)), server)


def look_around(workspace: Workspace, address: str) -> tuple["Link", list[Seen], str]:
    """Return the link to a fleet, its hosts, and this host's address; HostError without an answer.

    UsageError if the coordinator's address is not one.
    """
    server = own_address(address)
    from arena_fleet.link import Link

    link = Link(address, own_folder(workspace))
    try:
        return link, link.wait(look(link)), server
    except LostError as error:
        raise HostError(str(error)) from error


def show(workspace: Workspace, address: str) -> int:
    """Print a line for each host; return 0 if all are ready, else the code of a host's error."""
    _, seen, _ = look_around(workspace, address)
    if not seen:
        click.echo("no hosts")
    whys = {each.name: each.why for each in seen if not each.facts}
    for rack in {each.place.rack for each in seen}:
        known = [each for each in seen if each.facts and each.place == Place(rack)]
        facts = [each.facts for each in known if each.facts]
        server = next((each.facts for each in seen if each.place == Place(rack, serves=True)), None)
        for number, why in problems(facts, [each.offset for each in known], server):
            whys.setdefault(known[number - 1].name, why)
    for each in sorted(seen, key=lambda it: (it.place.rack, not it.place.serves, it.name)):
        click.echo(_line(each, whys.get(each.name, "")))
    lacking = {rack: why for rack in _racks(seen) if (why := rack_lacks(seen, rack))}
    for rack, why in lacking.items():
        click.echo(f"rack {rack}: not ready: {why}")
    return HostError.exit_code if whys or lacking or not seen else 0


def _line(seen: Seen, why: str) -> str:
    parts, facts, ready = [seen.name], seen.facts, "ready"
    if rack := seen.place.rack:
        parts.append(f"rack {rack}{', server' * seen.place.serves}")
    if facts:
        parts += [
            facts.words,
            f"class {facts.host_class}",
            f"volley {facts.volley_version} ({facts.volley_sha256[:12]})",
            f"load {facts.load:.1f}",
            f"{facts.open_files:,} files, {facts.ports:,} ports",
        ]
        if facts.is_busy:
            ready = "busy"
        elif not (facts.is_local or rack) and facts.boot_id == boot_id():
            ready = "ready for servers on other machines (it is this machine)"
    if clock := seen.offset:
        parts.append(f"clock {clock.ns / 1e6:+.3f} ms ± {clock.bound_ns / 1e6:.3f}")
    return f"{'; '.join(parts)}: {f'not ready: {why}' if why else ready}"


def address_of(address: str) -> tuple[str, int]:
    """Return the host and the port of a coordinator's address; UsageError if it is none."""
    match = _ADDRESS.fullmatch(address)
    if not match or not 0 < int(match[3]) < 1 << 16:
        raise _no_address(address)
    return match[1] or match[2], int(match[3])


def _no_address(address: str) -> UsageError:
    return UsageError(f"--fleet: {address!r:.80} is not an address like tls://coordinator:8786")


def own_address(address: str) -> str:
    """Return the address of this host from which it reaches a coordinator.

    UsageError if the coordinator's address is not one, HostError if nothing leads there.
    """
    host, port = address_of(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, where = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(where)  # Nothing is sent: the kernel only looks up the route.
            return str(probe.getsockname()[0])
    except UnicodeError as error:  # A part of the name is empty, or too long.
        raise _no_address(address) from error
    except OSError as error:
        raise HostError(f"--fleet: {address}: {error.strerror or error}") from error


def require_interface(name: str | None, own: str) -> None:
    """Raise UsageError unless the coordinator can reach a worker that listens there.

    `own` is this host's address that leads to the coordinator.
    """
    addresses = psutil.net_if_addrs()
    if not name and not ipaddress.ip_address(own).is_loopback:
        raise UsageError(
            "--interface: the coordinator is on another host: name the network interface to listen "
            f"on ({', '.join(addresses)})"
        )
    if name and socket.AF_INET not in {each.family for each in addresses.get(name, ())}:
        raise UsageError(
            f"--interface: {name!r:.40} is no network interface with an IPv4 address: choose one "
            f"of {', '.join(addresses)}"
        )


def require_dask(root: Path, address: str) -> None:
    """Go on in the interpreter that has Dask, set up if need be; return if this one has it.

    The coordinator's address is checked before. HostError if Dask cannot be set up.
    """
    own_address(address)
    if find_spec("distributed"):
        return
    python = root / ".venv-fleet" / "bin" / "python"
    done = subprocess.run(
        [root / "scripts" / "fleet.sh", "install"], check=False, stdout=subprocess.DEVNULL
    )
    if done.returncode or os.environ.get(_SWITCHED):
        raise HostError("--fleet: Dask could not be set up: see ./scripts/fleet.sh install")
    os.environ[_SWITCHED] = "1"
    os.execv(python, [str(python), *sys.orig_argv[1:]])  # noqa: S606 - the same program again
