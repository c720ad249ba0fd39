"""The engine of a night of blocks: visit after visit, until every block has ended."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.judge.derive import derive
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine.sentinel import words
from arena.night import schedule
from arena.night.diary import Event, Log
from arena.night.expected import Expected, minutes_words
from arena.night.schedule import PlannedLoad, PlannedNight, Slot
from arena.record.record import Visit
from arena.run.plan import Plan
from arena.run.runner import Outcome, Runner, Streak
from arena.run.session import Course
from arena.what.framework import source_sha256

# A void visit is repeated at most this often.
_REPEATS = 2

RESUME = "--resume continues the night; the block in progress is repeated"

# What follows the reason if a night is cut short.
ENDS = ": the night ends here"


class CutShortError(HostError):
    """The night cannot go on now, and `--resume` alone does not continue it: `how` says more."""

    def __init__(self, why: str, how: str) -> None:
        super().__init__(why)
        self.how = how


def ends_here(why: str, how: str = RESUME) -> str:
    """Return why a night is cut short, and how it goes on."""
    return f"{why}{ENDS} ({how})"


@dataclass(frozen=True)
class _Turn:
    """A visit: its place in the order of its block, and how often it was made before."""

    slot: Slot
    place: int
    repeat: int = 0


@dataclass
class Blocks:
    """The blocks of one night that have not ended yet, in order; `run` makes them.

    `plans` are by load and framework. `left_s` reads the seconds that are left for blocks.
    `load_ended` is told of each load after its last block. With `only`, a load and a number, no
    other block is made.
    """

    shows: Progress
    night: str
    planned: PlannedNight
    plans: Mapping[str, Mapping[str, Plan]]
    log: Log
    expected: Expected
    quiet_wait_s: float
    left_s: Callable[[], float]
    load_ended: Callable[[PlannedLoad], None]
    only: tuple[str, int] | None = field(default=None, kw_only=True)

    def run(self) -> None:
        """Make the blocks, pass by pass; HostError if the host cannot go on."""
        raise NotImplementedError

    def _blocks(self) -> Iterator[tuple[PlannedLoad, int]]:
        """Yield every block of the night, in order."""
        loads = {each.load: each for each in self.planned.loads}
        for block in range(1, max((each.blocks for each in loads.values()), default=0) + 1):
            names = [name for name, each in loads.items() if each.blocks >= block]
            for name in schedule.loads_of(self.planned.seed, block, names):
                if self.only in (None, (name, block)):
                    yield loads[name], block

    def _slots(self, load: PlannedLoad) -> list[Slot]:
        """Return the visits of a block, without the frameworks that were dropped."""
        return [slot for slot in load.slots if slot.framework not in self.log.dropped[load.load]]

    def _may_begin(self, load: PlannedLoad, block: int, slots: list[Slot]) -> bool:
        """Return whether a block is to be made now; report one that does not fit."""
        if (load.load, block) in self.log.ended or not slots:
            return False
        needed_s = self.expected.block_s(load, block, slots)
        if needed_s + self.expected.builds_s([load]) <= self.left_s():
            return True
        self.shows.say(f"no time left for {self._words(load, block)}")
        return False

    def _ahead_s(self, blocks: Iterable[tuple[PlannedLoad, int]]) -> float:
        """Return the seconds of those blocks that have not ended."""
        return sum(
            self.expected.block_s(each, number, self._slots(each))
            for each, number in blocks
            if (each.load, number) not in self.log.ended
        )

    def _words(self, load: PlannedLoad, block: int) -> str:
        return f"block {block} of {load.blocks} of {self._label(load)}"

    def _label(self, load: PlannedLoad) -> str:
        return next(iter(self.plans[load.load].values())).profile.label


class NightRunner(Runner):
    """Runs planned sessions on this host, and blocks."""

    def blocks(
        self, found: Mapping[Located, Generator], host_class: Callable[[], str], **given: Any
    ) -> "Engine":
        """Return what makes blocks; takes the fields of `Blocks`."""
        return Engine(**given, runner=self, found=found, host_class=host_class)


@dataclass
class Engine(Blocks):
    """Makes the blocks on this host. `host_class` reads the class that it has now."""

    runner: Runner
    found: Mapping[Located, Generator]
    host_class: Callable[[], str]

    def __post_init__(self) -> None:
        self._streak = Streak(len(self.planned.sources))

    def run(self) -> None:
        """Make the blocks, pass by pass; HostError if the host cannot go on."""
        for load, block in self._blocks():
            slots = self._slots(load)
            if self._may_begin(load, block, slots):
                self._block(load, block, slots)
            if block == load.blocks:
                self.load_ended(load)

    def _block(self, load: PlannedLoad, block: int, slots: list[Slot]) -> None:
        """Make one attempt at a block; void visits are repeated at its end."""
        attempt = self.log.next_attempt(load.load, block)
        begun = Event(event="block", load=load.load, block=block, attempt=attempt)
        self.log.note(begun)
        ordered = schedule.visits_of(self.planned.seed, load.load, block, slots)
        turns = [_Turn(slot, place) for place, slot in enumerate(ordered, 1)]
        for repeat in range(_REPEATS + 1):
            again = []
            for number, turn in enumerate(turns):
                if turn.slot.framework in self.log.dropped[load.load]:
                    continue
                ahead = [each.slot for each in turns[number:]]
                self._announce(load, block, turn, len(ordered), ahead)
                outcome = self._visit(load, begun, turn, len(ordered))
                if not self._is_good(load, begun, turn, outcome):
                    again.append(_Turn(turn.slot, turn.place, repeat + 1))
            turns = again
        self._end(load, begun, turns)

    def _visit(self, load: PlannedLoad, block: Event, turn: _Turn, size: int) -> Outcome:
        if self.host_class() != self.planned.host_class:
            why, how = "this host has changed its class", "the host is as it was"
            raise CutShortError(why, f"--resume continues it once {how}")
        slot, name = turn.slot, turn.slot.framework
        if source_sha256(self.runner.workspace.framework(name)) != self.planned.sources[name]:
            # It was built once; its records would name a source that was not measured.
            why, how = f"{name} has changed since the night began", "the change is undone"
            raise CutShortError(why, f"--resume continues it once {how}")
        plan, warm_up_s = self.plans[load.load][name], load.warm_ups_s[name]
        visit = Visit(
            night=self.night,
            seed=self.planned.seed,
            block=block.block,
            blocks=load.blocks,
            attempt=block.attempt,
            place=turn.place,
            size=size,
            repeat=turn.repeat,
            is_twin=slot.is_twin,
            warm_up_s=warm_up_s,
        )
        course = Course(
            warm_up_s,
            # In the first block, the visit is the framework's classic session too.
            plan.profile.runs if block.block == 1 and not slot.is_twin else 1,
            is_checked=block.block in (1, load.blocks),
            quiet_wait_s=self.quiet_wait_s,
            visit=visit,
        )
        self._note(block, "visit", turn)
        found = self.found.get(plan.generator)
        outcome = self.runner.measure(plan, found, goes_on=True, course=course)
        if self._streak.ends(outcome):
            raise HostError(self.runner.cannot)
        return outcome

    def _is_good(self, load: PlannedLoad, block: Event, turn: _Turn, outcome: Outcome) -> bool:
        """Return whether a visit needs no repeat; drop a framework that failed."""
        record = outcome.record
        if record is None:
            if turn.repeat == _REPEATS:
                self._drop(load, block, turn, outcome.code, "the host could not measure it")
            return False
        self.expected.note(load.load, record)
        if record.failure:
            self._drop(load, block, turn, outcome.code, record.failure.reason)
            return True
        derived = derive(record)
        if derived.is_void:
            why = words(derived.disturbed[0])
            self._note(block, "void", turn, why)
            self.shows.say(f"void: {turn.slot}: {why}")
            return False
        return True

    def _end(self, load: PlannedLoad, block: Event, left: list[_Turn]) -> None:
        """End an attempt at a block; it is lost if visits are `left` that are still void."""
        names = ", ".join(str(turn.slot) for turn in left)
        why = f"not good in {_REPEATS + 1} visits: {names}" if left else ""
        self.log.note(block.changed(event="lost" if left else "done", why=why))
        if left:
            self.shows.say(f"{self._words(load, block.block)} is lost ({why}); the night goes on")

    def _drop(self, load: PlannedLoad, block: Event, turn: _Turn, code: int, why: str) -> None:
        self._note(block, "dropped", turn, why, code)
        later = "" if block.block == load.blocks else " and is not visited again tonight"
        self.shows.say(f"{turn.slot.framework} failed under {self._label(load)}{later}")

    def _note(self, block: Event, event: str, turn: _Turn, why: str = "", code: int = 0) -> None:
        self.log.note(
            block.changed(
                event=event,
                framework=turn.slot.framework,
                is_twin=turn.slot.is_twin,
                place=turn.place,
                repeat=turn.repeat,
                why=why,
                code=code,
            )
        )

    def _announce(
        self, load: PlannedLoad, block: int, turn: _Turn, size: int, ahead: list[Slot]
    ) -> None:
        blocks = [*self._blocks()]
        seconds = self.expected.builds_s(self.planned.loads)
        seconds += self.expected.block_s(load, block, ahead)
        seconds += self._ahead_s(blocks[blocks.index((load, block)) + 1 :])
        repeat = f" (repeat {turn.repeat})" if turn.repeat else ""
        self.shows.say(
            f"block {block} of {load.blocks}, visit {turn.place} of {size}{repeat}: {turn.slot} "
            f"under {self._label(load)}, about {minutes_words(seconds)} left"
        )
