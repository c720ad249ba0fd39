"""How long visits and blocks should take."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from statistics import fmean

from arena.judge.derive import derive
from arena.night.history import History, run_s
from arena.night.schedule import PlannedLoad, Slot
from arena.record.record import Record
from arena.run.plan import Plan

# What a visit takes besides its warm-up and its run: start, stop, and saving the record.
# At a fixed rate, a server is watched while it is idle, and most take longer than the warm-up.
_STEADY_S = 10.0

_AROUND_S = 4.0

# What a build takes while no record shows it.
_BUILD_S = 30.0

# Both checks of the contract.
_CHECKS_S = 3.0

# Between two visits, the record is written and the ports are checked.
_BETWEEN_S = 1.0

_USUAL = ("start", "warm-up", "stop")

# The share of void visits is that of the visits so far and of so many good ones.
_GOOD = 10


class Expected:
    """The seconds of visits: those of this night's visits so far, or of the last night like it.

    These include what was waited for a quiet host, and the repeats of void visits.
    """

    def __init__(self, history: History, plans: Mapping[str, Mapping[str, Plan]]) -> None:
        self._plans = plans
        self._tonight: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._voids: dict[str, list[bool]] = defaultdict(list)
        self._built: set[str] = set()
        self._visits_before = cache(lambda load, name: history.visits(plans[load][name]))

    def note(self, load: str, record: Record) -> None:
        """Learn from a visit of this night."""
        name = record.framework.name
        if record.status == "ok":
            self._built.add(name)
            self._tonight[load, name].append(_usual_s(record))
            self._voids[load].append(derive(record).is_void)

    def block_s(self, load: PlannedLoad, block: int, slots: Iterable[Slot]) -> float:
        """Return the seconds of these visits of a block, which may be all, without builds."""
        seconds = sum(self._visit_s(load, block, slot) for slot in slots)
        return seconds * self._visits_per_slot(load)

    def load_s(self, load: PlannedLoad) -> float:
        """Return the seconds of all blocks of a load, without builds."""
        blocks = range(1, load.blocks + 1)
        return sum(self.block_s(load, block, load.slots) for block in blocks)

    def builds_s(self, loads: Iterable[PlannedLoad]) -> float:
        """Return the seconds of the builds that these loads still need; each is made once."""
        builds_s: dict[str, list[float]] = defaultdict(list)
        for load in loads:
            for name in set(load.frameworks) - self._built:
                builds_s[name] += [
                    record.provenance.stages_s.get("build", 0.0)
                    for record in self._visits_before(load.load, name)
                ]
        # The night's first visit of a framework has its real build, under whichever load.
        return sum(max(own, default=_BUILD_S) for own in builds_s.values())

    def _visits_per_slot(self, load: PlannedLoad) -> float:
        """Return how often a visit is made until it is good, two repeats included."""
        voids = self._voids[load.load] or [
            derive(record).is_void
            for name in load.frameworks
            for record in self._visits_before(load.load, name)
        ]
        share = sum(voids) / (len(voids) + _GOOD)
        return 1 + share + share**2

    def _visit_s(self, load: PlannedLoad, block: int, slot: Slot) -> float:
        name = slot.framework
        plan = self._plans[load.load][name]
        before = self._visits_before(load.load, name)
        shape = plan.profile.load
        seconds = load.warm_ups_s[name] + run_s(plan) + _AROUND_S + shape.closed_first_s
        if shape.is_start:
            # The one before it, which fills the page cache.
            seconds += _AROUND_S
        if shape.steadies:
            seconds += _STEADY_S
        if known := self._tonight[load.load, name] or [_usual_s(record) for record in before]:
            seconds = fmean(known)
        if block in (1, load.blocks):
            seconds += _CHECKS_S
        if block == 1 and not slot.is_twin:
            seconds += (plan.profile.runs - 1) * run_s(plan)
        return seconds


def _usual_s(record: Record) -> float:
    """Return the seconds that a visit takes in an ordinary block: without build and checks."""
    stages_s = record.provenance.stages_s
    one_run_s = stages_s.get("runs", 0.0) / max(1, len(record.runs))
    return sum(stages_s.get(stage, 0.0) for stage in _USUAL) + one_run_s + _BETWEEN_S


def minutes_words(seconds: float) -> str:
    """Return a time in whole minutes: `41 minutes`; below 90 s in seconds.

    >>> minutes_words(2460.0), minutes_words(29.5)
    ('41 minutes', '30 s')
    """
    if seconds < 90:  # noqa: PLR2004
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} minutes"
