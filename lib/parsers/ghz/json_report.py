"""Read what `ghz -O json` and `-O pretty` print, and volley in their likeness."""

from __future__ import annotations

import json
from collections import Counter
from typing import NoReturn

from parsers.ghz import cut, latency
from parsers.ghz.checks import INT64_MAX, UINT64_MAX, check_elapsed, check_statuses
from parsers.ghz.counted import read_counted
from parsers.ghz.details import Detail, read_details
from parsers.ghz.errors import GhzParseError
from parsers.ghz.json_values import JsonObject
from parsers.ghz.report import Bucket, Calls, GhzReport
from parsers.ghz.seconds import from_details


def parse_json(text: str) -> GhzReport:
    """Read one JSON report. Raises GhzParseError."""
    report = load(text)
    count = report.whole("count", UINT64_MAX)
    total_ns = report.whole("total", INT64_MAX)
    check_elapsed(total_ns)
    statuses = {
        code or "Unknown": calls for code, calls in report.counts("statusCodeDistribution").items()
    }
    check_statuses(statuses, count)
    errors = report.counts("errorDistribution")
    counted = read_counted(report, total_ns, statuses)
    percentiles_ns = _percentiles(report)
    histogram = tuple(
        Bucket(round(bar.real("mark") * 1e9), bar.whole("count", UINT64_MAX))
        for bar in report.children("histogram")
    )
    slowest_ns = report.whole("slowest", INT64_MAX)
    if counted is not None:
        calls, latencies, seconds = counted.calls, counted.latency, counted.seconds
    else:
        details = read_details(report, count, total_ns, statuses)
        is_whole = len(details) == count
        cut_ones = _cut_of(report, details) if is_whole else []
        cut_by_code = Counter(each.status for each in cut_ones)
        if not is_whole and not _ended_by_itself(report):
            cut_by_code = Counter(cut.by_text(errors, statuses))
        calls = Calls.from_statuses(statuses, cut_by_code)
        latencies = (
            latency.from_samples(d.latency_ns for d in details if d.status == "OK")
            if details
            else latency.as_printed(percentiles_ns, histogram, slowest_ns, calls.ok)
        )
        seconds = from_details(details, cut_ones, total_ns) if is_whole else ()
    return GhzReport(
        form="json",
        name=report.string("name") if "name" in report.members else "",
        count=count,
        total_ns=total_ns,
        reported_calls_per_s=report.real("rps"),
        average_ns=report.whole("average", INT64_MAX),
        fastest_ns=report.whole("fastest", INT64_MAX),
        slowest_ns=slowest_ns,
        percentiles_ns=percentiles_ns,
        histogram=histogram,
        statuses=statuses,
        errors=errors,
        calls=calls,
        latency=latencies,
        messages=counted.messages if counted is not None else None,
        seconds=seconds,
        replies_checked=counted.replies_checked if counted is not None else None,
    )


def load(text: str) -> JsonObject:
    """Load a JSON object. Raises GhzParseError."""
    try:
        loaded: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise GhzParseError("JSON nested too deeply for a ghz report") from None
    except ValueError as error:
        raise GhzParseError(f"broken or incomplete JSON: {error}") from None
    return JsonObject.of(loaded, "the report")


def _refuse_constant(constant: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads though JSON does not have them."""
    raise ValueError(f"{constant} is not a number ghz writes")


def _percentiles(report: JsonObject) -> dict[int, int]:
    found = {
        item.whole("percentage", 100): item.whole("latency", INT64_MAX)
        for item in report.children("latencyDistribution")
    }
    found.pop(0, None)  # ghz leaves an all-zero entry where a percentile is 0 ns
    return found


def _cut_of(report: JsonObject, details: list[Detail]) -> list[Detail]:
    """Cut calls among all of them."""
    if _ended_by_itself(report):
        return []
    return cut.by_time(details, _most_open(report.child("options")))


def _ended_by_itself(report: JsonObject) -> bool:
    """Whether the run used up its calls: none was cut."""
    return report.members.get("endReason") == "normal"


def _most_open(options: JsonObject) -> int | None:
    """How many calls can be open at once; None if no bound is known."""
    if options.members.get("async") is True:
        return None
    keys = ["concurrency"]
    if options.members.get("concurrency-schedule", "const") != "const":
        keys += ["concurrency-start", "concurrency-end"]
    bounds = [options.whole(key, UINT64_MAX) for key in keys if key in options.members]
    return max(bounds, default=0) or None
