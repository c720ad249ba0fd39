"""Starts of real servers, under a sentinel that is timed and says when a window opens."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.judge.store import Draft
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine.sentinel import Away, HostFiles, Sample, Sentinel, Window
from arena.record.measurement import Run
from arena.run.driver import Driver
from arena.run.plan import Plan
from arena.run.runner import Runner
from arena.run.session import Course, Session


@dataclass(frozen=True)
class TimedFiles(HostFiles):
    """Keeps the CPU seconds of each look at the host."""

    spent_s: list[float] = field(default_factory=list)

    def sample(self, away_s: float | None = 0.0, **more: bool) -> Sample:
        """Look at the host."""
        began = time.thread_time()
        found = super().sample(away_s, **more)
        self.spent_s.append(time.thread_time() - began)
        return found


@dataclass
class Trial(Sentinel):
    """Calls `opened` when a window has opened."""

    opened: Callable[[], None] = lambda: None

    def window(self, away: Away, **more: Any) -> Window:
        """Open a window now."""
        window = super().window(away, **more)
        self.opened()
        return window


@dataclass
class Starts(Session):
    """One start of a server; `load` does what is to be done with it."""

    load: Callable[[Driver], list[Run]] = lambda _: []

    def _load(self, driver: Driver) -> None:
        self._seen.runs += self.load(driver)


@dataclass(frozen=True)
class Rig:
    """What every start has in common."""

    workspace: Workspace
    runner: Runner
    found: Mapping[Located, Generator]
    files: TimedFiles
    sentinel: Trial

    def start(self, plan: Plan, load: Callable[[Driver], list[Run]]) -> None:
        """Start a plan's server, and do something with it; HostError if that fails."""
        with Draft(Path(tempfile.gettempdir())) as draft:
            session = Starts(
                self.workspace,
                plan,
                self.runner.runtime,
                self.found[plan.generator],
                self.runner.shows,
                self.sentinel,
                Course(0.0, 1, is_checked=False),
                load,
            )
            _, failure = session.run(draft)
        if failure:
            raise HostError(f"{plan.title}: {failure}")
