"""What a generator host says of itself, and why it cannot take part."""

import os
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import pydantic
from pydantic import AfterValidator, Field

from arena.base.errors import HostError, UsageError
from arena.base.model import Frozen, Number
from arena.base.progress import Progress
from arena.base.reading import sha256_of
from arena.base.text import printable
from arena.base.workspace import Workspace
from arena.load import generators
from arena.machine import facts
from arena.machine.child import most_open_files
from arena.machine.cpus import CpuPlan
from parsers.common.figures import Whole

# Of so many exchanges, the fastest one counts: its message waited the least.
EXCHANGES = 15


class Exchange(NamedTuple):
    """A message to a host and back: sent and back on the own clock, there on the host's."""

    sent_ns: int
    there_ns: int
    back_ns: int

    @property
    def rtt_ns(self) -> int:
        """The time of the round trip."""
        return self.back_ns - self.sent_ns


@dataclass(frozen=True)
class Offset:
    """A host's clock minus the own one. The true offset differs by `bound_ns` at most."""

    ns: int
    bound_ns: int
    rtt_ns: int

    def there(self, own_ns: int) -> int:
        """Return what the host's clock shows at a moment of the own clock."""
        return own_ns + self.ns

    def here(self, there_ns: int) -> int:
        """Return what the own clock shows at a moment of the host's clock."""
        return there_ns - self.ns


def offset_of(exchanges: Sequence[Exchange]) -> Offset:
    """Estimate an offset from at least one exchange.

    The host read its clock at some moment between sending and coming back. Half of the round trip
    is the best guess without knowing the delay of each direction, and the error is at most the
    other half (Cristian 1989).
    """
    best = min(exchanges, key=lambda each: each.rtt_ns)
    middle_ns = (best.sent_ns + best.back_ns) // 2
    return Offset(best.there_ns - middle_ns, (best.rtt_ns + 1) // 2, best.rtt_ns)


def monotonic_ns() -> int:
    """Return what CLOCK_MONOTONIC shows: the clock that volley starts by."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


# The number of the messages between coordinator and hosts; both must speak the same ones.
PROTOCOL = 3

# An estimate of a clock's offset that may be wrong by more is of no use.
MOST_BOUND_NS = 2_000_000

# Files of volley other than connections.
_OTHER_FILES = 64

_PROC = Path("/proc")


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has control characters")
    return text


# A record has 200 characters for a CPU and the number of them.
_Line = Annotated[str, Field(max_length=160), AfterValidator(_one_line)]

_SLUG = r"^[a-z0-9][a-z0-9-]{0,39}$"
Slug = Annotated[str, Field(pattern=_SLUG)]


def require_slug(flag: str, text: str, given: str | None = None) -> None:
    """Raise UsageError unless a text may name a host, a class or a rack; it was `given` so."""
    if not re.fullmatch(_SLUG, text):
        shown = text if given is None else given
        raise UsageError(
            f"{flag}: {shown!r:.60} is not allowed: use a-z, 0-9 and -, 40 characters at most"
        )


def host_name(flag: str, given: str) -> str:
    """Return the name of a host in the fleet; UsageError if it can have none.

    Of a name with a domain, such as a node's in Kubernetes, the first part counts. An IP address is
    refused: its first part would name many hosts.
    """
    is_address = "." in given and given.replace(".", "").isdecimal()
    name = "" if is_address else given.lower().partition(".")[0]
    require_slug(flag, name, given)
    return name


def server_cpus(*, is_local: bool) -> CpuPlan:
    """Return the CPUs of a fleet's server: all of its host, with which `up local` shares them."""
    return CpuPlan("unpinned" if is_local else "fleet", None, None)


class HostFacts(Frozen):
    """A host of a fleet.

    `cpu` is its CPU in words, `cpus` how many volley may use, of those that the process is confined
    to and its control group pays for. `parts` is the share that it was told to take. `is_local`:
    one of several hosts that `up local` plays on one machine. `ports` are local ports for
    connections. `load` is the average of one minute. `is_busy`: it makes a load or a session.
    """

    protocol: int
    name: Slug
    host_class: Slug
    is_local: bool
    boot_id: _Line
    cpu: _Line
    cpus: Annotated[float, Field(gt=0, le=1e6)]
    parts: Annotated[int, Field(ge=1, le=64)] | None
    open_files: Whole
    ports: Whole
    load: Number
    is_busy: bool
    volley_version: _Line
    volley_sha256: _Line
    python: _Line
    dask: _Line
    pid: Annotated[int, Field(ge=1, le=1 << 22)]

    @property
    def words(self) -> str:
        """The host's CPUs in words, without its name."""
        return f"{self.cpu}, {self.cpus:g} CPU{'s' * (self.cpus != 1)}"


def read_facts(
    name: str,
    host_class: str,
    volley: Path,
    volley_version: str,
    dask: str,
    *,
    cpus: float | None = None,
    parts: int | None = None,
    is_local: bool = False,
) -> HostFacts:
    """Return the facts of this host."""
    described = facts.describe(None)
    return HostFacts(
        protocol=PROTOCOL, name=name, host_class=host_class, is_local=is_local, boot_id=boot_id(),
        cpu=printable(" ".join(described.cpu.split()))[:160],
        cpus=cpus or min(described.cpus, quota_cpus() or described.cpus), parts=parts,
        open_files=most_open_files(), ports=_port_count(), load=os.getloadavg()[0], is_busy=False,
        volley_version=volley_version, volley_sha256=sha256_of(volley),
        python=platform.python_version(), dask=dask, pid=os.getpid(),
    )  # fmt: skip


def boot_id() -> str:
    """Return what no other machine has, and this one only until it boots again."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def quota_cpus(root: Path = Path("/sys/fs/cgroup"), own: Path = _PROC / "self/cgroup") -> float:
    """Return how many CPUs the control groups of this process pay for; 0 without a limit."""
    try:
        group = own.read_text().strip().rpartition("::")[2].strip("/")
    except OSError:
        return 0.0
    limits = []
    for each in (folder := root / group, *folder.parents):
        with suppress(OSError, ValueError):  # Without a limit, the quota is `max`.
            quota, period = map(int, (each / "cpu.max").read_text().split())
            limits.append(quota / period)
        if each == root:
            break
    return min(limits, default=0.0)


def read_message(said: object) -> HostFacts:
    """Read the facts that a host has sent; HostError if it speaks another language."""
    if isinstance(said, Mapping) and said.get("protocol") != PROTOCOL:
        raise HostError(
            f"it speaks version {said.get('protocol')!r:.20} of the fleet's protocol, not "
            f"{PROTOCOL}: "
            "use the same checkout on all hosts"
        )
    try:
        return HostFacts.model_validate(said)
    except pydantic.ValidationError as error:
        raise HostError("its facts cannot be read: use the same checkout on all hosts") from error


def problems(
    hosts: Sequence[HostFacts], offsets: Sequence[Offset | None], server: HostFacts | None = None
) -> Iterator[tuple[int, str]]:
    """Yield why hosts cannot make one load together: the number of the host, from 1, and why.

    `server` is the server host of their rack.
    """
    boots = Counter(each.boot_id for each in hosts)
    for number, (each, offset) in enumerate(zip(hosts, offsets, strict=True), 1):
        for why in _problems(each, hosts[0], boots[each.boot_id] > 1):
            yield number, why
        if server and each.boot_id == server.boot_id and not each.is_local:
            yield number, f"it is the machine of {server.name}, which runs the server"
        if offset and offset.bound_ns > MOST_BOUND_NS:
            yield number, bound_words(offset)


def bound_words(offset: Offset) -> str:
    """Return that a clock is not known well enough."""
    return (
        f"its clock is known to ±{offset.bound_ns / 1e6:.1f} ms only, and ±"
        f"{MOST_BOUND_NS / 1e6:g} ms are needed: the network or a host is too slow"
    )


def _problems(it: HostFacts, first: HostFacts, is_twice: bool) -> Iterator[str]:
    if it.volley_sha256 != first.volley_sha256:
        yield (
            f"its volley ({it.volley_version}, {it.volley_sha256[:12]}) is not that of generator 1 "
            f"({first.volley_version}, {first.volley_sha256[:12]}): use the same build on all hosts"
        )
    if (it.python, it.dask) != (first.python, first.dask):
        yield (
            f"Python {it.python} with Dask {it.dask}, but generator 1 has Python {first.python} "
            f"with Dask {first.dask}: use the same versions on all hosts"
        )
    if is_twice and not it.is_local:
        yield (
            "another generator has the same boot id, so both are one machine (run one worker on "
            "each host)"
        )


def lacks(connections: int) -> str:
    """Return why this host cannot open so many connections; empty if it can."""
    needed, there = connections + _OTHER_FILES, most_open_files()
    if needed > there:
        return (
            f"{connections:,} connections need {needed:,} open files, and its limit is {there:,}: "
            "raise it (ulimit -Hn, or LimitNOFILE= of the unit)"
        )
    if connections > (ports := _port_count()):
        return (
            f"{connections:,} connections need as many local ports, and it has {ports:,}: widen "
            "net.ipv4.ip_local_port_range"
        )
    return ""


def _port_count() -> int:
    lowest, highest = (_PROC / "sys/net/ipv4/ip_local_port_range").read_text().split()
    return int(highest) - int(lowest) + 1


# A host takes at most so many parts by its CPUs; each part is a process.
_MOST_PARTS = 8


@dataclass(frozen=True)
class Share:
    """The parts `first` to `first + count - 1` of `of`, from 1."""

    first: int
    count: int
    of: int

    @property
    def numbers(self) -> range:
        """The numbers of its parts."""
        return range(self.first, self.first + self.count)

    def __str__(self) -> str:
        last = self.first + self.count - 1
        numbers = str(self.first) if self.count == 1 else f"{self.first}-{last}"
        return f"{numbers}/{self.of}"


def divide(cpus: Sequence[float], told: Sequence[int | None]) -> list[Share]:
    """Return the share of each host, by its CPUs, or by the parts that it was told to take.

    If any host was told, a host that was not takes one part. A single host takes two at least:
    volley's report of the whole load is not one that can be merged and checked.
    """
    counts = [each or 1 for each in told]
    if not any(told):
        counts = [min(round(each / min(cpus)), _MOST_PARTS) for each in cpus]
    if sum(counts) == 1:
        counts = [2]
    shares, first = [], 1
    for count in counts:
        shares.append(Share(first, count, sum(counts)))
        first += count
    return shares


def find_volley(
    workspace: Workspace, environment: Mapping[str, str], shows: Progress
) -> tuple[Path, str]:
    """Return volley and its version, built if need be; HostError if only an image has it."""
    found = generators.locate("volley", workspace, environment).ready(workspace, None, shows)
    if found.is_away:
        raise HostError("volley: a fleet runs it as a program, not from an image (LOADGEN_DOCKER)")
    return Path(found.program), found.version
