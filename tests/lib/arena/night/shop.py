"""Nights with fakes of everything that has an effect."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arena.base.workspace import Workspace
from arena.load import generators
from arena.machine import facts
from arena.night import benchmark
from arena.night import night as job
from arena.night.hosts import LoadHosts
from arena.record.record import Record
from arena.run import runner
from arena.run.request import Request
from tests.fakes import FakeGenerator, FakeRuntime, a_build, a_provenance, add_framework, records_in

# Of these two the first takes 17 s, the second 34 s; without a record, half a minute is added.
QUICK, SLOW = "stream-grpc", "slow"


@dataclass
class Shop:
    """A night with fakes of the host, the runtime, the generator and the clock."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]
    runtime: FakeRuntime = field(default_factory=FakeRuntime)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    now_s: float = 0.0
    fleet: LoadHosts | None = None
    published: int = 0

    def night(self, *frameworks: str, **options: Any) -> int:
        request, clock = Request(frameworks=frameworks, **options), lambda: self.now_s
        return job.night(
            self.workspace, request, {"PATH": ""}, "night", self.publish, lambda: self.fleet, clock
        )

    def publish(self, *_: object) -> Path:
        self.published += 1
        return self.workspace.public / "index.html"

    def on_session(self, do: Callable[[int], str | None]) -> None:
        """Have something done at the warm-up of each session; the sessions count from 0."""
        begun = []

        def fire(shot: int) -> str | None:
            if self.generator.fired[-1][0] != "warm-up":
                return None
            begun.append(shot)
            return do(len(begun) - 1)

        self.generator = FakeGenerator(on_fire=fire)

    def records(self) -> list[Record]:
        return sorted(records_in(self.workspace.results), key=lambda each: each.started_at)

    def measured(self, since: int = 0) -> list[tuple[str, str]]:
        """Return what was measured, in that order."""
        records = self.records()[since:]
        return [(each.framework.name, each.profile.name) for each in records]

    def add(self, name: str, *tests: str, **changes: Any) -> None:
        add_framework(self.workspace, name, *tests, **changes)


@pytest.fixture
def shop(
    workspace: Workspace,
    free_host: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shop:
    """Return a shop of two frameworks, both subscribing to a quick profile and a slow one."""
    made = Shop(workspace, capsys)
    made.add("alpha", SLOW, QUICK)
    made.add("beta", SLOW, QUICK)
    made.add("retired", QUICK, enabled=False)
    (workspace.profiles / "slow.yaml").write_text(
        "extends: stream-grpc\nname: slow\nduration: 10s\nwarmup: 4s"
    )

    monkeypatch.setattr(facts, "describe", lambda _: a_provenance().host)
    for room in (runner, benchmark, job):
        monkeypatch.setattr(room, "choose", lambda *_, **__: made.runtime)
    monkeypatch.setattr(generators, "build", lambda *_: a_build(made.generator))
    return made
