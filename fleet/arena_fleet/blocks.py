"""A night of blocks on racks: each rack makes whole blocks, one after another.

A block is a comparison on one host, and its median is taken out of each of its figures. So blocks
of racks of one class may stand in one night, and a difference between two racks is in no figure.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.errors import HostError
from arena.night.diary import Event
from arena.night.engine import ENDS, Blocks
from arena.night.expected import minutes_words
from arena.night.schedule import PlannedLoad, Slot
from arena.record.record import Record
from arena.run.runner import Outcome
from arena_fleet.archive import DamagedError
from arena_fleet.rack import Asked, AskedBlock, Ended, LostRackError, Rack
from arena_fleet.runner import RackRunner
from arena_fleet.spread import spread


@dataclass(frozen=True)
class _Piece:
    """A block on its way to a rack."""

    asked: Asked
    load: PlannedLoad
    begun: Event


@dataclass
class RackBlocks(Blocks):
    """Makes the blocks on racks."""

    runner: RackRunner

    def __post_init__(self) -> None:
        self._waiting = deque(self._blocks())

    def run(self) -> None:
        """Make the blocks; HostError if no rack is left, or this host cannot save something."""
        try:
            spread(self.runner.racks, self._take, self._ended)
        finally:
            for load in self.planned.loads:
                self.load_ended(load)
        if any((load.load, block) not in self.log.ended for load, block in self._waiting):
            raise HostError(self.runner.cannot)

    def _take(self, rack: Rack) -> _Piece | None:
        while self._waiting:
            load, block = self._waiting.popleft()
            slots = self._slots(load)
            if self._may_begin(load, block, slots):
                return self._begin(rack, load, block, slots)
        return None

    def _begin(self, rack: Rack, load: PlannedLoad, block: int, slots: Sequence[Slot]) -> _Piece:
        attempt = self.log.next_attempt(load.load, block)
        begun = Event(event="block", load=load.load, block=block, attempt=attempt)
        request = self.runner.request_for(
            self.plans[load.load][load.frameworks[0]], load.frameworks, blocks=load.blocks
        )
        # A session has failed on its host if it failed for each of its own frameworks.
        sources = {name: self.planned.sources[name] for name in load.frameworks}
        asked = AskedBlock(
            number=block,
            planned=self.planned.changed(loads=(load,), sources=sources),
            before=tuple(each for each in self.log.events if each.load == load.load),
        )
        ahead_s = self.expected.block_s(load, block, slots)
        ahead_s += self._ahead_s(self._waiting) / self.runner.width
        self.shows.say(
            f"rack {rack.name}: {self._words(load, block)}, about {minutes_words(ahead_s)} left"
        )
        self.log.note(begun)
        return _Piece(Asked(request=request, night=self.night, block=asked), load, begun)

    def _ended(self, rack: Rack, piece: _Piece, end: Ended | LostRackError) -> bool:
        """Take in a block; return whether its rack may have another one.

        A block that had begun is lost with its rack. One of which nothing was measured goes back.
        HostError if this host cannot save the records: `--resume` repeats the block.
        """
        load, begun = piece.load, piece.begun
        plan = self.plans[load.load][load.frameworks[0]]
        if isinstance(end, LostRackError):
            return self._lose(rack, piece, str(end))
        # Its night ends there, and this one goes on.
        why = end.error.partition(ENDS)[0] or f"exit code {end.code}"
        records = list[Record]()
        try:
            with self.runner.results(end) as unpacked:
                broke = next(filter(_is_hosts, end.events), None)
                if broke and any(unpacked.records()):
                    why = f"{broke.framework}: {broke.why}"
                    return self._lose(rack, piece, why, ends=False)
                records = [each.record for each in unpacked.adopt()]
        except DamagedError as error:
            return self._lose(rack, piece, str(error))
        if not records:
            self.shows.say(f"rack {rack.name}: {why}: {self._words(load, begun.block)} goes back")
            self._waiting.appendleft((load, begun.block))
            return self.runner.goes_on(rack, Outcome(plan, end.code, is_hosts=True))
        for event in end.events:
            if event.event != "block":
                self.log.note(event)
        for record in records:
            self.expected.note(load.load, record)
        if (load.load, begun.block) in self.log.ended:
            return self.runner.goes_on(rack, Outcome(plan, 0, record=records[-1]))
        return self._lose(rack, piece, why)

    def _lose(self, rack: Rack, piece: _Piece, why: str, *, ends: bool = True) -> bool:
        """Report a block that is not whole and is not made again; return whether its rack goes on.

        It `ends`, or does so if this happens three times in a row.
        """
        load, begun = piece.load, piece.begun
        self.log.note(begun.changed(event="lost", why=f"rack {rack.name}: {why}"))
        lost = f"{why}; {self._words(load, begun.block)} is lost, and is not repeated"
        if ends:
            self.runner.end(rack, lost)
            return False
        self.runner.fail(f"rack {rack.name}: {lost}")
        plan = self.plans[load.load][load.frameworks[0]]
        return self.runner.goes_on(rack, Outcome(plan, HostError.exit_code, is_hosts=True))


class NightRunner(RackRunner):
    """Runs planned sessions on racks, and blocks."""

    def blocks(self, **given: Any) -> RackBlocks:
        """Return what makes blocks; takes the fields of `Blocks`."""
        return RackBlocks(**given, runner=self)


def _is_hosts(event: Event) -> bool:
    """Return whether a framework was dropped because of its rack: others may measure it."""
    return event.event == "dropped" and event.code == HostError.exit_code
