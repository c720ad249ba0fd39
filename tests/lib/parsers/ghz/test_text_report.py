"""The text summary: its numbers, and what is broken in it."""

import pytest

from parse_ghz import GhzParseError, parse

from .reports import FIXTURES, small_text


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


def test_windows_line_ends_and_a_byte_order_mark_are_no_obstacle() -> None:
    text = (FIXTURES / "ghz-121-stream.txt").read_text()
    assert parse("\ufeff" + text.replace("\n", "\r\n")) == parse(text)


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


OWN = """volley 0.1.0
  Messages:      1,175,000, 587,500 a second
  Calls:         470 ok, 0 failed, 256 cut at the end (in Count, not in Requests/sec)
  Samples:       call 3: Summary: is no line of its own
warning: volley used 97 % of its CPUs
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_volley_says_above_the_summary_is_passed_over(end: str) -> None:
    text = (FIXTURES.parent / "volley" / "stream.txt").read_text()
    assert text.startswith("\nSummary:\n")
    assert parse((OWN + text).replace("\n", end)) == parse(text)


def test_only_volleys_words_may_stand_above_a_summary() -> None:
    with pytest.raises(GhzParseError, match="neither"):
        parse("hello\n" + small_text())
