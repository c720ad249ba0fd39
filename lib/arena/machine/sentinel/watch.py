"""What the host did: running totals of what its kernel counts, and the speed of its CPUs.

Sources: proc(5), proc_stat(5), and the kernel's accounting/psi and admin-guide/cgroup-v1 and -v2.
A total that this host does not keep is missing, such as /proc/pressure in many containers.
"""

import ctypes
import hashlib
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from arena.base.reading import text_of
from arena.base.text import printable
from arena.machine.cgroups import folder_of, throttled_s
from arena.machine.cpus import CPU_FOLDERS
from arena.record.measurement import Watch

# The places of these fields behind the name of the program.
_PARENT, _OWN_TIMES, _TIMES = 1, slice(11, 13), slice(11, 15)


@dataclass(frozen=True)
class Process:
    """A process's name, and the CPU seconds that it has used itself."""

    name: str
    cpu_s: float


@dataclass(frozen=True)
class Tree:
    """A process and its descendants, as /proc shows them.

    A process's own time, and that of the ended children that it waited for, are in /proc/<pid>/stat
    (proc(5): utime, stime, cutime, cstime) in steps of 10 ms. A child that ends hands its time to
    its parent, so the sum over a tree keeps the time of processes that have ended.
    """

    proc: Path
    pid: int

    def cpu_s(self) -> float | None:
        """Return the CPU seconds of the tree, ended children included; None without /proc."""
        ticks, seen = 0, False
        for pid in self.pids:
            if fields := _fields(self.proc / str(pid)):
                ticks += sum(map(int, fields[_TIMES]))
                seen = True
        return ticks / os.sysconf("SC_CLK_TCK") if seen else None

    def others_s(self) -> float:
        """Return the CPU seconds of all other processes, ended children included."""
        return sum(_seconds(fields[_TIMES]) for _, _, fields in self._others())

    def involuntary_switches(self) -> int | None:
        """Return how often threads of the tree, and ended children, were taken off their CPU."""
        count, seen = 0, False
        for pid in self.pids:
            for task in _numbered(self.proc / str(pid) / "task"):
                for line in _lines(task / "status"):
                    if line.startswith("nonvoluntary_ctxt_switches:"):
                        count += int(line.split()[1])
                        seen = True
        return count + resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw if seen else None

    def others(self) -> dict[int, "Process"]:
        """Return all processes that are not of the tree, with their own time, by id."""
        return {
            pid: Process(printable(name), _seconds(fields[_OWN_TIMES]))
            for pid, name, fields in self._others()
        }

    def _others(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield the id, the name and the fields of stat of all other processes."""
        own = set(self.pids)
        for each in _numbered(self.proc):
            if int(each.name) not in own:
                head, _, rest = text_of(each / "stat").rpartition(")")
                if fields := rest.split():
                    yield int(each.name), head.partition("(")[2], fields

    @cached_property
    def pids(self) -> list[int]:
        """The processes of the tree when it was first looked at, parents first."""
        pids = [self.pid]
        if (self.proc / str(self.pid) / "task" / str(self.pid) / "children").exists():
            for pid in pids:
                for task in _numbered(self.proc / str(pid) / "task"):
                    pids += map(int, text_of(task / "children").split())
            return list(dict.fromkeys(pids))
        # A kernel without CONFIG_PROC_CHILDREN: every process of the host is asked for its parent.
        children: dict[int, list[int]] = {}
        for each in _numbered(self.proc):
            if fields := _fields(each):
                children.setdefault(int(fields[_PARENT]), []).append(int(each.name))
        for pid in pids:
            pids += children.pop(pid, [])
        return pids


def _numbered(folder: Path) -> Iterator[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - a tenth of the time of Path.iterdir
    except OSError:
        names = []
    return (folder / name for name in names if name.isdigit())


def _seconds(ticks: Iterable[str]) -> float:
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _fields(process: Path) -> list[str]:
    """Return the fields of a process's stat behind its name; empty if it is gone."""
    return text_of(process / "stat").rpartition(")")[2].split()


# The columns of a CPU's line in /proc/stat; `guest` is in `user` already.
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7
_BUSY = (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ)
_COLUMNS = 8

# The file of /proc/pressure, and the line in it, of each signal.
_PRESSURE = {"io": ("io", "full"), "memory": ("memory", "full"), "cpu": ("cpu", "some")}

# The lines of /proc/vmstat that make up each signal.
_VMSTAT = {"oom_kills": ("oom_kill",), "swapped_pages": ("pswpin", "pswpout")}


@dataclass(frozen=True)
class Sample:
    """Running totals at a moment; `at` is in seconds of the monotonic clock.

    Totals are by name: CPU seconds of the CPUs that we may use (`busy`, `steal`, `softirq`, and
    `own` of our process trees), seconds of pressure, counts, and the other clocks' lead in seconds
    over the monotonic one.
    """

    at: float
    cpus: int
    totals: Mapping[str, float]


@dataclass(frozen=True)
class HostFiles:
    """Where the totals are read. `pid` is the root of our process tree."""

    proc: Path = Path("/proc")
    cpu_folders: Path = CPU_FOLDERS
    cpus: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))
    pid: int = field(default_factory=os.getpid)

    def sample(
        self, away_s: float | None = 0.0, *, in_full: bool = True, by_process: bool = False
    ) -> Sample:
        """Return the totals now.

        `away_s` are the CPU seconds of our programs outside this process's tree, such as in
        containers; None if they are unknown, and `own` with them. Only a full sample has the
        involuntary context switches, which take a look at every thread.

        A kernel that counts the time of its CPUs by ticks sees a load at even distances at work
        always, or never, if the ticks are at such distances, too: busy time may be three times what
        it is, or nothing. The times of processes are exact. So, `by_process`, theirs are added up;
        but only if we may use all CPUs, as those of the other CPUs do not count.
        """
        at = time.monotonic()
        cpus, has_others, totals = self._cpu_times()
        tree = Tree(self.proc, self.pid)
        own_s = None if away_s is None else tree.cpu_s()
        if own_s is not None and away_s is not None:
            totals["own"] = own_s + away_s
            if by_process and not has_others:
                # What tasks are not charged for is not in it.
                totals.pop("softirq", None)
                totals["busy"] = own_s + tree.others_s()
        if in_full and (switches := tree.involuntary_switches()) is not None:
            totals["involuntary_switches"] = switches
        totals.update(self._pressure())
        totals.update(self._vmstat())
        totals.update(self._throttling())
        totals.update(_clocks())
        return Sample(at, cpus or len(self.cpus), totals)

    def strangers(self) -> dict[int, Process]:
        """Return the processes outside our tree by their ids; it takes a look at every process."""
        return Tree(self.proc, self.pid).others()

    def _cpu_times(self) -> tuple[int, bool, dict[str, float]]:
        """Return how many of our CPUs /proc/stat has, whether it has others, and their times."""
        found, has_others, sums = 0, False, [0] * _COLUMNS
        for line in _lines(self.proc / "stat"):
            name, *values = line.split()
            number = name.removeprefix("cpu")
            if number.isdigit() and int(number) in self.cpus and len(values) >= _COLUMNS:
                found += 1
                sums = [total + int(value) for total, value in zip(sums, values, strict=False)]
            elif number.isdigit():
                has_others = True
        if not found:
            return 0, True, {}
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        times = {
            "busy": sum(sums[column] for column in _BUSY) * tick_s,
            "steal": sums[_STEAL] * tick_s,
            "softirq": (sums[_SOFTIRQ] + sums[_IRQ]) * tick_s,
        }
        return found, has_others, times

    def _pressure(self) -> Iterator[tuple[str, float]]:
        for signal, (name, kind) in _PRESSURE.items():
            for line in _lines(self.proc / "pressure" / name):
                first, *_, total = line.split()
                if first == kind:
                    yield signal, int(total.removeprefix("total=")) / 1e6

    def _vmstat(self) -> Iterator[tuple[str, float]]:
        counts = dict(line.split() for line in _lines(self.proc / "vmstat"))
        for signal, names in _VMSTAT.items():
            if known := [int(counts[name]) for name in names if name in counts]:
                yield signal, sum(known)

    def _throttling(self) -> Iterator[tuple[str, float]]:
        """Yield throttling by heat of our CPUs, and by quota of our group and those above it."""
        heat = [
            int(lines[0])
            for cpu in self.cpus
            for kind in ("core", "package")
            if (lines := _lines(
                self.cpu_folders / f"cpu{cpu}" / "thermal_throttle" / f"{kind}_throttle_count"
            ))
        ]  # fmt: skip
        if heat:
            yield "thermal", sum(heat)
        quota = [each for each in map(throttled_s, self._groups) if each is not None]
        if quota:
            yield "throttled_s", sum(quota)

    @cached_property
    def _groups(self) -> list[Path]:
        """Return the folder of this process's CPU control group, and those above it."""
        mounts = _lines(self.proc / "self" / "mountinfo")
        for line in _lines(self.proc / "self" / "cgroup"):
            _, controllers, path = line.split(":", 2)
            controller = "cpu" if "cpu" in controllers.split(",") else ""
            if controllers and not controller:
                continue
            folder = folder_of(mounts, controller, path)
            if folder and (folder / "cpu.stat").exists():
                return [each for each in (folder, *folder.parents) if (each / "cpu.stat").exists()]
        return []


def _clocks() -> Iterator[tuple[str, float]]:
    monotonic = time.monotonic()
    yield "realtime", time.time() - monotonic
    yield "boottime", time.clock_gettime(time.CLOCK_BOOTTIME) - monotonic


def _lines(path: Path) -> list[str]:
    return text_of(path).splitlines()


# A calibration is a fixed computation and a fixed copy, on all CPUs at once. Their cost is CPU
# time, so that neither steal nor another process counts: these have signals of their own. What is
# left is what those do not show, such as a neighbour on the same core, in the cache or on the
# memory bus, or a lower clock. Each is done in pieces, of which the median counts: an interrupt is
# in one of them.
_PIECES = 5
_BYTES = 8 << 20
_SPINS = 4
_COPIES = 24

# A median of fewer calibrations says nothing.
LEAST = 6


@dataclass(frozen=True)
class Calibration:
    """CPU seconds of the computation and of the copy, for each CPU in ascending order."""

    spin_s: tuple[float, ...] = ()
    copy_s: tuple[float, ...] = ()


def calibrate(cpus: Iterable[int]) -> Calibration:
    """Measure the CPUs, all at once, in about 0.25 s; empty if one of them cannot be used now."""
    ordered = sorted(cpus)
    source = bytes(_BYTES)
    try:
        with ThreadPoolExecutor(len(ordered)) as pool:
            found = list(pool.map(lambda cpu: _on(cpu, source), ordered))
    except OSError:
        return Calibration()
    return Calibration(tuple(spin for spin, _ in found), tuple(copy for _, copy in found))


def median_of(calibrations: Sequence[Calibration]) -> Calibration | None:
    """Return the median of each CPU; None if there are too few."""
    whole = [each for each in calibrations if each.spin_s]
    if len(whole) < LEAST:
        return None
    return Calibration(
        tuple(map(statistics.median, zip(*(each.spin_s for each in whole), strict=True))),
        tuple(map(statistics.median, zip(*(each.copy_s for each in whole), strict=True))),
    )


def farthest(measured: Iterable[Sequence[float]], usual: Sequence[float]) -> float | None:
    """Return the largest difference from what is usual for its CPU, as a share of that."""
    off = [
        abs(value / median - 1)
        for each in measured
        for value, median in zip(each, usual, strict=False)
    ]
    return max(off, default=None)


def _on(cpu: int, source: bytes) -> tuple[float, float]:
    """Measure one CPU, in a thread of its own. Both kinds of work release Python's lock."""
    os.sched_setaffinity(0, {cpu})
    copy = ctypes.create_string_buffer(_BYTES)
    spin_s = _median_s(lambda: hashlib.sha256(source).digest(), _SPINS)
    copy_s = _median_s(lambda: ctypes.memmove(copy, source, _BYTES), _COPIES)
    return spin_s, copy_s


def _median_s(work: Callable[[], object], times: int) -> float:
    """Return the CPU seconds of all pieces, each the work so many times, if all were median."""
    work()
    pieces = []
    for _ in range(_PIECES):
        began = time.thread_time()
        for _ in range(times):
            work()
        pieces.append(time.thread_time() - began)
    return statistics.median(pieces) * _PIECES


_COUNTS = ("thermal", "oom_kills", "swapped_pages", "involuntary_switches")
_PRESSURES = ("io", "memory", "cpu")


def watch_of(
    before: Sample,
    after: Sample,
    around: Sequence[Calibration] = (),
    usual: Calibration | None = None,
) -> Watch:
    """Return what the host did between two samples, which must be of different moments.

    `around` are the calibrations before and after; `usual` has the night's medians.
    """
    elapsed_s = after.at - before.at
    passed = {
        name: after.totals[name] - before.totals[name]
        for name in before.totals.keys() & after.totals.keys()
    }
    cpus = before.cpus if before.cpus == after.cpus else 0

    def of_cpus(name: str) -> float | None:
        return _share(passed[name], elapsed_s * cpus) if name in passed and cpus else None

    values: dict[str, Any] = {name: of_cpus(name) for name in ("steal", "softirq")}
    if {"busy", "own"} <= passed.keys() and cpus:
        values["foreign"] = _share(passed["busy"] - passed["own"], elapsed_s * cpus)
    values |= {name: _share(passed[name], elapsed_s) for name in _PRESSURES if name in passed}
    values |= {name: max(0, round(passed[name])) for name in _COUNTS if name in passed}
    if "throttled_s" in passed:
        values["throttled_s"] = max(0.0, passed["throttled_s"])
    return Watch(
        elapsed_s=elapsed_s,
        cpus=cpus or None,
        clock_jump_s=max((passed["realtime"], passed["boottime"]), key=abs),
        spin_s=tuple(value for each in around for value in each.spin_s),
        copy_s=tuple(value for each in around for value in each.copy_s),
        spin_off=farthest([each.spin_s for each in around], usual.spin_s if usual else ()),
        copy_off=farthest([each.copy_s for each in around], usual.copy_s if usual else ()),
        **values,
    )


def _share(part: float, whole: float) -> float:
    return max(-1.0, part / whole)
