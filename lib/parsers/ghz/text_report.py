"""Read the text summary ghz prints by default, and volley too: no samples, two decimals.

A summary that was copied from a web page, a chat or a CI log has often lost its blank lines and
its indentation, or has a timestamp or a `>` before each line. Every line still says what it is, so
neither blank lines nor indentation mean anything here:

- A summary begins with its head: `Summary:`, perhaps `Name:`, the six figures in their order, and
  the heading of the histogram. Two heads are refused: the second may be another run's, or an
  error message that looks like one.
- Lines above the head are passed over, unless they look like a part of another summary.
- What stands before `Summary:` in its line stands before every line; only its numbers may differ.
- The status codes must add up to `Count`. Only the errors below them hold words of the server,
  and no number but that of the cut calls is taken from them (see `calls`).
- When the errors account for every call that failed, what follows is no part of the summary,
  unless it has the form of an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from parsers.common.values import ParseError, duration_ns, quoted, real, whole
from parsers.ghz.calls import cut_by_text
from parsers.ghz.report import (
    Bucket,
    GhzReport,
    calls_of,
    check_elapsed,
    check_statuses,
    latency_as_printed,
)

START = "Summary:"

_FIGURES = ("Count", "Total", "Slowest", "Fastest", "Average", "Requests/sec")
_HISTOGRAM = "Response time histogram:"
_LATENCIES = "Latency distribution:"
_STATUSES = "Status code distribution:"
_ERRORS = "Error distribution:"
_PART = re.compile(
    rf"({_HISTOGRAM}|{_LATENCIES}|{_STATUSES}|{_ERRORS})\s*$"
    r"|Requests/sec:\s+[0-9]|\[[0-9]+\]\s+rpc error: code = "
)

_BAR = re.compile(r"([0-9]{1,20}\.[0-9]{1,9}) \[([0-9]{1,19})\] ?\|.*")
_PERCENTILE = re.compile(r"([0-9]{1,3}) ?% in (.*)")
_STATUS = re.compile(r"\[([^\]]*)\] ([0-9]{1,19}) responses")
_ERROR = re.compile(r"\[([0-9]{1,19})\]\s+(.+)")

# A web page's space that breaks no line.
_NO_BREAK = "\u00a0"

# Beyond these a text is no head of a summary: a hostile one is not searched for long.
_MOST_HEAD_LINES = 100
_MOST_BEFORE = 200


def parse_summary(text: str) -> GhzReport:
    """Read the one summary in a text. Raises ParseError."""
    name, figures, lines = _head(text.replace(_NO_BREAK, " ").split("\n"))
    count = whole(figures["Count"], "Count")
    total_ns = duration_ns(figures["Total"], "Total")
    check_elapsed(total_ns)
    histogram = tuple(
        Bucket(int(Decimal(mark_ms) * 10**6), int(n))
        for mark_ms, n in _rows(_BAR, lines, _HISTOGRAM, _LATENCIES)
    )
    # A run without calls has no percentiles, and no status codes below them.
    percentiles_ns = {
        int(percent): duration_ns(printed, f"{percent} %")
        for percent, printed in (_rows(_PERCENTILE, lines, _LATENCIES, _STATUSES) if count else ())
        if int(percent) > 0
    }
    statuses, has_errors = _statuses(lines, count)
    failed = count - statuses.get("OK", 0)
    errors = _errors(lines, failed) if has_errors else {}
    if sum(errors.values()) < failed:
        raise ParseError(
            "text summary is cut short: its errors are fewer than the calls that failed"
        )
    calls = calls_of(statuses, cut_by_text(errors, statuses))
    # volley prints no time if no call went well.
    has_times = statuses.get("OK") or figures["Slowest"].strip() != "-"
    slowest_ns, fastest_ns, average_ns = (
        duration_ns(figures[name], name) if has_times else 0
        for name in ("Slowest", "Fastest", "Average")
    )
    return GhzReport(
        form="text",
        name=name,
        count=count,
        total_ns=total_ns,
        reported_calls_per_s=real(figures["Requests/sec"], "Requests/sec"),
        average_ns=average_ns,
        fastest_ns=fastest_ns,
        slowest_ns=slowest_ns,
        percentiles_ns=percentiles_ns,
        histogram=histogram,
        statuses=statuses,
        errors=errors,
        calls=calls,
        latency=latency_as_printed(percentiles_ns, histogram, slowest_ns, calls.ok),
    )


def _lines_below(lines: Sequence[str], start: int) -> Iterator[str | None]:
    """Yield the lines below a `Summary:`, without what stands before it in its own line.

    None stands for a line that has something else before it.
    """
    before = lines[start].rstrip().removesuffix(START).strip()
    parts = re.findall(r"[0-9]+|\s+|[^0-9\s]+", before)
    shape = "".join(
        "[0-9]+" if part.isdecimal() else re.escape(part) if part.strip() else r"\s+"
        for part in parts
    )
    # Numbers of lines are padded on their left.
    pattern = re.compile(rf"\s*{shape}" if shape else "")
    for line in islice(lines, start + 1, None):
        if found := pattern.match(line):
            yield line[found.end() :].rstrip()
        else:
            yield None if line.strip() else ""


def _head(lines: Sequence[str]) -> tuple[str, dict[str, str], Iterator[str | None]]:
    """Find the only head; return its name, its figures and the lines below it."""
    found = []
    for start, line in enumerate(lines):
        if line.rstrip().endswith(START) and len(line) < _MOST_BEFORE:
            below = _lines_below(lines, start)
            if head := _name_and_figures(below):
                found.append((start, *head, below))
    if not found:
        raise ParseError("text summary is broken or cut short before its histogram")
    if len(found) > 1:
        raise ParseError(
            "text holds more than one summary, or an error message that looks like one: "
            "save each run in a file of its own"
        )
    start, name, figures, below = found[0]
    for line in lines[: start + 1]:
        if _PART.search(line):
            raise ParseError(
                f"a part of another summary stands above the summary: {quoted(line.strip())}"
            )
    return name, figures, below


def _name_and_figures(below: Iterator[str | None]) -> tuple[str, dict[str, str]] | None:
    """Read a head to its end, the heading of the histogram; None if it is no head.

    A name may have several lines, so the figures are the last lines above that heading.
    """
    above: list[str] = []
    for line in islice(below, _MOST_HEAD_LINES):
        if line is None:
            return None
        if _said(line) == _HISTOGRAM:
            break
        above.append(line)
    else:
        return None
    told = [line for line in above if line]
    names, told = told[: -len(_FIGURES)], told[-len(_FIGURES) :]
    pairs = [_said(line).partition(":") for line in told]
    if tuple(label for label, _, _ in pairs) != _FIGURES:
        return None
    if names and not _said(names[0]).startswith("Name:"):
        return None
    name = "\n".join(names).strip().removeprefix("Name:").strip()
    return name, {label: value for label, _, value in pairs}


def _said(line: str) -> str:
    """Return a line with single spaces, whatever stood between its words."""
    return " ".join(line.split())


def _rows(
    row: re.Pattern[str], lines: Iterator[str | None], heading: str, end: str
) -> Iterator[tuple[str, str]]:
    """Yield the rows below a heading, up to the one that ends them."""
    for line in lines:
        said = _said(line or "")
        if said == end:
            return
        found = row.fullmatch(said)
        if found:
            yield found[1], found[2]
        elif said or line is None:
            raise ParseError(f"unreadable line below `{heading}`: {quoted(line)}")
    raise ParseError(f"text summary is cut short before `{end}`")


def _statuses(lines: Iterator[str | None], count: int) -> tuple[dict[str, int], bool]:
    """Return calls by status code, and whether the errors stand below them."""
    statuses: dict[str, int] = {}
    said = ""
    for line in lines:
        said = _said(line or "")
        found = _STATUS.fullmatch(said)
        if found:
            statuses[found[1] or "Unknown"] = int(found[2])
        elif line is None or (said and said != _STATUSES):
            if said != _ERRORS and sum(statuses.values()) != count:
                raise ParseError(f"unreadable line below `{_STATUSES}`: {quoted(line)}")
            break
    check_statuses(statuses, count)
    return statuses, said == _ERRORS


def _errors(lines: Iterator[str | None], failed: int) -> dict[str, int]:
    """Return error -> calls. A message may have lines, even one that looks like an entry."""
    entries: list[tuple[int, list[str]]] = []
    told = 0
    for line in lines:
        found = _ERROR.fullmatch(line.strip()) if line else None
        if found:
            told += int(found[1])
            entries.append((int(found[1]), [found[2]]))
        elif entries and told < failed and line is not None:
            entries[-1][1].append(line)
    errors: Counter[str] = Counter()
    for count, message in entries:
        errors["\n".join(message).rstrip()] += count
    return dict(errors)
