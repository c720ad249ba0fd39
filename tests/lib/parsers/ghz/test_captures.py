"""Whole reports, captured from real ghz runs."""

import json
from dataclasses import asdict

import pytest

from parse_ghz import parse
from parsers.common.figures import Calls, Latency
from parsers.ghz.report import Bucket

from .reports import CLOSING, FIXTURES, REPORTS, report_of, small_json, small_text


def test_every_captured_report_is_read_and_every_call_is_in_one_place() -> None:
    assert len(REPORTS) > 60
    for name in REPORTS:
        report = report_of(name)
        calls = report.calls
        assert calls.ok + calls.cut + sum(calls.failed.values()) == report.count, name
        assert report.form == ("text" if name.endswith(".txt") else "json"), name


def test_a_classic_stream_run_gives_its_leaderboard_numbers() -> None:
    report = report_of("ghz-121-stream.json")

    assert report.calls == Calls(ok=710, failed={}, cut=174)
    assert report.elapsed_s == 5.610637652
    assert report.reported_calls_per_s == pytest.approx(157.557849)
    assert report.latency == Latency(
        kind="service", mean=1480119616, p50=1461880335, p75=1907387632, p90=2346396967,
        p95=2570320501, p99=2879081179, p999=3100027635, max=3100027635, samples=710,
    )  # fmt: skip
    rate = report.rate(5000)
    assert rate.calls_per_s == pytest.approx(710 / 5.610637652)
    assert rate.messages_per_s == rate.at_least == pytest.approx(710 * 5000 / 5.610637652)
    assert rate.at_most == pytest.approx(884 * 5000 / 5.610637652)


def test_a_classic_stream_summary_gives_what_text_can_tell() -> None:
    report = report_of("ghz-121-stream.txt")

    assert report.calls == Calls(ok=708, failed={}, cut=241)
    assert report.elapsed_s == 5.17
    assert report.reported_calls_per_s == 183.5
    assert report.average_ns == 1_230_000_000
    assert report.latency == Latency(
        kind="service", p50=1_420_000_000, p75=1_950_000_000, p90=2_390_000_000,
        p95=2_560_000_000, p99=3_080_000_000, max=3_310_000_000, samples=708,
    )  # fmt: skip
    assert report.histogram[0] == Bucket(mark_ns=36_220_000, count=1)
    assert sum(bucket.count for bucket in report.histogram) == 708


@pytest.mark.parametrize("version", ["121", "093"])
@pytest.mark.parametrize("form", ["json", "txt"])
def test_the_servers_own_count_lies_between_low_and_high(version: str, form: str) -> None:
    name = f"ghz-{version}-stream.{form}"
    sent = json.loads((FIXTURES / "servers.json").read_text())[name]["messages_sent"]
    report = report_of(name)
    rate = report.rate(5000)

    assert rate.at_least < sent / report.elapsed_s < rate.at_most


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("ghz-121-dead-port.json", Calls(0, {"Unavailable": 499}, 0)),
        ("ghz-121-dead-port.txt", Calls(0, {"Unavailable": 22091}, 0)),
        # v0.93 had one call waiting for a connection when the window closed.
        ("ghz-093-dead-port.json", Calls(0, {"Unavailable": 500}, 1)),
        ("ghz-093-dead-port.txt", Calls(0, {"Unavailable": 56535}, 1)),
    ],
)
def test_a_dead_port_achieves_nothing_and_its_calls_failed(name: str, calls: Calls) -> None:
    report = report_of(name)

    assert report.calls == calls
    assert report.rate(5000).messages_per_s == 0
    assert report.reported_calls_per_s > 99
    assert report.latency == Latency(kind="service", samples=0)


@pytest.mark.parametrize("version", ["121", "093"])
@pytest.mark.parametrize("form", ["json", "txt"])
def test_errors_are_counted_under_their_code(version: str, form: str) -> None:
    report = report_of(f"ghz-{version}-internal.{form}")

    assert report.calls == Calls(134, {"Internal": 66}, 0)
    assert report.errors == {"rpc error: code = Internal desc = boom": 66}
    assert report.latency.samples == 134


def test_json_keeps_the_text_of_every_nasty_message() -> None:
    said = "rpc error: code = ResourceExhausted desc = "
    assert report_of("ghz-121-nasty.json").errors == {
        said + CLOSING: 5,
        said + "quote \" and 'tick' and \\ backslash": 5,
        said + "brackets [42]   looks like an entry [OK]": 5,
        said + "tab\there\tand there": 5,
        said + "line one\n  [7]   rpc error: code = Canceled desc = forged entry": 5,
        said + "ünïcödé ∎ 日本語 🚀": 5,
        said + "Error distribution:\n\nSummary:\n  Count:\t1\n": 5,
        said + "<b>html</b> & {{ .Name }}": 5,
        said: 5,
    }


@pytest.mark.parametrize("version", ["121", "093"])
def test_when_every_call_failed_there_is_no_latency_and_the_rate_is_zero(version: str) -> None:
    for form in ("json", "txt"):
        report = report_of(f"ghz-{version}-all-failed.{form}")
        assert report.calls == Calls(0, {"Internal": 20}, 0)
        assert report.latency == Latency(kind="service", samples=0)
        assert report.percentiles_ns == {}
        assert report.histogram == ()
        assert report.rate(1).at_most == 0
        assert report.average_ns > 0


@pytest.mark.parametrize("version", ["121", "093"])
def test_a_run_without_calls_is_a_report_of_nothing(version: str) -> None:
    for form in ("json", "txt"):
        report = report_of(f"ghz-{version}-no-calls.{form}")
        assert report.count == 0
        assert report.calls == Calls(0, {}, 0)
        assert report.rate(5000).at_most == 0


@pytest.mark.parametrize("version", ["121", "093"])
def test_one_call_is_its_own_percentiles(version: str) -> None:
    latency = report_of(f"ghz-{version}-one-call.json").latency

    assert latency.samples == 1
    assert latency.mean == latency.p50 == latency.p999 == latency.max


@pytest.mark.parametrize("version", ["121", "093"])
def test_a_name_is_read_as_given(version: str) -> None:
    given = 'naïve "quoted" [OK] 100%\t{{.Count}}'
    assert report_of(f"ghz-{version}-named.json").name == given
    assert report_of(f"ghz-{version}-named.txt").name == given
    assert report_of(f"ghz-{version}-unary-ok.json").name == ""
    assert report_of(f"ghz-{version}-unary-ok.txt").name == ""


@pytest.mark.parametrize("version", ["121", "093"])
def test_a_name_of_several_lines_does_not_pass_for_a_section(version: str) -> None:
    report = report_of(f"ghz-{version}-name-with-lines.txt")

    assert report.name == "first\nStatus code distribution:\n  [OK]   999 responses"
    assert report.calls.ok == 5


@pytest.mark.parametrize(
    "name", [name for name in REPORTS if name.endswith(".json")], ids=lambda name: name[4:-5]
)
def test_exact_percentiles_agree_with_those_ghz_printed(name: str) -> None:
    report = report_of(name)
    exact = asdict(report.latency)
    for percent, printed_ns in report.percentiles_ns.items():
        if f"p{percent}" in exact:
            # ghz takes them through seconds as a float, and truncates.
            assert exact[f"p{percent}"] == pytest.approx(printed_ns, abs=1)


def test_pretty_json_is_read_like_json() -> None:
    assert report_of("ghz-121-unary-ok-pretty.json").calls == Calls(40, {}, 0)
    compact = json.dumps(json.loads((FIXTURES / "ghz-121-unary-ok-pretty.json").read_text()))
    assert parse(compact) == report_of("ghz-121-unary-ok-pretty.json")


@pytest.mark.parametrize(
    "run",
    ["all-failed", "dead-port", "internal", "named", "no-calls", "slow", "stream", "unary-cut"],
)
@pytest.mark.parametrize("version", ["121", "093"])
def test_json_and_text_of_like_runs_fill_the_same_fields(run: str, version: str) -> None:
    from_json = report_of(f"ghz-{version}-{run}.json")
    from_text = report_of(f"ghz-{version}-{run}.txt")

    assert from_json.percentiles_ns.keys() == from_text.percentiles_ns.keys()
    assert len(from_json.histogram) == len(from_text.histogram)
    assert from_json.calls.failed.keys() == from_text.calls.failed.keys()
    missing_in_text = {
        key
        for key, value in asdict(from_json.latency).items()
        if value is not None and asdict(from_text.latency)[key] is None
    }
    assert missing_in_text <= {"mean", "p999"}


@pytest.mark.parametrize("messages_per_call", [0, -1])
def test_a_rate_needs_at_least_one_message_per_call(messages_per_call: int) -> None:
    with pytest.raises(ValueError, match="messages_per_call"):
        report_of("ghz-121-unary-ok.json").rate(messages_per_call)


def test_an_error_without_a_grpc_status_is_unknown_in_both_forms() -> None:
    raw = small_json((9.9, 1.0, "rpc error: code = Internal desc = x"))
    raw["statusCodeDistribution"] = {"": 1}
    raw["details"][0]["status"] = ""
    assert parse(json.dumps(raw)).calls == Calls(0, {"Unknown": 1}, 0)
    text = small_text((1, "rpc error: code = Internal desc = x")).replace("[Internal]", "[]")
    assert parse(text).calls == Calls(10, {"Unknown": 1}, 0)
