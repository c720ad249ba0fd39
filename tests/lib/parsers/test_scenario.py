"""What `volley run` prints: its figures agree with each other, or it is refused in a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from parse_scenario import parse_file
from parsers.common.values import ParseError
from parsers.scenario import ScenarioReport, parse_run
from tests.lib.parsers.changes import put

FOLDER = Path(__file__).parents[2] / "fixtures" / "volley" / "scenario"
FAULTS = (FOLDER / "faults.json").read_bytes()


def changed(*changes: tuple[tuple[str | int, ...], Any]) -> ScenarioReport:
    """Read the run with failures, with these values put into it; None takes a member away."""
    report = json.loads(FAULTS)
    for place, value in changes:
        put(report, place, value)
    return parse_run(json.dumps(report))


def test_a_closed_load_is_its_steps_and_their_sum() -> None:
    report = parse_file(FOLDER / "crud.json")
    assert [step.name for step in report.steps] == ["create", "change", "remove"]
    assert {(step.count, step.calls.ok, step.latency.samples) for step in report.steps} == {
        (14_460, 14_460, 14_460)
    }
    assert (report.calls.ok, report.calls.failed, report.calls.cut) == (43_380, {}, 0)
    assert report.requests_per_s == pytest.approx(43_380 / report.elapsed_s)
    assert (report.latency.kind, report.latency.samples) == ("service", 43_380)
    assert (report.iterations.due, report.iterations.ok) == (14_460, 14_460)
    assert sum(each.ok for each in report.seconds) == 43_380


def test_at_a_given_rate_the_seconds_have_what_was_due_and_what_began() -> None:
    report = parse_file(FOLDER / "paced.json")
    assert report.latency.kind == "response"
    assert (report.iterations.due, report.iterations.dropped) == (130, 54)
    first, second = report.seconds
    assert (first.intended, second.intended) == (100, 30)
    assert (first.sent or 0) + (second.sent or 0) == 76
    assert first.length_s == 1.0
    assert second.length_s == pytest.approx(0.351431973)
    assert first.p50_ns
    assert first.p50_ns > 3 * 20e6  # of whole iterations: three requests


def test_failed_requests_have_their_reasons_and_open_ones_are_cut() -> None:
    report = parse_run(FAULTS.decode())
    assert report.calls.failed == {"missing value": 21, "status": 31, "timeout": 25}
    assert report.calls.cut == report.iterations.cut == 7
    assert report.steps[2].calls.failed == {"status": 7, "timeout": 8}
    assert report.steps[2].calls.cut == 2


def test_steps_of_several_scenarios_have_their_names_and_setup_does_not_count() -> None:
    report = parse_file(FOLDER / "two.json")
    names = ["crud.create", "crud.change", "crud.remove", "look.create"]
    assert [step.name for step in report.steps] == names
    assert report.calls.ok == sum(step.calls.ok for step in report.steps)
    # Iterations of different kinds have no latency in common.
    assert {each.p50_ns for each in report.seconds} == {None}


def test_intervals_of_several_seconds_are_no_seconds() -> None:
    assert changed((("steps", 0, "series", "interval_s"), 2)).seconds == ()


def test_what_it_does_not_know_is_passed_over() -> None:
    assert changed((("more",), [1]), (("steps", 0, "more"), {})) == parse_run(FAULTS.decode())


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("schema",), 2, "`schema` is 2: only schema 1"),
        (("schema",), None, "`schema` is missing"),
        (("steps",), None, "not what `volley run -O json` prints"),
        (("steps",), {}, "`steps` must be a list"),
        (("elapsed_s",), 0, "took 0 s"),
        (("elapsed_s",), 1.0, "is not `ok` and `failed`"),
        (("requests", "ok"), 3021, "`requests` has 3105 ends of 3104"),
        (("requests", "ended_per_s"), 1.0, "is not `ok` and `failed`"),
        (("steps", 0, "name"), "", "has 0 characters"),
        (("steps", 0, "name"), "x" * 201, "has 201 characters"),
        (("steps", 0, "requests", "sent"), 7, r"`steps\[0\].requests` has"),
        (("steps", 0, "failures", 0, "count"), 1, "are not the"),
        (("steps", 0, "failures"), [], "are not the"),
        (("steps", 0), None, "`requests` are not those of the steps"),
        (("steps", 0, "latency_ns", "p50"), 10**12, "not in order"),
        (("iterations", "ok"), 1, "`iterations` do not add up"),
        (("iterations", "due"), 1, "`iterations` do not add up"),
        (("scenarios", 0, "series", "p50_ns"), ["x"], "is not a number in its range"),
        (("scenarios", 0, "series", "p50_ns"), [None, -1], r"`scenarios\[0\].series.p50_ns\[1\]`"),
        (("steps", 1, "series", "ok"), [True], "is not a number in its range"),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_line(
    place: tuple[str | int, ...], value: Any, complaint: str
) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        changed((place, value))
    assert "\n" not in str(caught.value)
