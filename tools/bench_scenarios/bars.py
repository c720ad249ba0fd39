"""The bars that volley must meet, in one run of the bench."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.bench_scenarios.turns import Shot, medians
from tools.bench_scenarios.workloads import (
    CRUD_H2C,
    CRUD_PACED,
    CRUD_TLS,
    GRPC_FLOW,
    GRPC_PLAIN,
)

MOST_NS = 1000.0
"""One request: a million in a CPU-second."""

MOST_BYTES_RATIO_TO_K6 = 1 / 20
# (workload, other tool, other workload, most CPU per request as a ratio to the other's)
_RATIOS = (
    (CRUD_H2C, "h2loadrunner", CRUD_H2C, 0.3),
    (CRUD_H2C, "h2load", CRUD_H2C, 0.5),
    (CRUD_TLS, "k6", CRUD_TLS, 1 / 12),
    (CRUD_PACED, "h2loadrunner", CRUD_PACED, 0.4),
    (GRPC_FLOW, "volley", GRPC_PLAIN, 1.15),
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
    """Compare volley's medians with the others'. Only bars with both sides are returned."""
    of = {(shot.workload, shot.tool): shot for shot in medians(shots)}
    found = []
    if own := of.get((CRUD_H2C.name, "volley")):
        found.append(Bar(f"CPU ns a request, {CRUD_H2C.name}", own.cpu_ns_per_request, MOST_NS))
    for workload, tool, other, most in _RATIOS:
        own, theirs = of.get((workload.name, "volley")), of.get((other.name, tool))
        if own and theirs:
            ratio = own.cpu_ns_per_request / theirs.cpu_ns_per_request
            against = tool if other is workload else other.name
            found.append(Bar(f"CPU a request, {workload.name} : {against}", ratio, most))
    own, theirs = of.get((CRUD_TLS.name, "volley")), of.get((CRUD_TLS.name, "k6"))
    if own and theirs:
        ratio = own.cost.peak_bytes / theirs.cost.peak_bytes
        found.append(Bar(f"memory, {CRUD_TLS.name} : k6", ratio, MOST_BYTES_RATIO_TO_K6))
    return found
