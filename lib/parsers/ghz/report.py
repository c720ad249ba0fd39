"""What one ghz run amounts to.

What ghz's own lines mean (its runner/reporter.go and printer/template.go):

- `Requests/sec` counts every call that ended, however it ended; `Average` includes failed and
  cut calls.
- Percentiles, histogram, fastest and slowest are of OK calls only, unless `--count-errors` was
  given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from parsers.common.figures import NOTHING_WRONG, Calls, Latency, Second, Streams, Wrong
from parsers.common.values import JsonObject, ParseError


@dataclass(frozen=True)
class Bucket:
    """One histogram bar: calls up to `mark_ns`, above the mark before."""

    mark_ns: int
    count: int


@dataclass(frozen=True)
class Rate:
    """A run's rate; the server's own messages/s lie between `at_least` and `at_most`."""

    calls_per_s: float
    messages_per_call: int
    messages_per_s: float
    at_least: float
    at_most: float


@dataclass(frozen=True)
class GhzReport:
    """One run as ghz reported it, and what its calls were."""

    form: Literal["json", "text"]
    name: str
    count: int
    total_ns: int
    """Actual wall time, the wait for the last calls included; in text as ghz rounded it."""
    reported_calls_per_s: float
    average_ns: int
    fastest_ns: int
    slowest_ns: int
    percentiles_ns: Mapping[int, int]
    """The percentiles ghz printed itself."""
    histogram: tuple[Bucket, ...]
    statuses: Mapping[str, int]
    errors: Mapping[str, int]
    calls: Calls
    latency: Latency
    messages: int | None = None
    """Messages received inside the run, counted by volley; None for ghz, which counts calls."""
    seconds: tuple[Second, ...] = ()
    """From the run's start; empty where the output has no single calls, as in text."""
    replies_checked: int | None = None
    """Replies that volley compared with the expected ones; None if it compared none."""
    wrong: Wrong = NOTHING_WRONG
    """Calls with a wrong reply, as volley compared them; none for ghz."""
    data_frames: int | None = None
    """DATA frames with content received inside the run; None if they were not counted."""
    warm_up: tuple[int, ...] = ()
    """Messages of each second of volley's warm-up, from its first call on; the last may be cut."""
    cpu_s: float | None = None
    """CPU seconds of volley itself inside the run; None for ghz, which does not tell."""
    tail: tuple[tuple[int, int], ...] = ()
    """The longest times as (ns, count), from volley's histogram: of replies, or else of calls."""
    written: Latency | None = None
    """Latency since requests were written, if `latency` is from when calls were due."""
    streams: Streams | None = None
    """Streams that live, as volley counted them; None without any."""
    reply_latency: Latency | None = None
    """Latency of their replies, from when each message was due."""

    @property
    def elapsed_s(self) -> float:
        """Actual wall time in seconds, never 0."""
        return self.total_ns / 1e9

    def rate(self, messages_per_call: int) -> Rate:
        """OK calls / elapsed, times messages_per_call; with the cut calls it is `at_most`.

        Where messages were counted: these / elapsed, and no error bar, whatever messages_per_call.
        Raises ValueError for a messages_per_call below 1.
        """
        if messages_per_call < 1:
            raise ValueError(f"messages_per_call must be 1 or more, is {messages_per_call}")
        calls_per_s = self.calls.ok / self.elapsed_s
        with_cut_per_s = (self.calls.ok + self.calls.cut) / self.elapsed_s
        at_least, at_most = calls_per_s * messages_per_call, with_cut_per_s * messages_per_call
        if self.messages is not None:
            at_least = at_most = self.messages / self.elapsed_s
        return Rate(
            calls_per_s=calls_per_s,
            messages_per_call=messages_per_call,
            messages_per_s=at_least,
            at_least=at_least,
            at_most=at_most,
        )


def check_elapsed(total_ns: int) -> None:
    """Raise ParseError for a run without a length."""
    if total_ns == 0:
        raise ParseError("the run took 0 ns: no rate can be computed")


def check_statuses(statuses: Mapping[str, int], count: int) -> None:
    """Raise ParseError unless every call has exactly one status."""
    counted = sum(statuses.values())
    if counted != count:
        raise ParseError(
            f"the status codes add up to {counted} calls, the count is {count}: cut short or edited"
        )


def read_statuses(report: JsonObject, count: int) -> dict[str, int]:
    """Read the calls by status code; ghz writes an empty one for an error without a status."""
    told = report.counts("statusCodeDistribution")
    statuses = {code or "Unknown": calls for code, calls in told.items()}
    check_statuses(statuses, count)
    return statuses


def calls_of(statuses: Mapping[str, int], cut: Mapping[str, int]) -> Calls:
    """Sort the calls out: `statuses` has all of them by code, `cut` the cut ones among them."""
    failed = {
        code: count - cut.get(code, 0)
        for code, count in sorted(statuses.items())
        if code != "OK" and count > cut.get(code, 0)
    }
    return Calls(ok=statuses.get("OK", 0), failed=failed, cut=sum(cut.values()))


def latency_as_printed(
    percentiles_ns: Mapping[int, int], histogram: Iterable[Bucket], slowest_ns: int, ok: int
) -> Latency:
    """Take what ghz printed; nothing if it has more samples than OK calls (`--count-errors`)."""
    samples = sum(bucket.count for bucket in histogram)
    if samples == 0 or samples > ok:
        return Latency(kind="service", samples=0)
    return Latency(
        kind="service",
        **{f"p{percent}": percentiles_ns.get(percent) for percent in (50, 75, 90, 95, 99)},
        max=slowest_ns,
        samples=samples,
        at_least=(),
    )
