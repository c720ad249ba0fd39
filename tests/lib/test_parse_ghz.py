"""parse_ghz against outputs captured from real ghz runs (see fixtures/ghz/README.md)."""

import copy
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from parse_ghz import Bucket, Calls, GhzParseError, GhzReport, parse, parse_file

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ghz"
SCRIPT = Path(parse_ghz.__file__)

CLOSING = "rpc error: code = Canceled desc = grpc: the client connection is closing"
TRANSPORT_CLOSING = "rpc error: code = Unavailable desc = transport is closing"
READ_CLOSED = (
    "rpc error: code = Unavailable desc = error reading from server: "
    "read tcp 127.0.0.1:4->127.0.0.1:8: use of closed network connection"
)
EOF = "rpc error: code = Unavailable desc = error reading from server: EOF"
RESET = (
    "rpc error: code = Unavailable desc = error reading from server: "
    "read tcp 127.0.0.1:4->127.0.0.1:8: read: connection reset by peer"
)
REFUSED = (
    'rpc error: code = Unavailable desc = connection error: desc = "transport: '
    'Error while dialing: dial tcp 127.0.0.1:8: connect: connection refused"'
)

REPORTS = sorted(
    path.name
    for path in FIXTURES.glob("ghz-*")
    if path.suffix in {".json", ".txt"} and not path.name.endswith(".server.json")
)


def report_of(name: str) -> GhzReport:
    return parse_file(FIXTURES / name)


def small_json(*calls: tuple[float, float, str], **changes: Any) -> dict[str, Any]:
    """A report of calls (end in s, latency in s, error), its totals consistent with them."""
    details = []
    statuses: dict[str, int] = {}
    errors: dict[str, int] = {}
    for end_s, latency_s, error in calls:
        status = error.split(" ")[4] if error else "OK"
        statuses[status] = statuses.get(status, 0) + 1
        if error:
            errors[error] = errors.get(error, 0) + 1
        details.append(
            {
                "timestamp": f"2026-01-02T03:04:{end_s:012.9f}+01:00",
                "latency": round(latency_s * 1e9),
                "error": error,
                "status": status,
            }
        )
    report: dict[str, Any] = {
        "endReason": "timeout",
        "options": {"concurrency": 4, "concurrency-schedule": "const"},
        "count": len(calls),
        "total": 10_000_000_000,
        "average": 5,
        "fastest": 4,
        "slowest": 6,
        "rps": len(calls) / 10,
        "errorDistribution": errors,
        "statusCodeDistribution": statuses,
        "latencyDistribution": None,
        "histogram": None,
        "details": details,
    }
    return report | changes


def small_text(
    *errors: tuple[int, str], ok: int = 10, total: str = "2.00 s", fastest: str = "0 ns"
) -> str:
    """A text summary whose failed calls have these errors."""
    statuses: dict[str, int] = {"OK": ok}
    for count, error in errors:
        code = error.split(" ")[4]
        statuses[code] = statuses.get(code, 0) + count
    lines = [
        "",
        "Summary:",
        f"  Count:\t{sum(statuses.values())}",
        f"  Total:\t{total}",
        "  Slowest:\t0 ns",
        f"  Fastest:\t{fastest}",
        "  Average:\t0 ns",
        "  Requests/sec:\t5.00",
        "",
        "Response time histogram:",
        "",
        "Latency distribution:",
        "",
        "Status code distribution:",
        *(f"  [{code}]   {count} responses   " for code, count in statuses.items()),
        "",
        "Error distribution:",
        *(f"  [{count}]   {error}   " for count, error in errors),
        "",
    ]
    return "\n".join(lines)


# --- real outputs ---------------------------------------------------------------------------------


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
    assert report.latency.as_dict() == {
        "kind": "service",
        "mean": 1480119616,
        "p50": 1461880335,
        "p75": 1907387632,
        "p90": 2346396967,
        "p95": 2570320501,
        "p99": 2879081179,
        "p999": 3100027635,
        "max": 3100027635,
        "samples": 710,
    }
    rate = report.rate(5000)
    assert rate.calls_per_s == pytest.approx(710 / 5.610637652)
    assert rate.messages_per_s == rate.low == pytest.approx(710 * 5000 / 5.610637652)
    assert rate.high == pytest.approx(884 * 5000 / 5.610637652)


def test_a_classic_stream_summary_gives_what_text_can_tell() -> None:
    report = report_of("ghz-121-stream.txt")

    assert report.calls == Calls(ok=708, failed={}, cut=241)
    assert report.elapsed_s == 5.17
    assert report.reported_calls_per_s == 183.5
    assert report.average_ns == 1_230_000_000
    assert report.latency.as_dict() == {
        "kind": "service",
        "mean": None,
        "p50": 1_420_000_000,
        "p75": 1_950_000_000,
        "p90": 2_390_000_000,
        "p95": 2_560_000_000,
        "p99": 3_080_000_000,
        "p999": None,
        "max": 3_310_000_000,
        "samples": 708,
    }
    assert report.histogram[0] == Bucket(mark_ns=36_220_000, count=1)
    assert sum(bucket.count for bucket in report.histogram) == 708


@pytest.mark.parametrize("version", ["121", "093"])
@pytest.mark.parametrize("form", ["json", "txt"])
def test_the_servers_own_count_lies_between_low_and_high(version: str, form: str) -> None:
    name = f"ghz-{version}-stream.{form}"
    sent = json.loads((FIXTURES / f"{name}.server.json").read_text())["messages_sent"]
    report = report_of(name)
    rate = report.rate(5000)

    assert rate.low < sent / report.elapsed_s < rate.high


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("ghz-093-stream.json", Calls(711, {}, 106)),
        ("ghz-093-stream.txt", Calls(713, {}, 112)),
        ("ghz-121-unary-cut.json", Calls(48, {}, 16)),
        ("ghz-121-unary-cut.txt", Calls(48, {}, 16)),
        ("ghz-093-unary-cut.json", Calls(48, {}, 16)),
        ("ghz-093-unary-cut.txt", Calls(48, {}, 16)),
        ("ghz-121-tls-cut.json", Calls(48, {}, 16)),
        ("ghz-121-tls-stream-cut.json", Calls(98, {}, 16)),
        ("ghz-121-tls-stream-cut.txt", Calls(32, {}, 16)),
        ("ghz-093-tls-stream-cut.json", Calls(7, {}, 16)),
        ("ghz-121-goaway-cut.json", Calls(48, {}, 16)),
        ("ghz-121-wait.json", Calls(64, {}, 0)),
        ("ghz-121-wait.txt", Calls(64, {}, 0)),
    ],
)
def test_calls_open_when_the_window_closed_are_cut(name: str, calls: Calls) -> None:
    assert report_of(name).calls == calls


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
    assert report.latency.as_dict() == {
        "kind": "service",
        **dict.fromkeys(("mean", "p50", "p75", "p90", "p95", "p99", "p999", "max")),
        "samples": 0,
    }


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("ghz-121-killed-exit.json", Calls(77, {"Unavailable": 102}, 0)),
        ("ghz-121-killed-exit.txt", Calls(77, {"Unavailable": 102}, 0)),
        ("ghz-121-killed-stop.json", Calls(77, {"Unavailable": 102}, 0)),
        ("ghz-121-killed-stop.txt", Calls(77, {"Unavailable": 103}, 0)),
        ("ghz-121-killed-graceful.json", Calls(85, {"Unavailable": 94}, 0)),
        ("ghz-121-killed-graceful.txt", Calls(85, {"Unavailable": 94}, 0)),
        ("ghz-093-killed-exit.json", Calls(73, {"Unavailable": 107}, 1)),
        ("ghz-093-killed-exit.txt", Calls(77, {"Unavailable": 103}, 2)),
        ("ghz-093-killed-stop.json", Calls(67, {"Unavailable": 112}, 0)),
        ("ghz-093-killed-stop.txt", Calls(1, {"Unavailable": 178}, 0)),
        ("ghz-093-killed-graceful.json", Calls(7, {"Unavailable": 121}, 11)),
    ],
)
def test_calls_broken_by_a_killed_server_failed(name: str, calls: Calls) -> None:
    assert report_of(name).calls == calls


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("ghz-121-forged-cut.json", Calls(150, {"Canceled": 47}, 2)),
        ("ghz-093-forged-cut.json", Calls(150, {"Canceled": 47}, 4)),
    ],
)
def test_a_server_that_speaks_like_a_closing_client_is_unmasked_by_the_clock(
    name: str, calls: Calls
) -> None:
    """The few calls that ended with the window cannot be told apart; concurrency was 4."""
    assert report_of(name).calls == calls


@pytest.mark.parametrize("version", ["121", "093"])
@pytest.mark.parametrize("form", ["json", "txt"])
def test_errors_are_counted_under_their_code(version: str, form: str) -> None:
    report = report_of(f"ghz-{version}-internal.{form}")

    assert report.calls == Calls(134, {"Internal": 66}, 0)
    assert report.errors == {"rpc error: code = Internal desc = boom": 66}
    assert report.latency.samples == 134


@pytest.mark.parametrize("version", ["121", "093"])
@pytest.mark.parametrize("form", ["json", "txt"])
def test_no_message_of_a_server_can_pass_for_a_cut_call(version: str, form: str) -> None:
    assert report_of(f"ghz-{version}-nasty.{form}").calls == Calls(45, {"ResourceExhausted": 45}, 0)


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
        assert report.latency == parse_ghz.Latency()
        assert report.percentiles_ns == {}
        assert report.histogram == ()
        assert report.rate(1).high == 0
        assert report.average_ns > 0


@pytest.mark.parametrize("version", ["121", "093"])
def test_a_run_without_calls_is_a_report_of_nothing(version: str) -> None:
    for form in ("json", "txt"):
        report = report_of(f"ghz-{version}-no-calls.{form}")
        assert report.count == 0
        assert report.calls == Calls(0, {}, 0)
        assert report.rate(5000).high == 0


@pytest.mark.parametrize("version", ["121", "093"])
def test_one_call_is_its_own_percentiles(version: str) -> None:
    latency = report_of(f"ghz-{version}-one-call.json").latency

    assert latency.samples == 1
    assert latency.mean_ns == latency.p50_ns == latency.p999_ns == latency.max_ns


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
    shown = {
        50: report.latency.p50_ns,
        75: report.latency.p75_ns,
        90: report.latency.p90_ns,
        95: report.latency.p95_ns,
        99: report.latency.p99_ns,
    }
    for percent, printed_ns in report.percentiles_ns.items():
        if percent in shown:
            # ghz takes them through seconds as a float, and truncates.
            assert shown[percent] == pytest.approx(printed_ns, abs=1)


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
        for key, value in from_json.latency.as_dict().items()
        if value is not None and from_text.latency.as_dict()[key] is None
    }
    assert missing_in_text <= {"mean", "p999"}


# --- which calls are cut --------------------------------------------------------------------------


@pytest.mark.parametrize("error", [CLOSING, TRANSPORT_CLOSING, READ_CLOSED, EOF, RESET])
def test_a_call_that_ended_after_the_last_call_began_is_cut(error: str) -> None:
    report = parse(json.dumps(small_json((9.0, 1.0, ""), (10.0, 5.0, error))))
    assert report.calls == Calls(1, {}, 1)


@pytest.mark.parametrize("error", [CLOSING, TRANSPORT_CLOSING, READ_CLOSED, EOF, RESET])
def test_a_call_that_ended_before_another_began_failed(error: str) -> None:
    report = parse(json.dumps(small_json((5.0, 1.0, error), (9.0, 1.0, ""))))
    assert report.calls.cut == 0
    assert sum(report.calls.failed.values()) == 1


@pytest.mark.parametrize("error", [TRANSPORT_CLOSING, EOF, RESET])
def test_a_broken_connection_beside_a_refused_one_is_the_servers_doing(error: str) -> None:
    calls = ((9.0, 1.0, ""), (10.0, 5.0, error), (10.01, 0.001, REFUSED))
    assert parse(json.dumps(small_json(*calls))).calls == Calls(1, {"Unavailable": 2}, 0)
    assert parse(small_text((1, error), (1, REFUSED), (1, READ_CLOSED), ok=1)).calls == Calls(
        1, {"Unavailable": 2}, 1
    )


def test_no_more_calls_are_cut_than_can_be_open_and_the_last_ones_are() -> None:
    ends = [(9.95 + place / 1000, 1.0, EOF) for place in range(6)]
    closed = [(9.99, 1.0, CLOSING)] * 3
    report = parse(json.dumps(small_json(*ends, *closed)))
    assert report.calls == Calls(0, {"Unavailable": 5}, 4)


def test_an_asynchronous_run_has_no_such_bound() -> None:
    options = {"concurrency": 1, "async": True}
    report = parse(json.dumps(small_json(*[(9.9, 1.0, CLOSING)] * 9, options=options)))
    assert report.calls.cut == 9


def test_a_growing_concurrency_counts_with_its_peak() -> None:
    options = {"concurrency": 1, "concurrency-schedule": "step", "concurrency-end": 7}
    report = parse(json.dumps(small_json(*[(9.9, 1.0, CLOSING)] * 9, options=options)))
    assert report.calls.cut == 7


def test_a_run_that_ended_by_itself_cut_nothing() -> None:
    report = parse(json.dumps(small_json((9.9, 1.0, CLOSING), endReason="normal")))
    assert report.calls == Calls(0, {"Canceled": 1}, 0)


@pytest.mark.parametrize(
    "error",
    [
        "rpc error: code = Internal desc = " + CLOSING,
        CLOSING + " now",
        "rpc error: code = Canceled desc = context canceled",
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
        "rpc error: code = Unavailable desc = the connection is draining",
        REFUSED,
    ],
)
def test_any_other_error_is_a_failure_in_both_forms(error: str) -> None:
    assert parse(json.dumps(small_json((9.9, 1.0, error)))).calls.cut == 0
    assert parse(small_text((3, error))).calls.cut == 0


def test_text_takes_a_hang_up_for_a_cut_only_beside_an_unmistakable_one() -> None:
    assert parse(small_text((2, EOF), (1, READ_CLOSED))).calls == Calls(10, {}, 3)
    assert parse(small_text((2, EOF))).calls == Calls(10, {"Unavailable": 2}, 0)


def test_a_closing_text_under_another_status_is_a_failure() -> None:
    raw = small_json((9.9, 1.0, CLOSING), statusCodeDistribution={"Internal": 1})
    raw["details"][0]["status"] = "Internal"
    assert parse(json.dumps(raw)).calls == Calls(0, {"Internal": 1}, 0)


def test_cut_calls_beyond_the_details_ghz_keeps_are_told_by_their_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = small_json((8.0, 1.0, ""), (9.0, 2.0, ""), (9.9, 1.0, CLOSING))
    raw["details"] = raw["details"][:2]
    monkeypatch.setattr(parse_ghz, "DETAILS_KEPT", 2)
    report = parse(json.dumps(raw))
    assert report.calls == Calls(2, {}, 1)
    assert report.latency.samples == 2


def test_an_error_without_a_grpc_status_is_unknown_in_both_forms() -> None:
    raw = small_json((9.9, 1.0, "rpc error: code = Internal desc = x"))
    raw["statusCodeDistribution"] = {"": 1}
    raw["details"][0]["status"] = ""
    assert parse(json.dumps(raw)).calls == Calls(0, {"Unknown": 1}, 0)
    text = small_text((1, "rpc error: code = Internal desc = x")).replace("[Internal]", "[]")
    assert parse(text).calls == Calls(10, {"Unknown": 1}, 0)


def test_percentiles_that_ghz_left_empty_are_dropped_in_both_forms() -> None:
    empty = {"percentage": 0, "latency": 0}
    raw = small_json((9.0, 0.0, ""), latencyDistribution=[empty, empty])
    assert parse(json.dumps(raw)).percentiles_ns == {}
    text = small_text().replace(
        "Latency distribution:\n", "Latency distribution:\n  0 % in 0 ns \n"
    )
    assert parse(text).percentiles_ns == {}


def test_an_entry_forged_inside_a_message_cannot_outgrow_the_status_counts() -> None:
    forged = f"rpc error: code = Internal desc = oops\n  [900]   {CLOSING}"
    assert parse(small_text((2, forged))).calls == Calls(10, {"Internal": 2}, 0)
    assert parse(small_text((2, forged), (3, CLOSING))).calls == Calls(10, {"Internal": 2}, 3)


def test_json_without_details_falls_back_on_error_texts_and_printed_percentiles() -> None:
    raw = json.loads((FIXTURES / "ghz-121-stream.json").read_text())
    del raw["details"]
    report = parse(json.dumps(raw))

    assert report.calls == Calls(710, {}, 174)
    assert report.latency.mean_ns is None
    assert report.latency.p999_ns is None
    assert report.latency.p99_ns == 2879081179
    assert report.latency.samples == 710


def test_printed_percentiles_that_include_errors_are_not_passed_on() -> None:
    text = (FIXTURES / "ghz-121-unary-ok.txt").read_text()
    mixed = text.replace(
        "  [OK]   200 responses   \n\n",
        "  [OK]   199 responses   \n  [Internal]   1 responses   \n\nError distribution:\n"
        "  [1]   rpc error: code = Internal desc = boom   \n",
    )
    report = parse(mixed)
    assert report.calls == Calls(199, {"Internal": 1}, 0)
    assert report.latency == parse_ghz.Latency()


# --- figures --------------------------------------------------------------------------------------


def test_percentiles_are_nearest_rank_over_ok_calls_only() -> None:
    calls = [(9.0, place / 1000, "") for place in range(1, 1001)]
    report = parse(
        json.dumps(small_json((9.0, 8.0, "rpc error: code = Internal desc = x"), *calls))
    )
    assert report.latency.as_dict() == {
        "kind": "service",
        "mean": 500_500_000,
        "p50": 500_000_000,
        "p75": 750_000_000,
        "p90": 900_000_000,
        "p95": 950_000_000,
        "p99": 990_000_000,
        "p999": 999_000_000,
        "max": 1_000_000_000,
        "samples": 1000,
    }


@pytest.mark.parametrize(
    ("printed", "expected_ns"),
    [
        ("0 ns", 0),
        ("8350 ns", 8350),
        ("12 us", 12_000),
        ("12.5 µs", 12_500),
        ("12.5\u03bcs", 12_500),
        ("0.16 ms", 160_000),
        ("139.48 ms", 139_480_000),
        ("1.24 s", 1_240_000_000),
        ("1m2.5s", 62_500_000_000),
        ("1h0m3s", 3_603_000_000_000),
        ("2 m", 120_000_000_000),
    ],
)
def test_every_unit_of_a_duration_is_read(printed: str, expected_ns: int) -> None:
    assert parse(small_text(fastest=printed)).fastest_ns == expected_ns


@pytest.mark.parametrize(
    "printed",
    ["", "5", "ms", "-1 ms", "+1 ms", "1,24 s", "NaN s", "1e9 s", "5 days", "9" * 19 + " h"],
)
def test_what_is_no_duration_is_refused(printed: str) -> None:
    with pytest.raises(GhzParseError, match="Fastest"):
        parse(small_text(fastest=printed))


@pytest.mark.parametrize("messages_per_call", [0, -1])
def test_a_rate_needs_at_least_one_message_per_call(messages_per_call: int) -> None:
    with pytest.raises(ValueError, match="messages_per_call"):
        report_of("ghz-121-unary-ok.json").rate(messages_per_call)


def test_windows_line_ends_and_a_byte_order_mark_are_no_obstacle() -> None:
    text = (FIXTURES / "ghz-121-stream.txt").read_text()
    assert parse("\ufeff" + text.replace("\n", "\r\n")) == parse(text)


# --- broken input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("hello", "neither"),
        ("null", "neither"),
        ("\x00\x01\x02\xff", "neither"),
        ("<html><title>ghz</title></html>", "neither"),
        ((FIXTURES / "ghz-121-unary-ok.csv").read_text(), "neither"),
        ("[]", "must be a JSON object"),
        ("{}", "`count` is missing"),
        ('{"count": NaN}', "NaN"),
        ('{"count": -Infinity}', "-Infinity"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"count": ' + "9" * 5000 + "}", "broken or incomplete JSON"),
        ('{"count": 1', "broken or incomplete JSON"),
        ("Summary:\n", "cut short"),
        ("Summary:" + "\n" * 100_000, "cut short"),
        ("Summary:\n  Name:\t\t" + "x\n  Count:\t" * 20_000, "cut short"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_what_is_not_ghz_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(GhzParseError, match=complaint) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("count",), "10", "`count` must be a whole number"),
        (("count",), True, "`count` must be a whole number"),
        (("count",), 1.0, "`count` must be a whole number"),
        (("count",), -1, "`count` is out of range"),
        (("count",), 2**64, "`count` is out of range"),
        (("count",), 3, "add up to 2 calls, the count is 3"),
        (("total",), 0, "0 ns"),
        (("total",), -5, "`total` is out of range"),
        (("total",), 2**63, "`total` is out of range"),
        (("total",), 1000, "longer than the run"),
        (("rps",), "12", "`rps` must be a number"),
        (("rps",), -1.0, "`rps` is out of range"),
        (("rps",), 1e308, "`rps` is out of range"),
        (("average",), None, "`average` must be a whole number"),
        (("name",), 5, "`name` must be a string"),
        (("options",), [], "`options` must be a JSON object"),
        (("options", "concurrency"), "4", "`options.concurrency` must be a whole number"),
        (("statusCodeDistribution",), [], "`statusCodeDistribution` must be a JSON object"),
        (("statusCodeDistribution", "OK"), -1, "out of range"),
        (("statusCodeDistribution",), {"OK": 2}, "disagree"),
        (("errorDistribution",), "x", "`errorDistribution` must be a JSON object"),
        (("histogram",), {}, "`histogram` must be a list"),
        (("latencyDistribution",), [1], r"`latencyDistribution\[0\]` must be a JSON object"),
        (("latencyDistribution",), [{"percentage": 101, "latency": 1}], "out of range"),
        (("details",), {}, "`details` must be a list"),
        (("details", 0), "x", r"`details\[0\]` must be a JSON object"),
        (("details", 0, "latency"), -1, r"`details\[0\].latency` is out of range"),
        (("details", 0, "latency"), "5", r"`details\[0\].latency` must be a whole number"),
        (("details", 0, "status"), None, r"`details\[0\].status` must be a string"),
        (("details", 0, "timestamp"), "soon", r"`details\[0\].timestamp` is not an RFC 3339"),
        (("details", 0, "timestamp"), "2026-01-02T03:04:05", "not an RFC 3339"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_an_absurd_value_is_named(
    path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    raw: Any = small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING))
    assert parse(json.dumps(raw)).count == 2
    holder = raw
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(GhzParseError, match=complaint):
        parse(json.dumps(raw))


@pytest.mark.parametrize(
    "key",
    [
        "count",
        "total",
        "average",
        "fastest",
        "slowest",
        "rps",
        "errorDistribution",
        "statusCodeDistribution",
    ],
)
def test_a_missing_key_is_named(key: str) -> None:
    raw = small_json((9.0, 1.0, ""))
    del raw[key]
    with pytest.raises(GhzParseError, match=f"`{key}` is missing"):
        parse(json.dumps(raw))


def test_a_detail_too_few_is_noticed() -> None:
    raw = small_json((9.0, 1.0, ""), (9.0, 1.0, ""))
    raw["details"] = raw["details"][:1]
    with pytest.raises(GhzParseError, match="`details` holds 1 calls, `count` says 2"):
        parse(json.dumps(raw))


def test_json_cut_short_anywhere_is_refused() -> None:
    whole = json.dumps(small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING)))
    for length in range(len(whole)):
        with pytest.raises(GhzParseError):
            parse(whole[:length])


@pytest.mark.parametrize("name", ["ghz-121-stream.txt", "ghz-093-internal.txt"])
def test_a_summary_cut_short_is_refused_or_loses_nothing(name: str) -> None:
    """Past the last error's first words only padding and that message's tail can be missing."""
    whole = (FIXTURES / name).read_text(encoding="utf-8").rstrip()
    needed = whole.rindex("]") + len("]   r")
    for length in range(needed - 4):
        with pytest.raises(GhzParseError):
            parse(whole[:length])
    assert parse(whole).count > 0


def test_a_summary_with_an_unreadable_line_is_refused() -> None:
    whole = (FIXTURES / "ghz-121-internal.txt").read_text(encoding="utf-8")
    for good, bad in [
        ("  [OK]         134 responses", "  [OK]         many responses"),
        ("  50 % in 0.60 ms", "  50 % in a while"),
        ("  2.200 [1]", "  NaN [1]"),
        ("Count:\t200", "Count:\t-200"),
        ("Requests/sec:\t3517.37", "Requests/sec:\tNaN"),
        ("Total:\t56.86 ms", "Total:\t0 ns"),
    ]:
        assert good in whole
        with pytest.raises(GhzParseError):
            parse(whole.replace(good, bad))


def test_a_report_is_not_changed_by_being_read_twice() -> None:
    raw = small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING))
    assert parse(json.dumps(raw)) == parse(json.dumps(copy.deepcopy(raw)))


# --- command line ---------------------------------------------------------------------------------


def run(*argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *argv], input=stdin, capture_output=True, check=False
    )


def test_the_command_prints_the_leaderboard_numbers() -> None:
    done = run(str(FIXTURES / "ghz-121-unary-cut.json"), "--messages-per-call", "10")

    assert done.returncode == 0
    assert done.stderr == b""
    printed = json.loads(done.stdout)
    latency = printed.pop("latency_ns")
    assert latency["samples"] == 48
    assert printed == {
        "schema": 1,
        "form": "json",
        "name": "",
        "elapsed_s": 0.999936438,
        "count": 64,
        "calls": {"ok": 48, "failed": {}, "cut": 16},
        "calls_per_s": pytest.approx(48.00305),
        "messages_per_call": 10,
        "messages_per_s": pytest.approx(480.0305),
        "low": pytest.approx(480.0305),
        "high": pytest.approx(640.0407),
        "reported_calls_per_s": pytest.approx(64.00407),
    }


def test_the_command_reads_stdin_and_counts_one_message_a_call_unless_told() -> None:
    done = run("-", stdin=(FIXTURES / "ghz-121-wait.txt").read_bytes())

    assert done.returncode == 0
    assert json.loads(done.stdout)["messages_per_call"] == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", b"empty input"),
        (b"\xff\xfe\x00S", b"neither a ghz JSON report"),
        (b'{"count": "\xed\xa0\x80"}', b"`count` must be a whole number"),
        (b'{"count": "\\ud800\\n"}', b"`count` must be a whole number"),
    ],
)
def test_the_command_refuses_bad_input_in_one_line(
    tmp_path: Path, content: bytes, complaint: bytes
) -> None:
    saved = tmp_path / "out.json"
    saved.write_bytes(content)
    for done in (run(str(saved)), run("-", stdin=content)):
        assert done.returncode == 2
        assert done.stdout == b""
        assert complaint in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_the_command_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "new\nline"):
        done = run(str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(b"parse_ghz: " + str(tmp_path).encode())
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "many", "9" * 40])
def test_the_command_refuses_an_impossible_messages_per_call(bad: str) -> None:
    done = run("-", f"--messages-per-call={bad}")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_the_command_has_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert b"--messages-per-call" in done.stdout


def test_a_file_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_ghz, "MAX_BYTES", 100)
    with pytest.raises(GhzParseError, match="larger than 100 bytes"):
        parse_file(FIXTURES / "ghz-121-unary-ok.json")


def test_a_path_with_a_null_byte_is_refused() -> None:
    with pytest.raises(GhzParseError, match="null byte"):
        parse_file("a\0b")


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = small_text((1, "rpc error: code = Internal desc = QQ")).encode().replace(b"QQ", b"\xff")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert parse_file("-").errors == {"rpc error: code = Internal desc = \ufffd": 1}
