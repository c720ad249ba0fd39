"""A fleet that was joined: its members, and whether they can make a load together."""

import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from arena.base.errors import HostError, UsageError
from arena.base.text import printable
from arena.base.workspace import Workspace
from arena_fleet.agent import RefusedError
from arena_fleet.certificates import own_folder
from arena_fleet.clock import Offset
from arena_fleet.facts import HostFacts, boot_id, problems, read_message
from arena_fleet.members import (
    NO_RACK,
    LostError,
    Member,
    Place,
    clock_of,
    not_ready,
)
from arena_fleet.shares import divide

if TYPE_CHECKING:
    from arena_fleet.link import Link

_FACTS_S = 5.0

_ADDRESS = re.compile(r"tls://(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]+)):(\d{1,5})")


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
    racks = sorted({each.place.rack for each in seen} - {""})
    if racks and not found:
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
    hosts = []
    for number, each in enumerate(seen, 1):
        if each.facts is None:
            raise not_ready(number, len(seen), f"{each.name} is not ready: {each.why}")
        hosts.append(each.facts)
    for number, why in problems(hosts, [each.offset for each in seen], server):
        raise not_ready(number, len(seen), f"{seen[number - 1].name} is not ready: {why}")
    shares = divide([each.cpus for each in hosts], [each.parts for each in hosts])
    return [
        Member(number, facts, share)
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


def port_of(address: str) -> int:
    """Return the port of a coordinator's address; UsageError if it is none."""
    return _parts_of(address)[1]


def _parts_of(address: str) -> tuple[str, int]:
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
    host, port = _parts_of(address)
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
