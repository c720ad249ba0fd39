"""Scenarios: users that send requests which depend on each other, as a file of volley says."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena.base.durations import format_duration
from arena.what.loads.shape import Count, Duration, LoadShape
from arena.what.metrics import Metric
from arena.what.scenarios import ScenarioFile

_VERSION_1 = 1

# Iterations per second.
Rate = Annotated[float, Field(ge=0.001, le=1_000_000)]


class Scenario(LoadShape):
    """Iterations of the scenarios in a file, for `duration_s` seconds, without gRPC calls' keys.

    Without a `rate`, there are as many users as streams on all connections, and each begins an
    iteration when its last one is over. With a `rate`, so many iterations begin per second, and at
    most as many are open as there are streams. `threads` are those of the generator.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"DURATION"})
    makes_calls: ClassVar[bool] = False

    kind: Literal["scenario"] = "scenario"
    scenario: ScenarioFile
    http_version: Literal[1, 2] = 2
    streams_per_connection: Count = 1
    rate: Rate | None = None
    duration_s: Duration
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None

    @property
    def metrics(self) -> frozenset[Metric]:
        """Requests per second; the p99 latency if the rate is given."""
        return frozenset({Metric.P99 if self.rate else Metric.REQUESTS})

    @property
    def keeps_in_flight(self) -> bool:
        """It does, unless the rate is given."""
        return self.rate is None

    @property
    def follows_schedule(self) -> bool:
        """It does if the rate is given."""
        return self.rate is not None

    @property
    def window_s(self) -> float:
        """The seconds in which iterations begin."""
        return self.duration_s

    def in_flight(self, connections: int) -> int:
        """Return the number of streams: of the users, or of the most open iterations."""
        return connections * self.streams_per_connection

    def warm_up(self, connections: int, duration_s: float) -> "Scenario":
        """Return the same load with another duration."""
        del connections
        return self.changed(duration_s=duration_s)

    def generator_cpus(self, cpus: int) -> int:
        """Return how many CPUs its threads can use."""
        return min(cpus, self.threads or cpus)

    def problems(self, connections: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the protocol, or with the threads."""
        if self.http_version == _VERSION_1 and self.streams_per_connection != 1:
            yield "streams_per_connection", "must be 1: HTTP/1.1 has one request at a time"
        if self.threads and self.threads > min(connections):
            yield "threads", f"{self.threads} is more than the {min(connections)} connections"

    @property
    def source(self) -> str:
        """The file, and the version of HTTP if it is the old one."""
        return self.scenario.file + ", HTTP/1.1" * (self.http_version == _VERSION_1)

    @property
    def words(self) -> str:
        """How many users there are, or how often an iteration begins."""
        if self.rate:
            return f"{self.rate:,g} iterations a second"
        users = self.streams_per_connection
        return f"{users:,} user{'s' * (users != 1)} on each connection"

    @property
    def run_words(self) -> str:
        """The length of a run."""
        return format_duration(self.duration_s)

    @property
    def each_run(self) -> str:
        """The length of each run."""
        return self.run_words
