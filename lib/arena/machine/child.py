"""Child processes: started in their own group, accounted for, and never left behind."""

import ctypes
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from arena.base.units import format_cpus
from arena.machine.blame import cannot, judged
from arena.machine.cgroups import own_group
from arena.machine.interrupts import held, released
from arena.machine.lock import MARK, STOP_GRACE_S, own_mark
from arena.machine.memory import anonymous_bytes, own_anonymous_bytes, peak_resident_bytes
from arena.record.measurement import Cost, Memory

# The time between two looks at a running program. Each look costs the host about 0.1 ms.
TICK_S = 0.1

# Without a control group, who is in a tree is looked up so often: it takes all of /proc.
_TREE_S = 1.0

# As many as a container gets: some programs iterate over all files that they may open.
_MOST_OPEN_FILES = 1 << 20

_PR_SET_CHILD_SUBREAPER = 36

_running: set["Child"] = set()


@dataclass
class _Orphans:
    """Whether this process adopts what its children leave behind, and what that has used."""

    adopted: bool = False
    used_s: float = 0.0


_orphans = _Orphans()


def whole_command(argv: Sequence[str], cpus: Sequence[int] | None = None) -> list[str]:
    """Return the command line that is run, shown and recorded for `argv`.

    util-linux's setpriv, if installed, kills the program together with the process that started
    it; taskset keeps it on `cpus`, if given: HostError if it is not installed.
    """
    whole = list(argv)
    if cpus is not None:
        if not shutil.which("taskset"):
            raise cannot("keep a program on its CPUs: there is no `taskset`", "install util-linux")
        whole = ["taskset", "--cpu-list", format_cpus(cpus), *whole]
    return ["setpriv", "--pdeathsig", "KILL", "--", *whole] if shutil.which("setpriv") else whole


def this_program() -> list[str]:
    """Return what this process was started with: the interpreter, and the folder that it runs."""
    return [sys.executable, *sys.orig_argv[1:2]]


class Child:
    """A program in its own session and process group, with its output in files.

    `stdout` and `stderr` may be the same path. One that `is_contained` gets a control group of its
    own, where the host lets us, so that nothing that it starts goes uncounted or stays behind. With
    a `quota`, that group may use the time of so many CPUs: HostError where it cannot be made.
    Where not, the processes that this one has adopted count as its own. `is_told` if it reads what
    `tell` writes: its stdin is then a pipe, which ends when this process does. `argv` is run
    unchanged: `whole_command` makes one that the kernel kills if this process dies without a chance
    to clean up. The children of such a program survive until `end_leftovers`.
    HostError if it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        stdout: Path,
        stderr: Path,
        environment: Mapping[str, str] | None = None,
        is_told: bool = False,
        is_contained: bool = False,
        quota: float | None = None,
    ) -> None:
        self._usage: resource.struct_rusage | None = None
        self._peak = 0
        self._used_s = 0.0
        self._hidden_s = 0.0
        self._orphans_before_s = _orphans.used_s
        self._is_contained = is_contained
        self._members: set[psutil.Process] = set()
        self._known: tuple[float, list[int]] = -math.inf, []
        self._group = own_group(own_mark(), quota) if is_contained else None
        inside = self._group.entered() if self._group else nullcontext()
        try:
            with stdout.open("ab") as out, stderr.open("ab") as err, held(), inside:
                self.began_s = time.monotonic()
                self._popen = subprocess.Popen(
                    argv, cwd=cwd, stdout=out, stderr=err, start_new_session=True,
                    env={**(os.environ if environment is None else environment), MARK: own_mark()},
                    stdin=subprocess.PIPE if is_told else subprocess.DEVNULL,
                )  # fmt: skip
                self.pid = self._popen.pid
                _running.add(self)
        except BaseException as error:
            _running.discard(self)
            self._end_group()
            if isinstance(error, OSError):
                raise judged(error, "start", f"start {argv[-1]:.80}") or error from error
            raise

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self._popen.returncode is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._popen.returncode = os.waitstatus_to_exitcode(status)
                self._usage = usage
        return self._popen.returncode

    def tell(self, line: str) -> None:
        """Write a line to its stdin; without effect if the program has ended or does not read."""
        if self._popen.stdin and not self._popen.stdin.closed:
            with suppress(OSError):
                self._popen.stdin.write(f"{line}\n".encode())
                self._popen.stdin.flush()

    def rusage(self) -> Cost:
        """Return the use of the ended program and its waited-for children.

        CPU time is from getrusage(2). Its ru_maxrss would be at least this process's, inherited
        over fork and exec; so memory is the last VmHWM that `sample` saw.
        """
        if self._usage is None:
            raise RuntimeError("rusage before the end")
        return Cost(
            cpu_s=self._usage.ru_utime + self._usage.ru_stime,
            peak_bytes=self._peak or self._usage.ru_maxrss * 1024,
        )

    def sample(self) -> None:
        """Sample the running program's peak memory so far."""
        self._peak = max(self._peak, peak_resident_bytes(self.pid))

    def tree_cost(self) -> Cost:
        """Return the use of the running program and all that it has started, so far.

        CPU: that of its control group. Without one, user and system time of every live process of
        the tree, plus the time that each inherited from ended children (proc(5): cutime, cstime),
        to 10 ms, and never less than before. Memory: the sum of their peak resident sizes (VmHWM);
        shared pages count once per process.
        """
        cpu_s, peak = self._orphans_s(), 0
        for process in self._tree():
            try:
                cpu_s += _used_s(process)
                peak += peak_resident_bytes(process.pid)
            except (psutil.Error, OSError):
                continue
        if self._group:
            return Cost(
                cpu_s=self._group.cpu_s(),
                peak_bytes=peak,
                source="control-group",
                throttled_s=self._group.throttled_s(),
            )
        self._used_s = max(self._used_s, cpu_s)
        return Cost(cpu_s=self._used_s, peak_bytes=peak, source="process-tree")

    def anonymous_bytes(self) -> int | None:
        """Return the resident anonymous memory of the tree now; None if nothing is left of it.

        It may be asked for ten times a second. Without a control group, a process that began within
        the last second may be missing.
        """
        if self._group:
            return anonymous_bytes(self._group.pids())
        looked_at, pids = self._known
        if (now := time.monotonic()) - looked_at >= _TREE_S:
            pids = [each.pid for each in self._tree()]
            self._known = now, pids
        return anonymous_bytes(pids)

    def tree_memory(self) -> Memory | None:
        """Return the anonymous memory of the tree now, shared pages once; None if none is left."""
        pids = [each.pid for each in self._tree()]
        held, resident = own_anonymous_bytes(pids), anonymous_bytes(pids)
        if held is None or resident is None:
            return None
        return Memory(anonymous_bytes=held, highest_bytes=max(held, resident))

    def hidden_s(self) -> float:
        """Return the CPU seconds of its group that no process shows, so far; 0 without a group.

        Where SIGCHLD is ignored, the time of an ended process is lost to all others.
        """
        if self._group:
            with suppress(OSError):
                shown_s = self._orphans_s()
                for process in self._tree():
                    with suppress(psutil.Error):
                        shown_s += _used_s(process)
                self._hidden_s = self._group.cpu_s() - shown_s
        return self._hidden_s

    def _orphans_s(self) -> float:
        """Return the CPU seconds of adopted processes that have ended since this one started.

        They are those of contained programs: a generator leaves none behind.
        """
        _reap_orphans()
        return _orphans.used_s - self._orphans_before_s if self._is_contained else 0.0

    def _tree(self) -> list[psutil.Process]:
        if self._group:
            return [each for pid in self._group.pids() for each in _process(pid)]
        tree = [each for root in _process(self.pid) for each in _with_descendants(root)]
        if self._is_contained and _orphans.adopted:
            started = {each.pid for each in _running}
            for child in psutil.Process().children():
                if child.pid not in started:
                    tree += _with_descendants(child)
        self._members.update(tree)
        return tree

    def _end_group(self) -> None:
        if self._group:
            self._group.end()

    def terminate(self) -> None:
        """Send SIGTERM to the group, if the program runs."""
        with suppress(OSError):
            self._tree()
        if self.poll() is None:
            self._signal(signal.SIGTERM)

    def stop(self, *, until_s: float | None = None) -> int:
        """End the group: SIGTERM, five seconds of grace, SIGKILL. Return the exit code.

        The grace ends at `until_s` of the monotonic clock, if given.
        """
        self.terminate()
        deadline = time.monotonic() + STOP_GRACE_S if until_s is None else until_s
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        # Once more, for processes that ignored it, stayed behind, or left the group.
        self._signal(signal.SIGKILL)
        for process in self._members:
            with suppress(psutil.Error):
                process.kill()
        self._end_group()
        while (code := self.poll()) is None:
            time.sleep(0.01)
        if self._popen.stdin:
            with suppress(OSError):
                self._popen.stdin.close()
        _running.discard(self)
        if _orphans.adopted and not _running:
            _end_orphans()
        return code

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def stop_all(children: Sequence[Child]) -> None:
    """End several groups at once, with one grace for all."""
    for each in children:
        each.terminate()
    until_s = time.monotonic() + STOP_GRACE_S
    for each in children:
        each.stop(until_s=until_s)


@dataclass(frozen=True)
class Ended:
    """How a bounded program ended; `timed_out` if it had to be killed."""

    code: int
    timed_out: bool
    cost: Cost


def run_bounded(
    start: Callable[[], Child], timeout_s: float, on_tick: Callable[[float], None] = lambda _: None
) -> Ended:
    """Start a child and wait for it, calling `on_tick(elapsed_s)` about ten times a second.

    It is killed after its time. An exception from `on_tick` ends it, as an interrupt does.
    """
    with held():
        child = start()
        try:
            with released():
                timed_out = not _wait(child, timeout_s, on_tick)
        finally:
            code = child.stop()
    return Ended(code, timed_out, child.rusage())


def _wait(child: Child, timeout_s: float, on_tick: Callable[[float], None]) -> bool:
    """Return whether the child ended in time."""
    started = time.monotonic()
    while child.poll() is None:
        elapsed = time.monotonic() - started
        if elapsed > timeout_s:
            return False
        child.sample()
        _reap_orphans()
        on_tick(elapsed)
        time.sleep(min(TICK_S, max(0.001, elapsed / 20)))
    return True


def most_open_files() -> int:
    """Return how many files a child may open: the hard limit, up to 1,048,576."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_OPEN_FILES)


def allow_open_files() -> None:
    """Raise the soft limit of open files towards the hard limit, for 1024 connections and more.

    A server and a generator open a file per connection; 1024 files is a common default.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most_open_files()
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def adopt_orphans() -> None:
    """From now on, end what children leave behind, even outside their group and session.

    This process becomes the parent of every orphan below it (prctl(2), PR_SET_CHILD_SUBREAPER).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
        _orphans.adopted = True


def _end_orphans() -> None:
    """End them in sweeps, until none is left: one may start another just before it is killed."""
    until_s = time.monotonic() + STOP_GRACE_S
    while (found := psutil.Process().children(recursive=True)) and time.monotonic() < until_s:
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, TICK_S)


def _reap_orphans() -> None:
    """Collect what ended without a parent, so that a server cannot fill the host with zombies.

    What this process has started itself has others who wait for it: it is in `_running`, or in the
    session of this process.
    """
    if not _orphans.adopted:
        return
    own = os.getsid(0)
    with suppress(OSError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            is_own = any(ended.si_pid == each.pid for each in _running)
            if is_own or os.getsid(ended.si_pid) == own:
                return
            _, _, usage = os.wait4(ended.si_pid, 0)
            _orphans.used_s += usage.ru_utime + usage.ru_stime


def _used_s(process: psutil.Process) -> float:
    """Return the CPU seconds of a process and of the children that it waited for."""
    times = process.cpu_times()
    return times.user + times.system + times.children_user + times.children_system


def _process(pid: int) -> list[psutil.Process]:
    """Return the process; nothing if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return [psutil.Process(pid)]
    return []


def _with_descendants(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return [process]


def exit_words(code: int) -> str:
    """Return how a program ended, as text: `exit code 3`, `killed by SIGKILL`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"killed by {name}"
