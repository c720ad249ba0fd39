"""A container's use of CPU and memory, from its control group, version 1 or version 2.

Sources: the kernel's admin-guide/cgroup-v1 (cpuacct.usage, memory.max_usage_in_bytes) and
admin-guide/cgroup-v2 (cpu.stat usage_usec, memory.peak).
"""

from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import HostError
from arena.record.measurement import Cost

_PROC = Path("/proc")


@dataclass
class Cgroup:
    """The control group's files: where CPU time and peak memory are read.

    If a kernel keeps no peak (version 2 before 5.19), the peak is the largest sample of
    `memory_now` that `sample` and `cost` take.
    """

    cpu: Path
    memory_peak: Path
    memory_now: Path
    _largest: int = 0

    def sample(self) -> None:
        """Sample the memory now if the kernel keeps no peak; OSError once the group is gone."""
        if not self.memory_peak.exists():
            self._largest = max(self._largest, int(self.memory_now.read_text()))

    def cost(self) -> Cost:
        """Return CPU seconds and peak bytes since the group was made; OSError once it is gone."""
        if self.cpu.name == "cpu.stat":
            fields = dict(line.split() for line in self.cpu.read_text().splitlines())
            cpu_s = int(fields["usage_usec"]) / 1e6
        else:
            cpu_s = int(self.cpu.read_text()) / 1e9
        self.sample()
        if self.memory_peak.exists():
            self._largest = int(self.memory_peak.read_text())
        return Cost(cpu_s=cpu_s, peak_bytes=self._largest)


def cgroup_of(pid: int, proc: Path = _PROC, *, container: str = "") -> Cgroup:
    """Find the control group of a process; HostError if the host hides it.

    With a container's id, the group must be that container's: in its first moments, the process of
    a container is still in groups that it shares with others, and leaves them one by one.
    """
    try:
        membership = (proc / str(pid) / "cgroup").read_text().splitlines()
        mounts = (proc / "self" / "mountinfo").read_text().splitlines()
    except OSError as error:
        raise HostError(
            f"the container's process {pid} cannot be seen from here ({error.strerror}): "
            "the Docker daemon must run on this very host"
        ) from error
    paths: dict[str, str] = {}
    for line in membership:
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    # Where version 1 exists, the entry of version 2 may be another group.
    accounts: list[str] = [name for name in ("cpuacct", "memory") if name in paths] or [""]
    if not all(container in paths.get(name, "") for name in accounts):
        raise HostError(f"the process {pid} is not yet in the control group of its container")
    folders = {name: folder_of(mounts, name, paths.get(name)) for name in ("cpuacct", "memory", "")}
    if folders["cpuacct"] and folders["memory"] and folders["cpuacct"].exists():
        return Cgroup(
            cpu=folders["cpuacct"] / "cpuacct.usage",
            memory_peak=folders["memory"] / "memory.max_usage_in_bytes",
            memory_now=folders["memory"] / "memory.usage_in_bytes",
        )
    if folders[""] and (folders[""] / "memory.current").exists():
        return Cgroup(
            cpu=folders[""] / "cpu.stat",
            memory_peak=folders[""] / "memory.peak",
            memory_now=folders[""] / "memory.current",
        )
    raise HostError("this host accounts neither CPU nor memory by control group")


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
