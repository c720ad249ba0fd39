"""volley, run as a person runs it, and the servers it is run against."""

import json
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.workspace import Workspace
from tests.integration.plumbing import ROOT
from tests.integration.plumbing import Outcome as Ended

CHECKOUT = Workspace(ROOT)
SERVICE = "benchmark.BenchmarkService"

# Far more than anything here takes, were the host as slow as it may be.
_PATIENCE_S = 90.0


class Outcome(Ended):
    """How a volley ended, and what it printed."""

    @property
    def report(self) -> dict[str, Any]:
        """Its JSON."""
        assert self.stdout, self
        found: dict[str, Any] = json.loads(self.stdout)
        return found

    @property
    def own(self) -> dict[str, Any]:
        """What volley adds to ghz's report."""
        found: dict[str, Any] = self.report["volley"]
        return found

    @property
    def calls(self) -> tuple[int, dict[str, int], int]:
        """Calls that succeeded, that failed by code, and that were cut."""
        calls = self.own["calls"]
        return calls["ok"], calls["failed"], calls["cut"]


@dataclass(frozen=True)
class Volley:
    """The program; `load` is one run of it in this checkout, as JSON unless told otherwise."""

    program: Path

    def run(self, *words: str) -> Outcome:
        done = subprocess.run(
            [self.program, *words], check=False, capture_output=True, text=True, cwd=ROOT,
            timeout=_PATIENCE_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    def load(
        self,
        method: str,
        request: Mapping[str, int] | list[dict[str, int]],
        port: int,
        *flags: str,
        form: str = "json",
    ) -> Outcome:
        security = [] if "--skipTLS" in flags or "--cacert" in flags else ["--insecure"]
        return self.run(
            *security, "--proto", "requests/benchmark.proto", "--call", f"{SERVICE}/{method}",
            "-d", json.dumps(request), "-O", form, *flags, f"localhost:{port}",
        )  # fmt: skip


def free_port() -> int:
    """Return a port that nobody listens on: taken once, and let go."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether somebody listens on a port of this host."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
