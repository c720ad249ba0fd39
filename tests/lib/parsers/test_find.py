"""What `volley find` prints: its answer and its windows, or it is refused in a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.judge.entry import entry_of
from arena.judge.figure_words import figure_words, rounded_words
from arena.load.measurements import of_find
from arena.record.measurement import Measurement
from arena.what.metrics import Metric
from parsers.common.values import ParseError
from parsers.find import FindReport, parse
from tests.fakes import a_profile, a_record, a_run
from tests.lib.parsers.changes import put

WINDOW = {
    "rate": 400, "settle_s": 0.25, "length_s": 1.0, "calls": 410, "over": 2, "failed": 1,
    "wrong": 0, "p99_ns": 9_000_000, "late": False, "kept": True,
}  # fmt: skip
REPORT: dict[str, Any] = {
    "find": 1, "version": "0.1.0", "date": "2026-01-01T00:00:05Z", "name": "", "target": "l:1",
    "call": "p.S/M", "p99_limit_ns": 10_000_000, "failed_limit": 0.001, "elapsed_s": 71.5,
    "answer": {"kind": "found", "rate": 412.5, "low": 400.0, "high": 425.0,
               "volley_was_the_limit": False},
    "steps": [WINDOW, {**WINDOW, "rate": 800, "calls": 790, "over": 300, "failed": 0, "wrong": 0,
                       "p99_ns": None, "late": True, "kept": False}],
}  # fmt: skip
BELOW = {"kind": "below", "rate": 100.0, "low": None, "high": 100.0}
AT_LEAST = {"kind": "at-least", "rate": 9600.0, "low": 9600.0, "high": None}
CAPACITY: dict[str, Any] = {
    "kind": "capacity", "metric": "calls/s within the limit", "messages_per_call": 1,
    "generator": "volley", "runs": 1,
}  # fmt: skip


def changed(*changes: tuple[str, Any]) -> FindReport:
    report = json.loads(json.dumps(REPORT))
    for path, value in changes:
        put(report, [int(part) if part.isdigit() else part for part in path.split(".")], value)
    return parse(json.dumps(report))


def test_a_search_has_its_answer_with_an_interval_and_its_windows() -> None:
    report = changed()
    assert (report.answer, report.rate, report.at_least, report.at_most) == (
        "found", 412.5, 400.0, 425.0,
    )  # fmt: skip
    first, second = report.windows
    assert (first.calls, first.over, first.failed, first.p99_ns, first.kept) == (
        410, 2, 1, 9_000_000, True,
    )  # fmt: skip
    assert (second.p99_ns, second.late, second.kept) == (None, True, False)


@pytest.mark.parametrize(
    ("answer", "bounds"), [(BELOW, (1.0, 100.0, 100.0)), (AT_LEAST, (9600.0, 9600.0, 1e7))]
)
def test_an_answer_that_is_only_a_bound_leaves_the_rest_open(
    answer: dict[str, Any], bounds: tuple[float, float, float]
) -> None:
    report = changed(("answer", answer))
    assert (report.at_least, report.rate, report.at_most) == bounds


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("find", 2, "`find` is 2: only schema 1"),
        ("steps", [], "`steps` has no window"),
        ("elapsed_s", 0, "`steps` has no window"),
        ("answer.kind", "maybe", "`answer.kind` must be found or below or at-least, is 'maybe'"),
        ("answer.low", 500.0, "`answer` has the rate 412.5, but the bounds 500 and 425"),
        ("answer.rate", None, "key `answer.rate` is missing"),
        ("steps.0.over", 411, "411 over the limit, 1 failed of 410 calls"),
        ("steps.1.rate", 0, "300 over the limit"),
        ("steps.1.late", "no", "must be true or false"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(path: str, value: Any, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        changed((path, value))


def measured(folder: Path, **changes: Any) -> Measurement:
    raw = folder / "run-1.json"
    raw.write_text(json.dumps({**REPORT, **changes}))
    return of_find(raw, a_profile(**CAPACITY))


def record_of(measurement: Measurement) -> Any:
    run = a_run().changed(**{name: getattr(measurement, name) for name in Measurement.model_fields})
    return a_record(runs=[run], profile=CAPACITY)


def test_a_found_rate_is_compared_without_its_own_interval_as_blocks_show_the_scatter(
    tmp_path: Path,
) -> None:
    found = measured(tmp_path)
    assert (found.rate_at_least, found.rate, found.rate_at_most) == (400.0, 412.5, 425.0)
    assert (found.calls.ok, found.calls.failed, found.messages) == (1199, {"not OK": 1}, 1199)
    assert found.search
    assert [each.rate for each in found.search.windows] == [400, 800]
    entry = entry_of(record_of(found))
    assert (entry.low, entry.value, entry.high) == (400.0, 412.5, 425.0)


def test_what_is_below_the_lowest_rate_says_so_and_a_late_generator_bounds(tmp_path: Path) -> None:
    metric = Metric.CAPACITY
    below = entry_of(record_of(measured(tmp_path, answer=BELOW)))
    assert "below-lowest" in below.flags
    assert "client-bound" not in below.flags
    assert figure_words(metric, 100.0, 100.0) == "< 100 calls/s within the limit"
    assert rounded_words(metric, 100.0, 1.0, 100.0) == "< 100"
    bound = entry_of(record_of(measured(tmp_path, answer=AT_LEAST)))
    assert "client-bound" in bound.flags
    assert rounded_words(metric, 9600.0, 9600.0, 9600.0, bound.flags).startswith("≥ ")


def test_wrong_replies_of_a_search_are_told(tmp_path: Path) -> None:
    found = measured(tmp_path, steps=[{**WINDOW, "wrong": 1}])
    assert found.wrong.calls == 1
