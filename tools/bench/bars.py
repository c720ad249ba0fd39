"""The bars that volley must meet, as ratios to the other generators of the same bench."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.base.units import format_megabytes, format_ns
from tools.bench.turns import Shot, medians
from tools.bench.workloads import (
    PACED,
    PACED_10MS,
    STREAM,
    STREAM_TLS,
    UNARY,
    UNARY_1024,
    UNARY_TEMPLATE,
    Workload,
)

LEAST_CPU_RATIO_TO_GHZ = {STREAM.name: 70.0, STREAM_TLS.name: 25.0}
LEAST_RATE_RATIO_TO_GHZ = 2.2
LEAST_CPU_RATIO_TO_H2LOAD = {UNARY.name: 5.0, PACED_10MS.name: 1.0}
MOST_TEMPLATE_RATIO = 1.5
MOST_DELAY_NS = 100_000
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
    found = [
        _cheaper(of, workload, "ghz", LEAST_CPU_RATIO_TO_GHZ[workload.name])
        for workload in (STREAM, STREAM_TLS)
    ]
    found.append(_faster(of))
    found += [
        _cheaper(of, workload, "h2load", LEAST_CPU_RATIO_TO_H2LOAD[workload.name])
        for workload in (UNARY, PACED_10MS)
    ]
    own_shots = [of[workload.name, "volley"] for workload in (STREAM, UNARY_1024)]
    return [
        *(bar for bar in found if bar),
        _templates(of),
        _delay(of[PACED.name, "volley"]),
        *map(_memory, own_shots),
        _difference(own),
    ]


def _cheaper(
    of: Mapping[tuple[str, str], Shot], workload: Workload, other: str, least: float
) -> Bar | None:
    """Compare the CPU per unit with another generator's; None if that one did not take part."""
    theirs = of.get((workload.name, other))
    if not theirs:
        return None
    less = theirs.cpu_ns_per_unit / of[workload.name, "volley"].cpu_ns_per_unit
    return Bar(
        f"CPU per {workload.unit}, {workload.name}",
        f"1/{less:.1f} of {other}'s",
        f"at most 1/{least:g}",
        less >= least,
    )


def _faster(of: Mapping[tuple[str, str], Shot]) -> Bar | None:
    ghz = of.get((STREAM.name, "ghz"))
    if not ghz:
        return None
    faster = of[STREAM.name, "volley"].rate / ghz.rate
    return Bar(
        "messages/s, stream",
        f"{faster:.2f} x ghz's",
        f"at least {LEAST_RATE_RATIO_TO_GHZ:g} x",
        faster >= LEAST_RATE_RATIO_TO_GHZ,
    )


def _templates(of: Mapping[tuple[str, str], Shot]) -> Bar:
    """Compare the CPU of a call with templates with that of a plain one."""
    plain, rendered = (of[workload.name, "volley"] for workload in (UNARY, UNARY_TEMPLATE))
    dearer = rendered.cpu_ns_per_unit / plain.cpu_ns_per_unit
    return Bar(
        f"CPU per call, {UNARY_TEMPLATE.name}",
        f"{dearer:.2f} x a plain one's",
        f"at most {MOST_TEMPLATE_RATIO:g} x",
        dearer <= MOST_TEMPLATE_RATIO,
    )


def _delay(shot: Shot) -> Bar:
    """Return the bar for how late calls are sent that are due at a pace."""
    delay = shot.delay_p99_ns
    return Bar(
        "p99 of sent - due, paced",
        "unknown" if delay is None else format_ns(delay),
        f"at most {format_ns(MOST_DELAY_NS)}",
        delay is not None and delay <= MOST_DELAY_NS,
    )


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
