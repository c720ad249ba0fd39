"""Records: one page each, with every run, its conditions, and a command that repeats it."""

import hashlib
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from arena.base.reading import last_lines
from arena.base.units import format_duration
from arena.judge.archive import NIGHTS
from arena.judge.derive import derive
from arena.judge.entry import Entry
from arena.judge.figure_words import rounded_interval, rounded_words
from arena.judge.flags import UNPROVEN, disturbed_words, stalled_words
from arena.judge.host_class import host_class_of
from arena.judge.load_key import Key
from arena.judge.row import GRAVITY
from arena.machine.cpus import quota_words
from arena.machine.sentinel import seconds_words, share_words, value_of
from arena.record.bundle import RAW
from arena.record.measurement import Disturbance, Watch
from arena.record.record import Record
from arena.site import words
from arena.site.charts.latency import latency_picture
from arena.site.edition import DIGITS, INDEX, Edition, Site
from arena.site.kinds import SHOWN, run_picture
from arena.site.outputs import Page
from arena.site.strips import Strip, line
from arena.site.template import frame, render
from arena.what.environment import (
    FLEET_GENERATOR,
    IMAGES,
    PROGRAMS,
    REPEATABLE,
    TRIAL,
    image_variable,
    program_variable,
)

# The maximum length of a log, and of a command line, on a page.
_LOG_LINES = 30
_LONGEST_LINE = 400
_LONGEST_COMMAND = 8000

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class Around:
    """The context of a record: its board, if it is on one, and its neighbours in time.

    These are paths below the site's root; a neighbour without a page is its JSON. `bundle` is the
    folder of the bundle that it is in, below the checkout, and `has_raw` says whether that has its
    raw outputs.
    """

    board: str | None
    older: str | None
    newer: str | None
    bundle: str | None
    has_raw: bool


@dataclass(frozen=True)
class Checked:
    """One check of the contract: its results before and after the runs, and detail and wire."""

    name: str
    before: str
    after: str
    seen: Sequence[tuple[str, str]]


def outputs(site: Site) -> Iterator[Page]:
    """Yield a page for every record that some edition shows, as the newest of them shows it.

    Of the current records, the others have their JSON.
    """
    made: set[str] = set()
    for edition in site.editions:
        boards, neighbours = _boards(edition), _neighbours(edition)
        for path, entry in edition.shown_records.items():
            if (page := edition.record(path)) in made:
                continue
            made.add(page)
            epoch = _epoch(entry)
            if epoch and epoch not in made:
                made.add(epoch)
                yield Page(epoch, frame(edition), partial(_make_epoch, site, edition, path))
            bundle = edition.archive.bundles.get(path)
            around = Around(
                boards.get((entry.load.key, entry.framework)),
                *neighbours[path],
                bundle=f"results/{NIGHTS}/{bundle.folder.name}" if bundle else None,
                has_raw=bundle is None or (bundle.folder / RAW).exists(),
            )
            make = partial(_make, site, edition, path, around)
            key = f"{frame(edition)} {entry.sha256} {entry.problem} {entry.flags} {around}"
            yield Page(page, key, make)
    current = site.current
    for path in current.entries.keys() - current.shown_records.keys():
        key = current.entries[path].sha256
        yield Page(current.record_json(path), key, partial(current.archive.text, path))


def _epoch(entry: Entry) -> str:
    """Return the page of a record's epoch, which others share; empty without one."""
    digest = hashlib.sha256(entry.epoch.encode()).hexdigest()[:DIGITS]
    return f"epochs/{digest}/{INDEX}" if entry.epoch else ""


def _make_epoch(site: Site, edition: Edition, path: str) -> str:
    epoch = edition.read(path).provenance.epoch
    return render(site, "epoch.html.j2", _epoch(edition.entries[path]), edition, epoch=epoch)


def _boards(edition: Edition) -> dict[tuple[Key, str], str]:
    """Return the board of each load and framework."""
    found: dict[tuple[Key, str], str] = {}
    for board in edition.boards:
        page = edition.board(board)
        found |= {(board.key, row.framework): page for row in board.rows}
    return found


def _neighbours(edition: Edition) -> dict[str, tuple[str | None, str | None]]:
    """Return the records before and after each shown one, of the same profile and framework."""
    keys = {path.rpartition("/")[0] for path in edition.shown_records}
    histories: dict[str, list[str]] = defaultdict(list)
    for path in sorted(edition.entries):
        if (key := path.rpartition("/")[0]) in keys:
            histories[key].append(path)

    older: dict[str, str] = {}
    newer: dict[str, str] = {}
    for history in histories.values():
        for first, second in pairwise(history):
            older[second], newer[first] = map(edition.page_or_json, (first, second))
    return {path: (older.get(path), newer.get(path)) for path in edition.shown_records}


def _make(site: Site, edition: Edition, path: str, around: Around) -> str:
    record, entry = edition.read(path), edition.entries[path]
    runs, kind, checks = record.runs, type(record.profile.load), _checked(record)
    log = _name(record.failure.log) if record.failure and record.failure.log else None
    logged = edition.archive.log(path, log) if log else None
    provenance, derived, overrides = record.provenance, derive(record), _overrides(record)
    it = derived.headline
    figures = (record.profile.metric, it.value, it.low, it.high) if it else None
    number = it.run if it else None
    pictures = latency_picture(record, number), run_picture(record, number)
    parts: list[Any] = [each for it in runs for each in (it, *it.steps, *it.points, *it.generators)]
    return render(
        site,
        "record.html.j2",
        edition.record(path),
        edition,
        record=record,
        entry=entry,
        derived=derived,
        about_runs=SHOWN[kind].about_runs,
        warm_ups=_warm_ups(record),
        watched=_watched(record, derived.disturbed),
        host_class=host_class_of(record),
        connections=words.connections(kind, record.profile.connection_count),
        around=around,
        headline=rounded_words(*figures, entry.flags) if figures else "",
        bar=rounded_interval(*figures, entry.flags) if figures else "",
        said={
            "disturbed": disturbed_words(derived.disturbed),
            "stalled": stalled_words(runs),
            UNPROVEN: edition.archive.missing_proof(path) if UNPROVEN in entry.flags else "",
        },
        # The others are in the table below the picture of all latencies.
        columns=[
            name
            for name in ("mean", "p50", "p90", "p99", "p999", "max")
            if any(getattr(run.latency_ns, name) is not None for run in runs)
        ],
        quota_words=quota_words,
        has_bounds=any(each.latency_ns.at_least for each in parts),
        raws=[_name(run.raw.path) for run in runs],
        path=path,
        epoch=_epoch(entry),
        log=None if logged is None else log,
        log_lines="\n".join(
            _cut(line, _LONGEST_LINE) for line in last_lines(logged or b"", _LOG_LINES).splitlines()
        ),
        pictures=[each for each in pictures if each],
        has_percentiles=any(run.latency_ns.p50 for run in runs),
        checks=checks,
        notable=[check for check in checks if {check.before, check.after} & {"warn", "fail"}],
        generated_by=_command(provenance.generator.argv) if provenance.generator else "",
        served_by=_command(provenance.runtime.argv) if provenance.runtime else "",
        commit=_commit(record),
        repeat=_repeat(record),
        overrides=overrides,
        program=[name for name in PROGRAMS if name in overrides],
    )


def _warm_ups(record: Record) -> list[tuple[int, int, int, Strip]]:
    """Return the warm-ups that were counted: run, seconds, the most in one of them, and all drawn.

    That of a visit ends within a second, which is left out.
    """
    whole = [run.warm_up[: -1 if record.visit else None] for run in record.runs]
    return [
        (number, len(seconds), max(seconds), line([(it, it, it) for it in seconds]))
        for number, seconds in enumerate(whole, 1)
        if len(seconds) > 1 and max(seconds)
    ]


def _name(path: str) -> str:
    """Return a raw output's file name; whatever its path, it is in its record's folder."""
    return PurePosixPath(path).name


def _checked(record: Record) -> list[Checked]:
    """Return each check once, in order; a check that ran twice has its worst result."""
    both = record.contract, record.contract_after
    found = []
    for name in dict.fromkeys(check.check for checks in both for check in checks):
        own = [[check for check in checks if check.check == name] for checks in both]
        before, after = (
            max((check.status for check in checks), key=GRAVITY.__getitem__, default="–")
            for checks in own
        )
        seen = dict.fromkeys((it.detail, it.wire) for checks in own for it in checks)
        found.append(Checked(name, before, after, [each for each in seen if any(each)]))
    return found


def _command(argv: Sequence[str]) -> str:
    return _cut(shlex.join(argv), _LONGEST_COMMAND)


def _commit(record: Record) -> str | None:
    git = record.provenance.git
    return git.commit if git and _COMMIT.fullmatch(git.commit) else None


def _overrides(record: Record) -> dict[str, str]:
    """Return the overrides without the programs and the images of generators that took no part."""
    name = "volley" if record.profile.generator == FLEET_GENERATOR else record.profile.generator
    own = {program_variable(name), image_variable(name)}
    others = {*PROGRAMS, *IMAGES} - own
    return {key: it for key, it in record.provenance.overrides.items() if key not in others}


def _repeat(record: Record) -> str:
    """Return shell commands that repeat the measurement: this load, and no other of its profile.

    A visit is one of a night, so they repeat the framework's part of it.
    """
    lines = []
    if commit := _commit(record):
        lines.append(f"git checkout {commit}")
    overrides, runtime, visit = _overrides(record), record.provenance.runtime, record.visit
    parts = [f"{name}={shlex.quote(overrides[name])}" for name in REPEATABLE if name in overrides]
    parts += ["./scripts/benchmark.sh", record.framework.name, record.profile.name]
    if record.profile.generator == FLEET_GENERATOR:
        parts += ["--fleet", "tls://COORDINATOR:8786"]
    else:
        parts += ["--generator", shlex.quote(record.profile.generator)]
    count = record.profile.connection_count
    is_one_of_many = record.profile.record_connections != (count,)
    chosen = {"CONNECTIONS": str(count)} if is_one_of_many else {}
    for name, flag in TRIAL.items():
        if value := overrides.get(name, chosen.get(name)):
            parts += [flag, shlex.quote(value)]
    if visit:
        parts += ["--blocks", str(visit.blocks)]
        if "DURATION" in overrides and visit.warm_up_s:
            parts += ["--block-warm-up", format_duration(visit.warm_up_s)]
    if runtime:
        parts += ["--runtime", shlex.quote(runtime.name)]
    if (quota := record.provenance.cpus.server_quota) is not None:
        parts += ["--server-quota", f"{quota:g}"]
    lines.append(" ".join(parts))
    return "\n".join(_cut(line, _LONGEST_COMMAND) for line in lines)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _times(values: Sequence[float]) -> str:
    """Return the range of some times, as milliseconds."""
    ends = dict.fromkeys(f"{each * 1000:.3g}" for each in (min(values), max(values)))
    return "–".join(ends) + " ms"


# The signals in the order of the table: their field, their words, and how a value is shown.
_SIGNALS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("steal", "Steal: CPU time that the hypervisor took", share_words),
    ("foreign", "CPU time of other processes", share_words),
    ("softirq", "Softirq: interrupts of the network, disks and timers", share_words),
    ("io", "Time in which all waited for a disk", share_words),
    ("memory", "Time in which all waited for memory", share_words),
    ("cpu", "Time in which some waited for a CPU: mostly our own load", share_words),
    ("throttled_s", "Throttled by a control group", seconds_words),
    ("thermal", "Throttled because of heat", "{:,} times".format),
    ("oom_kills", "Killed for lack of memory", "{:,} processes".format),
    ("swapped_pages", "Pages swapped", "{:,}".format),
    ("involuntary_switches", "Involuntary context switches", "{:,}".format),
    ("clock_jump_s", "Jump of the clock", seconds_words),
    ("spin_s", "A fixed computation on each CPU took", _times),
    ("copy_s", "A fixed copy on each CPU took", _times),
)


def _foreign(watch: Watch, *, in_tasks: bool | None) -> float | None:
    """Return the CPU time of others as it is judged, but never less than nothing."""
    value = value_of("foreign", watch, softirq_in_tasks=in_tasks)
    return None if value is None else max(0.0, value)


def _watched(
    record: Record, disturbed: Sequence[Sequence[Disturbance]]
) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the signals that some run has, each with a cell for each run.

    That is a text, and whether the signal was over its limit.
    """
    in_tasks = record.limits.softirq_in_tasks if record.limits else None
    found = []
    for field, title, shown in _SIGNALS:
        values = [
            _foreign(run.watch, in_tasks=in_tasks)
            if run.watch and field == "foreign"
            else getattr(run.watch, field, None)
            for run in record.runs
        ]
        # The verdict on a calibration is about its change, which has a name of its own.
        names = {field, field.replace("_s", "_off")}
        over = [not names.isdisjoint(it.signal for it in own) for own in disturbed]
        if any(value is not None and value != () for value in values):
            cells = ["–" if value in (None, ()) else shown(value) for value in values]
            found.append((title, list(zip(cells, over, strict=True))))
    return found
