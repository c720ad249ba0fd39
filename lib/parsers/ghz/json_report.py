"""Read what `ghz -O json` and `-O pretty` print, and volley in their likeness."""

from __future__ import annotations

from collections import Counter

from parsers.common.figures import NOTHING_WRONG, Latency
from parsers.common.values import INT64_MAX, JsonObject, ParseError, load
from parsers.ghz.calls import Detail, cut_by_text, cut_by_time, read_details, seconds_of
from parsers.ghz.counted import read_counted
from parsers.ghz.report import (
    Bucket,
    GhzReport,
    calls_of,
    check_elapsed,
    latency_as_printed,
    read_statuses,
)


def parse_json(text: str) -> GhzReport:
    """Read one JSON report. Raises ParseError."""
    report = load(text)
    count = report.whole("count")
    total_ns = report.whole("total", INT64_MAX)
    check_elapsed(total_ns)
    if count and (skipped := _skipped(report)):
        raise ParseError(
            f"made with --skipFirst {skipped}: these calls are in no figure but the time, "
            "so there is no rate; run it without"
        )
    statuses = read_statuses(report, count)
    errors = report.counts("errorDistribution")
    counted = read_counted(report, total_ns, statuses)
    percentiles_ns = _percentiles(report)
    histogram = tuple(
        Bucket(round(bar.real("mark") * 1e9), bar.whole("count"))
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
            cut_by_code = Counter(cut_by_text(errors, statuses))
        calls = calls_of(statuses, cut_by_code)
        latencies = (
            Latency.from_samples(d.latency_ns for d in details if d.status == "OK")
            if details
            else latency_as_printed(percentiles_ns, histogram, slowest_ns, calls.ok)
        )
        seconds = seconds_of(details, cut_ones, total_ns) if is_whole else ()
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
        wrong=counted.wrong if counted is not None else NOTHING_WRONG,
        data_frames=counted.data_frames if counted is not None else None,
        warm_up=counted.warm_up if counted is not None else (),
        cpu_s=counted.cpu_s if counted is not None else None,
        tail=counted.tail if counted is not None else (),
        written=counted.written if counted is not None else None,
        streams=counted.streams if counted is not None else None,
        reply_latency=counted.reply_latency if counted is not None else None,
    )


def _skipped(report: JsonObject) -> int:
    """Return how many calls were left out at the front."""
    options = report.child("options") if "options" in report.members else None
    return options.whole("skipFirst") if options and "skipFirst" in options.members else 0


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
    return cut_by_time(details, _most_open(report.child("options")))


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
    bounds = [options.whole(key) for key in keys if key in options.members]
    return max(bounds, default=0) or None
