"""Text and JSON that are not whole, not h2load's, or hostile."""

import re
from typing import Any

import pytest

from parse_h2load import ParseError, parse

from .reports import JSON, NEW_TEXT, TEXT, changed

REPORT = TEXT[TEXT.index("finished in") :]


@pytest.mark.parametrize("whole", [TEXT, NEW_TEXT], ids=["old", "new"])
def test_text_cut_short_anywhere_is_refused(whole: str) -> None:
    assert parse(whole.rstrip("\n")).calls.ok == 600
    for end in range(len(whole.rstrip("\n"))):
        with pytest.raises(ParseError) as caught:
            parse(whole[:end])
        assert "\n" not in str(caught.value)


def test_json_cut_short_is_refused() -> None:
    for end in (*range(20, 700), *range(700, len(JSON), 997), len(JSON) - 1):
        with pytest.raises(ParseError, match="broken or incomplete JSON"):
            parse(JSON[:end])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("finished in 157.90ms", "finished in 0us", "took no time"),
        ("finished in 157.90ms", "finished in -1ms", "broken"),
        ("finished in 157.90ms", "finished in 1h", "broken"),
        ("1000 total", "1001 total", "do not add up"),
        ("1000 total", f"{2**64 - 36} total", "out of range"),
        ("1000 total", "\u0661000 total", "broken"),
        ("1000 total", "1" * 5000 + " total", "broken"),
        ("700 2xx", "all 2xx", "broken"),
        ("time for request", "time for call", "in the table"),
        ("sd        +/- sd", "sd", "in the table"),
        ("finished in", "finished at", "cut short before `finished in`"),
        (REPORT, REPORT * 2, "more than one"),
    ],
)
def test_text_that_is_broken_is_refused(old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    with pytest.raises(ParseError, match=complaint) as caught:
        parse(TEXT.replace(old, new))
    assert "\n" not in str(caught.value)


def test_a_warm_up_that_is_longer_than_the_run_is_refused() -> None:
    phases = "9s of warm-up time and 1s of main duration"
    line = f"spawning thread #0: 4 total client(s). Timing-based test with {phases}"
    with pytest.raises(ParseError, match="took no time"):
        parse(f"{line}\n{TEXT}")
    with pytest.raises(ParseError, match="took no time"):
        parse(f"{JSON}{line}\n")


@pytest.mark.parametrize(
    ("path", "to", "complaint"),
    [
        ("version", "v2", "only v1"),
        ("measurements", [], "`measurements` must be a JSON object"),
        ("measurements requests", None, "key `measurements.requests.total` is missing"),
        ("measurements requests done", None, "key `measurements.requests.done` is missing"),
        ("measurements requests done", 1.5, "whole number"),
        ("measurements requests done", True, "whole number"),
        ("measurements requests done", -1, "out of range"),
        ("measurements requests done", 2**64 - 1, "out of range"),
        ("measurements requests total", 999, "do not add up"),
        ("measurements duration", 0, "took no time"),
        ("measurements duration", "1s", "`measurements.duration` must be a number"),
        ("measurements duration", 1e300, "`measurements.duration` is out of range"),
        ("measurements request_per_second", "many", "request_per_second` must be a number"),
        ("measurements request_per_second", 10**400, "out of range"),
        ("measurements status_codes 3xx", None, "key `measurements.status_codes.3xx` is missing"),
        ("measurements performance request p99", None, "request.p99` is missing"),
        ("measurements performance request samples", {}, "samples` must be a list"),
        ("measurements performance request samples", [True], r"samples\[0\]` is not a number"),
        (
            "measurements performance request samples",
            [0.1, -1.0],
            r"samples\[1\]` is not a number in its range: -1.0",
        ),
        ("measurements performance request samples", [0.1] * 1001, "more than the calls"),
    ],
)
def test_json_that_is_no_report_is_refused(path: str, to: Any, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse(changed(*path.split(), to=to))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"version":' + "[" * 100_000, "nested too deeply"),
        ('{"version":NaN}', "NaN is not a number of JSON"),
        ('{"version":' + "9" * 5000 + "}", "broken or incomplete JSON"),
        ('{"version":"v1"}', "key `measurements.requests.total` is missing"),
    ],
)
def test_hostile_json_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint):
        parse(text)


@pytest.mark.parametrize("generator", [None, 5, "curl 8"])
def test_a_version_that_is_not_told_is_not_made_up(generator: Any) -> None:
    assert parse(changed("metadata", "generator", to=generator)).version is None


def test_text_of_windows_is_read_too() -> None:
    assert parse(TEXT.replace("\n", "\r\n")).calls.ok == 600


def test_lines_on_stdout_between_the_others_do_no_harm() -> None:
    noisy = TEXT.replace("\nfinished in", "Process Request Failure:1\n\nfinished in")
    assert noisy != TEXT
    assert parse(noisy) == parse(TEXT)
    assert re.search("^progress", noisy, re.MULTILINE)
