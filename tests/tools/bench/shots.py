"""Shots of the bench, made by hand: a bench in which every bar is just about met."""

from arena.record.measurement import Cost
from tools.bench.turns import Shot
from tools.bench.workloads import STREAM, UNARY, UNARY_1024, Workload


def a_shot(
    workload: Workload = STREAM,
    generator: str = "volley",
    *,
    rate: float = 1e6,
    cpu_ns: float = 20.0,
    peak_bytes: int = 10_000_000,
    off: int = 0,
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
    )


def a_round(**volley: float) -> list[Shot]:
    """Return a round; `volley` changes what volley did in each of its shots."""
    return [
        a_shot(STREAM, "ghz", rate=1e6, cpu_ns=1200.0),
        _of(STREAM, {"rate": 2.2e6, "cpu_ns": 29.99, "peak_bytes": 64_000_000}, volley),
        a_shot(UNARY, "ghz", rate=2e4, cpu_ns=24_000.0),
        a_shot(UNARY, "h2load", rate=8e4, cpu_ns=2000.0, off=-400),
        _of(UNARY, {"rate": 9e4, "cpu_ns": 999.9}, volley),
        _of(UNARY_1024, {"rate": 7e4, "cpu_ns": 1500.0, "peak_bytes": 256_000_000}, volley),
    ]


def _of(workload: Workload, plain: dict[str, float], changes: dict[str, float]) -> Shot:
    return a_shot(workload, "volley", **{**plain, **changes})  # type: ignore[arg-type]
