"""Runs of loads that are not closed, for the tests of headlines and flags."""

from dataclasses import replace

from arena.record.measurement import BlastPoint, Latency, Run, Second
from tests.fakes import a_profile, a_run


def a_second(intended: int | None, sent: int | None) -> Second:
    return Second(intended=intended, sent=sent, ok=0, failed=0, messages=0)


SCHEDULED = a_profile(
    kind="scheduled", metric="p99 latency", messages_per_call=1, concurrency=10, connections=(1,)
)


KEPT = a_second(200, 200)


def a_timed_run(p99_ns: float, *seconds: Second, is_bound: bool = False, **changes: object) -> Run:
    run = a_run(kind="response", **changes)  # type: ignore[arg-type]
    latency = replace(run.latency_ns, p99=p99_ns, at_least=("p99",) * is_bound)
    return run.model_copy(update={"latency_ns": latency, "seconds": seconds})


BLAST = a_profile(
    kind="blast", messages_per_call=1, metric="requests/s", connections=(1, 8), sweep=(1, 20),
    repetitions=10,
)  # fmt: skip


def a_point(connections: int, requests: int, rate: float, repetitions: int = 10) -> BlastPoint:
    return BlastPoint(
        connections=connections, requests=requests, repetitions=repetitions, rate=rate,
        rate_at_least=rate, rate_at_most=rate, latency_ns=Latency(kind="response", samples=1), ok=1,
        failed={},
    )  # fmt: skip


POINTS = (a_point(1, 1, 10.0), a_point(1, 20, 20.0), a_point(8, 1, 15.0), a_point(8, 20, 40.0))


def swept(*points: BlastPoint) -> Run:
    rate = max(point.rate for point in points)
    return a_run(rate, mean_ns=None).model_copy(update={"points": points, "rate": rate})
