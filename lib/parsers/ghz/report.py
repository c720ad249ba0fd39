"""What one ghz run amounts to.

What ghz's own lines mean (its runner/reporter.go and printer/template.go):

- `Requests/sec` counts every call that ended, however it ended; `Average` includes failed and
  cut calls.
- Percentiles, histogram, fastest and slowest are of OK calls only, unless `--count-errors` was
  given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Calls:
    """Every call that ended, each in exactly one place."""

    ok: int
    failed: Mapping[str, int]
    """gRPC code name, as ghz spells it -> calls."""
    cut: int

    @classmethod
    def from_statuses(cls, statuses: Mapping[str, int], cut: Mapping[str, int]) -> Calls:
        """Sort the calls out: `statuses` has all of them by code, `cut` the cut ones among them."""
        failed = {
            code: count - cut.get(code, 0)
            for code, count in sorted(statuses.items())
            if code != "OK" and count > cut.get(code, 0)
        }
        return cls(ok=statuses.get("OK", 0), failed=failed, cut=sum(cut.values()))


@dataclass(frozen=True)
class Latency:
    """Latencies of OK calls, in ns. None: the output does not tell, nor the number of `samples`.

    ghz is a closed loop: its latencies are "service" latencies. volley says which its are.
    """

    samples: int | None = 0
    mean_ns: int | None = None
    p50_ns: int | None = None
    p75_ns: int | None = None
    p90_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None
    max_ns: int | None = None
    kind: Literal["service", "response"] = "service"

    def as_dict(self) -> dict[str, str | int | None]:
        """Give the shape of a record's `latency_ns`."""
        return {
            "kind": self.kind,
            "mean": self.mean_ns,
            "p50": self.p50_ns,
            "p75": self.p75_ns,
            "p90": self.p90_ns,
            "p95": self.p95_ns,
            "p99": self.p99_ns,
            "p999": self.p999_ns,
            "max": self.max_ns,
            "samples": self.samples,
        }


@dataclass(frozen=True)
class Second:
    """One second: calls that were begun in it, that ended in it, and the latter's latencies (ns).

    `messages` came in it; None: ghz counts calls.
    """

    sent: int
    ok: int
    failed: int
    messages: int | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None


@dataclass(frozen=True)
class Bucket:
    """One histogram bar: calls up to `mark_ns`, above the mark before."""

    mark_ns: int
    count: int


@dataclass(frozen=True)
class Rate:
    """What the leaderboard prints; the server's own messages/s lie between `low` and `high`."""

    calls_per_s: float
    messages_per_call: int
    messages_per_s: float
    low: float
    high: float


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
    """Those that came inside the run, as volley counted them; None: ghz counts calls."""
    seconds: tuple[Second, ...] = ()
    """From the run's start; none where they cannot be told, as in text."""
    replies_checked: int | None = None
    """Those that volley held against what they must be; None: nobody did."""

    @property
    def elapsed_s(self) -> float:
        """Actual wall time in seconds, never 0."""
        return self.total_ns / 1e9

    def rate(self, messages_per_call: int) -> Rate:
        """OK calls / elapsed; times messages_per_call; and the same with the cut calls as `high`.

        Where messages were counted: these / elapsed, and no error bar, whatever messages_per_call.
        Raises ValueError for a messages_per_call below 1.
        """
        if messages_per_call < 1:
            raise ValueError(f"messages_per_call must be 1 or more, is {messages_per_call}")
        calls_per_s = self.calls.ok / self.elapsed_s
        with_cut_per_s = (self.calls.ok + self.calls.cut) / self.elapsed_s
        low, high = calls_per_s * messages_per_call, with_cut_per_s * messages_per_call
        if self.messages is not None:
            low = high = self.messages / self.elapsed_s
        return Rate(
            calls_per_s=calls_per_s,
            messages_per_call=messages_per_call,
            messages_per_s=low,
            low=low,
            high=high,
        )
