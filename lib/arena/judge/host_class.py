"""Host classes: which machines, used in which way, may share a board.

A class has what changes figures and stays the same from boot to boot. What an administrator may
change is the record's epoch.
"""

import hashlib
import re
from collections import Counter
from functools import cache
from typing import Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.base.units import parse_cpus
from arena.machine.cpus import POLLS, quota_words
from arena.record.measurement import is_none
from arena.record.record import Cpus, Host, Record

# Parts of a CPU's name that do not tell CPUs apart.
_NOISE = re.compile(r"\(.*?\)|@.*|\b(cpu|processor)\b", re.IGNORECASE)
_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
# What tells apart x86 CPUs, behind their vendor.
_X86 = re.compile(r"[A-Za-z]+ (\d+) (\d+) (\d+)")
_LONGEST_NAME = 24
_DIGITS = 8

# More memory than any host has: what a broken record may claim.
_MOST_BYTES = 1 << 60


class HostClass(Frozen):
    """A class of hosts. `id` is the same for equal facts, and safe in URLs and file names.

    `cpus` are the logical CPUs that the runner may use, on `cores` physical ones. `memory_gib` is
    rounded up: kernels of one machine keep different shares for themselves. `server_cpus` and
    `generator_cpus` count the CPUs of each side; both are None if the sides share all. `named_cpus`
    are the lists that a user has set. `generator_hosts` are the CPUs of a fleet's hosts.
    `server_quota` is how many CPUs' time a server may use, if it has a quota. With the `idle` state
    `poll`, CPUs without work are kept awake. None: the record does not say.
    """

    id: str
    words: str
    cpu: str
    family: str | None
    cpus: int
    cores: int
    memory_gib: float
    virtualisation: str | None
    runtime: str | None
    cpu_policy: Literal["pinned", "unpinned", "override", "fleet"]
    server_cpus: int | None
    generator_cpus: int | None
    named_cpus: str | None
    generator_hosts: str | None = None
    server_quota: float | None = Field(default=None, exclude_if=is_none)
    idle: Literal["poll"] | None = Field(default=None, exclude_if=is_none)

    @property
    def kind_of_cpu(self) -> str:
        """What else tells CPUs of one name apart: `family 26, model 2, stepping 1`."""
        if found := _X86.fullmatch(self.family or ""):
            return "family {}, model {}, stepping {}".format(*found.groups())
        return f"family {self.family or 'unknown'}"


def host_class_of(record: Record) -> HostClass:
    """Return the class of a record's host; of an older record, by what it knows."""
    runtime = record.provenance.runtime
    it = record.provenance
    return class_of(it.host, it.cpus, runtime and runtime.name, it.generator_hosts)


@cache
def class_of(
    host: Host, cpus: Cpus, runtime: str | None, generator_hosts: tuple[str, ...] = ()
) -> HostClass:
    """Return the class of a host whose CPUs are split like this, with servers in a runtime.

    With the generator hosts of a fleet, it is the class of the whole rack.
    """
    known = HostClass(
        id="",
        words="",
        cpu=host.cpu,
        family=host.family,
        cpus=host.cpus,
        cores=host.cores,
        memory_gib=_gib(host.memory_bytes),
        virtualisation=host.virtualisation,
        runtime=runtime,
        cpu_policy=cpus.policy,
        server_cpus=_count(cpus.server),
        generator_cpus=_count(cpus.generator),
        named_cpus=f"{cpus.server} {cpus.generator}" if cpus.policy == "override" else None,
        generator_hosts=_counted(generator_hosts),
        server_quota=cpus.server_quota,
        idle=cpus.idle,
    )
    # A fact that is not known is left out, so that a new kind of fact keeps the ids of old records.
    facts = known.model_dump_json(exclude={"id", "words"}, exclude_none=True)
    digest = hashlib.sha256(facts.encode()).hexdigest()[:_DIGITS]
    name = _slug(_NOISE.sub(" ", host.cpu))[:_LONGEST_NAME].strip("-")
    parts = [
        name,
        f"{str(host.cpus)[:6]}-cpus".strip("-"),
        _slug(runtime or "")[:_LONGEST_NAME].strip("-"),
        digest,
    ]
    return known.model_copy(
        update={"id": "-".join(filter(None, parts)), "words": _words(known, cpus)}
    )


def _words(it: HostClass, cpus: Cpus) -> str:
    cores = "" if it.cores == it.cpus else f" on {it.cores} core{'s' * (it.cores != 1)}"
    parts = [
        it.cpu,
        f"{it.cpus} CPU{'s' * (it.cpus != 1)}{cores}",
        f"{it.memory_gib:g} GiB",
        it.virtualisation and re.sub("^none", "bare metal", it.virtualisation),
        it.runtime,
        it.cpu_policy if it.cpu_policy == "unpinned" else _split(it, cpus),
        None if it.server_quota is None else quota_words(it.server_quota),
        it.idle and POLLS,
        it.generator_hosts and f"load from {it.generator_hosts}",
    ]
    return ", ".join(filter(None, parts))


def _counted(hosts: tuple[str, ...]) -> str | None:
    """Return a fleet's hosts in words, equal ones together: `3 x Some CPU, 8 CPUs`."""
    return " + ".join(f"{n} x {each}" for each, n in sorted(Counter(hosts).items())) or None


def _split(it: HostClass, cpus: Cpus) -> str | None:
    if it.cpu_policy == "fleet":
        return None
    if it.cpu_policy == "override":
        return f"server on CPUs {cpus.server}, generator on {cpus.generator}"
    return f"pinned {it.server_cpus} + {it.generator_cpus}"


def _gib(size_bytes: int) -> float:
    """Return a size in GiB, rounded up to the next eighth of a power of two.

    Sizes of memory are such numbers. The kernel reports a few percent less.
    """
    size = min(max(size_bytes, 0), _MOST_BYTES)
    step = 1 << max(size.bit_length() - 4, 0)
    return -(-size // step) * step / (1 << 30)


def _count(cpus: str | None) -> int | None:
    return len(parse_cpus(cpus)) if cpus else None


def _slug(text: str) -> str:
    return _NOT_IN_ID.sub("-", text.lower()).strip("-")
