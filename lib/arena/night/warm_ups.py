"""The warm-ups of visits: 10 s, or what nights have shown, in results/host/warm-ups.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import pydantic
from pydantic import Field

from arena.base.model import Frozen, to_json
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.writing import write_atomic
from arena.judge.verdicts import Verdict
from arena.night.schedule import PlannedLoad, PlannedNight
from arena.record.times import UtcTime
from parsers.common.figures import Whole

DEFAULT_S = 10.0
LONGEST_S = 40.0

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


class PlannedWarmUp(Frozen):
    """One warm-up, and why it is that long.

    `starts` of servers taught it to an older runner, which shortened warm-ups, too.
    """

    # Older files say more of an entry, which nothing needs any more.
    model_config = pydantic.ConfigDict(extra="ignore")

    framework: str
    source_sha256: str
    load: str
    host_class: str
    seconds: Annotated[float, Field(gt=0, le=LONGEST_S)]
    why: str
    updated: UtcTime
    starts: Annotated[Whole, Field(exclude=True)] = 0

    @property
    def subject(self) -> Subject:
        """What it is for."""
        return Subject(self.framework, self.source_sha256, self.load, self.host_class)


class _File(Frozen):
    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    about: str = _ABOUT
    warm_ups: tuple[PlannedWarmUp, ...]


class WarmUps:
    """The warm-ups of one host's file. Only `save` writes it, but never over a broken one.

    What starts have taught is not read, so the next `save` removes it.
    """

    def __init__(self, path: Path, known: dict[Subject, PlannedWarmUp], *, is_broken: bool) -> None:
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
        return cls(
            path, {each.subject: each for each in found if not each.starts}, is_broken=is_broken
        )

    def seconds(self, subject: Subject) -> float:
        """Return the seconds of warm-up that a subject has in the next night."""
        known = self._known.get(subject)
        return known.seconds if known else DEFAULT_S

    def put(self, warm_up: PlannedWarmUp) -> None:
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
    night: str,
    planned: PlannedNight,
    load: PlannedLoad,
    verdicts: Sequence[Verdict],
    warm_ups: WarmUps,
    now: str,
) -> list[str]:
    """Double the warm-ups of those that were still warming up, to 40 s at most; return the changes.

    A changed source begins again with 10 s.
    """
    changed = []
    warming = {
        name
        for verdict in verdicts
        for name, estimate in verdict.estimates.items()
        if estimate.still_warming
    }
    for name in sorted(warming & set(load.frameworks)):
        subject = Subject(name, planned.sources[name], load.exactly, planned.host_class)
        before_s, known_s = load.warm_ups_s[name], warm_ups.seconds(subject)
        # A later night may have raised it already, if this one was resumed.
        seconds = min(2 * before_s, LONGEST_S)
        if seconds <= known_s:
            continue
        why = f"still warming up after {before_s:g} s in the night of {night}: doubled"
        changed.append(f"warm-up of {name} under {load.load}: {seconds:g} s from now on ({why})")
        warm_ups.put(PlannedWarmUp(**subject._asdict(), seconds=seconds, why=why, updated=now))
    return changed
