"""A look at the host: running totals of what it and its kernel count, all readable in a moment.

Sources: proc(5), proc_stat(5), and the kernel's accounting/psi and admin-guide/cgroup-v1 and -v2.
A total that this host does not keep is missing, such as /proc/pressure in many containers.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from arena.machine.cgroups import folder_of
from arena.machine.sentinel.own import Process, Tree

# The columns of a CPU's line in /proc/stat; `guest` is in `user` already.
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7
_BUSY = (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ)
_COLUMNS = 8

# The file of /proc/pressure, and the line in it, of each signal.
_PRESSURE = {"io": ("io", "full"), "memory": ("memory", "full"), "cpu": ("cpu", "some")}

# The lines of /proc/vmstat that make up each signal.
_VMSTAT = {"oom_kills": ("oom_kill",), "swapped_pages": ("pswpin", "pswpout")}

# How a control group's cpu.stat writes the time for which it was throttled, and its unit.
_THROTTLED = {"throttled_usec": 1e6, "throttled_time": 1e9}


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
    cpu_folders: Path = Path("/sys/devices/system/cpu")
    cpus: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))
    pid: int = field(default_factory=os.getpid)

    def sample(self, away_s: float | None = 0.0, *, in_full: bool = True) -> Sample:
        """Return the totals now.

        `away_s` are the CPU seconds of our programs outside this process's tree, such as in
        containers; None if they are unknown, and `own` with them. Only a full sample has the
        involuntary context switches, which take a look at every thread.
        """
        at = time.monotonic()
        cpus, totals = self._cpu_times()
        tree = Tree(self.proc, self.pid)
        own_s = None if away_s is None else tree.cpu_s()
        if own_s is not None and away_s is not None:
            totals["own"] = own_s + away_s
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

    def _cpu_times(self) -> tuple[int, dict[str, float]]:
        """Return how many of our CPUs /proc/stat has, and their times in seconds."""
        found, sums = 0, [0] * _COLUMNS
        for line in _lines(self.proc / "stat"):
            name, *values = line.split()
            number = name.removeprefix("cpu")
            if number.isdigit() and int(number) in self.cpus and len(values) >= _COLUMNS:
                found += 1
                sums = [total + int(value) for total, value in zip(sums, values, strict=False)]
        if not found:
            return 0, {}
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        return found, {
            "busy": sum(sums[column] for column in _BUSY) * tick_s,
            "steal": sums[_STEAL] * tick_s,
            "softirq": (sums[_SOFTIRQ] + sums[_IRQ]) * tick_s,
        }

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
        quota = [
            int(value) / _THROTTLED[name]
            for folder in self._groups
            for name, value in (line.split() for line in _lines(folder / "cpu.stat"))
            if name in _THROTTLED
        ]
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
                return [folder, *_above(folder)]
        return []


def _above(folder: Path) -> list[Path]:
    """Return the groups above a group: folders with a cpu.stat of their own."""
    return [each for each in folder.parents if (each / "cpu.stat").exists()]


def _clocks() -> Iterator[tuple[str, float]]:
    monotonic = time.monotonic()
    yield "realtime", time.time() - monotonic
    yield "boottime", time.clock_gettime(time.CLOCK_BOOTTIME) - monotonic


def _lines(path: Path) -> list[str]:
    """Return the lines of a file of the kernel; none if it is missing or not for us."""
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []
