"""Blasts: calls that are sent at once, from few to many."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from arena.base.durations import format_duration
from arena.base.model import Listed
from arena.what.loads.closed import Closed, gentle
from arena.what.loads.shape import Count, Duration, LoadShape


class Blast(LoadShape):
    """N calls at once, for every N of `sweep`, `repetitions` times.

    This is done for each of the profile's connection counts, with at most N connections, in an
    order derived from `seed`. `duration_s` is the maximum duration of a run.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"DURATION", "REQUESTS"})
    is_unary_only: ClassVar[bool] = True
    may_end_early: ClassVar[bool] = True
    counts_failures: ClassVar[bool] = True
    has_median: ClassVar[bool] = True
    joins_connections: ClassVar[bool] = True

    kind: Literal["blast"] = "blast"
    sweep: Annotated[tuple[Count, ...], Field(min_length=1, max_length=1000), Listed]
    repetitions: Annotated[int, Field(ge=1, le=1000)]
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 1
    duration_s: Duration

    @property
    def window_s(self) -> float:
        """The maximum duration of a run."""
        return self.duration_s

    @property
    def shots(self) -> int:
        """How often each point is repeated within a run."""
        return self.repetitions

    def in_flight(self, connections: int) -> int:
        """Return the maximum number of calls sent at once."""
        del connections
        return self.sweep[-1]

    def points(self, connections: Sequence[int]) -> list[tuple[int, int]]:
        """Return the points of the sweep, as (connections, calls)."""
        return [(count, calls) for count in sorted(set(connections)) for calls in self.sweep]

    def warm_up(self, connections: int, duration_s: float) -> Closed:
        """Return the closed load that warms a server up for this one."""
        return gentle(self.in_flight(connections), duration_s)

    def problems(self, connections: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the sweep."""
        del connections
        if list(self.sweep) != sorted(set(self.sweep)):
            yield "sweep", "must rise from each number to the next"

    def overridden(self, duration_s: float | None, requests: int | None) -> Self:
        """Return the blast with another time limit and at most `requests` calls at once."""
        sweep = self.sweep
        if requests is not None:
            sweep = tuple(calls for calls in sweep if calls <= requests) or (requests,)
        return self.changed(duration_s=duration_s or self.duration_s, sweep=sweep)

    @property
    def size(self) -> str:
        """The maximum number of calls at once, as part of a URL."""
        return f"{self.sweep[-1]}-calls"

    @property
    def words(self) -> str:
        """How many calls are sent at once, and how often."""
        most = f"{self.sweep[0]:,} to {self.sweep[-1]:,}"
        return f"{most} calls at once, {self.repetitions} times each"

    @property
    def run_words(self) -> str:
        """The maximum duration of a run."""
        return f"at most {format_duration(self.duration_s)}"
