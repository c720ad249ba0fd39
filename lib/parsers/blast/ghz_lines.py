"""The reports of a sweep that ghz made: a line of JSON for each of its starts, as it ended.

A line says what was asked for - `connections`, `requests`, `repetition`, `order` - and holds
ghz's own report unchanged, with its single calls: a call begins at `timestamp - latency`, and a
shot is timed from the first begin to the last OK end. ghz's `rps` is not used: it includes failed
calls and the time to set up.

ghz counts attempts. grpc-go repeats a call by itself if the connection was lost before the server
saw the call, so there may be more failures than failed calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from parsers.blast.report import BlastReport, Point, Shot
from parsers.common.errors import ParseError
from parsers.common.figures import Latency
from parsers.common.json_values import INT64_MAX, JsonObject, load
from parsers.ghz.details import Detail, read_details
from parsers.ghz.report import calls_of, read_statuses


@dataclass(frozen=True)
class _Start:
    """One start of ghz; times are in ns since 1970, latencies those of the OK calls."""

    connections: int
    requests: int
    repetition: int
    shot: Shot
    begin_ns: int
    end_ns: int
    latencies_ns: list[int]


def read_ghz(lines: Iterable[str]) -> BlastReport:
    """Read a sweep, at least one line. Raises ParseError that names the line."""
    starts: list[_Start] = []
    for number, line in enumerate(lines, 1):
        try:
            starts.append(_start(load(line), len(starts)))
        except ParseError as error:
            raise ParseError(f"line {number}: {error}") from None
    begin_ns = min(start.begin_ns for start in starts)
    elapsed_ns = max(start.end_ns for start in starts) - begin_ns
    if not elapsed_ns:
        raise ParseError("the sweep took 0 s")
    return BlastReport("ghz", elapsed_ns / 1e9, _points(starts))


def _points(starts: Iterable[_Start]) -> tuple[Point, ...]:
    """Put the starts of each point together, in the order they were made."""
    found: dict[tuple[int, int], list[_Start]] = defaultdict(list)
    for start in starts:
        same = found[start.connections, start.requests]
        if any(start.repetition == other.repetition for other in same):
            raise ParseError(
                f"repetition {start.repetition} of {start.requests} requests "
                f"over {start.connections} connections is there twice"
            )
        same.append(start)
    return tuple(
        Point(
            connections=connections,
            requests=requests,
            shots=tuple(start.shot for start in same),
            latency=Latency.from_samples(ns for start in same for ns in start.latencies_ns),
        )
        for (connections, requests), same in sorted(found.items())
    )


def _start(line: JsonObject, place: int) -> _Start:
    order = line.whole("order")
    if order != place:
        raise ParseError(f"`order` is {order}, not {place}: the lines are not all there")
    connections, requests = line.whole("connections", INT64_MAX), line.whole("requests", INT64_MAX)
    if not connections or not requests:
        raise ParseError("has no connections or no requests")
    report = line.child("report")
    count, total_ns = report.whole("count"), report.whole("total", INT64_MAX)
    if count < requests:
        raise ParseError(f"`{report.where}.count` is {count}: {requests} were asked for")
    statuses = read_statuses(report, count)
    details = read_details(report, count, total_ns, statuses)
    if len(details) != count:
        raise ParseError(f"`{report.where}.details` is missing: it has no single calls")
    calls = calls_of(statuses, {})
    if calls.ok > requests:
        raise ParseError(f"`{report.where}` has {calls.ok} OK calls of {requests}")
    fine = [detail for detail in details if detail.status == "OK"]
    begin_ns = min(map(_begin_ns, details))
    return _Start(
        connections=connections,
        requests=requests,
        repetition=line.whole("repetition"),
        shot=Shot(
            order=order,
            ok=calls.ok,
            failed=calls.failed,
            span_ns=max(map(_end_ns, fine)) - begin_ns if fine else 0,
        ),
        begin_ns=begin_ns,
        end_ns=max(map(_end_ns, details)),
        latencies_ns=[detail.latency_ns for detail in fine],
    )


def _end_ns(detail: Detail) -> int:
    return detail.end_us * 1000


def _begin_ns(detail: Detail) -> int:
    return _end_ns(detail) - detail.latency_ns
