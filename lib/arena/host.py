"""The machine: what it is, which CPUs each side gets, who holds a port, who else measures."""

import fcntl
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from arena.errors import HostError, UsageError
from arena.files import printable
from arena.records import Cpus, Git, Host
from arena.units import format_cpus, parse_cpus

# One benchmark a host, whichever checkout or user started it.
LOCK = Path("/tmp/httparena.lock")  # noqa: S108 - must be the same for everybody

# Fewer CPUs than this are shared: half of one is no use to anybody.
_FEWEST_TO_SPLIT = 4

_CPU_FOLDERS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class CpuPlan:
    """The CPUs of each side; None means it shares all of them with the other."""

    policy: str
    server: tuple[int, ...] | None
    generator: tuple[int, ...] | None

    @property
    def generator_count(self) -> int | None:
        """How many CPUs the generator has to itself; None when any is shared."""
        if self.server is None or self.generator is None or set(self.server) & set(self.generator):
            return None
        return len(self.generator)

    def record(self) -> Cpus:
        """Return the plan as records hold it."""
        return Cpus.model_validate(
            {
                "policy": self.policy,
                "server": None if self.server is None else format_cpus(self.server),
                "generator": None if self.generator is None else format_cpus(self.generator),
            }
        )

    def __str__(self) -> str:
        if self.server is None or self.generator is None:
            return "server and generator share all CPUs (unpinned)"
        server, generator = format_cpus(self.server), format_cpus(self.generator)
        return f"server on CPUs {server}, generator on CPUs {generator}"


def plan_cpus(cores: Iterable[tuple[int, ...]], environment: Mapping[str, str]) -> CpuPlan:
    """Give server and generator half of the physical cores each; SMT siblings stay together.

    `cores` holds the logical CPUs of each physical core that we may use. An odd core goes to
    the generator, which must not be the limit. Below four CPUs both share all of them.
    SERVER_CPUS and LOADGEN_CPUS override; naming one gives the other the rest.
    """
    groups = sorted(cores)
    allowed = {cpu for group in groups for cpu in group}
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
    """Return the logical CPUs of each physical core, as far as this process may use them."""
    allowed = os.sched_getaffinity(0)
    cores = set()
    for cpu in allowed:
        path = _CPU_FOLDERS / f"cpu{cpu}/topology/thread_siblings_list"
        siblings = _first_line(path)
        group = parse_cpus(siblings) if siblings else (cpu,)
        cores.add(tuple(each for each in group if each in allowed))
    return sorted(cores)


def describe(docker_version: str | None) -> Host:
    """Return what a reader needs to know of this machine. Never its name or address."""
    cores = physical_cores()
    return Host(
        cpu=_cpu_model(),
        cpus=sum(len(group) for group in cores),
        cores=len(cores),
        kernel=platform.release(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        governor=_first_line(_CPU_FOLDERS / "cpu0/cpufreq/scaling_governor"),
        docker=docker_version,
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def git_state(root: Path) -> Git | None:
    """Return the checkout's commit and whether it was changed; None outside git."""
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return Git(commit=commit, dirty=bool(_git(root, "status", "--porcelain")))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=20,
    )
    return done.stdout.strip()


def require_free_port(port: int) -> None:
    """Raise HostError, naming the process, when something listens on the TCP port already."""
    import psutil

    try:
        sockets = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        sockets = []
    for socket in sockets:
        if socket.status == psutil.CONN_LISTEN and socket.laddr and socket.laddr.port == port:
            holder = _process_name(socket.pid)
            raise HostError(f"port {port} is taken by {holder}; stop it and try again")


def _process_name(pid: int | None) -> str:
    import psutil

    if pid is None:
        return "a process of another user"
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        words = []
    command = " ".join(words)
    return f"process {pid}: {command:.100}" if command else f"process {pid}"


@contextmanager
def only_benchmark(
    command: str, *, wait: bool, say: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the host's benchmark lock for the block.

    Two loads at once measure each other, so a second benchmark raises HostError, or with
    `wait` says so and stays here until the first has ended. The kernel frees the lock with
    its holder.
    """
    with _open_lock() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            # Anybody may write to this file.
            holder = printable(file.read(200).strip()) or "another user"
            if not wait:
                raise HostError(
                    f"a benchmark is running on this host already ({holder}); "
                    "wait for its end, or queue behind it with --wait"
                ) from error
            say(f"waiting for the end of another benchmark ({holder}) …")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate(0)
        file.write(f"process {os.getpid()}: {command}\n")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _open_lock() -> TextIO:
    """Open the lock file, making it usable for every user of the host."""
    try:
        try:
            # Without O_CREAT: Linux refuses that on another user's file in a sticky folder.
            handle = os.open(LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            handle = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            os.fchmod(handle, 0o666)
    except OSError as error:
        raise HostError(f"{LOCK}: the lock cannot be opened ({error.strerror})") from error
    return os.fdopen(handle, "r+", errors="replace")
