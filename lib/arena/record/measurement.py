"""What one run measured. Units are in the names; formulas are those of docs/measuring.md."""

from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen

Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]
Most = Annotated[int, Field(ge=1, le=1_000_000)]
Rate = Annotated[float, Field(ge=0, le=1e18)]
# Shorter ones are none that a clock could tell; the longest are those of a day.
Nanoseconds = Annotated[float, Field(ge=1, le=1e15)]
# One that a generator printed as 0 was shorter than its clock could tell.
Latencies = Annotated[float, Field(ge=0, le=1e15)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]


class Calls(Frozen):
    """How the calls of one run ended; `failed` counts by gRPC status.

    A cut call was still open when the window closed: neither a success nor an error.
    """

    ok: Whole
    failed: dict[str, Whole]
    cut: Whole


class Latency(Frozen):
    """Latency of OK calls in nanoseconds, from `samples` samples.

    `kind` is `service` when a closed loop timed it (a stall hides the calls that were not
    sent, "coordinated omission") and `response` when it was timed from the intended send.
    A figure the generator cannot know is absent, the number of its samples as well.
    """

    kind: Literal["service", "response"]
    mean: Latencies | None = None
    p50: Latencies | None = None
    p75: Latencies | None = None
    p90: Latencies | None = None
    p95: Latencies | None = None
    p99: Latencies | None = None
    p999: Latencies | None = None
    max: Latencies | None = None
    samples: Whole | None


class Cost(Frozen):
    """CPU seconds spent during the run, and the most memory held since the program started."""

    cpu_s: Seconds
    peak_bytes: Whole


class Unchecked(Frozen):
    """OK calls whose gRPC status, and whose replies, the generator did not look at."""

    status: Whole
    replies: Whole


class Second(Frozen):
    """One second of a run, counted from its start; the last one may be shorter.

    `intended` calls were due in it by the schedule, `sent` ones were begun, `ok` and `failed`
    ones ended; `messages` came, and the latencies (ns) are those of the OK calls that ended.
    """

    length_s: Annotated[float, Field(gt=0, le=1)] = 1.0
    intended: Whole | None = None
    sent: Whole | None = None
    ok: Whole
    failed: Whole
    messages: Whole
    p50_ns: Nanoseconds | None = None
    p99_ns: Nanoseconds | None = None
    max_ns: Nanoseconds | None = None


class BlastPoint(Frozen):
    """`requests` calls that left together over at most so many `connections`, `repetitions` times.

    `rate` is the median of the repetitions' OK calls per second, from the first send to the last
    response. The true median lies between `rate_at_least` and `rate_at_most`, 95 % of the time,
    from 6 repetitions up; below, these are the extremes. `ok`, `failed` (by gRPC status) and
    `latency_ns` are those of all repetitions.
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


class Measurement(Frozen):
    """One run as the generator reported it.

    `messages` and `rate` (messages per second of actual elapsed time) rank it; the truth lies
    between `rate_at_least` and `rate_at_most`, which are `rate` where messages were counted, rather
    than calls. `reported_calls_per_s` is the generator's own figure.

    `seconds` are there if the generator tells them, `points` if it was a blast: then `rate` is
    that of the fastest point. `approximate` means that the generator cannot make this load
    exactly; docs/measuring.md says how far off it is.
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
    """A measurement with what it cost on both sides, and the raw output it came from."""

    started_at: str
    server: Cost
    generator: Cost
    raw: Raw
