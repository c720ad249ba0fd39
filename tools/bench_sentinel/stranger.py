"""Processes outside our process tree, whose CPU time is foreign."""

import os
import random
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

BURST_S = 1.0

# A loop beside: so long at work, once in so long, which is 1 % of a CPU.
_WORK_S = 0.01
_EVERY_S = 1.0


@dataclass(frozen=True)
class Stranger:
    """A process outside our tree that spins when told: on one CPU, after a delay, for a second."""

    pipe: int

    def burst(self, delay_s: float, cpu: int) -> None:
        """Let it spin; this returns at once."""
        os.write(self.pipe, f"{delay_s} {cpu}\n".encode())


@contextmanager
def stranger() -> Iterator[Stranger]:
    """Start the process for the block; it is nobody's child, so its CPU time is foreign to us."""
    with _detached(_spin_when_told) as writing:
        yield Stranger(writing)


@contextmanager
def loops_beside(count: int) -> Iterator[None]:
    """Keep `count` loops of 1 % of a CPU each at work for the block, each of them nobody's child.

    They end with this process, too.
    """
    with _detached(_spin_until_closed, count):
        yield


@contextmanager
def _detached(work: Callable[[int], None], count: int = 1) -> Iterator[int]:
    """Run so many processes that are nobody's children for the block; yield the end of a pipe.

    Each reads the other end of it.
    """
    reading, writing = os.pipe()
    for _ in range(count):
        child = os.fork()
        if not child:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.close(writing)
            work(reading)
            os._exit(0)
        os.waitpid(child, 0)
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


def _spin_until_closed(reading: int) -> None:
    random.seed()
    # At times of its own: a loop in step with the kernel's ticks would not be counted.
    while not select.select([reading], [], [], _EVERY_S * random.uniform(0.5, 1.5))[0]:
        until = time.thread_time() + _WORK_S
        while time.thread_time() < until:
            pass


def _spin_when_told(reading: int) -> None:
    with os.fdopen(reading) as lines:
        for line in lines:
            delay_s, cpu = line.split()
            os.sched_setaffinity(0, {int(cpu)})
            time.sleep(float(delay_s))
            until = time.monotonic() + BURST_S
            while time.monotonic() < until:
                pass
