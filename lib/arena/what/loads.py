"""The kinds of load, each a frozen model that describes itself. No other module compares kinds.

A new kind is a class here and a member of `Load`; CONTRIBUTING.md lists what else it touches.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import Field

from arena.base.model import Frozen, Listed
from arena.base.units import format_duration
from arena.what.metrics import Metric
from arena.what.scenarios import ScenarioFile
from arena.what.schedule import DAY_S, SECOND_NS, Rps, Schedule
from parsers.common.figures import LEAST, Bounds

RATES = frozenset({Metric.MESSAGES, Metric.REQUESTS})

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Requests = Annotated[int, Field(ge=1, le=100_000_000)]
Duration = Annotated[float, Bounds(ge=LEAST, le=DAY_S)]

# The maximum calls in flight of a warm-up for another kind of load.
_WARM_UP_CALLS = 100


class LoadShape(Frozen):
    """The base of every kind of load. Times are in seconds, connections are counts."""

    # The overrides that change a load of this kind, by their names in the environment.
    takes: ClassVar[frozenset[str]] = frozenset()
    # Whether the same gRPC call is made again and again; if not, the load has its own requests.
    makes_calls: ClassVar[bool] = True
    # Whether calls are unary only.
    is_unary_only: ClassVar[bool] = False
    # Whether each message of a call has a reply.
    answers_messages: ClassVar[bool] = False
    # Whether a run may end before its window does.
    may_end_early: ClassVar[bool] = False
    # Whether failed calls are a result of the load and not a fault of the server.
    counts_failures: ClassVar[bool] = False
    # Whether a figure is the median of repeated shots.
    has_median: ClassVar[bool] = False
    # The seconds of a closed load that comes before the warm-up, once a start of the server.
    closed_first_s: ClassVar[float] = 0.0
    # Whether only a night of blocks can measure it.
    needs_blocks: ClassVar[bool] = False
    # The keys that may differ between the rows of a board.
    differs: ClassVar[frozenset[str]] = frozenset()
    # Whether the server's CPU must be steady before a window opens.
    steadies: ClassVar[bool] = False
    # Whether the start of the server is measured: then the load follows it at once.
    is_start: ClassVar[bool] = False
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
    def has_blocks(self) -> bool:
        """Whether blocks measure it."""
        return self.keeps_in_flight

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

    def warm_up(self, connections: int, duration_s: float) -> "LoadShape":
        """Return the load that warms a server up for this one: a closed one, of few calls."""
        calls = min(self.in_flight(connections), _WARM_UP_CALLS)
        return Closed(concurrency=calls, duration_s=duration_s)

    @property
    @abstractmethod
    def words(self) -> str:
        """The load in words, for the table of profiles."""

    @property
    def run_words(self) -> str:
        """The length of a run, in words."""
        return format_duration(self.window_s)

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

    @property
    def own_rate(self) -> int | None:
        """The calls a second, if each framework has a rate of its own."""
        return None

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
    def each_run(self) -> str:
        """The length of each run."""
        return self.run_words


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


class AtRate(LoadShape):
    """The base of loads whose calls, or messages, are due at even distances for `duration_s` s."""

    takes: ClassVar[frozenset[str]] = frozenset({"DURATION"})

    rate: Rps
    duration_s: Duration

    @property
    def has_blocks(self) -> bool:
        """They do."""
        return True

    @property
    def follows_schedule(self) -> bool:
        """It does: a generator that cannot keep up misses the schedule, or is late."""
        return True

    @property
    def window_s(self) -> float:
        """The seconds in which something is due."""
        return self.duration_s

    @property
    def due_a_second(self) -> int:
        """How many calls, or messages, are due in a second."""
        return self.rate

    def due(self) -> list[int]:
        """Return how many of them are due in each second."""
        whole, rest = divmod(round(self.due_a_second * self.duration_s), self.due_a_second)
        return [self.due_a_second] * whole + [rest] * (rest > 0)

    @property
    def each_run(self) -> str:
        """The length of each run."""
        return self.run_words


class CallsAtRate(AtRate):
    """The base of loads of `rate` calls a second.

    At most `streams_per_connection` calls are open on each connection.
    """

    streams_per_connection: Count

    def in_flight(self, connections: int) -> int:
        """Return the maximum number of open calls."""
        return connections * self.streams_per_connection

    @property
    def words(self) -> str:
        """How many calls are due."""
        return f"{self.rate:,} calls a second"


class PacedCalls(CallsAtRate):
    """The base of calls at even distances to a warm server, whatever is still open."""

    closed_first_s: ClassVar[float] = 5.0
    steadies: ClassVar[bool] = True


class Paced(PacedCalls):
    """`rate` calls a second for `duration_s` seconds, at even distances, whatever is still open."""

    kind: Literal["paced"] = "paced"

    @property
    def metrics(self) -> frozenset[Metric]:
        """The CPU time of a call: the rate is given."""
        return frozenset({Metric.CPU})


class Share(PacedCalls):
    """`share` of the calls a second that each framework makes in a closed load.

    All of them is the median of its last night of blocks under the profile `of`. `rate` is the
    share of it: a night sets it before its first block, and a profile has none.
    """

    needs_blocks: ClassVar[bool] = True
    differs: ClassVar[frozenset[str]] = frozenset({"rate"})

    kind: Literal["share"] = "share"
    share: Annotated[float, Field(ge=0.01, le=1)]
    of: Annotated[str, Field(min_length=1, max_length=64)]
    rate: Rps = 1

    @property
    def own_rate(self) -> int:
        """The share."""
        return self.rate

    @property
    def metrics(self) -> frozenset[Metric]:
        """The p99 latency: rates differ, so that costs cannot be compared."""
        return frozenset({Metric.P99})

    @property
    def words(self) -> str:
        """What the rate of each framework is."""
        return f"{self.share:.0%} of its calls a second under {self.of}"


class Cold(CallsAtRate):
    """A start of the server, and from its first good reply on, `rate` calls a second.

    Nothing warms the server up, so a start has one run.
    """

    is_unary_only: ClassVar[bool] = True
    is_start: ClassVar[bool] = True

    kind: Literal["cold"] = "cold"

    @property
    def metrics(self) -> frozenset[Metric]:
        """The time to the first good reply."""
        return frozenset({Metric.START})

    @property
    def words(self) -> str:
        """What happens after the start."""
        return f"a start, then {super().words}"


class Live(AtRate):
    """`streams` that are open all the time; on each, `rate` messages a second, each answered.

    All are open before the window of `duration_s` seconds. Their messages are due in turn, at even
    distances. There are more connections than the profile's if the server allows fewer streams
    on each.
    """

    answers_messages: ClassVar[bool] = True
    steadies: ClassVar[bool] = True

    kind: Literal["live"] = "live"
    streams: Count

    @property
    def metrics(self) -> frozenset[Metric]:
        """The CPU time of a message and its reply: the rate is given."""
        return frozenset({Metric.CPU_MESSAGE})

    def in_flight(self, connections: int) -> int:
        """Return the number of streams."""
        del connections
        return self.streams

    @property
    def due_a_second(self) -> int:
        """How many messages are due in a second."""
        return self.streams * self.rate

    @property
    def words(self) -> str:
        """How many streams there are, and their rate."""
        each = "a message" if self.rate == 1 else f"{self.rate:,} messages"
        return f"{self.streams:,} streams, {each} a second on each"


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


# A shorter search does not get far enough.
_LEAST_SEARCH_S = 20.0


class Capacity(LoadShape):
    """A search for the highest rate at which 99 % of the calls take at most `limit_s` seconds.

    `duration_s` seconds of load are made in all, at rates that the generator chooses; it waits for
    calls that are still open between them.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"DURATION"})
    counts_failures: ClassVar[bool] = True

    kind: Literal["capacity"] = "capacity"
    limit_s: Duration
    duration_s: Annotated[float, Bounds(ge=_LEAST_SEARCH_S, le=DAY_S)]

    @property
    def metrics(self) -> frozenset[Metric]:
        """The rate that was found."""
        return frozenset({Metric.CAPACITY})

    @property
    def has_blocks(self) -> bool:
        """They do."""
        return True

    @property
    def window_s(self) -> float:
        """The seconds of load in one run."""
        return self.duration_s

    def in_flight(self, connections: int) -> int:
        """Return how many calls its warm-up has open: the search itself has no maximum."""
        return connections * _WARM_UP_CALLS

    def overridden(self, duration_s: float | None, requests: int | None) -> Self:
        """Return the search with another length: as short as a search can be, at most."""
        del requests
        return self.changed(duration_s=max(duration_s or self.duration_s, _LEAST_SEARCH_S))

    @property
    def words(self) -> str:
        """What is looked for."""
        return f"the highest rate with p99 ≤ {format_duration(self.limit_s)}"

    @property
    def each_run(self) -> str:
        """The length of each run."""
        return f"{self.run_words} of load"


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
    def each_run(self) -> str:
        """The length of each run."""
        return self.run_words


Load = Annotated[
    Closed | Scheduled | Paced | Share | Live | Capacity | Cold | Blast | Scenario,
    Field(discriminator="kind"),
]

# The kinds by name, in listing order.
KINDS: dict[str, type[LoadShape]] = {each.name(): each for each in get_args(get_args(Load)[0])}

# The keys that only a load has.
KEYS = frozenset(key for each in KINDS.values() for key in each.model_fields) - {"kind"}
