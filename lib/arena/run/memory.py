"""The memory of a server over the window of a run."""

import time
from dataclasses import dataclass, field

from arena.machine.child import TICK_S
from arena.record.measurement import Memory
from arena.run.runtimes import Server

# Ticks come early in the first seconds of a generator, and never quite on time.
_BETWEEN_S = 0.9 * TICK_S


@dataclass
class MemoryWatch:
    """Samples a server's anonymous memory ten times a second; `idle_bytes` are from before."""

    server: Server
    idle_bytes: int | None = None
    found: Memory | None = field(default=None, init=False)
    _highest: int = field(default=0, init=False)
    _looked_at: float = field(default_factory=time.monotonic, init=False)

    def tick(self) -> None:
        """Call this about ten times a second while the window is open."""
        if (now := time.monotonic()) - self._looked_at >= _BETWEEN_S:
            self._looked_at = now
            self._highest = max(self._highest, self.server.anonymous_bytes() or 0)

    def close(self) -> None:
        """Look at the server's memory at the end of the window."""
        if found := self.server.memory():
            highest = max(found.highest_bytes, self._highest)
            self.found = found.changed(highest_bytes=highest, idle_bytes=self.idle_bytes)
