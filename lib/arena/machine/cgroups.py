"""Control groups, version 1 or version 2: a container's, and those that are made for a program.

Sources: the kernel's admin-guide/cgroup-v1 (cpuacct.usage, memory.max_usage_in_bytes, freezer) and
admin-guide/cgroup-v2 (cpu.stat usage_usec, cpu.max, memory.peak, cgroup.kill), and
scheduler/sched-bwc (cpu.cfs_quota_us).
"""

import itertools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from arena.base.errors import HostError
from arena.base.reading import text_of
from arena.machine.memory import group_anonymous_bytes, group_kernel_bytes
from arena.record.measurement import Cost, Memory

_PROC = Path("/proc")

_GROUP = "httparena-"
_numbers = itertools.count(1)

# A quota is so much CPU time in each period; Docker's --cpus has the same.
_PERIOD_US = 100_000

# How a control group's cpu.stat writes the time for which it was throttled, and its unit.
_THROTTLED = {"throttled_usec": 1e6, "throttled_time": 1e9}

# All processes of a group are dead within this time of their kill.
_DIES_WITHIN_S = 2.0
_LOOK_S = 0.005


@dataclass
class Cgroup:
    """The control group's files: where CPU time and memory are read; `shares` has its quota.

    If a kernel keeps no peak (version 2 before 5.19), the peak is the largest sample of
    `memory_now` that `sample` and `cost` take.
    """

    cpu: Path
    memory_peak: Path
    memory_now: Path
    shares: Path | None = None
    _largest: int = 0

    def sample(self) -> None:
        """Sample the memory now if the kernel keeps no peak; OSError once the group is gone."""
        if not self.memory_peak.exists():
            self._largest = max(self._largest, int(self.memory_now.read_text()))

    def cost(self) -> Cost:
        """Return CPU seconds and peak bytes since the group was made; OSError once it is gone."""
        cpu_s = _used_s(self.cpu)
        self.sample()
        if self.memory_peak.exists():
            self._largest = int(self.memory_peak.read_text())
        return Cost(
            cpu_s=cpu_s,
            peak_bytes=self._largest,
            source="control-group",
            throttled_s=by_quota_s([self.shares] if self.shares else []),
        )

    def anonymous_bytes(self) -> int | None:
        """Return the anonymous memory now; None if the kernel or a group that is gone has none."""
        return group_anonymous_bytes(self.memory_now.parent)

    def memory(self) -> Memory | None:
        """Return the anonymous memory and the kernel's now; None likewise."""
        held = self.anonymous_bytes()
        if held is None:
            return None
        kernel = group_kernel_bytes(self.memory_now.parent)
        return Memory(anonymous_bytes=held, highest_bytes=held, kernel_bytes=kernel)


def cgroup_of(pid: int, proc: Path = _PROC, *, container: str = "") -> Cgroup:
    """Find the control group of a process; HostError if the host hides it.

    With a container's id, the group must be that container's: in its first moments, the process of
    a container is still in groups that it shares with others, and leaves them one by one.
    """
    try:
        members = _members((proc / str(pid) / "cgroup").read_text())
        mounts = (proc / "self" / "mountinfo").read_text().splitlines()
    except OSError as error:
        raise HostError(
            f"the container's process {pid} cannot be seen from here ({error.strerror}): "
            "the Docker daemon must run on this very host"
        ) from error
    paths = {controller: path for controllers, path in members for controller in controllers}
    # Where version 1 exists, the entry of version 2 may be another group.
    accounts: list[str] = [name for name in ("cpuacct", "memory") if name in paths] or [""]
    if not all(container in paths.get(name, "") for name in accounts):
        raise HostError(f"the process {pid} is not yet in the control group of its container")
    folders = {
        name: folder_of(mounts, name, paths.get(name)) for name in ("cpuacct", "memory", "cpu", "")
    }
    if folders["cpuacct"] and folders["memory"] and folders["cpuacct"].exists():
        return Cgroup(
            cpu=folders["cpuacct"] / "cpuacct.usage",
            memory_peak=folders["memory"] / "memory.max_usage_in_bytes",
            memory_now=folders["memory"] / "memory.usage_in_bytes",
            shares=folders["cpu"],
        )
    if folders[""] and (folders[""] / "memory.current").exists():
        return Cgroup(
            cpu=folders[""] / "cpu.stat",
            memory_peak=folders[""] / "memory.peak",
            memory_now=folders[""] / "memory.current",
            shares=folders["cpu"] or folders[""],
        )
    raise HostError("this host accounts neither CPU nor memory by control group")


def _members(text: str) -> list[tuple[list[str], str]]:
    """Return the controllers and the path of each group in a /proc/<pid>/cgroup."""
    lines = (line.split(":", 2) for line in text.splitlines())
    return [(controllers.split(","), path) for _, controllers, path in lines]


def folder_of(mounts: list[str], controller: str, path: str | None) -> Path | None:
    """Return the folder of a group's files; `controller` is empty for version 2.

    A line of mountinfo is `… root mountpoint options - type source superoptions` (proc(5)).
    """
    if path is None:
        return None
    for line in mounts:
        before, _, after = line.partition(" - ")
        root, mountpoint = before.split()[3:5]
        # The source may be empty.
        kind, _, options = after.split(" ", 2)
        wanted = "cgroup" if controller else "cgroup2"
        if kind == wanted and (not controller or controller in options.split(",")):
            if root == "/":
                return Path(mountpoint + path)
            if path == root or path.startswith(f"{root}/"):
                return Path(mountpoint + path.removeprefix(root))
    return None


def _used_s(cpu: Path) -> float:
    """Return the CPU seconds of a group from its `cpu.stat` (version 2) or `cpuacct.usage`."""
    if cpu.name == "cpu.stat":
        fields = dict(line.split() for line in cpu.read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6
    return int(cpu.read_text()) / 1e9


def throttled_s(folder: Path) -> float | None:
    """Return how long a group was throttled, summed over its CPUs; None if it does not say."""
    for name, value in map(str.split, text_of(folder / "cpu.stat").splitlines()):
        if name in _THROTTLED:
            return int(value) / _THROTTLED[name]
    return None


def by_quota_s(folders: Iterable[Path]) -> float | None:
    """Return how long the one of these groups that has a quota was throttled; None without one."""
    for folder in folders:
        quota = text_of(folder / "cpu.max") or text_of(folder / "cpu.cfs_quota_us")
        if quota and not quota.startswith(("max", "-1")):
            return throttled_s(folder)
    return None


@dataclass
class OwnGroup:
    """A control group for a program and all that it starts.

    A program that has the runner's rights can leave it if it is written to.

    `home` are the groups of this process, one of each hierarchy: its own version 2 group, or those
    of `cpuacct` and, if it can be used, `freezer`; with a quota also that of `cpu`. `folders` are
    the groups below them.
    """

    home: tuple[Path, ...]
    folders: tuple[Path, ...]
    _gave_cpu: bool = field(default=False, init=False)

    def limit(self, quota: float) -> None:
        """Let the group use the time of so many CPUs in each tenth of a second.

        OSError if it cannot be limited. A group of version 2 needs the controller from its home,
        which keeps it until the last group there has ended.
        """
        allowed_us = round(quota * _PERIOD_US)
        for folder in self.folders:
            if (folder / "cpu.cfs_quota_us").exists():
                (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
                (folder / "cpu.cfs_quota_us").write_text(str(allowed_us))
                return
        first = self.folders[0]
        if not (first / "cpu.max").exists():
            _children_of(self.home[0]).write_text("+cpu")
            self._gave_cpu = True
        (first / "cpu.max").write_text(f"{allowed_us} {_PERIOD_US}")

    def throttled_s(self) -> float | None:
        """Return how long its quota has throttled it, summed over CPUs; None without a quota."""
        return by_quota_s(self.folders)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Start programs in the group: this thread is in it for the block (version 2: the process).

        OSError if it cannot enter or leave.
        """
        try:
            for folder in self.folders:
                _enter(folder)
            yield
        finally:
            for folder in self.home:
                _enter(folder)

    def cpu_s(self) -> float:
        """Return the CPU seconds of all processes that are or were in the group."""
        return _used_s(_cpu_file(self.folders[0]))

    def pids(self) -> list[int]:
        """Return the processes that are in the group now, or in groups that they made in it."""
        folder = self.folders[0]
        lists = [folder / "cgroup.procs", *folder.glob("*/**/cgroup.procs")]
        return [pid for each in lists for pid in map(int, text_of(each).split()) if pid]

    def end(self) -> None:
        """Kill all processes of the group, and remove it; what cannot be removed stays empty."""
        until_s = time.monotonic() + _DIES_WITHIN_S
        with suppress(OSError):
            self._kill()
            while self.pids() and time.monotonic() < until_s:
                time.sleep(_LOOK_S)
                self._kill()
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < until_s:
                time.sleep(_LOOK_S)
        if self._gave_cpu and not any(self.home[0].glob(f"{_GROUP}*")):
            with suppress(OSError):
                _children_of(self.home[0]).write_text("-cpu")

    def _kill(self) -> None:
        at_once = self.folders[0] / "cgroup.kill"
        if at_once.exists():
            at_once.write_text("1")
            return
        # No process can start another one while it is frozen.
        freezers = [each / "freezer.state" for each in self.folders]
        freezer = next((each for each in freezers if each.exists()), None)
        if freezer:
            freezer.write_text("FROZEN")
        try:
            for pid in self.pids():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        finally:
            if freezer:
                freezer.write_text("THAWED")


def _children_of(folder: Path) -> Path:
    return folder / "cgroup.subtree_control"


def _removed(folder: Path) -> bool:
    """Remove a group and those that were made in it; return whether all are gone."""
    for each in [*sorted(folder.glob("*/**"), reverse=True), folder]:
        with suppress(OSError):
            each.rmdir()
    return not folder.exists()


def _cpu_file(folder: Path) -> Path:
    usage = folder / "cpuacct.usage"
    return usage if usage.exists() else folder / "cpu.stat"


def own_group(mark: str, quota: float | None = None) -> OwnGroup | None:
    """Make a control group below that of this process; None if this host does not let us.

    Its name has the `mark` of this process, by which `left_groups` finds it. With a `quota` of CPUs
    it is limited to that, or HostError.
    """
    home = _home(is_limited=quota is not None)
    if not home:
        _require_none(quota, "this process may make no group")
        return None
    name = f"{_GROUP}{mark}-{next(_numbers)}"
    group = OwnGroup(home, tuple(folder / name for folder in home))
    try:
        for folder in group.folders:
            folder.mkdir()
        if quota is not None:
            group.limit(quota)
        with group.entered():
            group.cpu_s()
    except OSError as error:
        group.end()
        _require_none(quota, error.strerror or str(error))
        return None
    return group


def _require_none(quota: float | None, why: str) -> None:
    if quota is not None:
        raise HostError(f"--server-quota: this host has no control group with a CPU quota: {why}")


def left_groups() -> list[tuple[str, OwnGroup]]:
    """Return the groups that runners have made below that of this process, with their marks."""
    return [
        (
            name.removeprefix(_GROUP).rpartition("-")[0],
            OwnGroup(home, tuple(folder / name for folder in home if (folder / name).is_dir())),
        )
        for home in dict.fromkeys((_home(is_limited=True), _home()))
        for name in sorted({each.name for folder in home for each in folder.glob(f"{_GROUP}*-*")})
    ]


def _home(proc: Path = _PROC, *, is_limited: bool = False) -> tuple[Path, ...]:
    """Return the folders of this process's groups in which it may make others; or none.

    Version 1 is left out if `cpu` and `cpuacct` are mounted together: a group there would change
    how the CPUs are shared. For a group that `is_limited`, that is the very purpose.
    """
    try:
        members = _members((proc / "self" / "cgroup").read_text())
        mounts = (proc / "self" / "mountinfo").read_text().splitlines()
    except OSError:
        return ()
    paths = {controller: path for controllers, path in members for controller in controllers}
    is_alone = any(controllers == ["cpuacct"] for controllers, _ in members)
    is_first = is_alone or (is_limited and {"cpu", "cpuacct"} <= paths.keys())
    names = ("cpuacct", "freezer", *("cpu",) * is_limited) if is_first else ("",)
    folders = list(dict.fromkeys(folder_of(mounts, name, paths.get(name)) for name in names))
    usable = [each for each in folders if each and os.access(each, os.W_OK)]
    return tuple(usable) if folders[0] in usable else ()


def _enter(folder: Path) -> None:
    """Move this thread into a group; in version 2, its process. Zero is the writer itself."""
    tasks = folder / "tasks"
    (tasks if tasks.exists() else folder / "cgroup.procs").write_text("0")
