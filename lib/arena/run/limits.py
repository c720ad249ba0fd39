"""The limits file: what the sentinel's limits are here, learned from the host's own records.

`results/host/limits.json` is for people to read, and can be deleted: it is made again from the
records. It changes only between commands, never while one measures.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.base.errors import HostError, UsageError
from arena.base.model import to_json, validated
from arena.base.progress import Progress
from arena.base.reading import read_json
from arena.base.text import shown
from arena.base.units import format_bytes
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.machine import facts
from arena.machine.sentinel import HostFiles, Limits, names, share_words
from arena.machine.sentinel.limits import (
    FIRST,
    MOST,
    MOST_WINDOWS,
    Background,
    look,
    middle,
    value_of,
)
from arena.record.measurement import Watch
from arena.record.record import Host
from arena.record.times import parse_utc, utc_now

_BETWEEN = timedelta(hours=1)
_A_DAY = timedelta(days=1)

_WORTH_A_WORD = 0.003

# Records of other hosts may lie between ours.
_MOST_FILES = 600


def limits_file(workspace: Workspace) -> Path:
    """Return the path of the limits file."""
    return workspace.host / "limits.json"


def limits_here(workspace: Workspace, progress: Progress, *, is_kept: bool = True) -> Limits:
    """Return this host's limits for a whole command; learn from its records once an hour.

    The background of the host is measured first, for eight seconds, and once a day after that.
    A file that is broken or of another host does not count, and a line says so. One that cannot be
    written is reported: these limits then hold for this command, as they do if not `is_kept`.
    """
    host = facts.describe(None)
    path, now = limits_file(workspace), utc_now()
    kept = _kept(path, host_words(host), progress)
    is_known = kept is not None and _has_background(kept, now)
    if kept and is_known and kept.learned_at and _is_fresh(kept.learned_at, now, _BETWEEN):
        return kept
    first = Limits.first(host_words(host), is_virtual=_is_virtual(host))
    windows = list(_windows(workspace.results, first.host))
    learned = first.taught(windows, now)
    if kept and is_known:
        background, looked_at = kept.background, kept.looked_at
    else:
        background, looked_at = _background(learned, progress), now
    if background:
        learned = first.beside(background).taught(windows, now)
    learned = learned.changed(looked_at=looked_at)
    if is_kept:
        try:
            write_atomic(path, to_json(learned))
        except HostError as error:
            progress.say(f"warning: {error}")
    return learned


def host_words(host: Host) -> str:
    """Return what tells a host from others with other limits."""
    memory, where = format_bytes(host.memory_bytes), host.virtualisation or "none"
    return f"{host.words}, {memory}, Linux {host.kernel}, virtualisation {where}"


def _is_virtual(host: Host) -> bool:
    """Return whether a hypervisor is below this host; `none in docker` is a mere container."""
    return not (host.virtualisation or "none").startswith("none")


def _kept(path: Path, host: str, progress: Progress) -> Limits | None:
    """Return the limits in the file; None if there are none of this host."""
    if not path.exists():
        return None
    try:
        kept = validated(Limits, read_json(path), path, list(Limits.model_fields))
    except UsageError as error:
        progress.say(f"{error}: the limits are learned again")
        return None
    if kept.host != host:
        progress.say(
            f"{shown(path)}: is of another host ({kept.host}): the limits are learned again"
        )
        return None
    return kept


def _is_fresh(then: str, now: str, longest: timedelta) -> bool:
    age = parse_utc(now) - parse_utc(then)
    return timedelta() <= age < longest


def _has_background(kept: Limits, now: str) -> bool:
    """Return whether the host need not be looked at now: it was, or foreign CPU is not judged.

    A host that was not idle is looked at again after an hour.
    """
    if kept.in_force("foreign") is None:
        return True
    longest = _A_DAY if kept.background else _BETWEEN
    return kept.looked_at is not None and _is_fresh(kept.looked_at, now, longest)


def _background(limits: Limits, progress: Progress) -> Background | None:
    """Measure the foreign CPU of this host while we are idle; None if it is unknown, or too much.

    It is told if it is worth a word, with the processes that make it.
    """
    with progress.waiting("look at what this host does by itself"):
        watches, busy = look(HostFiles())
    in_tasks = limits.softirq_in_tasks
    values = (value_of("foreign", each, softirq_in_tasks=in_tasks) for each in watches)
    share = middle([value for value in values if value is not None])
    if share is None:
        return None
    if share > MOST:
        largest = f" (largest: {names(busy)})" if busy else ""
        progress.say(
            f"warning: other programs use {share_words(share)} of this host's CPUs{largest}. "
            f"Above {share_words(limits.in_force('foreign') or 0)}, runs are marked as disturbed: "
            "stop them, or wait."
        )
        return None
    who = f" ({names(busy)})" if busy else ""
    if share >= _WORTH_A_WORD:
        quiet = share_words(share + FIRST["foreign"])
        progress.say(f"background: {share_words(share)} of the CPUs{who}; up to {quiet} is quiet")
    return Background(share=round(share, 6), processes=busy)


def _windows(results: Path, host: str) -> Iterator[Watch]:
    """Yield the windows in the newest records of a host, the newest first.

    Only the parts that matter are validated: a whole record takes much longer.
    """
    found = 0
    files = sorted(results.glob("*/*/*/*.json"), key=lambda path: path.name, reverse=True)
    for path in files[:_MOST_FILES]:
        for watch in _watches(path, host):
            yield watch
            found += 1
        if found >= MOST_WINDOWS:
            return


def _watches(path: Path, host: str) -> list[Watch]:
    try:
        record: Any = json.loads(path.read_bytes())
        if host_words(Host.model_validate(record["provenance"]["host"])) != host:
            return []
        seen = [run["watch"] for run in record["runs"] if run.get("watch")]
        return [Watch.model_validate(each) for each in reversed(seen)]
    except (OSError, ValueError, ValidationError, TypeError, KeyError, AttributeError):
        return []  # A broken record teaches nothing; the archive reports it.
