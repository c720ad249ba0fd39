"""Shots of the bench, made by hand: a bench in which every bar is just about met."""

from arena.record.measurement import Cost
from tools.bench.turns import Shot
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


def a_shot(
    workload: Workload = STREAM,
    generator: str = "volley",
    *,
    rate: float = 1e6,
    cpu_ns: float = 20.0,
    peak_bytes: int = 10_000_000,
    off: int = 0,
    delay_ns: float | None = None,
) -> Shot:
    """Return five seconds of load at a rate, with a cost for each unit."""
    counted = round(rate * 5)
    return Shot(
        workload=workload,
        generator=generator,
        version="1.0",
        counted=counted,
        failed=0,
        elapsed_s=5.0,
        server_counted=counted - off,
        cost=Cost(cpu_s=counted * cpu_ns / 1e9, peak_bytes=peak_bytes),
        delay_p99_ns=delay_ns,
    )


def a_round(**volley: float) -> list[Shot]:
    """Return a round; `volley` changes what volley did in each of its shots."""
    return [
        a_shot(STREAM, "ghz", rate=1e6, cpu_ns=2100.0),
        _of(STREAM, {"rate": 2.2e6, "cpu_ns": 29.99, "peak_bytes": 64_000_000}, volley),
        a_shot(STREAM_TLS, "ghz", rate=1e6, cpu_ns=2500.0),
        _of(STREAM_TLS, {"rate": 2e6, "cpu_ns": 99.9}, volley),
        a_shot(UNARY, "ghz", rate=2e4, cpu_ns=24_000.0),
        a_shot(UNARY, "h2load", rate=8e4, cpu_ns=5000.0, off=-400),
        _of(UNARY, {"rate": 9e4, "cpu_ns": 999.9}, volley),
        a_shot(UNARY_TEMPLATE, "ghz", rate=2e4, cpu_ns=40_000.0),
        _of(UNARY_TEMPLATE, {"rate": 8e4, "cpu_ns": 1499.8}, volley),
        _of(UNARY_1024, {"rate": 7e4, "cpu_ns": 1500.0, "peak_bytes": 256_000_000}, volley),
        _of(PACED, {"rate": 1e4, "cpu_ns": 20_000.0, "delay_ns": 100_000.0}, volley),
        a_shot(PACED_10MS, "h2load", rate=1e4, cpu_ns=10_000.0),
        _of(PACED_10MS, {"rate": 1e4, "cpu_ns": 9999.0}, volley),
    ]


def _of(workload: Workload, plain: dict[str, float], changes: dict[str, float]) -> Shot:
    return a_shot(workload, "volley", **{**plain, **changes})  # type: ignore[arg-type]
