"""The CPU time of this process and of everything that it started.

A process's own time, and that of the ended children that it waited for, are in /proc/<pid>/stat
(proc(5): utime, stime, cutime, cstime) in steps of 10 ms. A child that ends hands its time to its
parent, so the sum over a tree keeps the time of processes that have ended.
"""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.base.text import printable

# The places of these fields behind the name of the program.
_PARENT, _OWN_TIMES, _TIMES = 1, slice(11, 13), slice(11, 15)


@dataclass(frozen=True)
class Process:
    """A process's name, and the CPU seconds that it has used itself."""

    name: str
    cpu_s: float


@dataclass(frozen=True)
class Tree:
    """A process and its descendants, as /proc shows them."""

    proc: Path
    pid: int

    def cpu_s(self) -> float | None:
        """Return the CPU seconds of the tree, ended children included; None without /proc."""
        ticks, seen = 0, False
        for pid in self.pids():
            if fields := _fields(self.proc / str(pid)):
                ticks += sum(map(int, fields[_TIMES]))
                seen = True
        return ticks / os.sysconf("SC_CLK_TCK") if seen else None

    def involuntary_switches(self) -> int | None:
        """Return how often threads of the tree, and ended children, were taken off their CPU."""
        count, seen = 0, False
        for pid in self.pids():
            for task in _tasks(self.proc / str(pid)):
                for line in _text(task / "status").splitlines():
                    if line.startswith("nonvoluntary_ctxt_switches:"):
                        count += int(line.split()[1])
                        seen = True
        return count + resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw if seen else None

    def others(self) -> dict[int, "Process"]:
        """Return all processes that are not of the tree, with their own time, by id."""
        own = set(self.pids())
        found = {}
        for each in _numbered(self.proc):
            if int(each.name) in own:
                continue
            head, _, rest = _text(each / "stat").rpartition(")")
            if fields := rest.split():
                ticks = sum(map(int, fields[_OWN_TIMES]))
                name = printable(head.partition("(")[2])
                found[int(each.name)] = Process(name, ticks / os.sysconf("SC_CLK_TCK"))
        return found

    def pids(self) -> list[int]:
        """Return the processes of the tree, parents first."""
        pids = [self.pid]
        if (self.proc / str(self.pid) / "task" / str(self.pid) / "children").exists():
            for pid in pids:
                for task in _tasks(self.proc / str(pid)):
                    pids += map(int, _text(task / "children").split())
            return list(dict.fromkeys(pids))
        # A kernel without CONFIG_PROC_CHILDREN: every process of the host is asked for its parent.
        children: dict[int, list[int]] = {}
        for each in _numbered(self.proc):
            if fields := _fields(each):
                children.setdefault(int(fields[_PARENT]), []).append(int(each.name))
        for pid in pids:
            pids += children.pop(pid, [])
        return pids


def _tasks(process: Path) -> Iterator[Path]:
    return _numbered(process / "task")


def _numbered(folder: Path) -> Iterator[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - a tenth of the time of Path.iterdir
    except OSError:
        names = []
    return (folder / name for name in names if name.isdigit())


def _fields(process: Path) -> list[str]:
    """Return the fields of a process's stat behind its name; empty if it is gone."""
    return _text(process / "stat").rpartition(")")[2].split()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""
