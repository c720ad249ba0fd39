"""Read the text summary ghz prints by default, and volley too: no samples, two decimals."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

from parsers.ghz import cut, latency
from parsers.ghz.checks import check_elapsed, check_statuses
from parsers.ghz.errors import GhzParseError, quoted
from parsers.ghz.report import Bucket, Calls, GhzReport
from parsers.ghz.text_values import duration_ns, real, whole

_HEAD = re.compile(
    r"\ASummary:\n"
    r"(?:  Name:[ \t]*(?P<name>.*?)\n)?"
    r"  Count:[ \t]+(?P<count>[^\n]*)\n"
    r"  Total:[ \t]+(?P<total>[^\n]*)\n"
    r"  Slowest:[ \t]+(?P<slowest>[^\n]*)\n"
    r"  Fastest:[ \t]+(?P<fastest>[^\n]*)\n"
    r"  Average:[ \t]+(?P<average>[^\n]*)\n"
    r"  Requests/sec:[ \t]+(?P<rps>[^\n]*)\n\n"
    r"Response time histogram:\n",
    re.DOTALL,
)
_BAR = re.compile(r"  (\d{1,20}\.\d{1,9}) +\[(\d{1,19})\][ \t]*\|[^\n]*")
_PERCENTILE = re.compile(r"  (\d{1,3}) % in (.*)")
_STATUS = re.compile(r"  \[([^\]]*)\] +(\d{1,19}) responses *")
_ERROR = re.compile(r"  \[(\d{1,19})\] +(.*)")


def parse_summary(text: str) -> GhzReport:
    """Read section by section. Only the last, errors, holds words of the server to be wary of.

    Raises GhzParseError.
    """
    if text.startswith("volley "):
        # With stderr in the same file, what volley knows beyond ghz stands above the summary.
        _, line, below = text.partition("\nSummary:\n")
        text = line[1:] + below
    head = _HEAD.match(text)
    if head is None:
        raise GhzParseError("text summary is broken or cut short before its histogram")
    bars, found, rest = text[head.end() :].partition("Latency distribution:")
    if not found:
        raise GhzParseError("text summary is cut short before `Latency distribution`")
    percents, _, rest = rest.partition("\nStatus code distribution:\n")
    codes, _, messages = rest.partition("\nError distribution:\n")

    count = whole(head["count"], "Count")
    total_ns = duration_ns(head["total"], "Total")
    check_elapsed(total_ns)
    statuses = {
        code or "Unknown": int(n) for code, n in _rows(_STATUS, codes, "status code distribution")
    }
    check_statuses(statuses, count)
    errors = _errors(messages)
    if sum(errors.values()) < count - statuses.get("OK", 0):
        raise GhzParseError(
            "text summary is cut short: its errors are fewer than the calls that failed"
        )
    calls = Calls.from_statuses(statuses, cut.by_text(errors, statuses))

    histogram = tuple(
        Bucket(int(Decimal(mark_ms) * 10**6), int(n))
        for mark_ms, n in _rows(_BAR, bars, "histogram")
    )
    percentiles_ns = {
        int(percent): duration_ns(printed, f"{percent} %")
        for percent, printed in _rows(_PERCENTILE, percents, "latency distribution")
        if int(percent) > 0
    }
    slowest_ns = duration_ns(head["slowest"], "Slowest")
    return GhzReport(
        form="text",
        name=head["name"] or "",
        count=count,
        total_ns=total_ns,
        reported_calls_per_s=real(head["rps"], "Requests/sec"),
        average_ns=duration_ns(head["average"], "Average"),
        fastest_ns=duration_ns(head["fastest"], "Fastest"),
        slowest_ns=slowest_ns,
        percentiles_ns=percentiles_ns,
        histogram=histogram,
        statuses=statuses,
        errors=errors,
        calls=calls,
        latency=latency.as_printed(percentiles_ns, histogram, slowest_ns, calls.ok),
    )


def _rows(row: re.Pattern[str], section: str, what: str) -> list[tuple[str, str]]:
    rows = []
    for line in section.split("\n"):
        if not line.strip():
            continue
        found = row.fullmatch(line)
        if found is None:
            raise GhzParseError(f"unreadable line in the {what}: {quoted(line)}")
        rows.append((found[1], found[2]))
    return rows


def _errors(section: str) -> dict[str, int]:
    """Error -> count. A message may hold newlines, even a line that looks like an entry."""
    entries: list[tuple[int, list[str]]] = []
    for line in section.rstrip().split("\n"):
        found = _ERROR.fullmatch(line)
        if found is not None:
            entries.append((int(found[1]), [found[2].rstrip()]))
        elif entries:
            entries[-1][1].append(line.rstrip())
        elif line.strip():
            raise GhzParseError(f"unreadable line in the error distribution: {quoted(line)}")
    errors: Counter[str] = Counter()
    for count, lines in entries:
        errors["\n".join(lines)] += count
    return dict(errors)
