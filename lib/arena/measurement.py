"""What one run measured. Units are in the names; formulas are those of docs/measuring.md."""

from typing import Literal

from arena.files import Frozen


class Calls(Frozen):
    """How the calls of one run ended; `failed` counts by gRPC status.

    A cut call was still open when the window closed: neither a success nor an error.
    """

    ok: int
    failed: dict[str, int]
    cut: int


class Latency(Frozen):
    """Latency of OK calls in nanoseconds, from `samples` samples.

    `kind` is `service` when a closed loop timed it (a stall hides the calls that were not
    sent, "coordinated omission") and `response` when it was timed from the intended send.
    A figure the generator cannot know is absent.
    """

    kind: Literal["service", "response"]
    mean: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None
    samples: int


class Cost(Frozen):
    """CPU seconds spent during the run, and the most memory held since the program started."""

    cpu_s: float
    peak_bytes: int


class Measurement(Frozen):
    """One run as the generator reported it.

    `messages` and `rate` (messages per second of actual elapsed time) rank it; the truth lies
    between `rate_low` and `rate_high`, which are `rate` where messages were counted, rather
    than calls. `reported_calls_per_s` is the generator's own figure.
    """

    elapsed_s: float
    calls: Calls
    messages: int
    rate: float
    rate_low: float
    rate_high: float
    reported_calls_per_s: float | None
    latency_ns: Latency


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
