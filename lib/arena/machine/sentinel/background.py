"""A host's background: the CPU time that others always use, and which processes that are.

It is measured while all processes of our own are idle. An agent or a thread of the kernel that
never rests disturbs every window alike: it is named, and the limit of foreign CPU is above it.
"""

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from arena.base.model import Frozen
from arena.machine.sentinel.own import Process
from arena.machine.sentinel.sample import HostFiles
from arena.machine.sentinel.watch import watch_of
from arena.record.measurement import Watch

# The middle half of these seconds counts, so a burst of two seconds leaves no trace.
_SLICES = 8
_SLICE_S = 1.0

# What is busier than this is no background: one looks for the cause, and does not live with it.
MOST = 0.03

_NAMED = 3
_LEAST_NAMED = 0.0005

Share = Annotated[float, Field(ge=0, le=1)]


class Busy(Frozen):
    """A process of others, and its share of the time of the CPUs that we may use."""

    name: str
    share: Share


class Background(Frozen):
    """The foreign CPU of an idle host, and up to three processes that make most of it."""

    share: Share
    processes: tuple[Busy, ...] = ()


def look(
    files: HostFiles, sleep: Callable[[float], None] = time.sleep
) -> tuple[list[Watch], tuple[Busy, ...]]:
    """Watch an idle host for eight seconds; return each of them, and who was busy."""
    processes, samples = files.strangers(), [files.sample(in_full=False)]
    for _ in range(_SLICES):
        sleep(_SLICE_S)
        samples.append(files.sample(in_full=False))
    watches = [watch_of(*pair) for pair in pairwise(samples) if pair[1].at > pair[0].at]
    elapsed_s = samples[-1].at - samples[0].at
    return watches, busiest(processes, files.strangers(), elapsed_s, len(files.cpus))


def middle(values: list[float]) -> float | None:
    """Return the mean of the middle half of at least four values; None of fewer, or below 0."""
    cut = len(values) // 4
    if not cut:
        return None
    kept = sorted(values)[cut:-cut]
    return max(0.0, sum(kept) / len(kept))


def busiest(
    before: Mapping[int, Process], after: Mapping[int, Process], elapsed_s: float, cpus: int
) -> tuple[Busy, ...]:
    """Return the three processes of others that used most CPU time between two looks."""
    capacity_s = elapsed_s * cpus
    if capacity_s <= 0:
        return ()
    used = (
        (each.cpu_s - (before[pid].cpu_s if pid in before else 0.0), f"{each.name} ({pid})")
        for pid, each in after.items()
    )
    most = sorted(used, reverse=True)[:_NAMED]
    shares = [(min(1.0, spent_s / capacity_s), name) for spent_s, name in most]
    return tuple(Busy(name=name, share=share) for share, name in shares if share >= _LEAST_NAMED)
