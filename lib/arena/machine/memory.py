"""Memory that programs hold themselves: anonymous pages, and never the page cache.

Sources: proc(5) (status: RssAnon, VmHWM; smaps_rollup: Pss_Anon), and the kernel's
admin-guide/cgroup-v1/memory (total_rss, memory.kmem.usage_in_bytes) and admin-guide/cgroup-v2
(memory.stat: anon, kernel). What cannot be read, such as of a process that has just ended, is left
out.
"""

from collections.abc import Iterable
from pathlib import Path

from arena.base.reading import text_of

_PROC = Path("/proc")


def peak_resident_bytes(pid: int) -> int:
    """Return a process's peak resident size."""
    return _bytes_of(_PROC / str(pid) / "status", "VmHWM:") or 0


def anonymous_bytes(pids: Iterable[int]) -> int | None:
    """Return the resident anonymous memory of processes; pages that they share count for each.

    A look at a process takes some 50 µs. None if no process can be read.
    """
    return _sum(_bytes_of(_PROC / str(pid) / "status", "RssAnon:") for pid in pids)


def own_anonymous_bytes(pids: Iterable[int]) -> int | None:
    """Return the same, with each process's part of the pages that it shares with others.

    The kernel walks through all pages for it: milliseconds for each gigabyte. None if no process
    can be read.
    """
    return _sum(_bytes_of(_PROC / str(pid) / "smaps_rollup", "Pss_Anon:") for pid in pids)


def group_anonymous_bytes(folder: Path) -> int | None:
    """Return the anonymous memory of a control group of either version, by its folder."""
    return _stat(folder, "anon", "total_rss")


def group_kernel_bytes(folder: Path) -> int | None:
    """Return the kernel's memory for a control group; None where it is not counted."""
    if (found := _stat(folder, "kernel")) is not None:
        return found
    text = text_of(folder / "memory.kmem.usage_in_bytes").strip()
    return int(text) if text else None


def _stat(folder: Path, *names: str) -> int | None:
    for line in text_of(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in names:
            return int(value)
    return None


def _bytes_of(file: Path, name: str) -> int | None:
    """Return a line of a process's file that is in kB; None if it is not there."""
    for line in text_of(file).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if known else None
