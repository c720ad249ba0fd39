"""What a fleet costs its coordinator: bytes, packets and CPU for each host."""

import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from tools.bench_fleet.net import PORT, Rig
from tools.bench_fleet.shots import CALL, Gun

_IDLE_S = 30.0
_LOADS = 5
_WINDOW_S = 1.0

_COUNTS = re.compile(r"\b(bytes_sent|bytes_received|data_segs_out|data_segs_in):(\d+)")


@dataclass(frozen=True)
class _Used:
    """What the coordinator had used at a moment."""

    counts: dict[str, int]
    cpu_s: float
    at_s: float


def costs(rig: Rig, gun: Gun) -> Iterator[str]:
    """Yield what idle hosts and a load cost the coordinator, for each host."""
    hosts = len(rig.hosts)
    before = _used(rig)
    time.sleep(_IDLE_S)
    after = _used(rig)
    yield f"{hosts} idle hosts, each second and host: {_words(before, after, hosts * _IDLE_S)}"
    flags = [*CALL, "-c", str(2 * hosts), "-z", "1s"]
    took = []
    before = _used(rig)
    for _ in range(_LOADS):
        began = time.monotonic()
        shot = gun.fire(_WINDOW_S, flags, connections=2 * hosts, lead_s=0.5)
        took.append(time.monotonic() - began)
        if shot.problems:
            yield f"  {shot.problems[0]}"
    after = _used(rig)
    yield f"a load of {hosts} hosts, each host: {_words(before, after, hosts * _LOADS)}"
    yield f"  a load with a window of 1 s took {min(took):.1f} to {max(took):.1f} s"


def _used(rig: Rig) -> _Used:
    """Add up the coordinator's connections; those that have ended do not count."""
    process = rig.coordinator.process
    if process is None:
        raise LookupError("the coordinator does not run")
    listed = subprocess.run(
        ["ss", "-Htin", "state", "established", "sport", "=", f":{PORT}"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    counts: dict[str, int] = {}
    for name, value in _COUNTS.findall(listed):
        counts[name] = counts.get(name, 0) + int(value)
    cpu_s = sum(psutil.Process(process.pid).cpu_times()[:2])
    return _Used(counts, cpu_s, time.monotonic())


def _words(before: _Used, after: _Used, shares: float) -> str:
    def each(name: str) -> float:
        return (after.counts.get(name, 0) - before.counts.get(name, 0)) / shares

    cpu_ms = 1e3 * (after.cpu_s - before.cpu_s) / shares
    return (
        f"{each('bytes_received'):.0f} bytes in, {each('bytes_sent'):.0f} out, "
        f"{each('data_segs_in'):.2f} packets in, {each('data_segs_out'):.2f} out, "
        f"{cpu_ms:.2f} ms of CPU"
    )
