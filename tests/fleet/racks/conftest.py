"""Nights on racks in this process: a session of a rack is a benchmark with fakes of its effects."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import ArenaError
from arena.judge.host_class import class_of
from arena.machine import facts
from arena.machine.cpus import CpuPlan
from arena.night.diary import Diary, events_in, objects_in
from arena.record.record import Record, Visit
from arena.run.plan import Away
from arena.run.request import Request
from arena.what.environment import FLEET_GENERATOR
from arena.what.framework import source_sha256
from arena_fleet import rack as spread
from arena_fleet import server as work_module
from arena_fleet.generator import located
from arena_fleet.rack import Asked, Offer, SessionEnd, pack
from arena_fleet.racks import FleetRacks, RequestedFleet
from arena_fleet.references import OWN_SERVER, meta_of
from arena_fleet.server import EVENTS, RESULTS, own_server, prepare, work
from tests.fakes import FakeGenerator, FakeProgress
from tests.fleet.test_generator import a_fleet
from tests.lib.arena.conftest import _servers_settle_at_once, free_host
from tests.lib.arena.night.shop import QUICK, Shop, shop

__all__ = ["_servers_settle_at_once", "free_host", "shop"]

# What a rack does with a session, by its number from 0: what is raised, or how it ends.
Fate = Callable[[int, Asked], ArenaError | SessionEnd | None]


def gone(why: str) -> SessionEnd:
    """Return the end of a session on a rack that is lost."""
    return SessionEnd(3, why, is_lost=True)


FLEET = a_fleet(8)


@dataclass
class FakeRack:
    """A rack with the night's own checkout. `fate` may end a session before it begins."""

    name: str
    shop: Shop
    fate: Fate = lambda *_: None
    sources: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int | None = None
    volley: str = "volley v1 (aaaaaaaaaaaa)"
    begun: list[Asked] = field(default_factory=list)
    stopped: int = 0

    def offer(self, runtime: str, frameworks: Sequence[str]) -> Offer:
        host = facts.describe(None)
        if self.memory_bytes:
            host = host.model_copy(update={"memory_bytes": self.memory_bytes})
        cpus = CpuPlan("fleet", None, None).record()
        here = class_of(host, cpus, "native", ("Some CPU, 8 CPUs",))
        own = {each: source_sha256(self.shop.workspace.framework(each)) for each in frameworks}
        sources = {**own, **self.sources}
        return Offer(
            host_class=here.id, words=here.words, volley=self.volley, runtime="native",
            sources=sources, unavailable=self.unavailable,
        )  # fmt: skip

    def begin(self, asked: Asked) -> None:
        self.begun.append(asked)

    def poll(self) -> SessionEnd | None:
        number, asked = len(self.begun) - 1, self.begun[-1]
        fate = self.fate(number, asked)
        if isinstance(fate, SessionEnd):
            return fate
        sessions = self.shop.workspace.tools / self.name / "sessions"
        folder = sessions / str(number)
        folder.mkdir(parents=True)
        own_server(sessions).mkdir(parents=True, exist_ok=True)
        meta = json.dumps(meta_of(Path("/bin/volley")))
        (own_server(sessions) / "meta.json").write_text(meta)
        prepare(folder, asked)
        code, error = 0, ""
        try:
            if fate:
                raise fate
            code = work(self.shop.workspace, folder, {"PATH": ""})
        except ArenaError as raised:
            code, error = raised.exit_code, str(raised)
        events = tuple(events_in(objects_in(folder / EVENTS)))
        return SessionEnd(code, error, pack(folder / RESULTS), events)

    def stop(self) -> None:
        self.stopped += 1

    def await_stop(self) -> None:
        pass

    def blocks(self) -> list[int]:
        """Return the blocks that it was given."""
        return [asked.block.number for asked in self.begun if asked.block]


@dataclass
class Night:
    """A night on racks of which each measures with the shop's fakes."""

    shop: Shop
    racks: list[FakeRack]

    def __call__(self, *frameworks: str, **options: Any) -> int:
        if options.get("blocks"):
            options = {"seed": "x", "twin": "none", "quiet_wait": 0.0, **options}
        options.setdefault("profiles", (QUICK,))
        options.setdefault("quarantine", 0.0)
        return self.shop.night(*frameworks, fleet="tls://h:1", **options)

    def visits(self) -> list[tuple[Record, Visit]]:
        return [(each, each.visit) for each in self.shop.records() if each.visit]

    def events(self, what: str) -> list[dict[str, Any]]:
        """Return the events of a kind in the night's diary."""
        [path] = self.shop.workspace.nights.glob("*.jsonl")
        return [each for each in Diary.read(path).events if each.get("event") == what]


class FakeRacks(FleetRacks):
    """What a fleet says of its racks."""

    def joined(self) -> Away:
        return located(FLEET, "", "v1")


class FakeFleet(RequestedFleet):
    """A fleet whose racks are these, and which is joined at once."""

    found: Sequence[Any] = ()

    def joined(self) -> Away:
        return located(FLEET, "", "v1")

    def racks(self) -> FakeRacks:
        return FakeRacks(self.found)


@pytest.fixture
def night(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Night:
    """Return a night on the racks a and b, which the test may change."""
    shop.generator = FakeGenerator(name=FLEET_GENERATOR)
    made = Night(shop, [FakeRack("a", shop), FakeRack("b", shop)])
    monkeypatch.setattr(FakeFleet, "found", made.racks)
    monkeypatch.setattr(work_module, "RequestedFleet", FakeFleet)
    shop.fleet = FakeFleet(shop.workspace, Request(), {}, FakeProgress())
    monkeypatch.setattr(spread, "_LOOK_S", 0.0)
    return made


def is_reference(asked: Asked) -> bool:
    return asked.request.frameworks[0] in {OWN_SERVER, "grpc-go"}
