"""One benchmark at a time on a host, and what a killed one left running."""

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import psutil

from arena.base.errors import HostError
from arena.base.reading import text_of
from arena.base.text import printable
from arena.machine.cgroups import left_groups

# One benchmark per host, whichever checkout or user started it.
LOCK = Path("/tmp/httparena.lock")  # noqa: S108 - must be the same for everybody


@contextmanager
def only_benchmark(
    command: str,
    *,
    wait: bool,
    say: Callable[[str], None] = lambda _: None,
    path: Path | None = None,
    where: str = "on this host",
) -> Iterator[None]:
    """Hold the host's benchmark lock for the block, or that of another place at `path`.

    Two loads at once distort each other, so a second benchmark raises HostError, or with
    `wait` reports that and waits until the first has ended. The kernel frees the lock when
    its holder ends.
    """
    with _open_lock(path or LOCK) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            # Every user may write to this file.
            holder = printable(file.read(200).strip()) or "another user"
            if not wait:
                raise HostError(
                    f"a benchmark is running {where} already ({holder}); "
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


def _open_lock(path: Path) -> TextIO:
    """Open the lock file, and make it usable for every user of the host."""
    try:
        try:
            # Without O_CREAT: Linux refuses it for another user's file in a sticky folder.
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            os.fchmod(handle, 0o666)
    except OSError as error:
        raise HostError(f"{path}: the lock cannot be opened ({error.strerror})") from error
    return os.fdopen(handle, "r+", errors="replace")


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
    state, *fields = text_of(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split() or ["X"]
    return None if state in "ZX" else fields[18]
