"""What one run measured. Units are in the names; formulas are those of docs/measuring.md.

Calls, Latency and Second are the types that the parsers of raw outputs return. They are plain
dataclasses, so the models that contain them validate them again.
"""

from typing import Annotated

from pydantic import Field

from arena.base.model import Frozen
from parsers.common.figures import Calls, Latency, Second, Whole

__all__ = ["BlastPoint", "Calls", "Cost", "Latency", "Measurement", "Raw", "Run", "Second"]

Most = Annotated[int, Field(ge=1, le=1_000_000)]
Rate = Annotated[float, Field(ge=0, le=1e18)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]


class Cost(Frozen):
    """CPU seconds spent during the run, and peak memory since the program started."""

    cpu_s: Seconds
    peak_bytes: Whole


class Unchecked(Frozen):
    """OK calls whose gRPC status, or whose replies, the generator did not check."""

    status: Whole
    replies: Whole


class BlastPoint(Frozen, revalidate_instances="always"):
    """`requests` calls sent together over at most `connections` connections, `repetitions` times.

    `rate` is the median of the repetitions' OK calls per second, from the first send to the last
    response. With 6 repetitions or more, `rate_at_least` to `rate_at_most` is the 95 % confidence
    interval of the median; with fewer, they are the extremes. `ok`, `failed` (by gRPC status) and
    `latency_ns` cover all repetitions.
    """

    connections: Most
    requests: Most
    repetitions: Most
    rate: Rate
    rate_at_least: Rate
    rate_at_most: Rate
    latency_ns: Latency
    ok: Whole
    failed: dict[str, Whole]


class Measurement(Frozen, revalidate_instances="always"):
    """One run as the generator reported it.

    `messages` and `rate` (messages per second of actual elapsed time) rank it; the true rate lies
    between `rate_at_least` and `rate_at_most`. Both equal `rate` if messages were counted, not
    calls. `reported_calls_per_s` is the generator's own figure.

    `seconds` are present if the generator reports them, `points` for a blast: then `rate` is that
    of the fastest point. `approximate` means that the generator cannot make this load exactly;
    docs/measuring.md states the difference.
    """

    elapsed_s: Annotated[float, Field(gt=0, le=1e9)]
    calls: Calls
    messages: Whole
    rate: Rate
    rate_at_least: Rate
    rate_at_most: Rate
    reported_calls_per_s: Rate | None
    latency_ns: Latency
    unchecked: Unchecked | None = None
    seconds: tuple[Second, ...] = ()
    points: tuple[BlastPoint, ...] = ()
    approximate: bool = False


class Raw(Frozen):
    """The generator's raw output: its path below results/, and its SHA-256."""

    path: str
    sha256: str


class Run(Measurement):
    """A measurement, the cost on both sides, and the raw output."""

    started_at: str
    server: Cost
    generator: Cost
    raw: Raw
