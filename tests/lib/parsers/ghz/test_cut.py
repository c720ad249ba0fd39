"""Which calls are cut, in captured and in made-up reports."""

import json

import pytest

from parse_ghz import parse
from parsers.common.figures import Calls
from parsers.ghz import calls as single_calls

from .reports import (
    CLOSING,
    EOF,
    READ_CLOSED,
    REFUSED,
    RESET,
    TRANSPORT_CLOSING,
    report_of,
    small_json,
    small_text,
)


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
        ("ghz-121-late-worker.json", Calls(223, {}, 101)),
        ("ghz-121-wait.json", Calls(64, {}, 0)),
        ("ghz-121-wait.txt", Calls(64, {}, 0)),
    ],
)
def test_calls_open_when_the_window_closed_are_cut(name: str, calls: Calls) -> None:
    assert report_of(name).calls == calls


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
        ("ghz-121-forged-cut.json", Calls(150, {"Canceled": 45}, 4)),
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
def test_no_message_of_a_server_can_pass_for_a_cut_call(version: str, form: str) -> None:
    assert report_of(f"ghz-{version}-nasty.{form}").calls == Calls(45, {"ResourceExhausted": 45}, 0)


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


CERTAIN_S, DOUBTFUL_S = 2.0, 0.1


@pytest.mark.parametrize(
    ("error", "slack_s"),
    [
        (CLOSING, CERTAIN_S),
        (READ_CLOSED, CERTAIN_S),
        (EOF, DOUBTFUL_S),
        (RESET, DOUBTFUL_S),
        (TRANSPORT_CLOSING, DOUBTFUL_S),
    ],
)
def test_a_worker_may_be_late_to_begin_its_call_but_not_by_long(error: str, slack_s: float) -> None:
    late = (10.0, 1.0, "")  # Begun at 9.0.
    for early_s, cut in ((slack_s - 0.001, 1), (slack_s, 1), (slack_s + 0.001, 0)):
        report = parse(json.dumps(small_json((9.0 - early_s, 1.0, error), late)))
        assert report.calls.cut == cut, early_s


def test_the_slack_of_certain_words_is_not_lent_to_doubtful_ones() -> None:
    early = [(8.7, 1.0, CLOSING), (8.7, 1.0, EOF)]
    report = parse(json.dumps(small_json(*early, (10.0, 1.0, ""))))
    assert report.calls == Calls(1, {"Unavailable": 1}, 1)


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
    monkeypatch.setattr(single_calls, "DETAILS_KEPT", 2)
    report = parse(json.dumps(raw))
    assert report.calls == Calls(2, {}, 1)
    assert report.latency.samples == 2


def test_an_entry_forged_inside_a_message_cannot_outgrow_the_status_counts() -> None:
    forged = f"rpc error: code = Internal desc = oops\n  [900]   {CLOSING}"
    assert parse(small_text((2, forged))).calls == Calls(10, {"Internal": 2}, 0)
    assert parse(small_text((2, forged), (3, CLOSING))).calls == Calls(10, {"Internal": 2}, 3)
