"""Processes that a killed benchmark left running: how to recognize and end them."""

import os
import re
from pathlib import Path

import psutil

from arena.machine.cgroups import left_groups

STOP_GRACE_S = 5.0

# This variable names the runner in the environment of all programs it starts, and their children.
MARK = "HTTPARENA_RUNNER"
_MARK = re.compile(r"(\d{1,20})-(\d{1,10})-(\d{1,20})")

# A process may start another one just before it is killed.
_PASSES = 5


def end_leftovers() -> list[str]:
    """Kill the processes that killed runners left behind; return a description of them.

    This process and its parents are spared, even if such a program started them.
    """
    ours = {os.getpid(), *(each.pid for each in psutil.Process().parents())}
    words: list[str] = []
    for name, group in left_groups():
        if (mark := _MARK.fullmatch(name)) and _has_ended(mark):
            words += [_words(pid) for pid in group.pids()]
            group.end()
    for _ in range(_PASSES):
        killed = []
        for process in psutil.process_iter():
            try:
                if process.pid not in ours and _is_leftover(process.pid):
                    words.append(_words(process.pid))
                    process.kill()
                    killed.append(process)
            except (psutil.Error, OSError):
                continue
        if not killed:
            break
        psutil.wait_procs(killed, STOP_GRACE_S)
    return words


def _is_leftover(pid: int) -> bool:
    """Return whether a process has the mark of a runner that has ended."""
    for line in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        name, _, value = line.decode(errors="replace").partition("=")
        if name == MARK and (mark := _MARK.fullmatch(value)):
            return _has_ended(mark)
    return False


def _has_ended(mark: re.Match[str]) -> bool:
    """Return whether a mark is that of a runner that has ended.

    Runners in other PID namespaces are invisible here, so their processes are spared.
    """
    return mark[1] == _pid_namespace() and _started(int(mark[2])) != mark[3]


def _words(pid: int) -> str:
    try:
        command = " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        command = "(ended)"
    return f"process {pid}: {command}"


def own_mark() -> str:
    """Return a name that no other process ever has."""
    return f"{_pid_namespace()}-{os.getpid()}-{_started(os.getpid())}"


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _started(pid: int) -> str | None:
    """Return when a process started, in clock ticks since boot (proc(5)); None if it ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = status.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]
