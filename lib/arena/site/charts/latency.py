"""Latency by percentile: a curve for each of a record's runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.judge.figure_words import latency_words
from arena.record.measurement import Latency
from arena.record.record import Record
from arena.site.charts.axes import latencies, log, steps
from arena.site.charts.picture import Picture, Table
from arena.site.charts.svg import ACCENT, QUIET, Plot, Series, svg

_HEIGHT = 150

# For each percentile, the share of calls that took longer, and its label; two labels do not fit.
_ABOVE = {"p50": 0.5, "p75": 0.25, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001}
_LABELS = {0.5: "p50", 0.25: "", 0.1: "p90", 0.05: "", 0.01: "p99", 0.001: "p99.9"}
_HEAD = ("Run", "Mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "Max", "Samples")
# The maximum is this much further right than the last percentile: its share of calls is 0.
_BEYOND = 10
# Marks at the ends of the axis keep a distance from its edges.
_MARGIN = 1.5

_BEST, _OTHERS = Series("headline's run", ACCENT, 2), Series("other runs", QUIET, 1)

_KINDS = {
    "service": "Service latency counts from when a call was sent. A server that stalls also delays "
    "the calls that would have shown the stall.",
    "response": "Response latency counts from when a call was due, so a stall shows in full.",
}
_BOUNDS = (
    "≥ marks a lower bound: too many calls were open at the end. The true curve may be higher."
)


@dataclass(frozen=True)
class _Curve:
    """One run: (share of calls that took longer, ns), by falling share, and the maximum (ns)."""

    points: tuple[tuple[float, float], ...]
    max_ns: float | None


def latency_picture(record: Record, headline: int | None) -> Picture | None:
    """Return a record's curves; None if no run has two known percentiles.

    `headline` is the number of the headline's run.
    """
    curves = {number: _curve(run.latency_ns) for number, run in enumerate(record.runs, 1)}
    known = {number: curve for number, curve in curves.items() if len(curve.points) > 1}
    if not known:
        return None
    kinds = sorted({run.latency_ns.kind for run in record.runs})
    has_bounds = any(run.latency_ns.at_least for run in record.runs)
    # The headline's curve is drawn last, so that no other curve hides it.
    drawn = sorted(known, key=lambda number: number == headline)
    return Picture(
        title="Latency by percentile",
        label=f"{record.framework.display_name}: latency of the calls by percentile, "
        f"a curve for each of {len(known)} runs",
        svg=_drawn([(_BEST if each == headline else _OTHERS, known[each]) for each in drawn]),
        words=(*map(_KINDS.__getitem__, kinds), *[_BOUNDS] * has_bounds),
        table=Table(
            _HEAD, tuple(_cells(at, it.latency_ns) for at, it in enumerate(record.runs, 1))
        ),
    )


def _curve(latency: Latency) -> _Curve:
    points = ((above, getattr(latency, name)) for name, above in _ABOVE.items())
    # A log scale has no 0.
    known = tuple((above, ns) for above, ns in points if ns)
    return _Curve(known, latency.max or None)


def _cells(number: int, latency: Latency) -> tuple[str, ...]:
    figures = (latency_words(latency, name) for name in ("mean", *_ABOVE, "max"))
    samples = "–" if latency.samples is None else f"{latency.samples:,}"
    return (f"{number}", *figures, samples)


def _drawn(curves: Sequence[tuple[Series, _Curve]]) -> Markup:
    """Draw the curves; each run's maximum is a dot beyond its last percentile."""
    values = [ns for _, curve in curves for _, ns in curve.points]
    values += [curve.max_ns for _, curve in curves if curve.max_ns]
    last = min(share for _, curve in curves for share, _ in curve.points)
    labels = {share: label for share, label in _LABELS.items() if share >= last}
    if any(curve.max_ns for _, curve in curves):
        labels[last / _BEYOND] = "max"
    ends = max(labels) * _MARGIN, min(labels) / _MARGIN
    x = log(*ends, labels.items(), "percentile, 1 − p on a log scale")
    y = latencies(steps(min(values), max(values)))
    legend = (_BEST, _OTHERS) if any(series is _OTHERS for series, _ in curves) else ()
    plot = Plot("latency, on a log scale", x, y, _HEIGHT, legend)
    for series, curve in curves:
        plot.line(series, curve.points)
        plot.dots(series, curve.points)
        if curve.max_ns:
            plot.dots(series, [(last / _BEYOND, curve.max_ns)])
    return svg([plot])
