"""What one run measured. Units are in the names; formulas are those of docs/measuring.md.

Calls, Latency and Second are the types that the parsers of raw outputs return. They are plain
dataclasses, so the models that contain them validate them again.
"""

import operator
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen, Number
from arena.record.times import UtcTime
from arena.what.metrics import HIGHEST_RATE
from parsers.common.figures import (
    LEAST,
    MOST,
    NOTHING_WRONG,
    Bounds,
    Calls,
    Latency,
    LatencyNs,
    Second,
    Streams,
    Whole,
    Wrong,
)

__all__ = [
    "BlastPoint", "Calls", "Cost", "GeneratorHost", "Latency", "Measurement", "Memory", "Raw",
    "Run", "Sampled", "Search", "SearchWindow", "Second", "Started", "StartedSecond", "Step",
    "Streams", "Wrong",
]  # fmt: skip

Share = Annotated[float, Bounds(ge=-1, le=1e6)]

Most = Annotated[int, Field(ge=1, le=1_000_000)]
Rate = Annotated[float, Bounds(ge=0, le=MOST)]
Seconds = Annotated[float, Bounds(ge=0, le=1e9)]


def is_none(value: object) -> bool:
    """Return whether a field is left out: older records do not have it."""
    return value is None


class Memory(Frozen):
    """The memory of a server that is backed by no file, never page cache.

    `anonymous_bytes` are those at the end of the window, and `highest_bytes` the highest of ten
    samples a second over the window. `idle_bytes` are those of the server that had just become
    ready, after its first answer. `kernel_bytes` are those that the kernel held for its control
    group at the end of the window; None where none counts them.
    """

    anonymous_bytes: Whole
    highest_bytes: Whole
    kernel_bytes: Whole | None = None
    idle_bytes: Whole | None = None


class Cost(Frozen):
    """CPU seconds spent during the run, and peak memory since the program started.

    `source` is what counted the CPU time: a control group, or the processes of the program's tree.
    None: a record that is older than the field. `halves` has the CPU seconds a second in both
    halves of the window, and `idle` those before the warm-up, while nobody was connected; both
    under a load at a fixed rate. `memory` is that of a server; records before it have none.
    `throttled_s` is how long a server's own quota held it back during the run, summed over its
    CPUs; None without a quota.
    """

    cpu_s: Seconds
    peak_bytes: Whole
    source: Literal["control-group", "process-tree"] | None = None
    halves: tuple[Seconds, Seconds] | None = None
    idle: Seconds | None = None
    memory: Memory | None = Field(default=None, exclude_if=is_none)
    throttled_s: Seconds | None = Field(default=None, exclude_if=is_none)


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


class Step(Frozen, revalidate_instances="always"):
    """A step of a scenario: `count` requests, those that are `ok`, and the `failed` by reason.

    Those that are neither were still open at the end. `latency_ns` is that of the OK ones and, from
    a volley that counts their ages, of the open ones.
    """

    name: Annotated[str, Field(min_length=1, max_length=200)]
    count: Whole
    ok: Whole
    failed: dict[str, Whole]
    latency_ns: Latency


class SearchWindow(Frozen, revalidate_instances="always"):
    """A window of a search, at `rate` calls a second: the calls that were due in it.

    Of these, `over` took longer than the limit or never ended. `late`: the generator was. `kept`:
    few enough were over the limit, or failed.
    """

    rate: Annotated[int, Field(ge=1, le=HIGHEST_RATE)]
    calls: Whole
    over: Whole
    failed: Whole
    p99_ns: Annotated[float, Bounds(ge=0, le=1e15)] | None
    late: bool
    kept: bool


class Search(Frozen, revalidate_instances="always"):
    """A search for a capacity: what it found, and its windows in their order.

    `found` is a rate with a 95 % interval. `below`: not even the lowest rate that is tried keeps
    the limits, and that one is an upper bound. `at-least`: where the limits were broken, the
    generator was late, or they never were; then the rate is a lower bound.
    """

    answer: Literal["found", "below", "at-least"]
    windows: tuple[SearchWindow, ...]


class Measurement(Frozen, revalidate_instances="always"):
    """One run as the generator reported it.

    `messages` and `rate` (messages per second of actual elapsed time) rank it; the true rate lies
    between `rate_at_least` and `rate_at_most`. Both equal `rate` if messages were counted, not
    calls. `reported_calls_per_s` is the generator's own figure.

    `seconds` are present if the generator reports them, `points` for a blast: then `rate` is that
    of the fastest point. `search` is that of a capacity: `rate` is the one it found, `messages` and
    calls are those of all windows. `steps` are those of a scenario; its calls and messages are
    requests, its `failed` calls count by reason, and in its seconds, `intended`, `sent` and
    latencies are those of iterations. `data_frames` are the HTTP/2 DATA frames that brought the
    messages of the window, if the generator counts them. `warm_up` has the messages of each second
    of the warm-up, from the first call on, if the same program made it. `streams` are those that
    live; then calls are messages, OK if they were answered. `approximate` means that the generator
    cannot make this load exactly; docs/measuring.md states the difference. `wrong` replies are in
    no record: a run that has any is not kept.

    `tail` has the longest of them, 1 % at least, as (ns, how many), the longest first, if the
    generator has a histogram. At a fixed rate, `latency_ns` is from when calls were due, and
    `written_ns` from when they were written: the generator itself can be late.
    """

    elapsed_s: Annotated[float, Bounds(ge=LEAST, le=1e9)]
    calls: Calls
    messages: Whole
    rate: Rate
    rate_at_least: Rate
    rate_at_most: Rate
    reported_calls_per_s: Rate | None
    latency_ns: Latency
    written_ns: Latency | None = Field(default=None, exclude_if=operator.not_)
    tail: tuple[tuple[LatencyNs, Whole], ...] = Field(default=(), exclude_if=operator.not_)
    unchecked: Unchecked | None = None
    seconds: tuple[Second, ...] = ()
    points: tuple[BlastPoint, ...] = ()
    search: Search | None = Field(default=None, exclude_if=operator.not_)
    steps: tuple[Step, ...] = ()
    data_frames: Whole | None = None
    warm_up: tuple[Whole, ...] = ()
    streams: Streams | None = Field(default=None, exclude_if=operator.not_)
    approximate: bool = False
    wrong: Annotated[Wrong, Field(exclude=True)] = NOTHING_WRONG


class Watch(Frozen):
    """What the sentinel saw of the host during a run's window; it never looks at the rate.

    Shares are of the capacity of the `cpus` that the runner may use: `steal` by the hypervisor,
    `softirq` time, and `foreign`: busy time, softirq time in it, without the CPU time of the
    server, the generator and the runner. `io` and `memory` (PSI, full) and `cpu` (PSI, some) are
    shares of the elapsed time.

    `spin_s` and `copy_s` are the CPU seconds of a fixed computation and a fixed copy on each CPU,
    before and after the window; `spin_off` and `copy_off` are the largest difference of any of them
    from the night's median of its CPU, as a share of that. None or empty: this host does not report
    it, or too few calibrations were made for a median.
    """

    elapsed_s: Seconds
    cpus: Most | None = None
    steal: Share | None = None
    foreign: Share | None = None
    softirq: Share | None = None
    io: Share | None = None
    memory: Share | None = None
    cpu: Share | None = None
    throttled_s: Seconds | None = None
    thermal: Whole | None = None
    oom_kills: Whole | None = None
    swapped_pages: Whole | None = None
    involuntary_switches: Whole | None = None
    clock_jump_s: Annotated[float, Bounds(ge=-1e12, le=1e12)] = 0.0
    spin_s: tuple[Seconds, ...] = ()
    copy_s: tuple[Seconds, ...] = ()
    spin_off: Share | None = None
    copy_off: Share | None = None


# The name of a Watch's field.
SignalName = Annotated[str, Field(pattern=r"^[a-z_]+$", max_length=40)]


class Disturbance(Frozen):
    """A signal of a Watch that was over its limit."""

    signal: SignalName
    value: Number
    limit: Number


class LimitsInForce(Frozen):
    """The limits of the sentinel during the runs: above `most` of a signal, a window is disturbed.

    They are learned on the host. A signal without one is not judged. `softirq_in_tasks`: whether
    the kernel counts softirq time as time of the tasks that it interrupts, too; None if unknown.
    """

    softirq_in_tasks: bool | None = None
    most: dict[SignalName, Number]

    def in_force(self, signal: str) -> float | None:
        """Return the limit that judges a signal; None if none does."""
        return self.most.get(signal)


class Raw(Frozen):
    """The generator's raw output: its path below results/, and its SHA-256."""

    path: str
    sha256: str


class Sampled(Frozen):
    """The calls that the runner itself made during a run, beside a generator that checks no reply.

    `failed` ones had another status, or lost their connection; of all others the replies were
    right. `cpu_s` is what these calls cost the runner. A run with `wrong` replies is not kept.
    """

    calls: Whole
    failed: Whole
    cpu_s: Seconds
    wrong: Annotated[Whole, Field(exclude=True)] = 0
    sample: Annotated[str, Field(exclude=True)] = ""


Nanoseconds = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class GeneratorHost(Frozen, revalidate_instances="always"):
    """What one generator host of a fleet did in a run; it has a number, and never a name.

    `cpu` has its CPUs in words, `share` its parts of the load: `1-2/5` are the first two of five.
    `offset_ns` is its CLOCK_MONOTONIC minus the server host's before the run, and is wrong by
    `offset_bound_ns` at most; `offset_after_ns` is that after it. `lateness_ns` is how late its
    last thread woke up for the start. In its own window of `elapsed_s`, its threads used `cpu_s` of
    its `cpus`, and the busiest of them `busiest_thread_s`; older records lack these three.
    """

    number: Annotated[int, Field(ge=1, le=100_000)]
    cpu: Annotated[str, Field(max_length=200)]
    share: Annotated[str, Field(pattern=r"^[0-9]+(-[0-9]+)?/[0-9]+$", max_length=40)]
    threads: Most
    offset_ns: Nanoseconds
    offset_bound_ns: Whole
    offset_after_ns: Nanoseconds | None = None
    offset_after_bound_ns: Whole | None = None
    lateness_ns: Whole | None
    calls: Calls
    latency_ns: Latency
    cpu_s: Seconds
    cpus: Annotated[float, Bounds(ge=LEAST, le=MOST)] | None = None
    elapsed_s: Seconds | None = None
    busiest_thread_s: Seconds | None = None
    raw: Raw


class StartedSecond(Frozen):
    """A second of the load after a start: the server's CPU in it, the OK calls that ended in it.

    `peak_bytes` is the server's peak memory at its end, since the start.
    """

    cpu_s: Seconds
    calls: Whole
    peak_bytes: Whole


class Started(Frozen):
    """A start of the server; times are in seconds since its exec, or since `docker start`.

    Then a connection was first accepted (`listens_s`), came the first good reply
    (`first_reply_s`), and the load's generator was started (`load_s`). Both of the server's costs
    are those until the load began. The last second of the load may be missing.
    """

    listens_s: Seconds
    first_reply_s: Seconds
    load_s: Seconds
    cpu_s: Seconds
    peak_bytes: Whole
    seconds: Annotated[tuple[StartedSecond, ...], Field(max_length=100_000)]


class Run(Measurement):
    """A measurement, the cost on both sides, the raw output, and what the host did meanwhile.

    `sampled` are the runner's own calls meanwhile, if the generator does not check replies.
    `generators` are the hosts that made the load, if it was a fleet. `started` is the start of the
    server that the load followed, if that was measured.
    """

    started_at: UtcTime
    server: Cost
    generator: Cost
    sampled: Sampled | None = None
    raw: Raw
    generators: tuple[GeneratorHost, ...] = ()
    watch: Watch | None = None
    started: Started | None = Field(default=None, exclude_if=operator.not_)
