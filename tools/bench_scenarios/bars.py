"""The bars that volley must meet, in one run of the bench."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.bench_scenarios.turns import Shot, medians
from tools.bench_scenarios.workloads import (
    CRUD_H2C,
    CRUD_LUA,
    CRUD_PACED,
    CRUD_TLS,
    GRPC_FLOW,
    GRPC_PLAIN,
    GRPC_UNARY,
    MEMORY_OPEN,
    MEMORY_USERS,
)

MOST_NS = 1000.0
"""One request: a million in a CPU-second."""
MOST_BYTES = 64e6
MOST_BYTES_RATIO_TO_K6 = 1 / 20
# (workload, tool, other workload, other tool, most CPU per request as a ratio to the other's)
_RATIOS = (
    (CRUD_H2C, "volley", CRUD_H2C, "h2loadrunner", 0.3),
    (CRUD_H2C, "volley", CRUD_H2C, "h2load", 0.5),
    (CRUD_LUA, "volley", CRUD_LUA, "h2loadrunner", 0.4),
    (CRUD_TLS, "volley", CRUD_TLS, "k6", 1 / 12),
    (CRUD_PACED, "volley", CRUD_PACED, "h2loadrunner", 0.4),
    (GRPC_FLOW, "volley", GRPC_PLAIN, "volley", 1.15),
    (GRPC_PLAIN, "volley", GRPC_PLAIN, "volley-before", 1.02),
    (GRPC_UNARY, "volley", GRPC_UNARY, "volley-before", 1.02),
)


@dataclass(frozen=True)
class Bar:
    """One bar: its subject, the figure and what it may be at most, and whether it was met."""

    what: str
    reached: float
    most: float

    @property
    def met(self) -> bool:
        """Whether the figure is low enough."""
        return self.reached <= self.most


def bars(shots: Sequence[Shot]) -> list[Bar]:
    """Compare volley's medians with limits and the others'. Bars without figures are left out."""
    of = {(shot.workload, shot.tool): shot for shot in medians(shots)}
    found = []
    if own := of.get((CRUD_H2C.name, "volley")):
        found.append(Bar(f"CPU ns a request, {CRUD_H2C.name}", own.cpu_ns_per_request, MOST_NS))
    for workload, tool, other, other_tool, most in _RATIOS:
        own, theirs = of.get((workload.name, tool)), of.get((other.name, other_tool))
        if own and theirs:
            ratio = own.cpu_ns_per_request / theirs.cpu_ns_per_request
            against = other_tool if other is workload else other.name
            found.append(Bar(f"CPU a request, {workload.name} : {against}", ratio, most))
    found += [
        Bar(f"bytes, {workload.name}", own.cost.peak_bytes, MOST_BYTES)
        for workload in (MEMORY_OPEN, MEMORY_USERS)
        if (own := of.get((workload.name, "volley")))
    ]
    own, theirs = (of.get((MEMORY_USERS.name, tool)) for tool in ("volley", "k6"))
    if own and theirs:
        ratio = own.cost.peak_bytes / theirs.cost.peak_bytes
        found.append(Bar(f"bytes, {MEMORY_USERS.name} : k6", ratio, MOST_BYTES_RATIO_TO_K6))
    # Of every round, not of the median.
    paced = [shot for shot in shots if (shot.workload, shot.tool) == (CRUD_PACED.name, "volley")]
    if paced:
        astray = sum(shot.told.astray for shot in paced)
        found.append(Bar(f"neither begun nor dropped, {CRUD_PACED.name}", astray, 0))
    return found
