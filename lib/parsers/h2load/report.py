"""What one run of h2load amounts to, its latency as far as h2load knows it.

Its clock starts when a call's HEADERS are written to the send buffer, not when the previous call
ended: no latency includes the wait inside h2load. It times every stream that ends properly, even
with a 4xx, and keeps 1,000,000 samples, shared among its threads. Beyond that it replaces some at
random, but early ones too rarely, since it counts each call twice there. So
percentiles and maximum are given only if it kept all samples, and nothing if a timed call was not
OK.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from parsers.common.figures import Calls, Latency
from parsers.h2load.counts import Counts

_MOST_SAMPLES = 1_000_000
_LEAST_SAMPLES_OF_A_THREAD = 256


@dataclass(frozen=True)
class Figures:
    """h2load's own figures of the calls it timed, in ns; percentiles only from 1.69 on."""

    min_ns: int
    max_ns: int
    mean_ns: int
    p50_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None


@dataclass(frozen=True)
class H2loadReport:
    """One run as h2load reported it, and what its calls were."""

    form: Literal["json", "text"]
    version: str | None
    """h2load's own; None for text, which does not hold it."""
    warm_up_s: float
    """Its `--warm-up-time`; 0 without one."""
    elapsed_s: float
    """The time in which it counted; never 0.

    After a warm-up that is the requested duration. Without one it is the time from the start to the
    end of its threads: with `-D` a little more than requested, with the opening of the connections.
    In text it is rounded by h2load.
    """
    reported_per_s: float
    """Its `req/s`: streams that ended properly, with any status, by the duration of `-D`."""
    counts: Counts
    calls: Calls
    said: Figures
    latency: Latency

    @property
    def calls_per_s(self) -> float:
        """OK calls / elapsed."""
        return self.calls.ok / self.elapsed_s

    @property
    def at_most_per_s(self) -> float:
        """The same, as if every cut call had been answered in time."""
        return (self.calls.ok + self.calls.cut) / self.elapsed_s


def as_printed(said: Figures, timed: int, ok: int, threads: int) -> Latency:
    """Take the figures of text; `threads` is 0 if their number is unknown."""
    if not ok or timed != ok:
        return Latency(kind="service", samples=None)
    kept = max(_MOST_SAMPLES // threads, _LEAST_SAMPLES_OF_A_THREAD) if threads else 0
    if timed > kept:
        return Latency(kind="service", samples=None, mean=said.mean_ns)
    return Latency(
        kind="service",
        mean=said.mean_ns,
        p50=said.p50_ns,
        p95=said.p95_ns,
        p99=said.p99_ns,
        max=said.max_ns,
        samples=timed,
    )


def as_sampled(said: Figures, samples_ns: Sequence[int], timed: int, ok: int) -> Latency:
    """Take the figures of JSON's samples."""
    if not ok or timed != ok:
        return Latency(kind="service", samples=None)
    if len(samples_ns) < timed:
        return Latency(kind="service", samples=len(samples_ns), mean=said.mean_ns)
    return Latency.from_samples(samples_ns)
