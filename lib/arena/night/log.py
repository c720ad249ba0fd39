"""The events of a night of blocks in its diary: what began, what was void, what is done."""

from collections import Counter, defaultdict
from typing import Literal

from arena.base.model import Frozen
from arena.night.diary import Diary


class Event(Frozen):
    """One line of the diary; `why` is a sentence, `code` the exit code of a failed visit."""

    event: Literal["block", "visit", "void", "dropped", "done", "lost"]
    load: str
    block: int
    attempt: int
    framework: str = ""
    is_twin: bool = False
    place: int = 0
    repeat: int = 0
    why: str = ""
    code: int = 0


class Log:
    """A night's blocks, by its diary and since.

    `dropped` has, by load, the frameworks that are not visited any more. `ended` has the blocks
    (load, number) that need no further attempt, with the reason if one is lost.
    """

    def __init__(self, diary: Diary) -> None:
        self._diary = diary
        self._attempts: Counter[tuple[str, int]] = Counter()
        self.dropped: dict[str, dict[str, Event]] = defaultdict(dict)
        self.ended: dict[tuple[str, int], str] = {}
        self.visits: Counter[str] = Counter()
        self.voids: Counter[str] = Counter()
        for line in diary.events:
            try:
                self._count(Event.model_validate(line))
            except ValueError:
                continue

    def note(self, event: Event) -> None:
        """Write an event."""
        self._diary.append(event.model_dump(exclude_defaults=True))
        self._count(event)

    def next_attempt(self, load: str, block: int) -> int:
        """Return the number of the attempt that begins now."""
        return self._attempts[load, block] + 1

    def _count(self, event: Event) -> None:
        load, block = event.load, event.block
        match event.event:
            case "block":
                self._attempts[load, block] += 1
            case "visit":
                self.visits[load] += 1
            case "void":
                self.voids[load] += 1
            case "dropped":
                self.dropped[load][event.framework] = event
            case "done" | "lost":
                self.ended[load, block] = event.why
