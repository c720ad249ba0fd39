"""Starts that are measured, for the tests of when they are steady, and of their pages."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from arena.judge.steady import Start, StartSecond
from arena.record.measurement import Cost, Run, Started, StartedSecond
from arena.record.record import Record
from tests.fakes import UNARY, a_run
from tests.lib.arena.judge.visits import WOBBLE, visited

CALLS = 2_000


def a_start(cost_s: Callable[[int], float], seconds: int = 40) -> Start:
    """Return a start whose calls cost so much CPU in each second; its memory grows."""
    each = (StartSecond(cost_s(at) * CALLS, CALLS, 101 + at) for at in range(seconds))
    return Start(0.5, 100, tuple(each))


def step(until: int, factor: float = 3.0) -> Callable[[int], float]:
    """Return a cost that is so many times higher until a second."""
    return lambda at: 1e-4 * (factor if at < until else 1.0)


def started(first_s: float, until: int, **changes: Any) -> Started:
    series = a_start(step(until))
    values: dict[str, Any] = {
        "listens_s": first_s - 0.01, "first_reply_s": first_s, "load_s": first_s + 0.02,
        "cpu_s": series.cpu_s, "peak_bytes": series.peak_bytes,
        "seconds": tuple(StartedSecond(**each._asdict()) for each in series.seconds),
    }  # fmt: skip
    return Started(**values | changes)


PROFILE: dict[str, Any] = dict(
    name="cold-start", kind="cold", generator="volley", warmup_s=0.0, runs=1,
    **UNARY | {"metric": "time to first reply"},
)  # fmt: skip


def a_cold_run(first_s: float, until: int = 3) -> Run:
    cost = Cost(cpu_s=10.0, peak_bytes=1 << 20, source="control-group")
    return a_run(2000).changed(started=started(first_s, until), server=cost)


def cold(name: str, first_s: float, block: int, minute: int, **more: Any) -> Record:
    wobble = WOBBLE[(3 * minute + block) % len(WOBBLE)]
    runs = [a_cold_run(first_s * wobble)]
    return visited(name, 0, block, minute=minute, runs=runs, profile=PROFILE, **more)


def cold_night(starts: Mapping[str, float], count: int = 8, **more: Any) -> Iterator[Record]:
    """Yield the visits of a night by the seconds to the first reply of each framework."""
    for block in range(1, count + 1):
        for at, (name, first_s) in enumerate(starts.items()):
            yield cold(name, first_s, block, minute=10 * block + at, **more)
