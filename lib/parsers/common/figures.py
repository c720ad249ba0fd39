"""What a run comes to: its calls, their latencies, its seconds. A record holds these very types.

The readers need only the standard library, so the bounds of a number are plain data here.
pydantic checks them wherever a record is read or a measurement is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

# A number that is not 0 is at least LEAST, and none is above MOST: arithmetic with them is finite.
LEAST, MOST = 1e-30, 1e18


def _not_tiny(value: float) -> float:
    if value and abs(value) < LEAST:
        raise ValueError(f"must be 0, or at least {LEAST}")
    return value


class Bounds:
    """The range of a number: `ge` and `le`, as pydantic calls them.

    Below LEAST, a float is 0 and nothing else.
    """

    def __init__(self, *, ge: float, le: float) -> None:
        self._bounds = {"ge": ge, "le": le}

    def __get_pydantic_core_schema__(
        self, source: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Add the range to what pydantic checks, and to the JSON Schema."""
        bounded = {**handler(source), **self._bounds}
        if source is int or self._bounds["ge"] >= LEAST:
            return bounded
        check = {"type": "no-info", "function": _not_tiny}
        return {"type": "function-after", "function": check, "schema": bounded}


Whole = Annotated[int, Bounds(ge=0, le=2**63 - 1)]
# A generator prints 0 for a latency that its clock cannot resolve. The longest is about 11 days.
LatencyNs = Annotated[float, Bounds(ge=0, le=1e15)]
SecondNs = Annotated[float, Bounds(ge=1, le=1e15)]

LatencyKind = Literal["service", "response"]


@dataclass(frozen=True)
class Calls:
    """How the calls of one run ended, each in exactly one place.

    `failed` counts by gRPC status; for h2load, which does not read it, by HTTP status. A cut call
    was still open when the window closed: neither a success nor an error.
    """

    ok: Whole
    failed: dict[str, Whole]
    cut: Whole


@dataclass(frozen=True, kw_only=True)
class Streams:
    """Streams that live, `wanted` of them over `connections`, and their messages.

    So many were open when the window opened (`open_first`) and when it closed (`open_last`);
    `broken` ones ended before, or with an error; `refused` counts each time the server did not
    begin one. Of the messages that were `due` in the window, `sent` were sent (`late`: more than
    1 ms after they were due), and so many were `answered` and `unanswered` in the end. Replies were
    timed from when their message was due.
    """

    connections: Whole
    wanted: Whole
    open_first: Whole
    open_last: Whole
    broken: Whole
    refused: Whole
    due: Whole
    sent: Whole
    late: Whole
    answered: Whole
    unanswered: Whole

    @property
    def lost(self) -> int:
        """How often a stream broke or was refused, and how many were not open at the end."""
        return self.broken + self.refused + max(self.wanted - self.open_last, 0)


@dataclass(frozen=True)
class Wrong:
    """How many calls had a reply that was not as expected, and what was wrong with the first."""

    calls: Whole = 0
    sample: str = ""


NOTHING_WRONG = Wrong()


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Latency of calls in nanoseconds: of `samples` OK ones and, from volley, of open ones.

    `kind` is `service` when a closed loop timed it (a stall hides the calls that were not
    sent, "coordinated omission") and `response` when it was timed from the intended send.
    A figure that the generator cannot know is null, and so is the number of samples. `at_least`
    names the figures that are lower bounds, because too many calls were open at the end.
    """

    kind: LatencyKind
    mean: LatencyNs | None = None
    p50: LatencyNs | None = None
    p75: LatencyNs | None = None
    p90: LatencyNs | None = None
    p95: LatencyNs | None = None
    p99: LatencyNs | None = None
    p999: LatencyNs | None = None
    max: LatencyNs | None = None
    samples: Whole | None
    at_least: tuple[str, ...] = ()

    @classmethod
    def from_samples(cls, samples_ns: Iterable[int]) -> Latency:
        """Give the exact service latencies of the samples; no figures without any.

        Percentiles are nearest-rank: the smallest sample with at least p % of the samples at or
        below it, sorted[ceil(p/100 * n) - 1] (Hyndman & Fan 1996, definition 1; ghz's `latencies`
        picks the same element).
        """
        ordered = sorted(samples_ns)
        n = len(ordered)
        if not n:
            return cls(kind="service", samples=0)
        per_mille = {"p50": 500, "p75": 750, "p90": 900, "p95": 950, "p99": 990, "p999": 999}
        return cls(
            kind="service",
            mean=round(sum(ordered) / n),
            **{name: ordered[(rank * n + 999) // 1000 - 1] for name, rank in per_mille.items()},
            max=ordered[-1],
            samples=n,
            at_least=(),
        )


@dataclass(frozen=True, kw_only=True)
class Second:
    """One second of a run, counted from its start; the last one may be shorter.

    By the schedule `intended` calls were due in it; `sent` calls began in it; `ok` and `failed`
    calls ended in it; `messages` arrived in it. The latencies (ns) are those of the OK calls that
    ended in it.
    """

    length_s: Annotated[float, Bounds(ge=LEAST, le=1)] = 1.0
    intended: Whole | None = None
    sent: Whole | None = None
    ok: Whole
    failed: Whole
    messages: Whole
    p50_ns: SecondNs | None = None
    p99_ns: SecondNs | None = None
    max_ns: SecondNs | None = None
