"""What lib/parse_h2load.py reads of h2load's output, as a measurement."""

from pathlib import Path

import parse_h2load
from arena.record.measurement import Measurement, Unchecked
from arena.what.measured import MeasuredProfile


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved h2load output into a measurement; ValueError, one line, if it is broken.

    The calls it does not tell the end of may have been answered or not, which is what the error
    bar spans. Of none did it look at the gRPC status, or at the reply.
    """
    report = parse_h2load.parse_file(raw)
    calls, each = report.calls, profile.messages_per_call
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=calls,
        messages=calls.ok * each,
        rate=report.calls_per_s * each,
        rate_at_least=report.calls_per_s * each,
        rate_at_most=report.at_most_per_s * each,
        reported_calls_per_s=report.reported_per_s,
        latency_ns=report.latency,
        unchecked=Unchecked(status=calls.ok, replies=calls.ok),
    )
