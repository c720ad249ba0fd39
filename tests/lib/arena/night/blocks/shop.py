"""Nights of blocks with fakes of everything that has an effect."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from arena.night.diary import Diary
from arena.night.schedule import PlannedNight
from arena.record.measurement import Watch
from arena.record.record import Record, Visit
from arena.run.driver import Driver
from tests.lib.arena.night.shop import QUICK, Shop, shop

__all__ = ["STEAL", "Blocks", "blocks", "shop"]

STEAL = Watch(elapsed_s=5.0, cpus=2, steal=0.2)


@dataclass
class Blocks:
    """A shop whose nights are nights of blocks; without a twin, unless one is asked for."""

    shop: Shop
    patch: pytest.MonkeyPatch

    def __call__(self, blocks: int | None = 3, *frameworks: str, **options: Any) -> int:
        if blocks:
            # The fake of the sentinel sees nothing, so a wait for quiet would last until its end.
            options = {"twin": "none", "seed": "x", "quiet_wait": 0.0, **options}
        options.setdefault("profiles", (QUICK,))
        return self.shop.night(*frameworks, blocks=blocks, **options)

    def records(self) -> list[tuple[Record, Visit]]:
        return [(each, each.visit) for each in self.shop.records() if each.visit]

    def visits(self) -> list[tuple[int, int, str, int]]:
        """Return the block, attempt, framework and repeat of each visit, in order."""
        return [
            (visit.block, visit.attempt, record.framework.name, visit.repeat)
            for record, visit in self.records()
        ]

    def disturb(self, when: Callable[[int, str, int], bool]) -> None:
        """Disturb the runs of which this is true: the run's number, framework, visits before."""
        real = Driver.run
        seen: list[str] = []

        def run(driver: Driver, number: int, *rest: Any) -> Any:
            name = driver.plan.framework.name
            made = real(driver, number, *rest)
            if when(number, name, seen.count(name)):
                made = made.changed(watch=STEAL)
            if number == 1:
                seen.append(name)
            return made

        self.patch.setattr(Driver, "run", run)

    def planned(self) -> list[PlannedNight]:
        """Return what each night had planned, by time."""
        found = [
            Diary.read(path).planned for path in sorted(self.shop.workspace.nights.glob("*.jsonl"))
        ]
        return [each for each in found if each]

    def events(self) -> list[dict[str, Any]]:
        (path,) = self.shop.workspace.nights.glob("*.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines() if line][1:]


@pytest.fixture
def blocks(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Blocks:
    return Blocks(shop, monkeypatch)
