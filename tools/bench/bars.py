"""The bars that volley must meet, as ratios to the other generators of the same bench."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.base.numbers import format_megabytes
from tools.bench.turns import Shot, medians
from tools.bench.workloads import STREAM, UNARY, UNARY_1024

LEAST_CPU_RATIO_TO_GHZ = 40.0
LEAST_RATE_RATIO_TO_GHZ = 2.2
MOST_CPU_RATIO_TO_H2LOAD = 0.5
MOST_BYTES = {STREAM.name: 64e6, UNARY_1024.name: 256e6}


@dataclass(frozen=True)
class Bar:
    """One bar: its subject, the result, the requirement, and whether it was met."""

    what: str
    reached: str
    asked: str
    met: bool


def bars(shots: Sequence[Shot]) -> list[Bar]:
    """Compare volley's medians with the others', and its count of every shot with the server's.

    Only bars against generators that took part are returned.
    """
    of = {(shot.workload.name, shot.generator): shot for shot in medians(shots)}
    own = [shot for shot in shots if shot.generator == "volley"]
    if not own:
        return []
    stream, unary = of[STREAM.name, "volley"], of[UNARY.name, "volley"]
    found = []
    if ghz := of.get((STREAM.name, "ghz")):
        less, faster = ghz.cpu_ns_per_unit / stream.cpu_ns_per_unit, stream.rate / ghz.rate
        found += [
            Bar(
                "CPU per message, stream",
                f"1/{less:.1f} of ghz's",
                f"at most 1/{LEAST_CPU_RATIO_TO_GHZ:g}",
                less >= LEAST_CPU_RATIO_TO_GHZ,
            ),
            Bar(
                "messages/s, stream",
                f"{faster:.2f} x ghz's",
                f"at least {LEAST_RATE_RATIO_TO_GHZ:g} x",
                faster >= LEAST_RATE_RATIO_TO_GHZ,
            ),
        ]
    if h2load := of.get((UNARY.name, "h2load")):
        share = unary.cpu_ns_per_unit / h2load.cpu_ns_per_unit
        found.append(
            Bar(
                "CPU per call, unary",
                f"{share:.2f} x h2load's",
                f"at most {MOST_CPU_RATIO_TO_H2LOAD:g} x",
                share <= MOST_CPU_RATIO_TO_H2LOAD,
            )
        )
    return [*found, _memory(stream), _memory(of[UNARY_1024.name, "volley"]), _difference(own)]


def _memory(shot: Shot) -> Bar:
    workload, most = shot.workload, MOST_BYTES[shot.workload.name]
    return Bar(
        f"memory at {workload.connections:,} x {workload.streams}",
        format_megabytes(shot.cost.peak_bytes),
        f"at most {most / 1e6:g} MB",
        shot.cost.peak_bytes <= most,
    )


def _difference(shots: Sequence[Shot]) -> Bar:
    """Return the largest difference between volley's count and the server's."""
    worst = max((shot.counted - shot.server_counted for shot in shots), key=abs)
    return Bar("counted - server's own, every run", f"{worst:+d}" if worst else "0", "0", not worst)
