"""The interface of all kinds of load. No code outside this package compares kinds."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field

from arena.base.durations import format_duration
from arena.base.model import Frozen
from arena.what.metrics import Metric
from parsers.common.figures import LEAST, Bounds

RATES = frozenset({Metric.MESSAGES, Metric.REQUESTS})

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Requests = Annotated[int, Field(ge=1, le=100_000_000)]
# No load lasts longer than a day.
DAY_S = 24 * 3600
Duration = Annotated[float, Bounds(ge=LEAST, le=DAY_S)]


class LoadShape(Frozen):
    """The base of every kind of load. Times are in seconds, connections are counts."""

    # The overrides that change a load of this kind, by their names in the environment.
    takes: ClassVar[frozenset[str]] = frozenset()
    # Whether the same gRPC call is made again and again; if not, the load has its own requests.
    makes_calls: ClassVar[bool] = True
    # Whether calls are unary only.
    is_unary_only: ClassVar[bool] = False
    # Whether a run may end before its window does.
    may_end_early: ClassVar[bool] = False
    # Whether failed calls are a result of the load and not a fault of the server.
    counts_failures: ClassVar[bool] = False
    # Whether a figure is the median of repeated shots.
    has_median: ClassVar[bool] = False
    # Whether one record holds all connection counts of the profile.
    joins_connections: ClassVar[bool] = False

    kind: str

    @classmethod
    def name(cls) -> str:
        """Return the name of this kind of load in profiles and records."""
        return str(cls.model_fields["kind"].default)

    @property
    def metrics(self) -> frozenset[Metric]:
        """The metrics that can rank the load."""
        return RATES

    @property
    def keeps_in_flight(self) -> bool:
        """Whether the same number of calls is always open, so that Little's law holds."""
        return False

    @property
    def follows_schedule(self) -> bool:
        """Whether calls are sent when they are due, so that a run can miss its schedule.

        If not, the load goes as fast as the generator can, so that the generator can be the limit.
        """
        return False

    @property
    @abstractmethod
    def window_s(self) -> float:
        """The seconds of load in one run; the maximum if a run may end early."""

    @abstractmethod
    def in_flight(self, connections: int) -> int:
        """Return the maximum number of open calls."""

    @abstractmethod
    def warm_up(self, connections: int, duration_s: float) -> "LoadShape":
        """Return the load that warms a server up for this one."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The load in words, for the table of profiles."""

    @property
    @abstractmethod
    def run_words(self) -> str:
        """The length of a run, in words."""

    @property
    def each_run(self) -> str:
        """The length of each run; empty if `words` includes it."""
        return ""

    @property
    def size(self) -> str:
        """The size of a run, as part of a URL."""
        return format_duration(self.window_s)

    @property
    def source(self) -> str:
        """What has the requests of a load that makes no calls, as text."""
        return ""

    @property
    def shots(self) -> int:
        """How often each point is repeated within a run."""
        return 1

    def points(self, connections: Sequence[int]) -> list[tuple[int, int]]:
        """Return the points a run measures, as (connections, calls); empty if it is not a sweep."""
        del connections
        return []

    def due(self) -> list[int]:
        """Return how many calls are due in each second; empty without a schedule."""
        return []

    def record_connections(self, connections: tuple[int, ...]) -> tuple[int, ...]:
        """Return the connection counts of a profile that have a record each."""
        return (max(connections),) if self.joins_connections else connections

    def generator_cpus(self, cpus: int) -> int:
        """Return how many of its CPUs the generator can use."""
        return cpus

    def problems(self, connections: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield each key that conflicts with others, and why."""
        del connections
        yield from ()

    def overridden(self, duration_s: float | None, requests: int | None) -> Self:
        """Return the load with the overrides that it accepts; None keeps a value."""
        changes: dict[str, float] = {}
        if duration_s is not None and "DURATION" in self.takes:
            changes["duration_s"] = duration_s
        if requests is not None and "REQUESTS" in self.takes:
            changes["requests"] = requests
        return self.changed(**changes)
