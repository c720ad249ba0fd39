"""Run a command as on another host: `python played.py OFFSET_NS BOOT_ID COMMAND...`.

A time namespace shifts CLOCK_MONOTONIC, while CLOCK_REALTIME stays that of the machine: so a test
knows the truth. A mount namespace shows another boot id, and a benchmark lock of the host's own.
Needs root; standard library only.
"""

import contextlib
import ctypes
import os
import sys
import tempfile
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWTIME = 0x00020000, 0x00000080
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_SECOND_NS = 1_000_000_000

# arena.machine.lock: one benchmark at a time on a host.
_LOCK = Path("/tmp/httparena.lock")  # noqa: S108 - it is there


def main(offset_ns: int, boot_id: str, argv: list[str]) -> int:
    """Make the namespaces, run the command in them, and return its exit code."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(done: int) -> None:
        if done:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    call(libc.unshare(_CLONE_NEWTIME | _CLONE_NEWNS))
    seconds, rest = divmod(offset_ns, _SECOND_NS)
    Path("/proc/self/timens_offsets").write_text(f"monotonic {seconds} {rest}\n")
    call(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))
    if not _LOCK.exists():
        _LOCK.touch()
        _LOCK.chmod(0o666)
    own = {Path("/proc/sys/kernel/random/boot_id"): f"{boot_id}\n", _LOCK: ""}
    with contextlib.ExitStack() as stack:
        for target, text in own.items():
            file = stack.enter_context(tempfile.NamedTemporaryFile("w"))
            file.write(text)
            file.flush()
            call(libc.mount(file.name.encode(), bytes(target), None, _MS_BIND, None))
        # Children are in the new time namespace; this process stays in the old one.
        child = os.fork()
        if not child:
            libc.prctl(1, 9)  # PR_SET_PDEATHSIG: it ends with this process
            os.execvp(argv[0], argv)  # noqa: S606 - a command of words
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
