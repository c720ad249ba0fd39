"""One benchmark at a time on a host."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from arena.base.errors import HostError
from arena.base.text import printable

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
