"""Every captured output, by what its run was."""

import re
from pathlib import Path

import pytest

from parse_h2load import H2loadReport, parse_file
from parsers.common.figures import Latency

from .reports import FIXTURES

ALL = sorted([*FIXTURES.glob("h2load-*.txt"), *FIXTURES.glob("h2load-*.json")])
BOTH_FORMS = ("143.txt", "152.txt", "164.txt", "170.txt", "170.json")


def each(run: str) -> list[H2loadReport]:
    """Return a run's reports, of all versions and both forms."""
    names = [form.replace(".", f"-{run}.", 1) for form in BOTH_FORMS]
    return [parse_file(FIXTURES / f"h2load-{name}") for name in names]


def one(name: str) -> H2loadReport:
    return parse_file(FIXTURES / f"h2load-{name}")


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_every_capture_is_read_and_every_call_is_in_one_place(path: Path) -> None:
    report = parse_file(path)
    said = report.counts
    assert report.calls.ok + sum(report.calls.failed.values()) == said.total
    assert report.calls_per_s == report.calls.ok / report.elapsed_s
    assert report.form == ("json" if '"version":"v1"' in path.read_text() else "text")
    assert report.version == ("1.70.0" if report.form == "json" else None)
    latency = report.latency
    if latency.max is not None:
        assert latency.samples == report.calls.ok
        assert latency.mean is not None
        known = (latency.p50, latency.p95, latency.p99, latency.p999, latency.max)
        figures = [figure for figure in known if figure is not None]
        assert figures == sorted(figures)
        assert report.said.min_ns <= latency.mean <= latency.max


def test_the_captures_are_those_of_the_table() -> None:
    table = (FIXTURES / "README.md").read_text()
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE))
    assert listed == {re.sub(r"h2load-\d+-", "", path.stem) for path in ALL}


def test_calls_in_flight_at_the_end_are_cut_and_make_the_error_bar() -> None:
    for report in [*each("unary"), *each("tls")]:
        assert report.calls.failed == {}
        assert report.calls.cut == 40
        assert report.at_most_per_s == (report.calls.ok + 40) / report.elapsed_s
        assert 1.0 <= report.elapsed_s < 1.1
        assert report.latency.samples == report.calls.ok > 1800
    assert one("152-grpc-go.txt").calls.cut == 6400


def test_the_rate_is_by_actual_time_and_not_h2loads_own() -> None:
    report = one("152-half-second.txt")
    assert report.elapsed_s == 0.50141
    assert report.calls.ok == 960
    assert report.calls_per_s == pytest.approx(1914.6, abs=0.05)
    assert report.reported_per_s == 1920.0


def test_the_warm_up_is_no_part_of_the_run() -> None:
    assert (one("152-warm-up.txt").warm_up_s, one("152-warm-up.txt").elapsed_s) == (0.3, 0.5)
    assert one("152-unary.txt").warm_up_s == 0
    report = one("170-warm-up.txt")
    assert report.form == "json"
    assert report.elapsed_s == 0.5


def test_answers_of_404_are_failures_and_no_rate_comes_of_them() -> None:
    for report in each("not-found"):
        assert report.calls.failed == {"HTTP 4xx": 2000}
        assert report.calls_per_s == 0 < report.reported_per_s
        assert report.latency == Latency(kind="service", samples=None)
        assert report.said.max_ns > 0
    assert one("152-not-found-timed.txt").calls.failed == {"HTTP 4xx": 5170}


def test_a_grpc_error_is_a_success_to_h2load() -> None:
    for report in each("internal"):
        assert report.calls.ok == 2000
        assert report.calls.failed == {}


def test_a_reset_call_is_no_success_though_it_is_counted_as_2xx() -> None:
    for report in each("mixed"):
        assert report.calls.ok == 600
        assert report.calls.failed == {
            "HTTP 3xx": 100,
            "HTTP 4xx": 100,
            "HTTP 5xx": 100,
            "errored": 100,
        }
        assert report.latency.mean is None
    report = one("152-reset.txt")
    assert (report.calls.ok, report.calls.failed) == (158_184, {"errored": 17_576})


def test_a_killed_server_is_no_failure_to_h2load() -> None:
    for report in each("killed"):
        assert report.calls.failed == {}
        assert report.calls.cut == 40
        assert 1.0 <= report.elapsed_s < 1.1


def test_a_dead_port_is_told_by_the_lack_of_calls() -> None:
    for report in each("dead-port"):
        assert (report.calls.ok, report.calls.failed, report.calls.cut) == (0, {}, 0)
        assert report.latency.samples is None


def test_with_n_the_calls_that_were_lost_or_never_sent_are_errored_once() -> None:
    assert one("152-refused.txt").calls.failed == {"errored": 100}
    report = one("152-closed.txt")
    assert report.calls.ok == 3996
    assert report.calls.failed == {"errored": 96_004}
    assert report.calls.cut == 0


def test_units_are_read() -> None:
    refused, closed, slow = one("152-refused.txt"), one("152-closed.txt"), one("152-slow.txt")
    assert refused.elapsed_s == 400e-6
    assert (closed.said.min_ns, closed.said.max_ns) == (31_000, 505_000)
    assert slow.elapsed_s == 2.4
    assert slow.latency.max == 1_200_000_000


def test_a_mean_is_no_percentile_and_only_new_ones_tell_percentiles() -> None:
    for report in each("unary")[:3]:
        assert report.latency.max == report.said.max_ns
        assert report.latency.p50 is report.latency.p99 is report.latency.p999 is None
    text, told = one("170-unary.txt").latency, one("170-unary.json").latency
    assert text.p99 == 20_960_000
    assert text.p90 is text.p999 is None
    assert (told.p99, told.p999, told.max) == (21_608_622, 21_658_096, 21_659_728)


def test_where_samples_may_be_missing_there_is_a_mean_and_nothing_else() -> None:
    for version in ("143", "152", "164", "170"):
        latency = one(f"{version}-many.txt").latency
        assert latency.mean
        assert latency.max is latency.p99 is latency.samples is None


def test_where_text_and_json_are_in_one_file_the_json_counts() -> None:
    for name in ("170-stdout.txt", "170-pipe.txt"):
        report = one(name)
        assert report.form == "json"
        assert report.latency.p999
        assert report.elapsed_s != round(report.elapsed_s, 2)
