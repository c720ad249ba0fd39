"""Scheduled loads: calls are sent when due, even if earlier ones are still open."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from arena.what.loads.closed import Closed, gentle
from arena.what.loads.schedule import SECOND_NS, Schedule
from arena.what.loads.shape import DAY_S, Count, LoadShape, Requests
from arena.what.metrics import Metric

_DAY_NS = DAY_S * SECOND_NS


class Scheduled(LoadShape):
    """`requests` calls, due by `schedule`, with at most `concurrency` open at a time."""

    takes: ClassVar[frozenset[str]] = frozenset({"REQUESTS"})

    kind: Literal["scheduled"] = "scheduled"
    schedule: Schedule
    requests: Requests
    concurrency: Count

    @property
    def metrics(self) -> frozenset[Metric]:
        """The p99 latency: the rate is given."""
        return frozenset({Metric.P99})

    @property
    def follows_schedule(self) -> bool:
        """It does: a generator that cannot keep up misses the schedule."""
        return True

    @property
    def window_s(self) -> float:
        """The seconds from the start of a run until its last call is due."""
        return (self.schedule.length_ns(self.requests) or 0) / SECOND_NS

    def in_flight(self, connections: int) -> int:
        """Return the maximum number of open calls."""
        del connections
        return self.concurrency

    def warm_up(self, connections: int, duration_s: float) -> Closed:
        """Return the closed load that warms a server up for this one."""
        return gentle(self.in_flight(connections), duration_s)

    def due(self) -> list[int]:
        """Return how many calls are due in each second."""
        seconds = (self.schedule.length_ns(self.requests) or 0) // SECOND_NS + 1
        due = self.schedule.due_before(second * SECOND_NS for second in range(seconds + 1))
        return [
            after - before for before, after in pairwise(min(each, self.requests) for each in due)
        ]

    def problems(self, connections: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the schedule, or with the requests."""
        requests = self.requests
        if max(connections) > requests:
            yield "connections", f"{max(connections)} is more than the {requests} requests"
        if problem := self.schedule.problem():
            yield f"schedule.{problem[0]}", problem[1]
            return
        length_ns = self.schedule.length_ns(requests)
        if length_ns is None:
            yield "schedule", f"never ends: its rate falls to 0 before {requests} requests are due"
        elif length_ns > _DAY_NS:
            yield "schedule", f"takes longer than a day to send {requests} requests"

    @property
    def size(self) -> str:
        """The number of calls in a run, as part of a URL."""
        return f"{self.requests}-calls"

    @property
    def words(self) -> str:
        """How many calls are sent, and when."""
        return f"{self.requests:,} calls in {self.window_s:.0f} s: {self.schedule.words}"

    @property
    def run_words(self) -> str:
        """The length of a run."""
        return f"{self.requests} requests in {self.window_s:.1f} s"
