"""Nights of blocks, for the tests of boards and pairs."""

from collections.abc import Iterator, Mapping
from typing import Any

from arena.record.measurement import Run, Second, Watch
from arena.record.record import Record
from tests.fakes import a_record, a_run, a_visit, at

_DAY_MINUTES = 24 * 60

UNARY = {"call": "benchmark.BenchmarkService/GetSum", "messages_per_call": 1, "request": {"a": 1}}

# The rates of a block, as shares: no two are equal, and they have no trend.
WOBBLE = (1.0, 1.004, 0.997, 1.002, 0.996, 1.003, 0.999, 1.001, 0.998, 1.005)


def night(hour: int = 0) -> str:
    """Return the id of a night that began so many hours into the day of all tests."""
    return at(60 * hour)


def visited(
    name: str, rate: float, block: int = 1, *, minute: int, hour: int = 0, **more: Any
) -> Record:
    """Return the record of a visit: of one run, unless it is the first block's or `is_void`."""
    about, is_void = {"blocks", "size", "repeat", "attempt", "is_twin"}, more.pop("is_void", False)
    visit = a_visit(block, night=night(hour), **{key: more.pop(key) for key in about & more.keys()})
    runs = more.pop("runs", None)
    if runs is None and not more.get("failure"):
        classic = block == 1 and not (visit.is_twin or is_void)
        runs = [a_run(rate * (1 - 1e-5 * number)) for number in range(3 if classic else 1)]
    if is_void and runs:
        runs = [runs[0].changed(watch=Watch(elapsed_s=5.0, cpus=2, foreign=0.2))]
    return a_record(name, minute=60 * hour + minute, runs=runs, visit=visit, **more)


def blocks(
    rates: Mapping[str, float], count: int = 8, *, hour: int = 0, **more: Any
) -> Iterator[Record]:
    """Yield a night's visits: names that end in `~twin` are twins."""
    minute = 0
    for block in range(1, count + 1):
        for place, (name, rate) in enumerate(rates.items()):
            wobble = WOBBLE[(3 * place + block) % len(WOBBLE)]
            minute += 1
            yield visited(
                name.removesuffix("~twin"), rate * wobble, block, minute=minute, hour=hour,
                **{"size": len(rates), "is_twin": name.endswith("~twin"), **more},
            )  # fmt: skip


def drifting(rate: float, growth: float) -> Run:
    """Return a run of four seconds whose second half is `growth` times as fast as the first."""
    seconds = tuple(
        Second(ok=1, failed=0, messages=int(1e6 * factor)) for factor in (1, 1, growth, growth)
    )
    return a_run(rate).model_copy(update={"seconds": seconds})


def packing(run: Run, messages: float) -> Run:
    """Return a run whose DATA frames had so many messages each."""
    return run.model_copy(update={"data_frames": round(run.messages / messages)})


def without(records: list[Record], *gone: int) -> list[Record]:
    """Return the records without those at these places."""
    return [
        each
        for at, each in enumerate(records)
        if at not in {place % len(records) for place in gone}
    ]


def paced(name: str, us: float, block: int, minute: int, ok: int = 10_000, **more: Any) -> Record:
    """Return a visit at 2,000 calls a second whose calls cost so many microseconds of CPU."""
    profile = dict(
        name="unary-rate-2000", kind="paced", generator="volley", rate=2000, duration_s=5.0,
        streams_per_connection=100, **UNARY, metric="CPU a call",
    )  # fmt: skip
    wobble = WOBBLE[(3 * minute + block) % len(WOBBLE)]
    runs = [a_run(2000, ok=ok, server_cpu_s=us * wobble * ok / 1e6)]
    halves = more.pop("halves", None)
    runs = [each.changed(server=each.server.changed(halves=halves)) for each in runs]
    return visited(name, 2000, block, minute=minute, runs=runs, profile=profile, **more)
