"""What volley reports, by hand-made reports: read whole, or refused in a line."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from arena.load.measurements import of_live, of_told_live, of_volley
from arena.record.measurement import Measurement
from parsers.common.figures import Streams
from tests.fakes import LIVE, a_profile
from tests.lib.arena.load.volley_reports import a_report


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return tmp_path / "run-1.json"


def measured(raw: Path, **changes: Any) -> Measurement:
    raw.write_text(json.dumps(a_report(**changes)))
    return of_volley(raw, a_profile())


def test_the_rate_is_that_of_the_messages_it_counted_in_its_window(raw: Path) -> None:
    found = measured(raw)
    assert (found.messages, found.elapsed_s, found.rate) == (21_000, 5.0, 4200.0)
    assert (found.rate_at_least, found.rate_at_most) == (4200.0, 4200.0)
    assert found.reported_calls_per_s == 0.8


def test_messages_of_calls_that_were_waited_for_came_in_that_time_too(raw: Path) -> None:
    changes = {"total": 7_000_000_000, "volley.messages_per_s": 3000.0, "volley.window_s": 5.0}
    found = measured(raw, **changes)
    assert (found.messages, found.elapsed_s, found.rate) == (21_000, 7.0, 3000.0)


def test_its_frames_are_those_of_the_window_and_its_warm_up_is_told_by_the_second(
    raw: Path,
) -> None:
    found = measured(raw)
    assert (found.data_frames, found.warm_up) == (20_000, (3_000, 2_000))


def test_the_warm_up_is_counted_in_the_messages_of_the_metric(raw: Path) -> None:
    raw.write_text(json.dumps(a_report()))
    echo = a_profile(
        call="benchmark.BenchmarkService/EchoSum",
        request={"a": 1, "b": 2},
        messages_per_call=10,
        requests_per_call=5,
    )
    found = of_volley(raw, echo)
    assert (found.messages, found.warm_up, found.data_frames) == (42_000, (6_000, 4_000), 20_000)
    collect = a_profile(
        call="benchmark.BenchmarkService/CollectSum",
        request={"a": 1, "b": 2},
        messages_per_call=5,
        requests_per_call=5,
    )
    assert of_volley(raw, collect).warm_up == ()


def test_latency_goes_as_far_as_the_thousandth_call_and_the_slowest(raw: Path) -> None:
    told = a_report()["volley"]["latency_ns"]
    known = told.keys() - {"p9999", "histogram"}
    found = asdict(measured(raw).latency_ns)
    assert found.pop("at_least") == ()
    assert found == {name: told[name] for name in known}


def test_at_a_fixed_rate_latency_is_also_known_from_when_requests_were_written(raw: Path) -> None:
    told = a_report()["volley"]["latency_ns"]
    both = {
        "volley.latency_ns": told | {"kind": "response"},
        "volley.service_latency_ns": told | {"p50": 7, "mean": 9},
    }
    raw.write_text(json.dumps(a_report(**both)))
    paced = a_profile(kind="paced", rate=2, metric="CPU a call", streams_per_connection=4)
    written = of_volley(raw, paced).written_ns
    assert written
    assert (written.kind, written.p50, written.p99) == ("service", 7, told["p99"])
    assert of_volley(raw, a_profile()).written_ns is None


def test_figures_that_open_calls_make_lower_bounds_are_named(raw: Path) -> None:
    of = "volley.latency_ns."
    bounds = {f"{of}open": 2, f"{of}at_least": ["p99", "p999", "p9999", "max"]}
    assert measured(raw, **bounds).latency_ns.at_least == ("p99", "p999", "max")
    # Without one call that ended, all are bounds, and there is no mean.
    found = measured(raw, **ALL_CUT, **bounds, **{f"{of}mean": None}).latency_ns
    assert (found.samples, found.mean, found.p99) == (0, None, 1.9e9)
    with pytest.raises(ValueError, match="list of strings"):
        measured(raw, **{**bounds, f"{of}at_least": [1]})


ALL_CUT = {
    "count": 2,
    "statusCodeDistribution": {"Canceled": 2},
    "volley.calls": {"ok": 0, "failed": {}, "cut": 2},
    "volley.latency_ns.samples": 0,
}


@pytest.mark.parametrize("figure", [0, None])
def test_where_no_call_succeeded_there_is_no_latency(raw: Path, figure: int | None) -> None:
    report = a_report(**ALL_CUT)
    latency = report["volley"]["latency_ns"]
    for name in ("mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"):
        latency[name] = figure
    raw.write_text(json.dumps(report))
    found = of_volley(raw, a_profile())
    assert (found.latency_ns.samples, found.latency_ns.mean, found.latency_ns.p50) == (
        0,
        None,
        None,
    )
    assert found.rate == 4200.0


def test_a_server_may_cancel_calls_too(raw: Path) -> None:
    found = measured(
        raw,
        **{
            "statusCodeDistribution": {"OK": 3, "Canceled": 3},
            "volley.calls.failed": {"Canceled": 1},
        },
    )
    assert (found.calls.failed, found.calls.cut) == ({"Canceled": 1}, 2)


def test_what_a_later_version_adds_is_passed_over(raw: Path) -> None:
    assert measured(raw, **{"volley.surprise": [1], "more": {}}) == measured(raw)


@pytest.mark.parametrize(
    "changes", [{"volley.messages_per_s": 4300.0}, {"count": 7}, {"total": 0}, {"rps": None}]
)
def test_what_is_missing_or_contradicts_itself_is_a_valueerror(
    raw: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValueError):
        measured(raw, **changes)


FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


@pytest.mark.parametrize(
    ("name", "kind", "ok", "failed", "cut", "messages"),
    [
        ("stream", "service", 229, {}, 256, 1_250_518),
        ("wait", "service", 167, {}, 0, 835_000),
        ("none-finished", "service", 0, {}, 16, None),
        ("open-loop", "response", 500, {}, 0, 500),
        ("all-failed", "service", 0, {"DataLoss": 20}, 0, 100_000),
        ("details", "service", 20, {}, 0, 20),
    ],
)
def test_real_reports_are_read_and_parse_ghz_agrees_with_them(
    name: str, kind: str, ok: int, failed: dict[str, int], cut: int, messages: int | None
) -> None:
    raw = FIXTURES / "volley" / f"{name}.json"
    found, parsed = of_volley(raw, a_profile()), parse_ghz.parse_file(raw)
    assert (found.calls.ok, found.calls.failed, found.calls.cut) == (ok, failed, cut)
    assert found.messages == messages or (messages is None and found.messages > 0)
    assert found.rate == found.messages / found.elapsed_s
    assert found.latency_ns.kind == kind
    assert found.latency_ns.samples == ok
    rate = parsed.rate(5000)
    assert (rate.messages_per_s, rate.at_least, rate.at_most) == (found.rate,) * 3
    assert found.rate_at_least == found.rate_at_most == found.rate


def test_parse_ghz_reads_the_text_too() -> None:
    calls = parse_ghz.parse_file(FIXTURES / "volley" / "stream.txt").calls
    assert calls.ok > 0
    assert (dict(calls.failed), calls.cut) == ({}, 256)


@pytest.mark.parametrize("name", ["ghz/ghz-121-stream.json", "volley/stream.txt"])
def test_a_report_in_which_no_message_is_counted_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="key `volley` is missing: not volley's"):
        of_volley(FIXTURES / name, a_profile())


def test_a_missing_file_is_refused_in_a_line(raw: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        of_volley(raw, a_profile())


def test_wrong_replies_are_told_with_the_first(raw: Path) -> None:
    assert not measured(raw).wrong.calls
    checks = {"compared": True, "replies_checked": 9, "failed": 2, "samples": ["reply 0: 4", "x"]}
    found = measured(raw, **{"volley.checks": checks}).wrong
    assert (found.calls, found.sample) == (2, "reply 0: 4")


STREAMS = {
    "wanted": 1000, "open_first": 1000, "open_last": 998, "broken": 2, "refused": 1, "due": 100_000,
    "sent": 99_990, "late": 7, "answered": 99_980, "unanswered": 10,
}  # fmt: skip


def live(raw: Path, **changes: Any) -> Measurement:
    latency = {**a_report()["volley"]["latency_ns"], "kind": "response", "samples": 99_980}
    paced = {"rate": 10, **STREAMS, "unsent": 10, "reply_latency_ns": latency}
    whole = {"volley.paced_streams": paced, "volley.connections": 20}
    raw.write_text(json.dumps(a_report(**{**whole, **changes})))
    return of_live(raw, a_profile(**LIVE))


def test_messages_of_streams_that_live_are_its_calls_and_their_replies_its_latency(
    raw: Path,
) -> None:
    found = live(raw)
    assert found.streams == Streams(connections=20, **STREAMS)
    assert found.streams.lost == 2 + 1 + 2
    assert (found.calls.ok, found.calls.failed, found.calls.cut) == (99_980, {}, 10)
    assert (found.messages, found.rate) == (199_960, 199_960 / 5.0)
    assert (found.latency_ns.kind, found.latency_ns.p99) == ("response", 1_900_000_000)
    assert (found.seconds, found.reported_calls_per_s) == ((), None)
    assert of_told_live(raw, a_profile(**LIVE)) == (found, 0.1)


def test_streams_whose_messages_do_not_add_up_or_are_not_there_are_refused(raw: Path) -> None:
    with pytest.raises(ValueError, match="do not add up"):
        live(raw, **{"volley.paced_streams.answered": 99_981})
    raw.write_text(json.dumps(a_report()))
    with pytest.raises(ValueError, match=r"volley\.paced_streams` is missing"):
        of_live(raw, a_profile(**LIVE))
