"""The servers of the bench: `volley serve`, and Go's net/http. Both count what they did."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import FrameworkError, HostError
from arena.base.progress import Progress
from arena.machine.builds import Command, run
from arena.machine.child import Child, exit_words, whole_command
from arena.machine.interrupts import held
from tools.bench_scenarios.workloads import Server, Workload

_SOURCES = Path(__file__).resolve().parents[1] / "peers" / "crud-go"
_PATIENCE_S = 10.0
_POLL_S = 0.01
_DONE = ("created", "read", "patched", "deleted", "tokens")


@dataclass(frozen=True)
class Programs:
    """The servers' programs."""

    volley: Path
    go: Path


class Running:
    """A running server, on its own port."""

    def __init__(self, child: Child, log: Path) -> None:
        self._child = child
        self._log = log
        self._read = 0
        self.where = self._line()
        self.port = port_of(self.where)

    def counts(self) -> dict[str, int]:
        """Return what it has counted so far."""
        with suppress(ProcessLookupError):  # _line reports how it ended.
            os.kill(self._child.pid, signal.SIGUSR1)
        told: dict[str, int] = json.loads(self._line())
        return told

    def _line(self) -> str:
        """Wait for the server's next line."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            lines = self._log.read_text().split("\n")
            if self._read < len(lines) - 1:
                self._read += 1
                return lines[self._read - 1]
            code = self._child.poll()
            if code is not None:
                raise HostError(f"the server ended ({exit_words(code)})")
            if time.monotonic() > deadline:
                raise HostError("the server does not answer")
            time.sleep(_POLL_S)


def port_of(line: str, service: str = "listen") -> int:
    """Return the port in a server's first line, JSON or `listening on 127.0.0.1:40123`.

    Of JSON, it is that of a service: `listen` or `grpc`.
    """
    where = json.loads(line)[service] if line.startswith("{") else line
    return int(where.rpartition(":")[2])


def answered(before: dict[str, int], after: dict[str, int], *, is_grpc: bool) -> int:
    """Return the requests that came to a server between two counts; of gRPC, its replies.

    The Go server only counts those that it carried out.
    """
    if is_grpc:
        names: tuple[str, ...] = ("messages_sent",)
    else:
        names = ("calls_started",) if "calls_started" in after else _DONE
    return sum(after.get(name, 0) - before.get(name, 0) for name in names)


def build(shows: Progress) -> Path:
    """Build the Go server; return its program. HostError if that fails."""
    log = _SOURCES / ".build" / "build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    build = ["go", "build", "-trimpath", "-buildvcs=false", "-o", ".build/server", "."]
    argv = ["env", "CGO_ENABLED=0", *build]
    try:
        run(Command(argv, _SOURCES, log, "build the Go server", "go build"), shows)
    except FrameworkError as error:
        raise HostError(f"the Go server: {error.reason}, see {log}") from error
    return _SOURCES / ".build" / "server"


def arguments(programs: Programs, workload: Workload, certificates: Path) -> list[str]:
    """Return the command line of a workload's server."""
    if workload.server is Server.GO:
        tls = [f"-tls={certificates}"] if workload.tls else []
        return [str(programs.go), *tls, *workload.server_flags]
    cert, key = certificates / "server.crt", certificates / "server.key"
    tls = ["--tls-cert", str(cert), "--tls-key", str(key)] if workload.tls else []
    return [str(programs.volley), "serve", "--listen=127.0.0.1:0", *tls, *workload.server_flags]


@contextmanager
def serving(argv: list[str], folder: Path) -> Iterator[Running]:
    """Run a server for the block; its output goes to `folder`."""
    log, errors = folder / "server.out", folder / "server.err"
    child = None
    try:
        with held():
            child = Child(whole_command(argv), cwd=folder, stdout=log, stderr=errors)
        yield Running(child, log)
    finally:
        if child is not None:
            with held():
                child.stop()


def first_item(url: str) -> str:
    """Create an item, and return its path."""
    import ssl
    from urllib.request import Request, urlopen

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = Request(f"{url}/v1/items", data=b"{}", method="POST")  # noqa: S310  (loopback)
    with urlopen(request, context=context, timeout=_PATIENCE_S) as answer:  # noqa: S310
        return str(answer.headers["location"])
