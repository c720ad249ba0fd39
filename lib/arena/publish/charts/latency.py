"""Latency by percentile: a curve for each of a record's runs."""

from arena.base.numbers import format_ns
from arena.publish.charts.drawing import Curve, LatencyDrawing
from arena.publish.charts.picture import Picture, Table
from arena.record.measurement import Latency
from arena.record.record import Record

# Each percentile's share of calls that took longer; the most has none.
_ABOVE = {"p50": 0.5, "p75": 0.25, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001}
_HEAD = ("Run", "Mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "Max", "Samples")

_KINDS = {
    "service": "Service latency counts from when a call was sent; a server that stalls holds "
    "back the calls that would have shown it.",
    "response": "Response latency counts from when a call was due, so a stall shows in full.",
}


def latency_picture(record: Record) -> Picture | None:
    """Return a record's curves; None if its generator tells no two percentiles of any run."""
    headline = record.headline.run if record.headline else None
    curves = {number: _curve(run.latency_ns) for number, run in enumerate(record.runs, 1)}
    known = {number: curve for number, curve in curves.items() if len(curve.points) > 1}
    if not known:
        return None
    kinds = sorted({run.latency_ns.kind for run in record.runs})
    return Picture(
        title="Latency by percentile",
        label=f"{record.framework.display_name}: latency of the calls by percentile, "
        f"a curve for each of {len(known)} runs",
        drawing=LatencyDrawing(
            headline=known.pop(headline) if headline in known else None,
            others=tuple(known.values()),
        ),
        words=tuple(_KINDS[kind] for kind in kinds),
        table=Table(
            _HEAD,
            tuple(_cells(number, run.latency_ns) for number, run in enumerate(record.runs, 1)),
        ),
    )


def _curve(latency: Latency) -> Curve:
    points = ((above, getattr(latency, name)) for name, above in _ABOVE.items())
    # A log scale has no 0.
    known = tuple((above, ns) for above, ns in points if ns)
    return Curve(known, latency.max or None)


def _cells(number: int, latency: Latency) -> tuple[str, ...]:
    values = (latency.mean, *(getattr(latency, name) for name in _ABOVE), latency.max)
    samples = "–" if latency.samples is None else f"{latency.samples:,}"
    return (f"{number}", *("–" if ns is None else format_ns(ns) for ns in values), samples)
