"""Closed loads: a fixed number of calls is always open; each finished call starts the next."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from arena.base.durations import format_duration
from arena.what.loads.shape import Count, Duration, LoadShape

# The maximum calls in flight of a warm-up for another kind of load.
_WARM_UP_CALLS = 100


class Closed(LoadShape):
    """A fixed number of calls in flight for `duration_s` seconds.

    The number is `streams_per_connection` on each connection, or `concurrency` in total.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"DURATION"})

    kind: Literal["closed"] = "closed"
    duration_s: Duration
    streams_per_connection: Count | None = None
    concurrency: Count | None = None

    @property
    def keeps_in_flight(self) -> bool:
        """It does."""
        return True

    @property
    def window_s(self) -> float:
        """The seconds of load in one run."""
        return self.duration_s

    def in_flight(self, connections: int) -> int:
        """Return how many calls are open at any time."""
        return self.concurrency or connections * (self.streams_per_connection or 1)

    def warm_up(self, connections: int, duration_s: float) -> "Closed":
        """Return the same load with another duration."""
        del connections
        return self.changed(duration_s=duration_s)

    def problems(self, connections: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong: the calls in flight are given twice, or not at all."""
        del connections
        if (self.streams_per_connection is None) == (self.concurrency is None):
            yield "streams_per_connection", "write either this or concurrency, for all connections"

    @property
    def words(self) -> str:
        """How many calls are open."""
        if self.concurrency:
            return f"{self.concurrency:,} calls at a time"
        return f"{self.streams_per_connection:,} calls at a time on each connection"

    @property
    def run_words(self) -> str:
        """The length of a run."""
        return format_duration(self.duration_s)

    @property
    def each_run(self) -> str:
        """The length of each run."""
        return self.run_words


def gentle(in_flight: int, duration_s: float) -> Closed:
    """Return the closed load that warms a server up for a load of another kind."""
    return Closed(concurrency=min(in_flight, _WARM_UP_CALLS), duration_s=duration_s)
