"""What a server does while it should do nothing: its CPU and its memory, from the outside."""

import math
import time
from dataclasses import dataclass
from typing import Protocol

from arena.record.measurement import Cost

PATIENCE_S = 2.0  # a server that has just started may still be busy with itself

# A server that uses less of one CPU than this, over a slice, is idle. CPU time is counted in
# steps of 10 ms.
_IDLE_SHARE = 0.3
_SLICE_S = 0.1


class Watched(Protocol):
    """What can be seen of a server from the outside, while it runs."""

    def ended(self) -> str | None:
        """Return in words how the server ended; None while it runs."""

    def cost(self) -> Cost:
        """Return what it has used since it started; OSError if it has ended."""


@dataclass(frozen=True)
class Rest:
    """Whether a server became idle, after how long, and what it used until then."""

    idle: bool
    passed_s: float
    cpu_s: float
    grown_bytes: int


def rest(
    server: Watched, most_grown_bytes: float = math.inf, patience_s: float = PATIENCE_S
) -> Rest:
    """Wait until the server is idle, at most `patience_s`; OSError if it has ended.

    The wait also ends once the server's memory has grown by more than `most_grown_bytes`.
    """
    began, first = time.monotonic(), server.cost()
    before = first
    while True:
        slice_began = time.monotonic()
        time.sleep(_SLICE_S)
        if how := server.ended():
            raise ProcessLookupError(how)
        now = server.cost()
        share = (now.cpu_s - before.cpu_s) / (time.monotonic() - slice_began)
        grown = now.peak_bytes - first.peak_bytes
        idle = share < _IDLE_SHARE
        passed = time.monotonic() - began
        if idle or grown > most_grown_bytes or passed >= patience_s:
            return Rest(idle, passed, now.cpu_s - first.cpu_s, grown)
        before = now
