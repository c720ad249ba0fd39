"""The bars of a fleet without faults: counts, windows, schedules, throughput, idle workers."""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from arena_fleet.window import MOST_APART_NS
from tools.bench_fleet.net import ROOT, Counting, Rig
from tools.bench_fleet.shots import CALL, Gun, Shot

_IDLE_S = 20.0


def idle(rig: Rig) -> str:
    """Return what an idle worker costs."""
    workers = [each.worker() for each in rig.hosts]
    before = [sum(each.cpu_times()[:2]) for each in workers]
    time.sleep(_IDLE_S)
    used = [sum(each.cpu_times()[:2]) - was for each, was in zip(workers, before, strict=True)]
    return f"idle worker: at most {100 * max(used) / _IDLE_S:.2f} % of a CPU (bar 0.5 %)"


def closed(gun: Gun, runs: int, counting: Counting) -> Iterator[str]:
    """Yield how counts and windows fit, if all calls of a closed load end."""
    differences, spreads, lates, problems = list[int](), list[float](), list[float](), list[str]()
    flags = [*CALL, "-c", "8", "-z", "1s", "--duration-stop", "wait"]
    for _ in range(runs):
        before = counting.counts()["calls_ok"]
        shot = gun.fire(1.0, flags)
        problems += shot.problems[:1]
        if not shot.problems:
            ok = gun.merged(shot)["calls"]["ok"]
            differences.append(ok - (counting.counts()["calls_ok"] - before))
            spreads.append(spread_ms(shot))
            lates += [each["run"]["late_ns"] / 1e6 for each in tallies(shot)]
    right = differences.count(0)
    yield f"merged calls = the server's count: {right} of {runs} (bar all); problems: {problems}"
    near = sum(each < MOST_APART_NS / 1e6 for each in spreads)
    yield f"windows opened within 5 ms: {near} of {runs} (bar all); {_spread(spreads)} apart"
    yield f"threads woke up late for the start: {_spread(lates)}"


def scheduled(gun: Gun, runs: int, volley: str) -> str:
    """Return how a schedule fares that is dealt out, beside that of one process."""
    rate, seconds = 2000, 2
    flags = [*CALL, "-c", "64", "-n", str(rate * seconds), "--async", "--rps", str(rate)]
    ours, theirs, due, missed = list[float](), list[float](), set[int](), 0
    for _ in range(runs):
        shot = gun.fire(seconds, flags)
        if shot.problems:
            return f"schedule: {shot.problems[0]}"
        merged = gun.merged(shot)
        ours.append(merged["latency_ns"]["p50"])
        due.add(sum(merged["series"]["intended"]))
        missed += merged["missed"]
        theirs.append(_alone(gun, volley, [*flags, "--threads", "1"])["latency_ns"]["p50"])
    return (
        f"a schedule of {rate * seconds} calls: due {sorted(due)}, missed {missed}; p50 "
        f"{median(ours) / 1e3:.0f} us by all hosts, {median(theirs) / 1e3:.0f} us by one process"
    )


def throughput(gun: Gun, runs: int, volley: str, threads: int) -> str:
    """Return the rate of all hosts, relative to one process with as many threads."""
    flags, ratios = [*CALL, "-c", "64", "-z", "2s"], list[float]()
    for _ in range(runs):
        shot = gun.fire(2.0, flags, lead_s=0.5)
        if shot.problems:
            return f"throughput: {shot.problems[0]}"
        more = ["--threads", str(threads), "--warmup", "500ms"]
        alone = _alone(gun, volley, [*flags, *more])["calls_per_s"]
        ratios.append(gun.merged(shot)["calls_per_s"] / alone)
    shown = ", ".join(f"{each:.2f}" for each in ratios)
    return (
        f"throughput / that of one process with {threads} threads, CPUs shared: {shown} (bar 0.9)"
    )


def spread_ms(shot: Shot) -> float:
    """Return how far apart the windows opened, by the wall clock that all hosts share."""
    opened = [each["started_unix_ns"] for each in tallies(shot)]
    return float(max(opened) - min(opened)) / 1e6


def tallies(shot: Shot) -> list[dict[str, Any]]:
    """Return what each host counted."""
    return [each["volley"]["tally"] for each in shot.reports]


def _alone(gun: Gun, volley: str, flags: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(
        [volley, *gun.request, *flags, "--connections", "8", "-O", "json", gun.target],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)["volley"]
    return found


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "unknown"
    return f"median {median(values):.2f} ms, at most {max(values):.2f} ms"
