"""Published records are what their raw outputs say, and what is derived from them is as published.

`differences.json` has each difference, and its reason. A rule that changes adds to it; a record or
a kept file is never changed to fit.
"""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.base.reading import sha256_of
from arena.machine.sentinel import Limits
from arena.record.record import Record
from tests.golden import kept, published


def test_every_raw_output_is_the_one_that_was_measured_and_parses_to_its_run() -> None:
    wrong: list[str] = []
    count = 0
    for path, record in published.records().items():
        for number, (run, raw) in enumerate(published.raw_outputs(record), 1):
            wrong += [f"{path}: run {number}: {each}" for each in _unlike(record, run, raw)]
            count += 1
    assert count >= 1979, "published runs were lost"
    kept.require_none("raw outputs", wrong)


def _unlike(record: Record, run: Any, raw: Path) -> Iterator[str]:
    """Yield what differs between a run in its record and its raw output, parsed again."""
    if sha256_of(raw) != run.raw.sha256:
        yield f"{raw.name} has another SHA-256"
    try:
        found = published.measured(record, raw)
    except ValueError as error:
        yield str(error)
        return
    for name, value in found.items():
        if value != (known := published.observed(run, name)):
            yield f"{name}: recorded {known!r:.200}, parsed {value!r:.200}"


def test_every_record_says_of_itself_what_is_kept() -> None:
    told = {path: published.told(record) for path, record in published.records().items()}
    kept.require("derived.json.xz", told)


def test_every_derived_field_is_derived_again_but_for_the_differences_that_are_listed() -> None:
    found: dict[str, Any] = {}
    frozen, known = kept.read("derived.json.xz"), kept.read("differences.json")
    for path, record in published.records().items():
        was, now = frozen[path], published.derived(record, _limits_at(record.started_at))
        differing = {
            name: {"published": was.get(name), "derived": now.get(name)}
            for name in was.keys() | now.keys()
            if was.get(name) != now.get(name)
        }
        if differing:
            why = known.get(path, {}).get("why", "")
            found[path] = {**dict(sorted(differing.items())), "why": why}
    kept.require("differences.json", found, lines=2)
    assert all(each["why"] for each in found.values()), "a difference has no reason"


def _limits_at(time: str) -> Limits:
    """Return the limits in force on the host of the published records at a time."""
    since = kept.read("limits.json")["since"]
    times = sorted(since)
    return published.limits_of(since[times[max(bisect_right(times, time) - 1, 0)]])
