"""A night of blocks on racks: each rack makes whole blocks, one after another.

A block is a comparison on one host, and its median is taken out of each of its figures. So blocks
of racks of one class may stand in one night, and a difference between two racks is in no figure.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import pydantic

from arena.base.errors import HostError
from arena.night.diary import Scope, diary_text
from arena.night.engine import ENDS, Blocks
from arena.night.expected import minutes_words
from arena.night.log import Event
from arena.night.order import Slot
from arena.night.planned import PlannedLoad
from arena.racks.archive import DamagedError
from arena.racks.rack import Asked, Ended, LostRackError, Rack
from arena.racks.runner import RackRunner
from arena.racks.spread import spread
from arena.record.record import Record
from arena.run.runner import Outcome


@dataclass(frozen=True)
class _Piece:
    """A block on its way to a rack; its diary has so many events already."""

    asked: Asked
    load: PlannedLoad
    begun: Event
    events: int


@dataclass
class RackBlocks(Blocks):
    """Makes the blocks on racks: a rack gets a diary in which all other blocks have ended."""

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
        others = set(range(1, load.blocks + 1)) - {block}
        before = [
            *(begun.changed(attempt=number) for number in range(1, attempt)),
            *self.log.dropped[load.load].values(),
            *(begun.changed(event="done", block=number, attempt=1) for number in sorted(others)),
        ]
        plan = self.plans[load.load][load.frameworks[0]]
        words = self.runner.words(
            plan,
            ",".join(load.frameworks),
            *("--blocks", str(load.blocks)),
            *("--quiet-wait", f"{self.quiet_wait_s:g}s"),
        )
        # A session has failed on its host if it failed for each of its own frameworks.
        sources = {name: self.planned.sources[name] for name in load.frameworks}
        diary = diary_text(
            self.night,
            Scope(blocks=load.blocks),
            self.planned.changed(loads=(load,), sources=sources),
            [each.model_dump(exclude_defaults=True) for each in before],
        )
        ahead_s = self.expected.block_s(load, block, slots)
        ahead_s += self._ahead_s(self._waiting) / self.runner.width
        self.shows.say(
            f"rack {rack.name}: {self._words(load, block)}, about {minutes_words(ahead_s)} left"
        )
        self.log.note(begun)
        return _Piece(Asked(words, self.night, diary), load, begun, len(before))

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
                events = [*_events(unpacked.events(self.night)[piece.events :])]
                broke = next(filter(_is_hosts, events), None)
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
        for event in events:
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


def _is_hosts(event: Event) -> bool:
    """Return whether a framework was dropped because of its rack: others may measure it."""
    return event.event == "dropped" and event.code == HostError.exit_code


def _events(lines: Sequence[object]) -> Sequence[Event]:
    found = []
    for line in lines:
        try:
            found.append(Event.model_validate(line))
        except pydantic.ValidationError:
            continue  # The end of the session's night.
    return found
