"""What is drawn: numbers alone, no name of anybody's, so that nothing in an SVG can be hostile."""

from dataclasses import dataclass

from arena.record.measurement import BlastPoint, Second


@dataclass(frozen=True)
class ScheduledDrawing:
    """Calls per second, due and sent, above their latency; `ticks` (ns) are the latency's axis."""

    seconds: tuple[Second, ...]
    ticks: tuple[float, ...]


@dataclass(frozen=True)
class SustainedDrawing:
    """Throughput in each second, and that of the whole run, in `metric`."""

    seconds: tuple[Second, ...]
    metric: str
    whole: float


@dataclass(frozen=True)
class Way:
    """One way to spread the requests of a blast, its points by N.

    Throughput stops growing at N = `full_at`, the first call fails at N = `fails_at`, and the same
    connections sustain `sustained` requests per second, as far as each of these is known.
    """

    name: str
    points: tuple[BlastPoint, ...]
    full_at: int | None
    fails_at: int | None
    sustained: float | None


@dataclass(frozen=True)
class BlastDrawing:
    """Throughput against N, one line per way, above the failures, if there are any."""

    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Curve:
    """One run's latency: (share of calls that took longer, ns), by falling share, and its most.

    The share of the p99 is 0.01.
    """

    points: tuple[tuple[float, float], ...]
    max_ns: float | None


@dataclass(frozen=True)
class LatencyDrawing:
    """Latency by percentile, one curve per run; that of the headline's run stands out."""

    headline: Curve | None
    others: tuple[Curve, ...]


@dataclass(frozen=True)
class Toll:
    """CPU seconds per million messages under one generator: the least and the most, each side's.

    The most is absent if no call finished.
    """

    generator: str
    server: tuple[float, float | None]
    own: tuple[float, float | None]


@dataclass(frozen=True)
class TaxDrawing:
    """What one server, and each generator, spend on a million of `unit`; the axis ends at `top`."""

    tolls: tuple[Toll, ...]
    unit: str
    top: float


Drawing = ScheduledDrawing | SustainedDrawing | BlastDrawing | LatencyDrawing | TaxDrawing
