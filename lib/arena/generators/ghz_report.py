"""What lib/parse_ghz.py reads of ghz's output or volley's, as a measurement."""

from arena.measurement import Calls, Latency, Measurement
from arena.records import MeasuredProfile
from parse_ghz import GhzReport


def measurement_of(report: GhzReport, profile: MeasuredProfile) -> Measurement:
    """Turn a report into a measurement.

    ghz counts calls, not messages: every OK call stands for `messages_per_call` of them, and
    the calls it cut may have delivered any number, which is what the error bar spans. Where
    messages were counted, there is no error bar.
    """
    rate = report.rate(profile.messages_per_call)
    counted = report.messages
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(ok=report.calls.ok, failed=dict(report.calls.failed), cut=report.calls.cut),
        messages=report.calls.ok * profile.messages_per_call if counted is None else counted,
        rate=rate.messages_per_s,
        rate_low=rate.low,
        rate_high=rate.high,
        reported_calls_per_s=report.reported_calls_per_s,
        latency_ns=Latency.model_validate(report.latency.as_dict()),
    )
