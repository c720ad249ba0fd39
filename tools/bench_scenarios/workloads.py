"""The loads of the bench: where each goes, and who can make it."""

from dataclasses import dataclass
from enum import StrEnum

PACED_RATE = 60_000
REQUESTS_PER_ITERATION = 3
BODY_BYTES = 317
ITEM_NOTE, CHANGE_NOTE = "n" * 275, "n" * 291


class Server(StrEnum):
    """The server of a workload."""

    VOLLEY = "volley"
    GO = "go"


class Part(StrEnum):
    """Where a workload's figures are in the JSON."""

    ROWS = "rows"
    BASELINES = "baselines"
    """Loads without a scenario, which others are held against."""
    MEMORY = "memory"
    """Loads whose figure is the memory."""


@dataclass(frozen=True)
class Workload:
    """One load. `tools` can make it, `server_flags` are those of the server.

    Its scenario is `SCENARIO.yaml`; without one, volley makes calls of `method`. It is closed, with
    a user for each stream, unless it has a `rate` of requests a second. `duration_s` is its own
    length, if it must have one.
    """

    name: str
    tools: tuple[str, ...]
    connections: int
    streams: int
    server: Server = Server.VOLLEY
    server_flags: tuple[str, ...] = ()
    tls: bool = False
    http: int = 2
    rate: int = 0
    duration_s: float | None = None
    scenario: str = "crud"
    method: str = ""
    part: Part = Part.ROWS

    @property
    def in_flight(self) -> int:
        """Requests that are open at a time, if the load is closed."""
        return self.connections * self.streams

    @property
    def is_grpc(self) -> bool:
        """Whether messages count, not requests."""
        return not self.scenario.startswith("crud")


def _without_a_scenario(name: str, method: str) -> Workload:
    return Workload(
        name, ("volley", "volley-before"), 4, 32, scenario="", method=method, part=Part.BASELINES
    )


CRUD_H2C = Workload("crud-h2c", ("volley", "h2loadrunner", "h2load"), 4, 128)
CRUD_LUA = Workload("crud-lua", ("volley", "h2loadrunner"), 4, 128, scenario="crud-lua")
CRUD_TLS = Workload("crud-tls", ("volley", "k6"), 1, 32, server=Server.GO, tls=True)
# h2loadrunner never ends after a load over HTTP/1.1.
CRUD_H1 = Workload("crud-h1", ("volley", "h2load"), 32, 1, http=1)
# A request without an answer holds its stream until its timeout: 3,600 of them at a time.
CRUD_PACED = Workload(
    "crud-paced",
    ("volley", "h2loadrunner"),
    4,
    2048,
    server_flags=("--unanswered-every", "33"),
    rate=PACED_RATE,
    duration_s=20.0,
)
GRPC_FLOW = Workload("grpc-flow", ("volley",), 4, 32, scenario="grpc-flow")
GRPC_PLAIN = _without_a_scenario("grpc-plain", "StreamSum")
GRPC_UNARY = _without_a_scenario("grpc-unary", "GetSum")
# Every request waits for a second, so that as many iterations are open as there are users.
MEMORY_OPEN = Workload(
    "memory-open",
    ("volley",),
    4,
    2500,
    server_flags=("--delay", "1s"),
    part=Part.MEMORY,
)
# Users of volley share connections; each of k6 has its own.
MEMORY_USERS = Workload(
    "memory-users", ("volley", "k6"), 4, 250, server=Server.GO, tls=True, part=Part.MEMORY
)
WORKLOADS = (
    CRUD_H2C,
    CRUD_LUA,
    CRUD_TLS,
    CRUD_H1,
    CRUD_PACED,
    GRPC_FLOW,
    GRPC_PLAIN,
    GRPC_UNARY,
    MEMORY_OPEN,
    MEMORY_USERS,
)
