"""Learning warm-ups after a night: from many cold starts, and from servers still warming up."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from arena.judge.archive import Archive
from arena.judge.entry import Entry
from arena.judge.nights import Verdict
from arena.judge.warm_up import Start, learned_warm_up
from arena.night.planned import PlannedLoad, PlannedNight
from arena.night.warm_ups import LONGEST_S, Subject, WarmUp, WarmUps

# The newest starts are enough.
_MOST_STARTS = 60

# A second that is shorter is a partial one.
_WHOLE_S = 0.99


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
