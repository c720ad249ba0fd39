"""The loads of the bench, and the generators that can make each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.what.loads import Closed
from arena.what.metrics import Metric
from arena.what.profile import MeasuredProfile

_SERVICE = "benchmark.BenchmarkService"


@dataclass(frozen=True)
class Workload:
    """One load; costs are per `unit`, a message or a call.

    `connections` x `streams` calls are always open. With `rps` they are calls per second instead,
    of which at most so many are open. `data` and `metadata` have templates, for each call.
    `of_volley` are flags that only volley has.
    """

    name: str
    unit: str
    call: str
    request: dict[str, int]
    messages_per_call: int
    expect: str
    connections: int
    streams: int
    generators: tuple[str, ...]
    tls: bool = False
    rps: int = 0
    data: str = ""
    metadata: str = ""
    of_volley: tuple[str, ...] = ()

    def profile(self, port: int, duration_s: float) -> MeasuredProfile:
        """Return the workload as a profile for generators."""
        return MeasuredProfile.model_validate(
            {
                "name": self.name,
                "title": self.name,
                "generator": self.generators[0],
                "call": f"{_SERVICE}/{self.call}",
                "request": self.request,
                "messages_per_call": self.messages_per_call,
                "expect": (self.expect,),
                "port": port,
                "tls": self.tls,
                "connections": (self.connections,),
                "load": Closed(streams_per_connection=self.streams, duration_s=duration_s),
                "warmup_s": 0.0,
                "runs": 1,
                "pick": "best",
                "metric": Metric.MESSAGES,
                "connection_count": self.connections,
            }
        )

    def rendered(self, arguments: Sequence[str], generator: str) -> list[str]:
        """Return a generator's arguments with the workload's templates and volley's own flags."""
        if generator == "volley":
            arguments = [*self.of_volley, *arguments]
        if not self.data:
            return list(arguments)
        given = [each for each in arguments if not each.startswith("--disable-template-")]
        given[given.index("-d") + 1] = self.data
        return ["-m", self.metadata, *given]


STREAM = Workload(
    name="stream",
    unit="message",
    call="StreamSum",
    request={"a": 1, "b": 2, "count": 5000},
    messages_per_call=5000,
    expect="result = a + b + i",
    connections=64,
    streams=4,
    generators=("ghz", "volley"),
)
STREAM_TLS = replace(STREAM, name="stream-tls", tls=True)
UNARY = Workload(
    name="unary",
    unit="call",
    call="GetSum",
    request={"a": 1, "b": 2},
    messages_per_call=1,
    expect="result = a + b",
    connections=64,
    streams=100,
    generators=("ghz", "h2load", "volley"),
)
# The same calls, each with values of its own.
UNARY_TEMPLATE = replace(
    UNARY,
    name="unary-template",
    generators=("ghz", "volley"),
    data='{"a":"{{randomInt 1 1000}}","b":"{{randomInt 1 1000}}"}',
    metadata='{"x-request-id":"{{newUUID}}","x-worker":"{{.WorkerID}}"}',
)
# A load for its memory: 102,400 calls open at a time.
UNARY_1024 = Workload(
    name="unary-1024",
    unit="call",
    call="GetSum",
    request={"a": 1, "b": 2},
    messages_per_call=1,
    expect="result = a + b",
    connections=1024,
    streams=100,
    generators=("volley",),
)
# A load that is paced, far below what the server can do: each call is sent when it is due.
PACED = replace(
    UNARY, name="paced", connections=16, streams=16, rps=10_000, generators=("ghz", "volley")
)
# The same, sent every 10 ms at once, which is all that h2load can do.
PACED_10MS = replace(
    PACED,
    name="paced-10ms",
    generators=("h2load", "volley"),
    of_volley=("--coalesce-sends", "10ms"),
)
WORKLOADS = (STREAM, STREAM_TLS, UNARY, UNARY_TEMPLATE, UNARY_1024, PACED, PACED_10MS)
