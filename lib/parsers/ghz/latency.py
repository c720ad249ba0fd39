"""Latency of OK calls: exact from samples, or only what ghz printed; never from percentiles.

Percentiles are nearest-rank: the smallest sample with at least p % of the samples at or below it,
sorted[ceil(p/100 * n) - 1] (Hyndman & Fan 1996, definition 1; ghz's `latencies` picks the same
element).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from parsers.ghz.report import Bucket, Latency


def from_samples(samples_ns: Iterable[int]) -> Latency:
    """Give the exact figures of the samples; all None without any."""
    ordered = sorted(samples_ns)
    n = len(ordered)
    if n == 0:
        return Latency()

    def nearest_rank(per_mille: int) -> int:
        return ordered[(per_mille * n + 999) // 1000 - 1]

    return Latency(
        samples=n,
        mean_ns=round(sum(ordered) / n),
        p50_ns=nearest_rank(500),
        p75_ns=nearest_rank(750),
        p90_ns=nearest_rank(900),
        p95_ns=nearest_rank(950),
        p99_ns=nearest_rank(990),
        p999_ns=nearest_rank(999),
        max_ns=ordered[-1],
    )


def as_printed(
    percentiles_ns: Mapping[int, int], histogram: Iterable[Bucket], slowest_ns: int, ok: int
) -> Latency:
    """Take what ghz printed; nothing if it has more samples than OK calls (`--count-errors`)."""
    samples = sum(bucket.count for bucket in histogram)
    if samples == 0 or samples > ok:
        return Latency()
    return Latency(
        samples=samples,
        p50_ns=percentiles_ns.get(50),
        p75_ns=percentiles_ns.get(75),
        p90_ns=percentiles_ns.get(90),
        p95_ns=percentiles_ns.get(95),
        p99_ns=percentiles_ns.get(99),
        max_ns=slowest_ns,
    )
