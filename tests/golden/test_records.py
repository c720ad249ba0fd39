"""Published records are what their raw outputs say, and what is derived from them is as published.

`differences.json` has each difference, and its reason. A rule that changes adds to it; a record or
a kept file is never changed to fit.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.base.reading import sha256_of
from arena.record.measurement import LimitsInForce
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
        # Older records have no tail.
        if value != (known := published.observed(run, name)) and (known or name != "tail"):
            yield f"{name}: recorded {known!r:.200}, parsed {value!r:.200}"


def test_every_record_of_an_older_schema_says_of_itself_what_is_kept() -> None:
    kept_of = kept.read("derived.json.xz")
    for path, text in published.texts().items():
        if json.loads(text)["schema"] <= 2:
            known = kept_of[path]
            if headline := known.get("headline"):
                known["headline"] = {
                    name: headline[name] for name in published.TOLD if name in headline
                }
            assert published.told(text) == known, path


def test_every_derived_field_is_as_published_but_for_the_differences_that_are_listed() -> None:
    found = {path: published.derived(it) for path, it in published.records().items()}
    known, frozen = kept.read("differences.json"), kept.read("derived.json.xz")
    if kept.WRITE:
        frozen = {path: frozen.get(path, now) for path, now in found.items()}
        kept.write("derived.json.xz", frozen)
    differing: dict[str, Any] = {}
    for path, now in found.items():
        was = frozen[path]
        if each := {
            name: {"published": was.get(name), "derived": now.get(name)}
            for name in sorted(was.keys() | now.keys())
            if was.get(name) != now.get(name)
        }:
            differing[path] = {**each, "why": known.get(path, {}).get("why", "")}
    kept.require("differences.json", differing, lines=2)
    assert all(each["why"] for each in differing.values()), "a difference has no reason"
    assert frozen.keys() == found.keys()


def test_the_limits_of_the_host_judge_as_was_noted_on_the_day() -> None:
    noted = 0
    for path, record in published.records().items():
        noted += record.noted is not None
        by_limits = published.derived(record, _limits_at(record.started_at))
        assert by_limits == published.derived(record), path
    assert noted > 100, "noted verdicts were lost"


def _limits_at(time: str) -> LimitsInForce:
    """Return the limits in force on the host of the published records at a time."""
    since = kept.read("limits.json")["since"]
    times = sorted(since)
    return published.limits_of(since[times[max(bisect_right(times, time) - 1, 0)]])
