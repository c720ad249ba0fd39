"""Processes that a killed benchmark left running: how they are known, and ended."""

import os
import re
from pathlib import Path

import psutil

STOP_GRACE_S = 5.0

# In the environment of every program of ours, and of all that it starts: who started it.
MARK = "HTTPARENA_RUNNER"
_MARKED = re.compile(MARK.encode() + rb"=(\d{1,20})-(\d{1,10})-(\d{1,20})")

# What is being killed may start something that was not there yet when we looked.
_PASSES = 5


def end_leftovers() -> list[str]:
    """Kill what the programs of runners that were killed have left; say in words what it was.

    We are nothing of that, even if one of these programs has started us.
    """
    ours = {os.getpid(), *(each.pid for each in psutil.Process().parents())}
    words: list[str] = []
    for _ in range(_PASSES):
        killed = []
        for process in psutil.process_iter():
            try:
                if process.pid not in ours and _is_leftover(process.pid):
                    command = " ".join(process.cmdline())
                    process.kill()
                    killed.append(process)
                    words.append(f"process {process.pid}: {command}")
            except (psutil.Error, OSError):
                continue
        if not killed:
            break
        psutil.wait_procs(killed, STOP_GRACE_S)
    return words


def _is_leftover(pid: int) -> bool:
    """Tell whether a process has the mark of a runner that is no more.

    Who has a number in another PID namespace cannot be seen from here.
    """
    for line in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        mark = _MARKED.fullmatch(line)
        if mark and mark[1].decode() == _pid_namespace():
            return _started(int(mark[2])) != mark[3].decode()
    return False


def own_mark() -> str:
    """Return a name that no other process has, ever."""
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
