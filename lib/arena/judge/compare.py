"""Two frameworks of one night, by the statistics of the pair alone.

A pair that was chosen beforehand needs no allowance for all the other pairs of a board, so it tells
smaller differences apart than the board's rank sets.
"""

import operator
from collections.abc import Iterable
from math import ceil, floor
from typing import Literal

from pydantic import Field

from arena.base.errors import UsageError
from arena.base.model import Frozen
from arena.base.text import nearest
from arena.judge.archive import Archive
from arena.judge.entry import TWIN, Entry, by_load
from arena.judge.leaderboard import Board, rank_entries
from arena.judge.nights import Night, compared, nights_of
from arena.judge.ranking import COMPARED_BLOCKS
from arena.judge.twins import TwinBook
from arena.judge.verdicts import SUSPENDED
from arena.what.metrics import Metric

Outcome = Literal["faster", "slower", "not told apart", "not comparable"]

EXIT_CODES: dict[Outcome, int] = {
    "not told apart": 0,
    "slower": 10,
    "faster": 11,
    "not comparable": 12,
}


# What the verdicts are called of what a call costs, and of a start.
_OF_COST = {"faster": "cheaper", "slower": "dearer"}
_OF_START = {"faster": "sooner", "slower": "later"}


class Comparison(Frozen):
    """How `a` compares to `b`: the ratio of their figures, with its 95 % interval, in a night.

    Of figures of which lower is better, such as the CPU a call, the lower one is the faster one;
    if it `is_cost`, words call it cheaper, and of a start (`is_start`), sooner.
    `host_class` is an id, `host` the class in words. If they are not comparable, `why` is a
    sentence; a comparable night may have something to `note`.
    """

    a: str
    b: str
    verdict: Outcome
    why: str = ""
    note: str = ""
    profile: str
    connections: int | None = None
    generator: str | None = None
    load: str | None = None
    host_class: str | None = None
    host: str | None = None
    night: str | None = None
    blocks: int = 0
    is_cost: bool = False
    is_start: bool = Field(default=False, exclude_if=operator.not_)
    ratio: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """The comparison in one sentence."""
        note = f" {self.note}" if self.note else ""
        if self.ratio is None or self.low is None or self.high is None:
            return f"{self.a} and {self.b} are not comparable. {self.why}{note}"
        how = (
            f"{self.profile}, {self.connections:,} connection{'s' * (self.connections != 1)}, "
            f"{self.generator}; {self.a} ÷ {self.b} = {self.ratio:.4f}, "
            f"95 % interval {self.low:.4f} to {self.high:.4f}; "
            f"{self.blocks} blocks of the night {self.night}; {self.host}"
        )
        if self.verdict == "not comparable":
            return f"{self.a} and {self.b} are not comparable ({how}). {self.why}{note}"
        if self.verdict == "not told apart":
            span = f"{floor(100 * self.low) / 100:.2f}–{ceil(100 * self.high) / 100:.2f} ×"
            return f"{self.a} and {self.b} are not told apart ({span}; {how}).{note}"
        share = 100 * abs(self.ratio - 1)
        called = _OF_COST if self.is_cost else _OF_START if self.is_start else {}
        verdict = called.get(self.verdict, self.verdict)
        verb = "answers" if self.is_start else "is"
        return f"{self.a} {verb} {share:.1f} % {verdict} than {self.b} ({how}).{note}"


def compare(
    archive: Archive,
    book: TwinBook,
    a: str,
    b: str,
    profile: str,
    *,
    connections: int | None = None,
    generator: str | None = None,
    night: str | None = None,
) -> Comparison:
    """Compare two names in the newest night that has both; `name~twin` is a framework's twin.

    It is a night of the current load and of the class of the newest records, or else of another
    class, and if possible one with enough blocks. With `night`, it is that night, of any load.
    UsageError: there is no record of one of the names, no such night, or it is not clear which load
    is meant.
    """
    known = sorted({each.load.profile for each in archive.entries.values()})
    if profile not in known:
        raise UsageError(f"there is no record of `{profile}`{nearest(profile, known)}")
    nights = sorted({each.turn.night for each in archive.entries.values() if each.turn})
    if night is not None and night not in nights:
        raise UsageError(f"--night: there is no night `{night}`{nearest(night, nights)}")
    own = [
        each
        for each in archive.entries.values()
        if each.load.profile == profile
        and connections in (None, each.load.connections)
        and generator in (None, each.load.generator)
    ]
    if not own:
        given = {"--connections": connections, "--generator": generator}
        words = " and ".join(
            f"{name} {value}" for name, value in given.items() if value is not None
        )
        raise UsageError(f"there is no record of `{profile}` with {words}")
    _require_names(own, a, b)
    found = [
        (board, it)
        for board, it in _nights(own, archive, book)
        if {a, b} <= set(it.names) and (it.id == night if night else board.is_current)
    ]
    if not found:
        which = f"The night {night}" if night else "No night of this load"
        has = "does not have" if night else "has"
        why = f"{which} {has} a whole block with both."
        return Comparison(a=a, b=b, verdict="not comparable", why=why, profile=profile)
    _require_one(found)
    board, chosen = max(
        found,
        key=lambda each: (each[0].is_home, len(each[1].blocks) >= COMPARED_BLOCKS, each[1].id),
    )
    return _of_night(board, chosen, a, b)


def _require_names(entries: Iterable[Entry], a: str, b: str) -> None:
    if a == b:
        raise UsageError(f"{a} is compared with itself (its twin is {a}{TWIN})")
    known = sorted({each.framework for each in entries})
    for name in (a, b):
        if name.removesuffix(TWIN) not in known:
            raise UsageError(f"there is no record of `{name}` here{nearest(name, known)}")


def _nights(
    entries: list[Entry], archive: Archive, book: TwinBook
) -> Iterable[tuple[Board, Night]]:
    """Yield each night with a board of its load."""
    boards = {board.key: board for board in rank_entries(entries, archive.read, book).boards}
    for key, own in by_load(entries).items():
        for night in nights_of(own):
            yield boards[key], night


def _require_one(found: Iterable[tuple[Board, Night]]) -> None:
    """Raise UsageError if there are several connection counts or generators to choose from."""
    for option, values in (
        ("--connections", sorted({f"{board.connections}" for board, _ in found})),
        ("--generator", sorted({board.generator for board, _ in found})),
    ):
        if len(values) > 1:
            raise UsageError(f"{option}: there are nights with {' and '.join(values)}; choose one")


def _of_night(board: Board, night: Night, a: str, b: str) -> Comparison:
    found = compared(night, a, b)
    unfit = {name: said for name in (a, b) if (said := night.unfit(name))}
    outcome: Outcome = "not comparable" if unfit else found.verdict  # type: ignore[assignment]
    why = "; ".join(f"{name} was {said}" for name, said in unfit.items()) + "." * bool(unfit)
    if not unfit and outcome == "not comparable":
        why = f"The night has {found.blocks} whole block{'s' * (found.blocks != 1)}, "
        why += f"but a comparison needs {COMPARED_BLOCKS}."
    return Comparison(
        a=a,
        b=b,
        verdict=outcome,
        why=why,
        note=note_of(board, night),
        profile=board.profile,
        connections=board.connections,
        generator=board.generator,
        load=board.load,
        host_class=board.host_class.id,
        host=board.host_class.words,
        night=night.id,
        blocks=found.blocks,
        is_cost=board.metric.is_cost,
        is_start=board.metric is Metric.START,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
    )


def note_of(board: Board, night: Night) -> str:
    """Return what a reader must know of all comparisons by a night, as sentences, or nothing."""
    notes = []
    if night.is_noisy:
        notes.append(f"It was a noisy night: {night.voids} of {len(night.visits)} visits are void.")
    if board.twin_history and board.twin_history.is_suspended:
        notes.append(SUSPENDED)
    return " ".join(notes)
