"""How fast each CPU is right now: a fixed computation and a fixed copy, on all CPUs at once.

Their cost is CPU time, so that neither steal nor another process counts: these have signals of
their own. What is left is what those do not show, such as a neighbour on the same core, in the
cache or on the memory bus, or a lower clock.
"""

import ctypes
import hashlib
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

# Each is done in pieces, of which the median counts: an interrupt is in one of them.
_PIECES = 5
_BYTES = 8 << 20
_SPINS = 4
_COPIES = 24

# A median of fewer calibrations says nothing.
LEAST = 6


@dataclass(frozen=True)
class Calibration:
    """CPU seconds of the computation and of the copy, for each CPU in ascending order."""

    spin_s: tuple[float, ...] = ()
    copy_s: tuple[float, ...] = ()


def calibrate(cpus: Iterable[int]) -> Calibration:
    """Measure the CPUs, all at once, in about 0.25 s; empty if one of them cannot be used now."""
    ordered = sorted(cpus)
    source = bytes(_BYTES)
    try:
        with ThreadPoolExecutor(len(ordered)) as pool:
            found = list(pool.map(lambda cpu: _on(cpu, source), ordered))
    except OSError:
        return Calibration()
    return Calibration(tuple(spin for spin, _ in found), tuple(copy for _, copy in found))


def median_of(calibrations: Sequence[Calibration]) -> Calibration | None:
    """Return the median of each CPU; None if there are too few."""
    whole = [each for each in calibrations if each.spin_s]
    if len(whole) < LEAST:
        return None
    return Calibration(
        tuple(map(statistics.median, zip(*(each.spin_s for each in whole), strict=True))),
        tuple(map(statistics.median, zip(*(each.copy_s for each in whole), strict=True))),
    )


def farthest(measured: Iterable[Sequence[float]], usual: Sequence[float]) -> float | None:
    """Return the largest difference from what is usual for its CPU, as a share of that."""
    off = [
        abs(value / median - 1)
        for each in measured
        for value, median in zip(each, usual, strict=False)
    ]
    return max(off, default=None)


def _on(cpu: int, source: bytes) -> tuple[float, float]:
    """Measure one CPU, in a thread of its own. Both kinds of work release Python's lock."""
    os.sched_setaffinity(0, {cpu})
    copy = ctypes.create_string_buffer(_BYTES)
    spin_s = _median_s(lambda: hashlib.sha256(source).digest(), _SPINS)
    copy_s = _median_s(lambda: ctypes.memmove(copy, source, _BYTES), _COPIES)
    return spin_s, copy_s


def _median_s(work: Callable[[], object], times: int) -> float:
    """Return the CPU seconds of all pieces, each the work so many times, if all were median."""
    work()
    pieces = []
    for _ in range(_PIECES):
        began = time.thread_time()
        for _ in range(times):
            work()
        pieces.append(time.thread_time() - began)
    return statistics.median(pieces) * _PIECES
