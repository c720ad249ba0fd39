"""CPU and memory of a server that should be idle, seen from the outside."""

import math
import time
from dataclasses import dataclass
from typing import Protocol

from arena.record.measurement import Cost

PATIENCE_S = 2.0  # a server may still be busy for a moment after its start

# A server is idle if it uses less than this share of one CPU over a slice. CPU time is counted
# in steps of 10 ms.
_IDLE_SHARE = 0.3
_SLICE_S = 0.1


class Watched(Protocol):
    """The outside view of a running server."""

    def ended(self) -> str | None:
        """Return how the server ended, as text; None while it runs."""

    def cost(self) -> Cost:
        """Return its use since it started; OSError if it has ended."""


@dataclass(frozen=True)
class Rest:
    """Whether a server became idle, after how long, and its use until then."""

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
