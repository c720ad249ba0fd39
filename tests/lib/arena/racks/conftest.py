"""Nights on racks in this process: a session of a rack is a benchmark with fakes of its effects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import ArenaError
from arena.base.workspace import Workspace
from arena.cli.verbs import run
from arena.fleet import racks as fleet_racks
from arena.fleet.generator import located
from arena.fleet.server import make_checkout
from arena.judge.host_class import class_of
from arena.machine import facts
from arena.machine.cpus import CpuPlan
from arena.night.diary import Diary
from arena.racks import spread
from arena.racks.archive import pack
from arena.racks.rack import Asked, Ended, LostRackError, Offer
from arena.racks.references import OWN_SERVER
from arena.record.record import Record, Visit
from arena.run import plan
from arena.run.asked import BlockOptions
from arena.what.framework import source_sha256
from arena.what.overrides import FLEET_GENERATOR
from tests.fakes import FakeGenerator
from tests.lib.arena.fleet.test_generator import a_fleet
from tests.lib.arena.night.shop import QUICK, Shop, shop

__all__ = ["shop"]

# What a rack does with a session, by its number from 0: what is raised, or how it ends.
Fate = Callable[[int, Asked], ArenaError | LostRackError | Ended | None]

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
        return Offer(here.id, here.words, self.volley, "native", sources, self.unavailable)

    def begin(self, asked: Asked) -> None:
        self.begun.append(asked)

    def poll(self) -> Ended | None:
        number, asked = len(self.begun) - 1, self.begun[-1]
        fate = self.fate(number, asked)
        if isinstance(fate, LostRackError):
            raise fate
        if isinstance(fate, Ended):
            return fate
        folder = self.shop.workspace.root / ".tools" / self.name / str(number)
        folder.mkdir(parents=True)
        root = make_checkout(
            self.shop.workspace, Path("/bin/volley"), folder, asked.night, asked.diary
        )
        code, error = 0, ""
        try:
            if fate:
                raise fate
            words = [*asked.words, "--night", asked.night]
            # click keeps the names of the first call for all others.
            names = ["-h", "--help"]
            context = run.command.make_context(
                "run", words, obj=Workspace(root), help_option_names=names
            )
            with context:
                code = run.command.invoke(context)
        except ArenaError as raised:
            code, error = raised.exit_code, str(raised)
        return Ended(code, error, pack(root / "results"))

    def stop(self) -> None:
        self.stopped += 1

    def await_stop(self) -> None:
        pass

    def blocks(self) -> list[int]:
        """Return the blocks that it was given, by the diaries that it got."""
        found = []
        for number, asked in enumerate(self.begun):
            path = self.shop.workspace.root / f"{self.name}-{number}.jsonl"
            path.write_text(asked.diary)
            diary = Diary.read(path)
            assert diary.planned
            [load] = diary.planned.loads
            done = {each["block"] for each in diary.events if each["event"] == "done"}
            found += [each for each in range(1, load.blocks + 1) if each not in done]
        return found


@dataclass
class Night:
    """A night on racks of which each measures with the shop's fakes."""

    shop: Shop
    racks: list[FakeRack]

    def __call__(self, *frameworks: str, **options: Any) -> int:
        blocks = options.pop("blocks", None)
        if blocks:
            asked = BlockOptions(blocks, seed="x", twin="none", quiet_wait=0.0)
            options["blocks"] = asked
        options.setdefault("profiles", (QUICK,))
        options.setdefault("quarantine", 0.0)
        return self.shop.night(*frameworks, fleet="tls://h:1", **options)

    def visits(self) -> list[tuple[Record, Visit]]:
        return [(each, each.visit) for each in self.shop.records() if each.visit]

    def events(self, what: str) -> list[dict[str, Any]]:
        """Return the events of a kind in the night's diary."""
        [path] = self.shop.workspace.nights.glob("*.jsonl")
        return [each for each in Diary.read(path).events if each.get("event") == what]


class FakeRacks:
    """What a fleet says of its racks."""

    def __init__(self, racks: list[FakeRack]) -> None:
        self.racks = racks
        self.generator = located(FLEET, "", "v1")


@pytest.fixture
def night(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Night:
    """Return a night on the racks a and b, which the test may change."""
    shop.generator = FakeGenerator(name=FLEET_GENERATOR)
    made = Night(shop, [FakeRack("a", shop), FakeRack("b", shop)])
    found = FakeRacks(made.racks)
    monkeypatch.setattr(fleet_racks, "find_racks", lambda *_: found)
    monkeypatch.setattr(plan, "_joined", lambda *_: found.generator)
    monkeypatch.setattr(spread, "_LOOK_S", 0.0)
    return made


def is_reference(asked: Asked) -> bool:
    return asked.words[0] in {OWN_SERVER, "grpc-go"}
