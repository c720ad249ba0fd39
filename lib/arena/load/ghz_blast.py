"""A sweep of blasts by ghz, which needs a new start for each blast: an approximation.

ghz opens a connection when the first call needs it, and its workers send one after another: the
last of many calls leaves after others have been answered. docs/measuring.md describes the effect
on the figures.

The points are shuffled as `volley blast` shuffles them for the same seed: Fisher and Yates' shuffle
(Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm P) with the numbers of SplitMix64
(Steele, Lea and Flood 2014, https://doi.org/10.1145/2660193.2660195).
"""

import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from arena.base.progress import Tick
from arena.base.reading import tail
from arena.load.generators import Shot
from arena.load.ghz_flags import CALL_TIMEOUT_S, request, target
from arena.load.program import Program
from arena.record.measurement import Cost
from arena.what.loads import Blast
from arena.what.profile import MeasuredProfile

_MASK = (1 << 64) - 1

# Higher levels take much longer, and the next start waits for the compression.
_COMPRESSION = 6


def arguments(
    profile: MeasuredProfile, connections: int | None = None, requests: int | None = None
) -> list[str]:
    """Return the flags of one start; by default, of the largest one.

    The request is encoded once, before the calls: it is the same in every call.
    """
    calls = requests or profile.in_flight
    return [
        *request(profile),
        "--disable-template-functions", "--disable-template-data",
        "--connections", str(min(connections or profile.connection_count, calls)),
        "-c", str(calls),
        "-n", str(calls),
        "-O", "json",
        target(profile),
    ]  # fmt: skip


def starts(profile: MeasuredProfile) -> Iterator[tuple[int, int, int]]:
    """Yield repetition (from 1), connections and requests of each start, in order.

    Repetition comes first: a sweep that is cut short has measured every point about equally
    often, and a slow drift of the host is spread over all points.
    """
    load = profile.load_as(Blast)
    points = load.points(profile.connections)
    numbers = split_mix(load.seed)
    for repetition in range(1, load.shots + 1):
        for place in shuffled(len(points), numbers):
            yield repetition, *points[place]


def shuffled(count: int, numbers: Iterator[int]) -> list[int]:
    """Return the numbers below `count` in an order shuffled with `numbers`."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        # The high half of the product; its bias is below count in 2^64.
        other = next(numbers) * (last + 1) >> 64
        order[last], order[other] = order[other], order[last]
    return order


def split_mix(seed: int) -> Iterator[int]:
    """Yield the 64-bit numbers of SplitMix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def fire(program: Program, profile: MeasuredProfile, stem: Path, on_tick: Tick) -> Shot:
    """Start ghz repeatedly until the sweep is done or its time is over.

    All reports go to one file as they come, one per line (see lib/parsers/blast/ghz_lines.py). The
    cost is the CPU time of all starts, and the largest memory of any one. A start that leaves
    no report ends the sweep.
    """
    began = time.monotonic()
    raw = stem.with_suffix(".jsonl.gz")
    output = program.raw(stem)
    cost = Cost(cpu_s=0.0, peak_bytes=0)

    def tick(_: float) -> None:
        on_tick(time.monotonic() - began)

    with gzip.open(raw, "wb", _COMPRESSION) as file:
        for order, (repetition, connections, requests) in enumerate(starts(profile)):
            if order and time.monotonic() - began >= profile.window_s:
                break
            flags = arguments(profile, connections, requests)
            # ghz gives its calls up by then, so no start makes its load for longer.
            shot = program.shoot(flags, output, CALL_TIMEOUT_S, tick)
            cost = Cost(
                cpu_s=cost.cpu_s + shot.cost.cpu_s,
                peak_bytes=max(cost.peak_bytes, shot.cost.peak_bytes),
            )
            # A complete report outweighs other problems: in a container, the cost of a start is
            # unknown if it ended before the first sample.
            report = output.read_bytes().strip()
            if not _is_report(report):
                why = shot.problem or f"{program.name} printed no report"
                where = f"a blast of {requests} calls over {connections} connections"
                return replace(shot, cost=cost, problem=f"{why} ({where})")
            line = {
                "connections": connections,
                "requests": requests,
                "repetition": repetition,
                "order": order,
            }
            # The report is not parsed and written again, so no byte of it changes.
            file.write(json.dumps(line).encode()[:-1] + b', "report": ' + report + b"}\n")
            output.unlink()
    errors = output.with_suffix(".stderr")
    log = errors if errors.exists() else raw
    return Shot(raw=raw, log=log, cost=cost, output=tail(errors))


def _is_report(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
