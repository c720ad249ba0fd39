"""What lib/parse_blast.py reads of a sweep, as a measurement."""

from pathlib import Path

import parse_blast
from arena.record.measurement import BlastPoint, Calls, Latency, Measurement, Unchecked
from parse_blast import BlastReport, Point


def measurement(raw: Path) -> Measurement:
    """Turn a saved sweep into a measurement; ValueError, one line, if it is broken.

    The rate is that of the fastest point, and the latency too. Where no blast was fired to its
    end, or no call succeeded, the rate is 0.
    """
    report = parse_blast.parse_file(raw)
    points = tuple(map(_point, report.points))
    fastest = _point(report.fastest) if report.fastest else None
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(ok=report.ok, failed=report.failed, cut=0),
        messages=report.ok,
        rate=fastest.rate if fastest else 0.0,
        rate_at_least=fastest.rate_at_least if fastest else 0.0,
        rate_at_most=fastest.rate_at_most if fastest else 0.0,
        reported_calls_per_s=None,
        latency_ns=fastest.latency_ns if fastest else Latency(kind="response", samples=0),
        unchecked=_unchecked(report),
        points=points,
        # ghz opens its connections only when a call needs them, and sends one call after another.
        approximate=report.form == "ghz",
    )


def _point(point: Point) -> BlastPoint:
    rate = point.rate
    return BlastPoint(
        connections=point.connections,
        requests=point.requests,
        repetitions=len(point.shots),
        rate=rate.median,
        rate_at_least=rate.at_least,
        rate_at_most=rate.at_most,
        latency_ns=point.latency,
        ok=point.ok,
        failed=point.failed,
    )


def _unchecked(report: BlastReport) -> Unchecked:
    """Return whose replies nobody compared; the status of every call has been read."""
    every = report.replies_checked is not None and report.replies_checked >= report.ok
    return Unchecked(status=0, replies=0 if every else report.ok)
