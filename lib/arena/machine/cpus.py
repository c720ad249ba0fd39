"""The CPUs of the server and of the generator."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from arena.base.errors import HostError, UsageError
from arena.base.reading import text_of
from arena.base.units import format_cpus, parse_cpus
from arena.record.record import Cpus

# With fewer CPUs, both sides share all of them.
_FEWEST_TO_SPLIT = 4

CPU_FOLDERS = Path("/sys/devices/system/cpu")

# While it is open, no CPU enters an idle state that takes longer to leave than it says (in µs).
_LATENCY = Path("/dev/cpu_dma_latency")
_NONE_US = bytes(4)

# What a plan, and a class of hosts, says of CPUs that are kept awake.
POLLS = "idle CPUs poll"


@dataclass(frozen=True)
class CpuPlan:
    """The CPUs of each side; None means it shares all of them with the other.

    With the policy `fleet`, None means all for the server, and none for the generator: its hosts
    are others. `server_quota` is how many CPUs' time the server may use; None if it has no quota.
    With the `idle` state `poll`, CPUs without work stay awake.
    """

    policy: Literal["pinned", "unpinned", "override", "fleet"]
    server: tuple[int, ...] | None
    generator: tuple[int, ...] | None
    server_quota: float | None = None
    idle: Literal["poll"] | None = None

    @property
    def generator_count(self) -> int | None:
        """The number of CPUs here that only the generator uses; None if any is shared."""
        return self.record().generator_count

    def record(self) -> Cpus:
        """Return the plan in the form of records."""
        server, generator = (each and format_cpus(each) for each in (self.server, self.generator))
        return Cpus(
            policy=self.policy,
            server=server,
            generator=generator,
            server_quota=self.server_quota,
            idle=self.idle,
        )

    def __str__(self) -> str:
        if self.idle:
            return f"{replace(self, idle=None)}, {POLLS}"
        if self.server_quota is not None:
            return f"{replace(self, server_quota=None)}, {quota_words(self.server_quota)}"
        if self.policy == "fleet":
            return "server on all CPUs, load from other hosts"
        if self.server is None or self.generator is None:
            return "server and generator share all CPUs (unpinned)"
        server, generator = format_cpus(self.server), format_cpus(self.generator)
        return f"server on CPUs {server}, generator on CPUs {generator}"


def quota_words(quota: float) -> str:
    """Return a server's quota for people."""
    return f"server limited to {quota:g} CPU{'s' * (quota != 1)}"


def plan_cpus(
    cores: Iterable[tuple[int, ...]],
    environment: Mapping[str, str],
    server_quota: float | None = None,
) -> CpuPlan:
    """Give server and generator half of the physical cores each; SMT siblings stay together.

    `cores` holds the logical CPUs of each physical core that is available. An odd core goes to
    the generator, which must not be the limit. With fewer than four CPUs, both share all.
    SERVER_CPUS and LOADGEN_CPUS override this; if only one is set, the other side gets the rest.
    CPU_IDLE=poll keeps idle CPUs awake. HostError if the server has fewer CPUs than its quota.
    """
    groups = sorted(cores)
    allowed = {cpu for group in groups for cpu in group}
    split, idle = _split(groups, allowed, environment), _idle(environment)
    plan = replace(split, server_quota=server_quota, idle=idle)
    count = len(plan.server or allowed)
    if server_quota is not None and server_quota > count:
        raise HostError(f"--server-quota: is {server_quota:g}, but the server has {count} CPUs")
    return plan


def _split(
    groups: Sequence[tuple[int, ...]], allowed: set[int], environment: Mapping[str, str]
) -> CpuPlan:
    server = _named_cpus("SERVER_CPUS", environment, allowed)
    generator = _named_cpus("LOADGEN_CPUS", environment, allowed)
    if server or generator:
        server = server or _rest(allowed, generator, "LOADGEN_CPUS")
        generator = generator or _rest(allowed, server, "SERVER_CPUS")
        return CpuPlan("override", server, generator)
    half = len(groups) // 2
    if len(allowed) < _FEWEST_TO_SPLIT or not half:
        return CpuPlan("unpinned", None, None)
    first = tuple(sorted(cpu for group in groups[:half] for cpu in group))
    second = tuple(sorted(cpu for group in groups[half:] for cpu in group))
    return CpuPlan("pinned", first, second)


def _idle(environment: Mapping[str, str]) -> Literal["poll"] | None:
    text = environment.get("CPU_IDLE")
    if text and text != "poll":
        raise UsageError(f"CPU_IDLE: write poll, or leave it out, instead of {text!r:.40}")
    return "poll" if text else None


@contextmanager
def kept_awake(plan: CpuPlan) -> Iterator[None]:
    """Keep idle CPUs awake in the block if the plan says so; HostError if the kernel cannot.

    It ends with this process, however that ends.
    """
    if plan.idle is None:
        yield
        return
    if first_line(CPU_FOLDERS / "cpu0/cpuidle/state0/name") != "POLL":
        raise HostError("CPU_IDLE=poll: this kernel has no idle state that polls")
    with ExitStack() as held:
        try:
            held.enter_context(_LATENCY.open("wb", buffering=0)).write(_NONE_US)
        except OSError as error:
            why = f"{_LATENCY} cannot be set ({error.strerror})"
            raise HostError(f"CPU_IDLE=poll: {why}") from error
        yield


def _named_cpus(
    name: str, environment: Mapping[str, str], allowed: set[int]
) -> tuple[int, ...] | None:
    text = environment.get(name)
    if not text:
        return None
    try:
        cpus = parse_cpus(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    if missing := set(cpus) - allowed:
        raise UsageError(
            f"{name}: CPU {format_cpus(sorted(missing))} is not available here "
            f"(there are {format_cpus(sorted(allowed))})"
        )
    return cpus


def _rest(allowed: set[int], taken: tuple[int, ...] | None, name: str) -> tuple[int, ...]:
    rest = tuple(sorted(allowed - set(taken or ())))
    if not rest:
        raise UsageError(f"{name}: takes every CPU and leaves none for the other side")
    return rest


def physical_cores() -> list[tuple[int, ...]]:
    """Return the logical CPUs of each physical core, limited to those this process may use."""
    allowed = os.sched_getaffinity(0)
    cores = set()
    for cpu in allowed:
        siblings = first_line(CPU_FOLDERS / f"cpu{cpu}/topology/thread_siblings_list")
        group = parse_cpus(siblings) if siblings else (cpu,)
        cores.add(tuple(each for each in group if each in allowed))
    return sorted(cores)


def first_line(path: Path) -> str | None:
    """Return the text of a file of sysfs; None if it is missing or empty."""
    return text_of(path).strip() or None
