"""The reports of ghz: timed by its single calls, and by nothing else that it says."""

import gzip
import json
from collections import Counter
from datetime import datetime

import pytest

from parse_blast import parse_file
from parsers.blast.ghz_lines import read_ghz
from parsers.blast.median import Interval
from parsers.blast.report import BlastReport
from parsers.common.errors import ParseError

from .sweeps import GHZ, Change, as_text, small_lines


def read(*changes: Change) -> BlastReport:
    return read_ghz(as_text(small_lines(*changes)).splitlines())


def test_starts_of_the_same_load_are_the_shots_of_a_point() -> None:
    report = read()
    assert (report.form, report.replies_checked) == ("ghz", None)
    assert (report.ok, report.failed) == (3, {"Internal": 1})
    first, second = report.points
    assert (first.connections, first.requests, first.ok, first.failed) == (1, 1, 2, {})
    # One call in a millisecond, then one in four.
    assert first.rate == Interval(625.0, 250.0, 1000.0)
    assert [shot.order for shot in first.shots] == [0, 2]
    assert (first.latency.kind, first.latency.samples) == ("service", 2)
    assert (first.latency.p50, first.latency.max) == (1_000_000, 4_000_000)
    # From the first begin, at 2.000, to the end of the one OK call, at 2.001.
    assert (second.ok, second.failed) == (1, {"Internal": 1})
    assert second.rate.median == pytest.approx(1000.0)
    assert report.fastest == second


def test_a_sweep_lasts_from_the_first_begin_to_the_last_end() -> None:
    assert read().elapsed_s == pytest.approx(3.0 - (1.0 - 0.001))


def test_ghzs_own_rate_is_not_looked_at() -> None:
    assert read(((0, "report", "rps"), 1e9), ((0, "report", "total"), 60_000_000_000)) == read()


def test_attempts_that_were_made_again_are_failures() -> None:
    assert read(((1, "requests"), 1)).points[1].failed == {"Internal": 1}


def test_a_sweep_of_a_real_ghz_is_read() -> None:
    report = parse_file(GHZ / "ghz-121-blast.jsonl.gz")
    found = [(point.connections, point.requests, len(point.shots)) for point in report.points]
    assert found == [(ways, calls, 6) for ways in (1, 8) for calls in (1, 5, 50)]
    assert (report.ok, report.failed) == (6 * 2 * 56, {})
    assert [point.ok for point in report.points] == [6, 30, 300] * 2
    with gzip.open(GHZ / "ghz-121-blast.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        (point,) = (
            each
            for each in report.points
            if (each.connections, each.requests) == (line["connections"], line["requests"])
        )
        (shot,) = (each for each in point.shots if each.order == line["order"])
        ends_ns = [
            (datetime.fromisoformat(call["timestamp"]).timestamp() * 1e9, call["latency"])
            for call in line["report"]["details"]
        ]
        begin_ns = min(end_ns - latency_ns for end_ns, latency_ns in ends_ns)
        span_ns = max(end_ns for end_ns, _ in ends_ns) - begin_ns
        assert shot.span_ns == pytest.approx(span_ns, abs=2000)
        # ghz's own rate has its setting-up in it.
        assert shot.rate > line["report"]["rps"]


def test_failures_have_their_statuses_and_attempts_are_counted() -> None:
    report = parse_file(GHZ / "ghz-121-blast-failures.jsonl.gz")
    with gzip.open(GHZ / "ghz-121-blast-failures.jsonl.gz", "rt") as file:
        reports = [json.loads(line)["report"] for line in file]
    told: Counter[str] = Counter()
    for each in reports:
        told.update(each["statusCodeDistribution"])
    assert Counter({"OK": report.ok, **report.failed}) == told
    assert set(report.failed) == {"Internal", "Unavailable"}
    assert told.total() > 2 * 2 * 56


def test_a_dead_port_has_no_rate() -> None:
    report = parse_file(GHZ / "ghz-121-blast-dead-port.jsonl.gz")
    assert (report.ok, report.failed) == (0, {"Unavailable": 16})
    assert {point.rate for point in report.points} == {Interval(0.0, 0.0, 0.0)}
    assert report.elapsed_s > 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (((0, "connections"), 0), "line 1: has no connections"),
        (((0, "requests"), 0), "line 1: has no connections or no requests"),
        (((1, "requests"), 3), "line 2: `report.count` is 2: 3 were asked for"),
        (((1, "requests"), "2"), "line 2: `requests` must be a whole number"),
        (((1, "repetition"), None), "line 2: key `repetition` is missing"),
        (((2, "repetition"), 1), "repetition 1 of 1 requests over 1 connections is there twice"),
        (((2, "order"), 3), "line 3: `order` is 3, not 2"),
        (((1, "order"), 0), "line 2: `order` is 0, not 1"),
        (((1, "report"), None), "line 2: key `report.count` is missing"),
        (((1, "report"), []), "line 2: `report` must be a JSON object"),
        (((1, "report", "details"), None), "line 2: `report.details` is missing"),
        (((1, "report", "details"), []), "line 2: `report.details` is missing"),
        (((1, "report", "details", 0, "latency"), -1), "is out of range"),
        (((1, "report", "details", 0, "timestamp"), "noon"), "not an RFC 3339 time"),
        (((1, "report", "details", 0, "status"), "Internal"), "disagree"),
        (((1, "report", "statusCodeDistribution"), {"OK": 3}), "add up to 3 calls"),
    ],
)
def test_what_is_broken_is_refused_with_its_line(change: Change, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        read(change)
    assert "\n" not in str(caught.value)


def test_more_ok_calls_than_were_asked_for_are_refused() -> None:
    lines = small_lines()
    lines[1] |= {"requests": 1, "report": lines[1]["report"]}
    lines[1]["report"]["details"][1] |= {"status": "OK", "error": ""}
    lines[1]["report"]["statusCodeDistribution"] = {"OK": 2}
    with pytest.raises(ParseError, match="line 2: `report` has 2 OK calls of 1"):
        read_ghz(as_text(lines).splitlines())


def test_a_line_that_is_missing_is_missed() -> None:
    lines = as_text(small_lines()).splitlines()
    with pytest.raises(ParseError, match="line 2: `order` is 2, not 1: the lines are not all"):
        read_ghz([lines[0], lines[2]])


def test_a_line_cut_short_is_refused() -> None:
    lines = as_text(small_lines()).splitlines()
    with pytest.raises(ParseError, match="line 3: broken or incomplete JSON"):
        read_ghz([*lines[:2], lines[2][:-9]])
