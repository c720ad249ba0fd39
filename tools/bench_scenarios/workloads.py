"""The loads of the bench: where each goes, and who can make it."""

from dataclasses import dataclass
from enum import StrEnum

PACED_RATE = 60_000
BODY_BYTES = 317
ITEM_NOTE, CHANGE_NOTE = "n" * 275, "n" * 291


class Server(StrEnum):
    """The server of a workload."""

    VOLLEY = "volley"
    GO = "go"


@dataclass(frozen=True)
class Workload:
    """One load. `tools` can make it, `server_flags` are those of the server.

    Closed unless it has a `rate` of requests a second; the scenario is `NAME.yaml`. `duration_s`
    is its own length, if it must have one.
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
    is_grpc: bool = False

    @property
    def in_flight(self) -> int:
        """Requests that are open at a time, if the load is closed."""
        return self.connections * self.streams


CRUD_H2C = Workload("crud-h2c", ("volley", "h2loadrunner", "h2load"), 4, 128)
CRUD_TLS = Workload("crud-tls", ("volley", "k6"), 1, 32, server=Server.GO, tls=True)
CRUD_H1 = Workload("crud-h1", ("volley", "h2loadrunner", "h2load"), 32, 1, http=1)
CRUD_PACED = Workload(
    "crud-paced",
    ("volley", "h2loadrunner"),
    4,
    128,
    server_flags=("--unanswered-every", "33"),
    rate=PACED_RATE,
    duration_s=20.0,
)
GRPC_FLOW = Workload("grpc-flow", ("volley",), 4, 32, is_grpc=True)
# The same stream without a scenario: what grpc-flow is held against. It is no row of its own.
GRPC_PLAIN = Workload("grpc-plain", ("volley",), 4, 32, is_grpc=True)
WORKLOADS = (CRUD_H2C, CRUD_TLS, CRUD_H1, CRUD_PACED, GRPC_FLOW, GRPC_PLAIN)
