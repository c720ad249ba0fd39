"""Child processes: started in a group of their own, accounted for, and never left behind."""

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from arena.interrupts import held, released
from arena.measurement import Cost
from arena.units import format_cpus

# How often a running program is looked at. Each look costs the host about 0.1 ms.
TICK_S = 0.1

_STOP_GRACE_S = 5.0


class Child:
    """A program in its own session and process group, its output going to files.

    `stdout` and `stderr` may be the same path. On `cpus` only, if given. Should this process
    die without a chance to clean up, the kernel kills the program too.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        stdout: Path,
        stderr: Path,
        environment: Mapping[str, str] | None = None,
        cpus: Sequence[int] | None = None,
    ) -> None:
        self._usage: resource.struct_rusage | None = None
        self._members: set[psutil.Process] = set()
        with stdout.open("ab") as out, stderr.open("ab") as err, held():
            self._popen = subprocess.Popen(
                [*_prefix(cpus), *argv],
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self.pid = self._popen.pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self._popen.returncode is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._popen.returncode = os.waitstatus_to_exitcode(status)
                self._usage = usage
        return self._popen.returncode

    def rusage(self) -> Cost:
        """Return what the ended program and its waited-for children used (getrusage(2))."""
        if self._usage is None:
            raise RuntimeError("rusage before the end")
        return Cost(
            cpu_s=self._usage.ru_utime + self._usage.ru_stime,
            peak_bytes=self._usage.ru_maxrss * 1024,
        )

    def tree_cost(self) -> Cost:
        """Return what the running program and its descendants have used so far.

        CPU: user and system time of every live process of the tree, plus what each has
        inherited from children that ended (proc(5): cutime, cstime), to 10 ms. Memory: the
        sum of their peak resident sizes (VmHWM); pages they share count once for each.
        """
        cpu_s, peak = 0.0, 0
        for process in self._tree():
            try:
                times = process.cpu_times()
                peak += _peak_resident(process.pid)
            except (psutil.Error, OSError):
                continue
            cpu_s += times.user + times.system + times.children_user + times.children_system
        return Cost(cpu_s=cpu_s, peak_bytes=peak)

    def _tree(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.pid)
            tree = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            tree = []
        self._members.update(tree)
        return tree

    def stop(self) -> int:
        """End the group: SIGTERM, five seconds of grace, SIGKILL. Return the exit code."""
        self._tree()
        if self.poll() is None:
            self._signal(signal.SIGTERM)
            deadline = time.monotonic() + _STOP_GRACE_S
            while self.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
        # Once more for those that ignored it, stayed behind, or left the group.
        self._signal(signal.SIGKILL)
        for process in self._members:
            try:
                process.kill()
            except psutil.Error:
                continue
        while (code := self.poll()) is None:
            time.sleep(0.01)
        return code

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return


@dataclass(frozen=True)
class Ended:
    """How a bounded program came to its end; `timed_out` if it had to be killed."""

    code: int
    timed_out: bool


def run_bounded(
    child: Child, timeout_s: float, on_tick: Callable[[float], None] = lambda _: None
) -> Ended:
    """Wait for the child, calling `on_tick(elapsed_s)` ten times a second; kill it when late.

    Whatever `on_tick` raises ends the child, as an interrupt does. Start the child and call
    this in one `held` block, so that no interrupt comes between the two.
    """
    started = time.monotonic()
    try:
        with released():
            while (code := child.poll()) is None:
                elapsed = time.monotonic() - started
                if elapsed > timeout_s:
                    return Ended(child.stop(), timed_out=True)
                on_tick(elapsed)
                time.sleep(min(TICK_S, max(0.005, elapsed / 20)))
            return Ended(code, timed_out=False)
    finally:
        with held():
            child.stop()


def exit_words(code: int) -> str:
    """Say in words how a program ended: `exit code 3`, `killed by SIGKILL`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"killed by {name}"


def _prefix(cpus: Sequence[int] | None) -> list[str]:
    """Return the util-linux commands that bind a program to us and to its CPUs."""
    prefix = []
    if shutil.which("setpriv"):
        prefix += ["setpriv", "--pdeathsig", "KILL", "--"]
    if cpus is not None:
        prefix += ["taskset", "--cpu-list", format_cpus(cpus)]
    return prefix


def _peak_resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
