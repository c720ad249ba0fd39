"""volley's member in the JSON: its counts are taken as they are, or refused in a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from parse_ghz import GhzReport, ParseError, parse, parse_file
from parsers.common.figures import Calls, Latency, Streams
from parsers.ghz.report import Rate
from tests.lib.arena.load.volley_reports import a_report

FIXTURES = Path(__file__).parents[3] / "fixtures" / "volley"
REPORTS = sorted(path.name for path in FIXTURES.glob("*.json"))


def parsed(**changes: Any) -> GhzReport:
    return parse(json.dumps(a_report(**changes)))


@pytest.mark.parametrize("messages_per_call", [1, 5000])
def test_messages_that_were_counted_are_the_rate_and_leave_no_error_bar(
    messages_per_call: int,
) -> None:
    report = parsed()
    assert report.messages == 21_000
    assert report.rate(messages_per_call) == Rate(
        calls_per_s=0.6,
        messages_per_call=messages_per_call,
        messages_per_s=4200.0,
        at_least=4200.0,
        at_most=4200.0,
    )


def test_calls_and_latency_are_volleys_own() -> None:
    report = parsed()
    assert report.calls == Calls(ok=3, failed={"Internal": 1}, cut=2)
    assert report.latency == Latency(
        kind="service", samples=3, mean=1_500_000_000, p50=1_500_000_000, p75=1_600_000_000,
        p90=1_700_000_000, p95=1_800_000_000, p99=1_900_000_000, p999=1_950_000_000,
        max=2_000_000_000,
    )  # fmt: skip


def test_latency_from_the_intended_send_is_called_response() -> None:
    assert parsed(**{"volley.latency_ns.kind": "response"}).latency.kind == "response"


def test_latency_that_failed_calls_are_a_part_of_is_none_of_ok_calls() -> None:
    report = parsed(**{"volley.latency_ns.samples": 4, "volley.latency_ns.kind": "response"})
    assert report.latency == Latency(kind="response", samples=0)


@pytest.mark.parametrize("name", REPORTS)
def test_ghzs_rules_find_in_a_real_report_what_volley_says_itself(name: str) -> None:
    raw = json.loads((FIXTURES / name).read_text())
    counted = parse(json.dumps(raw))
    assert counted.messages == raw.pop("volley")["messages"]
    guessed = parse(json.dumps(raw))
    assert guessed.messages is None
    assert guessed.calls == counted.calls
    assert guessed.latency.samples == counted.latency.samples
    for percentile in ("p50", "p75", "p90", "p95", "p99", "max"):
        assert getattr(guessed.latency, percentile) == getattr(counted.latency, percentile)


def test_without_an_ok_call_messages_have_a_rate_all_the_same() -> None:
    report = parse_file(FIXTURES / "none-finished.json")
    assert (report.calls.ok, report.latency) == (0, Latency(kind="service", samples=0))
    assert report.rate(2_000_000).at_least == report.rate(2_000_000).at_most == 506_600.0


def test_frames_the_warm_up_and_the_cost_are_volleys_own() -> None:
    report = parsed()
    assert (report.data_frames, report.warm_up, report.cpu_s) == (20_000, (3_000, 2_000), 0.1)


def test_an_earlier_volley_did_not_count_frames_and_had_no_series_of_its_warm_up() -> None:
    report = parsed(**{"volley.data_frames": None, "volley.warmup": None, "volley.cpu_s": None})
    assert (report.data_frames, report.warm_up, report.cpu_s) == (None, (), None)


LATENCY = "volley.latency_ns"
WARM_UP = "volley.warmup"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"volley": []}, "`volley` must be a JSON object"),
        ({"volley.schema": None}, "`volley.schema` is missing"),
        ({"volley.schema": 2}, "`volley.schema` is 2: only 1 can be read"),
        ({"volley.messages": None}, "`volley.messages` is missing"),
        ({"volley.messages": -1}, "`volley.messages` is out of range"),
        ({"volley.messages": 10**400}, "`volley.messages` is out of range"),
        ({"volley.messages": "21000"}, "`volley.messages` must be a whole number"),
        ({"volley.messages": 2e4}, "`volley.messages` must be a whole number"),
        (
            {"volley.messages_per_s": 4300.0},
            "`volley.messages_per_s` is 4300.0, but `volley.messages` ÷ `total` 4200.0",
        ),
        ({"total": 10**10}, "is 4200.0, but `volley.messages` ÷ `total` 2100.0"),
        ({"volley.window_s": 5.1}, "`volley.window_s` is 5.1, but `total` 5.0 s"),
        ({"volley.window_s": 0}, "`volley.window_s` is 0.0"),
        ({"volley.calls": None}, "`volley.calls.ok` is missing"),
        ({"volley.calls.cut": None}, "`volley.calls.cut` is missing"),
        ({"volley.calls.ok": 4}, "`volley.calls` and `statusCodeDistribution` disagree"),
        ({"volley.calls.cut": 3}, "`volley.calls` and `statusCodeDistribution` disagree"),
        ({"statusCodeDistribution": {"OK": 6}}, "disagree"),
        ({"statusCodeDistribution": {"OK": 3, "": 1, "Canceled": 2}}, "disagree"),
        # A code ends up in messages and on the page.
        ({"volley.calls.failed": {"\x1b[2J": 1}}, "`volley.calls.failed` has '\\x1b[2J'"),
        ({"volley.calls.failed": {"a\nb": 1}}, "`volley.calls.failed` has 'a\\nb'"),
        ({"volley.calls.failed": {"OK": 1}}, "`volley.calls.failed` has 'OK'"),
        ({"volley.data_frames": 0}, "`volley.data_frames` is 0, but `volley.messages` 21000"),
        ({"volley.data_frames": 0.5}, "`volley.data_frames` must be a whole number"),
        ({WARM_UP: [1]}, f"`{WARM_UP}` must be a JSON object"),
        ({f"{WARM_UP}.seconds": None}, f"`{WARM_UP}.seconds` is missing"),
        ({f"{WARM_UP}.seconds": [1, -1]}, f"`{WARM_UP}.seconds[1]` is not a number in its range"),
        ({f"{WARM_UP}.elapsed_s": 2.5}, f"`{WARM_UP}` has 2 seconds, but lasted 2.5 s"),
        ({f"{WARM_UP}.elapsed_s": 1.0}, f"`{WARM_UP}` has 2 seconds, but lasted 1.0 s"),
        ({"volley.cpu_s": -1}, "`volley.cpu_s` is out of range"),
        ({LATENCY: None}, f"`{LATENCY}.kind` is missing"),
        ({f"{LATENCY}.kind": "guessed"}, f"`{LATENCY}.kind` must be service or response"),
        ({f"{LATENCY}.p999": None}, f"`{LATENCY}.p999` is missing"),
        ({f"{LATENCY}.p99": 1}, f"the figures of `{LATENCY}` are not in order"),
        ({f"{LATENCY}.mean": 3 * 10**9}, f"the figures of `{LATENCY}` are not in order"),
    ],
)
def test_a_member_that_is_broken_or_contradicts_itself_is_refused_in_a_line(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parsed(**changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_member_that_is_null_is_no_member_of_ghzs() -> None:
    with pytest.raises(ParseError, match="`volley` must be a JSON object, is None"):
        parse(json.dumps(a_report() | {"volley": None}))


@pytest.mark.parametrize("is_volleys", [True, False])
def test_a_report_without_its_first_calls_has_no_rate(*, is_volleys: bool) -> None:
    report = a_report()
    if not is_volleys:
        del report["volley"]
    report["options"] = {**report.get("options", {}), "skipFirst": 0}
    parse(json.dumps(report))
    report["options"]["skipFirst"] = 100
    with pytest.raises(ParseError, match=r"--skipFirst 100: .* no rate; run it without"):
        parse(json.dumps(report))


def test_streams_that_live_are_counted_with_their_messages_and_the_latency_of_replies() -> None:
    report = parse_file(FIXTURES / "streams-live.json")
    assert report.streams
    assert report.streams == Streams(
        connections=2, wanted=50, open_first=50, open_last=50, broken=0, refused=0,
        due=500, sent=500, late=report.streams.late, answered=500, unanswered=0,
    )  # fmt: skip
    assert report.streams.lost == 0
    assert report.reply_latency
    assert (report.reply_latency.kind, report.reply_latency.samples) == ("response", 500)
    assert parsed().streams is None
