"""The bars that volley must reach, as ratios to what the others did in the same bench."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.base.numbers import format_megabytes
from tools.bench.turns import Shot, medians
from tools.bench.workloads import STREAM, UNARY, UNARY_1024, Workload

LEAST_CPU_RATIO_TO_GHZ = 40.0
LEAST_RATE_RATIO_TO_GHZ = 2.2
MOST_CPU_RATIO_TO_H2LOAD = 0.5
MOST_BYTES = {STREAM.name: 64e6, UNARY_1024.name: 256e6}


@dataclass(frozen=True)
class Bar:
    """One of them: what it is about, what was reached, what was asked for, and whether it was."""

    what: str
    reached: str
    asked: str
    met: bool


def bars(shots: Sequence[Shot]) -> list[Bar]:
    """Hold volley's medians against the others'; its counts in every shot."""
    of = {(shot.workload.name, shot.generator): shot for shot in medians(shots)}

    def volley(workload: Workload) -> Shot:
        return of[workload.name, "volley"]

    ghz, h2load = of[STREAM.name, "ghz"], of[UNARY.name, "h2load"]
    less = ghz.cpu_ns_per_unit / volley(STREAM).cpu_ns_per_unit
    faster = volley(STREAM).rate / ghz.rate
    share = volley(UNARY).cpu_ns_per_unit / h2load.cpu_ns_per_unit
    return [
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
        Bar(
            "CPU per call, unary",
            f"{share:.2f} x h2load's",
            f"at most {MOST_CPU_RATIO_TO_H2LOAD:g} x",
            share <= MOST_CPU_RATIO_TO_H2LOAD,
        ),
        *(_memory(volley(workload)) for workload in (STREAM, UNARY_1024)),
        _difference([shot for shot in shots if shot.generator == "volley"]),
    ]


def _memory(shot: Shot) -> Bar:
    workload, most = shot.workload, MOST_BYTES[shot.workload.name]
    return Bar(
        f"memory at {workload.connections:,} x {workload.streams}",
        format_megabytes(shot.cost.peak_bytes),
        f"at most {most / 1e6:g} MB",
        shot.cost.peak_bytes <= most,
    )


def _difference(shots: Sequence[Shot]) -> Bar:
    """Return how far volley was off in its worst shot."""
    worst = max((shot.counted - shot.server_counted for shot in shots), key=abs)
    return Bar("counted - server's own, every run", f"{worst:+d}" if worst else "0", "0", not worst)
