"""The text summary: its numbers, and what is broken in it."""

import re
from collections.abc import Callable

import pytest

from parse_ghz import GhzReport, ParseError, parse

from .reports import FIXTURES, REPORTS, report_of, small_text


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
    with pytest.raises(ParseError, match="Fastest"):
        parse(small_text(fastest=printed))


def test_a_run_without_a_good_call_may_have_no_times() -> None:
    whole = (FIXTURES / "ghz-121-internal.txt").read_text(encoding="utf-8")
    for line in ("Slowest", "Fastest", "Average"):
        whole = re.sub(rf"{line}:\t.*", f"{line}:\t-", whole)
    with pytest.raises(ParseError, match="Slowest"):
        parse(whole)
    none = re.sub(r"\[OK\] +134 responses", "[Unavailable]   134 responses", whole)
    none += "  [134]   rpc error: code = Unavailable desc = closed\n"
    report = parse(none)
    assert (report.slowest_ns, report.fastest_ns, report.average_ns) == (0, 0, 0)


@pytest.mark.parametrize("name", ["ghz-121-stream.txt", "ghz-093-internal.txt"])
def test_a_summary_cut_short_is_refused_or_loses_nothing(name: str) -> None:
    """Past the last error's first words only padding and that message's tail can be missing."""
    whole = (FIXTURES / name).read_text(encoding="utf-8").rstrip()
    needed = whole.rindex("]") + len("]   r")
    for length in range(needed - 4):
        with pytest.raises(ParseError):
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
        with pytest.raises(ParseError):
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


SUMMARIES = [name for name in REPORTS if name.endswith(".txt")]


def figures(report: GhzReport) -> dict[str, object]:
    """All but the words of others: what blank lines and indentation in them were is lost."""
    return {**vars(report), "name": None, "errors": None}


def before_each(text: str, before: Callable[[int], str]) -> str:
    lines = text.rstrip("\n").split("\n")
    return "".join(f"{before(n)}{line}\n" for n, line in enumerate(lines, 1))


COPIES: dict[str, Callable[[str], str]] = {
    "no blank lines": lambda text: re.sub(r"\n\s*\n", "\n", text),
    "no indentation": lambda text: re.sub(r"(?m)^[ \t]+", "", text),
    "neither": lambda text: re.sub(r"\n\s+", "\n", text),
    "deep": lambda text: re.sub(r"(?m)^", "        ", text),
    "twice the blank lines": lambda text: text.replace("\n", "\n\n"),
    "single spaces": lambda text: re.sub(r"[ \t]+", " ", text),
    "no spaces at the end": lambda text: re.sub(r"(?m)[ \t]+$", "", text),
    "fixed spaces": lambda text: text.replace(" ", "\u00a0"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "byte order mark": lambda text: "\ufeff" + text.lstrip(),
    "percent": lambda text: text.replace(" % in ", "% in "),
    "quoted": lambda text: before_each(text, lambda _: "> "),
    "quoted, bare": lambda text: re.sub(r"(?m)^> $", ">", before_each(text, lambda _: "> ")),
    "times": lambda text: before_each(text, lambda n: f"2026-11-02T10:{n // 60:02}:{n % 60:02}Z "),
    "bracketed times": lambda text: before_each(text, lambda n: f"[10:00:00.{n}] "),
    "numbered": lambda text: before_each(text, lambda n: f"{n:4} "),
    "a service's": lambda text: before_each(text, lambda _: "bench-1  | "),
    "a shell's": lambda text: f"$ ./server &\n[1] 4242\n$ ghz --insecure :8080\n{text}\n$ exit\n",
    "a log's": lambda text: f"::group::Run Summary:\n{text}Post job cleanup.\nTotal: 3 s\n",
    "fenced": lambda text: f"```\n{text}```\nSummary: fast.\n",
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_that_lost_its_layout_has_the_same_figures(copy: Callable[[str], str]) -> None:
    for name in SUMMARIES:
        text = (FIXTURES / name).read_text(encoding="utf-8")
        assert figures(parse(copy(text))) == figures(parse(text)), name


PUBLISHED = sorted(path.name for path in FIXTURES.glob("published-*.txt"))


def test_five_listings_are_there() -> None:
    assert len(PUBLISHED) == 5


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_listing_has_the_figures_of_the_output_it_was_copied_from(name: str) -> None:
    readme = (FIXTURES / "README.md").read_text(encoding="utf-8")
    origin = re.search(rf"^\| `{name}` \| `([a-z0-9.-]+)` \|", readme, re.MULTILINE)
    assert origin
    assert figures(report_of(name)) == figures(report_of(origin[1]))
    words, own_words = (
        {tuple(error.split()): calls for error, calls in report_of(each).errors.items()}
        for each in (name, origin[1])
    )
    assert words == own_words


STREAM = (FIXTURES / "ghz-121-stream.txt").read_text(encoding="utf-8")
FORGED = small_text(ok=999).strip()


@pytest.mark.parametrize("forged", [FORGED, FORGED.replace("\n\n", "\n")])
@pytest.mark.parametrize("copy", [COPIES["no blank lines"], COPIES["neither"], str])
def test_a_message_that_holds_a_summary_is_not_taken_for_one(
    forged: str, copy: Callable[[str], str]
) -> None:
    error = "rpc error: code = Internal desc = "
    other = (3, error + "x")
    for entries in ([(2, error + forged), other], [other, (2, error + forged)]):
        assert parse(copy(small_text(*entries))).statuses == {"OK": 10, "Internal": 5}
    marked = before_each(forged, lambda _: f"[2] {error}")
    with pytest.raises(ParseError, match="part of another summary"):
        parse(marked)
    for message in (f"oops\n{forged}", f"oops\n{marked}"):
        for entries in ([(2, error + message), other], [other, (2, error + message)]):
            text = copy(small_text(*entries))
            with pytest.raises(ParseError, match="more than one summary"):
                parse(text)
            # In the end of a copy alone, the message is the only summary.
            for end in re.findall(r"(?s)(Latency dist.*?(Error dist[^\n]*\n(.*)))", text)[0]:
                with pytest.raises(ParseError, match="part of another summary"):
                    parse(end)


def test_a_message_with_the_words_of_sections_changes_no_figure() -> None:
    message = "rpc error: code = Canceled desc = x\nStatus code distribution:\n[OK] 900 responses\n"
    text = small_text((2, message + "Summary:\n  Count: 7\n  Total: 1 ns\nError distribution:"))
    for copy in COPIES.values():
        assert parse(copy(text)).statuses == {"OK": 10, "Canceled": 2}
        assert parse(copy(text)).count == 12


def test_two_runs_in_one_log_are_refused() -> None:
    with pytest.raises(ParseError, match="more than one summary"):
        parse(STREAM + small_text())
    with pytest.raises(ParseError, match="part of another summary"):
        parse(STREAM.replace("Fastest", "Quickest") + small_text())


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("  Average:\t1.23 s\n", "", "cut short before its histogram"),
        ("  Slowest:\t3.31 s\n", "  Slowest:\t3.31 s\n2026 [info] flushed\n", "cut short before"),
        ("  690.054  [82]", "2026 [info] flushed\n  690.054  [82]", "Response time histogram"),
        ("  50 % in 1.42 s", "  50 % in 1.42 s\n  [7]   x", "Latency distribution"),
        (
            "  [Canceled]      229 responses",
            "[info] 3 s\n  [Canceled]  229 responses",
            "unreadable",
        ),
        ("  [Canceled]      229 responses", "  [Canceled]      228 responses", "unreadable|add up"),
        ("  [OK]            708 responses", "  [OK]            709 responses", "add up"),
        ("Error distribution:", "$ ", "fewer than the calls that failed"),
    ],
)
def test_what_cannot_be_told_is_refused(old: str, new: str, complaint: str) -> None:
    assert old in STREAM
    for copy in COPIES.values():
        with pytest.raises(ParseError, match=complaint):
            parse(copy(STREAM.replace(old, new)))


def test_a_line_without_what_stands_before_the_others_is_refused() -> None:
    lines = COPIES["a service's"](STREAM).split("\n")
    for place in range(2, lines.index("bench-1  | Error distribution:")):
        if text := lines[place].removeprefix("bench-1  | "):
            with pytest.raises(ParseError):
                parse("\n".join([*lines[:place], text, *lines[place + 1 :]]))


def test_a_copy_cut_short_is_refused() -> None:
    for copy in COPIES.values():
        whole = copy(STREAM)
        for end in range(0, whole.replace("\u00a0", " ").rindex("rpc error"), 97):
            with pytest.raises(ParseError):
                parse(whole[:end])
