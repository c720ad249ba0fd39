"""Builders of what pictures show: seconds, points of a blast, and records that have them."""

from collections.abc import Sequence
from typing import Any

from arena.record.measurement import BlastPoint, Latency, Run, Second, Step
from arena.record.record import Record
from parsers.common.figures import LatencyKind
from tests.fakes import ITEMS, a_record, a_run

UNARY: dict[str, Any] = {
    "call": "benchmark.BenchmarkService/GetSum",
    "request": {"a": 1, "b": 2},
    "messages_per_call": 1,
    "generator": "volley",
}

SCHEDULED: dict[str, Any] = {
    **UNARY, "name": "steady", "kind": "scheduled", "metric": "p99 latency",
    "schedule": {"shape": "const", "rps": 100}, "requests": 1000, "concurrency": 10,
    "connections": (1,), "connection_count": 1,
}  # fmt: skip

BLAST: dict[str, Any] = {
    **UNARY, "name": "bang", "kind": "blast", "metric": "requests/s",
    "sweep": (1, 10, 100), "repetitions": 10, "duration_s": 60.0,
    "connections": (1, 8), "connection_count": 8,
}  # fmt: skip

PACED: dict[str, Any] = {**ITEMS, "name": "crud-paced", "metric": "p99 latency", "rate": 100.0}

LASTING: dict[str, Any] = {**UNARY, "name": "lasting", "metric": "requests/s"}


def a_second(sent: int | None = 100, intended: int | None = 100, **changes: Any) -> Second:
    """Return a second in which as many calls ended as were sent, with changes."""
    values: dict[str, Any] = {
        "intended": intended, "sent": sent, "ok": sent or 0, "failed": 0, "messages": sent or 0,
        "p50_ns": 4e5, "p99_ns": 1.5e6,
    }  # fmt: skip
    return Second(**{**values, **changes})


def a_point(
    connections: int, requests: int, rate: float, failed: dict[str, int] | None = None
) -> BlastPoint:
    """Return a point of ten repetitions, its median within 10 % either way."""
    lost = sum((failed or {}).values())
    return BlastPoint(
        connections=connections,
        requests=requests,
        repetitions=10,
        rate=rate,
        rate_at_least=rate * 0.9,
        rate_at_most=rate * 1.1,
        latency_ns=Latency(kind="response", p50=1e6, p99=2e6, samples=requests * 10 - lost),
        ok=requests * 10 - lost,
        failed=failed or {},
    )


# The way of one connection stops growing at 10, that of eight grows on.
POINTS = (
    *(a_point(1, n, rate) for n, rate in ((1, 1000.0), (10, 9600.0), (100, 10_000.0))),
    *(a_point(8, n, rate) for n, rate in ((1, 1000.0), (10, 9000.0), (100, 20_000.0))),
)


def a_step(
    name: str, p99_ns: float | None, failed: dict[str, int] | None = None, *bounds: str
) -> Step:
    """Return a step of a thousand requests; `bounds` are its figures that are lower bounds."""
    lost = sum((failed or {}).values())
    latency = Latency(kind="service", p50=1e6, p99=p99_ns, samples=1000 - lost, at_least=bounds)
    return Step(name=name, count=1000, ok=1000 - lost, failed=failed or {}, latency_ns=latency)


STEPS = (
    a_step("create", 12e6),
    a_step("change", 3.4e6, {"timeout": 2, "status": 1}),
    a_step("remove", 5e6),
)


def made(record: Record, **changes: Any) -> Record:
    """Return the record as it was made under other conditions: its provenance has changes."""
    provenance = record.provenance.model_copy(update=changes)
    return record.model_copy(update={"provenance": provenance})


def released(record: Record, release: str) -> Record:
    """Return the record of a framework whose library has this release."""
    framework = record.framework.model_copy(update={"release": release})
    return record.model_copy(update={"framework": framework})


def logged(record: Record, log: str) -> Record:
    """Return a record that failed, with the path of its log."""
    assert record.failure
    return record.model_copy(update={"failure": record.failure.model_copy(update={"log": log})})


def scheduled(name: str, seconds: Sequence[Second], **record: Any) -> Record:
    return _of(SCHEDULED, name, 100.0, {"seconds": tuple(seconds)}, record)


def blast(name: str, points: Sequence[BlastPoint] = POINTS, **record: Any) -> Record:
    best = max((point.rate for point in points), default=0.0)
    return _of(BLAST, name, best, {"points": tuple(points)}, record)


def lasting(name: str, rate: float, connections: int = 8, count: int = 7, **record: Any) -> Record:
    """Return the record of a closed load that goes on for some seconds."""
    seconds = (a_second(int(rate), None),) * count
    profile = {**LASTING, "connection_count": connections}
    return _of(profile, name, rate, {"seconds": seconds}, record, kind="service")


def _of(
    profile: dict[str, Any],
    name: str,
    rate: float,
    more: dict[str, Any],
    record: dict[str, Any],
    kind: LatencyKind = "response",
) -> Record:
    """Return the record of one run that has more than others; `record` has changes of it."""
    run = a_run(rate, kind=kind).model_copy(update=more)
    return a_record(name, runs=[run], **{**record, "profile": profile | record.get("profile", {})})


def with_latency(rate: float = 1e6, **latency: Any) -> Run:
    told = Latency(**{"kind": "service", "samples": 100, **latency})
    return a_run(rate).model_copy(update={"latency_ns": told})


def under(
    generator: str, name: str = "a", own_s: float = 2.0, cut: int = 0, **record: Any
) -> Record:
    """Return a record of 5 million messages, for which the server took 4 CPU seconds."""
    return a_record(
        name,
        minute=record.pop("minute", generator != "ghz"),
        runs=[a_run(1e6, generator_cpu_s=own_s, cut=cut)],
        profile={"generator": generator, **record.pop("profile", {})},
        **record,
    )


def items(name: str, rate: float = 3000.0, *steps: Step, **record: Any) -> Record:
    """Return the record of users who create, change and delete items."""
    return _of(ITEMS, name, rate, {"steps": steps or STEPS}, record, kind="service")


def paced(name: str, seconds: Sequence[Second], **record: Any) -> Record:
    """Return the record of iterations that begin at a given rate."""
    more = {"seconds": tuple(seconds), "steps": STEPS}
    return _of(PACED, name, 300.0, more, record)
