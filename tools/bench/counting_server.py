"""The server of the bench: tools/peers/grpc-go, which counts its answers."""

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.errors import FrameworkError, HostError
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.writing import locked
from arena.machine.builds import Command, run
from arena.machine.child import Child, exit_words, whole_command
from arena.machine.interrupts import held

_SOURCES = Path(__file__).resolve().parents[1] / "peers" / "grpc-go"
_PATIENCE_S = 10.0
_POLL_S = 0.01


@dataclass(frozen=True)
class Counts:
    """The calls that have ended since the server started, and the replies in them."""

    calls: int
    messages: int


class CountingServer:
    """A running server, on its own port."""

    def __init__(self, child: Child, log: Path) -> None:
        self.pid = child.pid
        self._child = child
        self._log = log
        self._read = 0
        self.port = int(str(self._line()["listen"]).rpartition(":")[2])

    def answered(self) -> int:
        """Return how many calls have ended so far."""
        return int(self._ask()["calls"])

    def counts(self) -> Counts:
        """Wait until no call is open, and return the counts; HostError if a call stays open."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            told = self._ask()
            if not told["open"]:
                return Counts(calls=told["calls"], messages=told["messages"])
            if time.monotonic() > deadline:
                raise HostError(f"the counting server still has {told['open']} calls open")
            time.sleep(_POLL_S)

    def _ask(self) -> dict[str, Any]:
        with suppress(ProcessLookupError):  # _line reports how it ended.
            os.kill(self.pid, signal.SIGUSR1)
        return self._line()

    def _line(self) -> dict[str, Any]:
        """Wait for the server's next line."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            lines = self._log.read_bytes().split(b"\n")
            if self._read < len(lines) - 1:
                self._read += 1
                told: dict[str, Any] = json.loads(lines[self._read - 1])
                return told
            code = self._child.poll()
            if code is not None:
                raise HostError(f"the counting server ended ({exit_words(code)})")
            if time.monotonic() > deadline:
                raise HostError("the counting server does not answer")
            time.sleep(_POLL_S)


def build(shows: Progress, package: str = "") -> Path:
    """Build the server, or the one of a package beside it; return its program.

    HostError without Go, or if that fails.
    """
    called = f"the {package or 'counting'} server"
    if not shutil.which("go"):
        raise HostError(f"Go is needed on PATH to build {called}")
    folder = _SOURCES / ".build"
    log, program = folder / "build.log", folder / (package or "server")
    build = ["go", "build", "-trimpath", "-buildvcs=false", "-o", str(program), f"./{package}"]
    argv = ["env", "CGO_ENABLED=0", *build]
    with locked(folder):
        log.unlink(missing_ok=True)
        try:
            run(Command(argv, _SOURCES, log, f"build {called}", "go build"), shows)
        except FrameworkError as error:
            raise HostError(f"{called}: {error.reason}, see {log}") from error
    return program


@contextmanager
def serving(
    program: Path, folder: Path, certificates: Path | None = None, *flags: str
) -> Iterator[CountingServer]:
    """Run the server for the block; its output goes to `folder`.

    With a folder of `certificates`, it speaks TLS. Other peers may have `flags` of their own.
    """
    log, errors = folder / "server.out", folder / "server.err"
    tls = [f"-tls={certificates}"] if certificates else []
    log.unlink(missing_ok=True)
    child = None
    try:
        with held():
            argv = whole_command([str(program), *tls, *flags])
            child = Child(argv, cwd=folder, stdout=log, stderr=errors)
        try:
            yield CountingServer(child, log)
        except HostError as error:
            raise HostError(f"{error}: {tail(errors, 1)}".removesuffix(": ")) from error
    finally:
        if child is not None:
            with held():
                child.stop()
