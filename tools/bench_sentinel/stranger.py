"""A process outside our process tree, whose CPU time is foreign."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

BURST_S = 1.0


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
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.close(writing)
        _spin_when_told(reading)
        os._exit(0)
    os.close(reading)
    os.waitpid(child, 0)
    try:
        yield Stranger(writing)
    finally:
        os.close(writing)


def _spin_when_told(reading: int) -> None:
    with os.fdopen(reading) as lines:
        for line in lines:
            delay_s, cpu = line.split()
            os.sched_setaffinity(0, {int(cpu)})
            time.sleep(float(delay_s))
            until = time.monotonic() + BURST_S
            while time.monotonic() < until:
                pass
