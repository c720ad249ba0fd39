"""Loads of a fleet, one after another, and what is known of each. Runs where Dask is installed."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena_fleet import window
from arena_fleet.fleet import Fleet, join
from arena_fleet.window import Load, Made, Part, Problem, make
from tools.bench_fleet.net import ADDRESS, ROOT, SERVER

# The bars on one machine are about what happens, not about its speed: its CPUs are shared by all.
window.MOST_BOUND_SHARE = 1.0

CALL = ["--call", "benchmark.BenchmarkService/GetSum", "-d", '{"a":1,"b":2}']


@dataclass(frozen=True)
class Shot:
    """A load: its outcome, and how long it took after its window."""

    made: Made | None
    error: str
    after_s: float

    @property
    def reports(self) -> list[dict[str, Any]]:
        """What the hosts handed over."""
        parts = self.made.parts if self.made else []
        return [json.loads(each.content) for each in parts if isinstance(each, Part)]

    @property
    def problems(self) -> list[str]:
        """What went wrong."""
        parts = self.made.parts if self.made else []
        lost = [each.words for each in parts if isinstance(each, Problem)]
        return [self.error] * bool(self.error) + lost


class Gun:
    """Makes loads with a fleet that was joined."""

    def __init__(self, port: int, volley: str) -> None:
        self.fleet: Fleet = join(Workspace(ROOT), ADDRESS)
        self.target = f"{SERVER}:{port}"
        self.request = ["--insecure", "--proto", "requests/benchmark.proto"]
        self._port = port
        self._volley = volley

    def again(self) -> "Gun":
        """Join the fleet again, after its coordinator was started again."""
        return Gun(self._port, self._volley)

    def fire(
        self,
        window_s: float,
        flags: Sequence[str],
        *,
        connections: int = 8,
        lead_s: float = 0.0,
        during: Callable[[float], None] = lambda _: None,
    ) -> Shot:
        """Make a load; `during` is called often, with the seconds since its beginning."""
        load = self.load(window_s, flags, connections, lead_s)
        opens: list[int] = []
        work = make(
            self.fleet.link, self.fleet.members, load, is_counted=True, on_start=opens.append
        )
        began = time.monotonic()
        error, made = "", None
        with closing(self.fleet.link.begin(work)) as doing:
            while not doing.done():
                during(time.monotonic() - began)
                doing.wait(0.01)
            try:
                made = doing.result()
            except HostError as raised:
                error = str(raised)
        closed = opens[0] / 1e9 + window_s if opens else began
        return Shot(made, error, time.monotonic() - closed)

    def load(self, window_s: float, flags: Sequence[str], connections: int, lead_s: float) -> Load:
        """Return the load that flags of volley make, divided among the hosts."""
        members = self.fleet.members
        lead = ["--warmup", f"{lead_s * 1000:.0f}ms"] if lead_s else []
        return Load(
            parts=[
                [
                    [
                        *self.request, *flags,
                        "--connections", str(connections), "-O", "json",
                        "--share", f"{number}/{each.share.of}", "--threads", "1",
                        "--start-at", "stdin", *lead,
                        self.target,
                    ]
                    for number in each.share.numbers
                ]
                for each in members
            ],
            connections=[connections] * len(members),
            lead_s=lead_s,
            window_s=window_s,
        )  # fmt: skip

    def merged(self, shot: Shot) -> dict[str, Any]:
        """Merge what the hosts handed over, as for a record; return volley's own figures."""
        with tempfile.TemporaryDirectory(prefix="httparena-bench-") as folder:
            paths = []
            for number, report in enumerate(shot.reports):
                paths.append(Path(folder) / f"{number}.json")
                paths[-1].write_text(json.dumps(report))
            done = subprocess.run(
                [self._volley, "merge", "-O", "json", *paths],
                check=False, capture_output=True, text=True,
            )  # fmt: skip
        if not done.stdout:
            raise HostError(f"volley merge: {done.stderr}")
        found: dict[str, Any] = json.loads(done.stdout)["volley"]
        return found
