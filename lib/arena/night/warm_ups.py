"""The warm-ups of visits: 10 s, or what whole nights have shown, in results/host/warm-ups.json.

A night teaches from many cold starts, and from servers that were still warming up.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import pydantic
from pydantic import Field

from arena.base.model import Frozen, to_json
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.writing import write_atomic
from arena.judge.archive import Archive
from arena.judge.entry import Entry
from arena.judge.nights import Verdict
from arena.judge.warm_up import Start, learned_warm_up
from arena.night.schedule import PlannedLoad, PlannedNight
from arena.record.times import UtcTime

DEFAULT_S = 10.0
LONGEST_S = 40.0

# The newest starts are enough.
_MOST_STARTS = 60

# A second that is shorter is a partial one.
_WHOLE_S = 0.99

_ABOUT = (
    "Seconds of warm-up of a visit in a block, by framework, source, load and class of host. "
    "Everything that is not here has 10 s. Delete an entry to begin again with 10 s."
)


class Subject(NamedTuple):
    """What a warm-up is for: a framework with this source, the `text` of a load."""

    framework: str
    source_sha256: str
    load: str
    host_class: str


class WarmUp(Frozen):
    """One warm-up, and why it is that long.

    `starts` are the cold starts of `nights` from which it was learned. It was `raised_in` the night
    after which it was doubled: only later nights can shorten it again.
    """

    framework: str
    source_sha256: str
    load: str
    host_class: str
    seconds: Annotated[float, Field(gt=0, le=LONGEST_S)]
    why: str
    starts: int
    nights: int
    updated: UtcTime
    raised_in: UtcTime | None = None

    @property
    def subject(self) -> Subject:
        """What it is for."""
        return Subject(self.framework, self.source_sha256, self.load, self.host_class)


class _File(Frozen):
    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    about: str = _ABOUT
    warm_ups: tuple[WarmUp, ...]


class WarmUps:
    """The warm-ups of one host's file. Only `save` writes it, but never over a broken one."""

    def __init__(self, path: Path, known: dict[Subject, WarmUp], *, is_broken: bool) -> None:
        self.is_broken = is_broken
        self._is_changed = False
        self._path = path
        self._known = known

    @classmethod
    def read(cls, path: Path, shows: Progress) -> Self:
        """Read the file; a broken one is reported and counts as empty."""
        is_broken = False
        try:
            found = _File.model_validate_json(path.read_bytes()).warm_ups
        except FileNotFoundError:
            found = ()
        except (OSError, pydantic.ValidationError):
            shows.say(
                f"warning: {shown(path)}: cannot be read: all warm-ups are {DEFAULT_S:g} s, "
                "and nights teach none (mend or delete it)"
            )
            found, is_broken = (), True
        return cls(path, {each.subject: each for each in found}, is_broken=is_broken)

    def of(self, subject: Subject) -> WarmUp | None:
        """Return the warm-up that the file has for a subject."""
        return self._known.get(subject)

    def seconds(self, subject: Subject) -> float:
        """Return the seconds of warm-up that a subject has in the next night."""
        known = self.of(subject)
        return known.seconds if known else DEFAULT_S

    def put(self, warm_up: WarmUp) -> None:
        """Set a warm-up."""
        self._is_changed = True
        self._known[warm_up.subject] = warm_up

    def save(self) -> None:
        """Write the file if a warm-up was set; HostError if it cannot be written."""
        if not self._is_changed:
            return
        ordered = tuple(self._known[subject] for subject in sorted(self._known))
        write_atomic(self._path, to_json(_File(warm_ups=ordered)))


def learn(
    archive: Archive,
    night: str,
    planned: PlannedNight,
    load: PlannedLoad,
    verdicts: Sequence[Verdict],
    warm_ups: WarmUps,
    now: str,
) -> list[str]:
    """Set the warm-ups of a load's frameworks for the next night; return what changed, as lines.

    One that was still warming up gets twice its warm-up, 40 s at most. Others get what their cold
    starts show, if there are enough.
    """
    changed = []
    visits = _visits(archive, load.exactly, planned.host_class)
    warming = {
        name
        for verdict in verdicts
        for name, estimate in verdict.estimates.items()
        if estimate.still_warming
    }
    for name in load.frameworks:
        subject = Subject(name, planned.sources[name], load.exactly, planned.host_class)
        before_s, known = load.warm_ups_s[name], warm_ups.of(subject)
        raised_in = known.raised_in if known else None
        seconds: float | None
        if name in warming:
            raised_in, starts = night, []
            # A later night may have raised it already, if this one was resumed.
            seconds = max(min(2 * before_s, LONGEST_S), known.seconds if known else 0.0)
            why = f"still warming up after {before_s:g} s in the night of {night}: doubled"
        else:
            starts = [*islice(_starts(archive, visits, subject, raised_in or ""), _MOST_STARTS)]
            seconds = learned_warm_up(starts)
            why = f"after {seconds or 0:g} s these starts run at 97 % of their plateau"
        if seconds is None or (known and (known.seconds, known.raised_in) == (seconds, raised_in)):
            continue
        if seconds != warm_ups.seconds(subject):
            changed.append(
                f"warm-up of {name} under {load.load}: {seconds:g} s from now on ({why})"
            )
        warm_ups.put(
            WarmUp(
                **subject._asdict(),
                seconds=seconds,
                why=why,
                starts=len(starts),
                nights=len({each.night for each in starts}),
                updated=now,
                raised_in=raised_in,
            )
        )
    return changed


def _visits(archive: Archive, load: str, host_class: str) -> list[Entry]:
    """Return the good visits under a load, the newest first."""
    found = [
        each
        for each in archive.entries.values()
        if each.turn and not each.turn.is_void and each.is_good and not each.is_trial
        if (each.load.text, each.load.host_class) == (load, host_class)
    ]
    return sorted(found, key=lambda each: each.started_at, reverse=True)


def _starts(
    archive: Archive, visits: Iterable[Entry], subject: Subject, since: str
) -> Iterator[Start]:
    """Yield the cold starts of a subject in nights after `since`, in the order of the visits."""
    for entry in visits:
        turn = entry.turn
        if turn is None or not turn.night > since:
            continue
        if (entry.framework, entry.source_sha256) != (subject.framework, subject.source_sha256):
            continue
        run = archive.read(entry.path).runs[0]
        if run.warm_up and run.seconds:
            # The last second of the warm-up is a partial one, and often that of the run.
            whole = (each for each in run.seconds if each.length_s >= _WHOLE_S)
            rates = (*run.warm_up[:-1], *(each.messages / each.length_s for each in whole))
            yield Start(turn.night, rates)
