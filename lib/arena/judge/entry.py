"""Entries: summaries of records, so small that a hundred thousand fit in memory.

They are enough to pick the rows of a board and to show a history, without the records.
"""

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import log
from typing import Any, Literal, NamedTuple

from arena.judge.beside import Bounds, of_image, of_run, of_steps
from arena.judge.derive import Derived, derive
from arena.judge.flags import UNPROVEN
from arena.judge.headline import figure_of, is_sure
from arena.judge.load_key import Key, LoadKey, load_of
from arena.judge.ranking import Figure
from arena.judge.steady import Start, start_of
from arena.record.measurement import Run, Second
from arena.record.record import Epoch, Record
from arena.what.metrics import Metric
from arena.what.profile import MeasuredProfile


class Turn(NamedTuple):
    """What blocks need of a visit: its place in the night, and its first run.

    `is_classic`: it has all runs of the profile, so its record ranks the framework in the classic
    way too. `figure` is in the load's metric, None without a run.
    `drift` is log(rate of the run's second half / first half), or of CPU time log(first half /
    second half): above 0, the server was getting better. `disturbed` counts the runs that
    were. `timed` counts the calls in its latencies, and `tail` has the longest of them. `beside`
    are the other figures of that run, `steps` the p99 of each step, and `start` what the start
    before it cost, if that was measured.
    """

    night: str
    block: int
    blocks: int
    attempt: int
    repeat: int
    size: int
    is_twin: bool
    is_void: bool
    is_classic: bool
    disturbed: int
    figure: Figure | None
    drift: float | None
    messages_per_data_frame: float | None
    timed: int = 0
    beside: tuple[Bounds, ...] = ()
    steps: tuple[Bounds, ...] = ()
    start: Start | None = None
    tail: tuple[tuple[float, int], ...] = ()


# Which types are ranked against each other.
Division = Literal["framework", "engine"]
DIVISIONS: dict[str, Division] = {
    "production": "framework",
    "tuned": "framework",
    "engine": "engine",
}

# What is appended to the name of a framework that is entered a second time.
TWIN = "~twin"


@dataclass(frozen=True, slots=True)
class Entry:
    """The summary of one record. `value`, `low` and `high` are in its metric, None if it is not ok.

    `low` to `high` is the interval that ranks it. `made_by` is the load generator and its version.
    `epoch` has a digest of each part of its host's epoch, such as `kernel=1f0a mitigations=…`; it
    is empty if the record has none. `failure` is the reason that the record states. `problem` says
    why the record does not count: it is not as it was saved. `turn` is that of a visit of a block.
    `offers` are the server's standard services in words, empty if it was not asked.
    """

    path: str
    sha256: str
    status: Literal["ok", "failed", "invalid"]
    started_at: str
    framework: str
    type: str
    load: LoadKey
    is_trial: bool
    is_ranked: bool
    value: float | None
    low: float | None
    high: float | None
    source_sha256: str
    made_by: str | None
    machine: str
    epoch: str
    commit: str | None
    failure: str | None
    flags: tuple[str, ...]
    problem: str
    turn: Turn | None
    offers: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it has a figure that counts."""
        return self.status == "ok" and not self.problem

    @property
    def is_proven(self) -> bool:
        """Whether it is as it was saved, and nothing of its proof is missing."""
        return not self.problem and UNPROVEN not in self.flags

    @property
    def is_classic(self) -> bool:
        """Whether it has all runs of its profile, in a visit of its own or the first block's."""
        return self.turn is None or self.turn.is_classic

    @property
    def is_listed(self) -> bool:
        """Whether histories have it: the visits of a night are one estimate together."""
        return self.is_classic or self.status != "ok"

    @property
    def name(self) -> str:
        """Its framework's name; with a mark if it was entered a second time, as a twin."""
        return self.framework + TWIN * (self.turn is not None and self.turn.is_twin)

    def values(self) -> tuple[Any, ...]:
        """Return the values from which `entry_from` makes the same entry."""
        return tuple(getattr(self, each.name) for each in fields(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it so that entries of other processes share their texts, too."""
        return entry_from, self.values()


def entry_from(*values: Any) -> Entry:
    """Return the entry with these values, which come from another process or a file.

    Entries share equal texts and loads. TypeError, ValueError or LookupError if the values are not
    those of an entry.
    """
    texts: list[Any] = [sys.intern(each) if isinstance(each, str) else each for each in values]
    texts[_LOAD] = _load(*values[_LOAD])
    texts[_FLAGS] = tuple(map(sys.intern, values[_FLAGS]))
    if values[_TURN]:
        turn = Turn._make(_shared(values[_TURN]))
        texts[_TURN] = turn._replace(figure=turn.figure and Figure(*turn.figure))
    return Entry(*texts)


def _shared(value: Any) -> Any:
    """Return a value with tuples for the lists that JSON has made of them, and shared texts."""
    if isinstance(value, list | tuple):
        return tuple(map(_shared, value))
    return sys.intern(value) if isinstance(value, str) else value


@cache
def _load(*values: Any) -> LoadKey:
    profile, connections, generator, metric, *rest = values
    return LoadKey(profile, connections, generator, Metric(metric), *rest)


_NAMES = [each.name for each in fields(Entry)]
_LOAD, _FLAGS, _TURN = map(_NAMES.index, ("load", "flags", "turn"))


def entry_of(
    record: Record, sha256: str = "", problem: str = "", *, is_proven: bool = True
) -> Entry:
    """Return a record's entry; `sha256` is its file's, and `problem` says why it does not count.

    It `is_proven` if its sum and its raw outputs are there.
    """
    derived = derive(record)
    headline = derived.headline
    flags = derived.flags if is_proven else (*derived.flags, UNPROVEN)
    maker, git = record.provenance.generator, record.provenance.git
    return Entry(
        path=record.path,
        sha256=sha256,
        status=record.status,
        started_at=record.started_at,
        framework=record.framework.name,
        type=record.framework.type,
        load=load_of(record),
        is_trial=record.is_trial,
        is_ranked=_is_ranked(record, derived, flags),
        value=headline.value if headline else None,
        low=headline.low if headline else None,
        high=headline.high if headline else None,
        source_sha256=record.framework.source_sha256,
        made_by=f"{maker.name} {maker.version}" if maker else None,
        machine=record.provenance.host.words,
        epoch=_epoch_words(record.provenance.epoch),
        commit=git.commit + ("-dirty" if git.dirty else "") if git else None,
        failure=record.failure.reason if record.failure else None,
        flags=flags,
        problem=problem,
        turn=_turn(record, derived),
        offers=record.offers.words if record.offers else "",
    )


def _is_ranked(record: Record, derived: Derived, flags: Sequence[str]) -> bool:
    """Return whether a record can have a rank, on a board with others."""
    it = derived.headline
    if it is None or not it.value:
        return False
    return is_sure(it.low, it.high, len(record.runs), record.runs[it.run - 1].points, flags)


def _turn(record: Record, derived: Derived) -> Turn | None:
    if (visit := record.visit) is None:
        return None
    profile, runs = record.profile, record.runs
    first = runs[0] if runs and record.status == "ok" else None
    has_all = visit.block == 1 and len(runs) == profile.runs
    return Turn(
        night=visit.night,
        block=visit.block,
        blocks=visit.blocks,
        attempt=visit.attempt,
        repeat=visit.repeat,
        size=visit.size,
        is_twin=visit.is_twin,
        is_void=derived.is_void,
        is_classic=has_all and not (visit.is_twin or derived.is_void),
        disturbed=sum(map(bool, derived.disturbed)),
        figure=_in_block(profile.metric, first) if first else None,
        drift=_drift(profile, first) if first else None,
        messages_per_data_frame=packed_under_load(profile, first) if first else None,
        timed=_timed(first) if first else 0,
        beside=(*of_run(profile, first), *of_image(record)) if first else (),
        steps=tuple(of_steps(first)) if first else (),
        start=start_of(first) if first else None,
        tail=first.tail if first else (),
    )


def _in_block(metric: Metric, run: Run) -> Figure:
    """Return a run's figure as blocks compare it: the scatter of the blocks says how sure it is."""
    figure = figure_of(metric, run)
    is_found = run.search is not None and run.search.answer == "found"
    return Figure(figure.value, figure.value, figure.value) if is_found else figure


def _timed(run: Run) -> int:
    """Return how many calls the latencies of a run are of; OK ones if the generator is silent."""
    samples = run.latency_ns.samples
    return run.calls.ok if samples is None else samples


def _drift(profile: MeasuredProfile, run: Run) -> float | None:
    """Return how much faster, or cheaper, the second half of a run was; None if unknown."""
    if profile.load.is_start:
        return None
    if not profile.load.steadies:
        return drift_of_run(run.seconds)
    early, late = run.server.halves or (0.0, 0.0)
    return log(early / late) if early > 0 < late else None


def drift_of_run(seconds: Sequence[Second]) -> float | None:
    """Return log(rate of the second half / first half); None if that is not known.

    Of an odd number of seconds, the one in the middle is in neither half. A shorter one at the end,
    in which nothing new began, has no part in it.
    """
    if seconds and seconds[-1].length_s < seconds[0].length_s:
        seconds = seconds[:-1]
    half = len(seconds) // 2
    early, late = (
        sum(each.messages for each in part) / sum(each.length_s for each in part) if part else 0.0
        for part in (seconds[:half], seconds[len(seconds) - half :])
    )
    return log(late / early) if early > 0 < late else None


def packed_under_load(profile: MeasuredProfile, run: Run) -> float | None:
    """Return how many replies a DATA frame brought in a run; None if the frames were not counted.

    Messages that the client sent, which EchoSum and CollectSum count too, are in no such frame.
    """
    if not run.data_frames:
        return None
    return run.messages * profile.replies / profile.messages_per_call / run.data_frames


def epoch_changes(before: Entry, after: Entry) -> list[str]:
    """Return the parts of the epoch that differ between two records; none if one has no epoch."""
    if not before.epoch or not after.epoch:
        return []
    known = set(before.epoch.split())
    return [each.partition("=")[0] for each in after.epoch.split() if each not in known]


def _epoch_words(epoch: Epoch | None) -> str:
    return " ".join(
        f"{name}={hashlib.sha256(str(value).encode()).hexdigest()[:8]}"
        for name, value in (epoch.model_dump() if epoch else {}).items()
    )


def by_load(entries: Iterable[Entry]) -> dict[Key, list[Entry]]:
    """Return entries by load; the entries of each load keep their order."""
    found: dict[Key, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.load.key].append(entry)
    return dict(found)
