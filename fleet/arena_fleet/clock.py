"""The offset of a host's CLOCK_MONOTONIC, estimated from exchanges of messages.

Only monotonic clocks count: wall clocks are set, and differ by seconds.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

# Of so many exchanges, the fastest one counts: its message waited the least.
EXCHANGES = 15


@dataclass(frozen=True)
class Exchange:
    """A message to a host and back: sent and back on the own clock, there on the host's."""

    sent_ns: int
    there_ns: int
    back_ns: int

    @property
    def rtt_ns(self) -> int:
        """The time of the round trip."""
        return self.back_ns - self.sent_ns


@dataclass(frozen=True)
class Offset:
    """A host's clock minus the own one. The true offset differs by `bound_ns` at most."""

    ns: int
    bound_ns: int
    rtt_ns: int

    def there(self, own_ns: int) -> int:
        """Return what the host's clock shows at a moment of the own clock."""
        return own_ns + self.ns

    def here(self, there_ns: int) -> int:
        """Return what the own clock shows at a moment of the host's clock."""
        return there_ns - self.ns


def offset_of(exchanges: Sequence[Exchange]) -> Offset:
    """Estimate an offset from at least one exchange.

    The host read its clock at some moment between sending and coming back. Half of the round trip
    is the best guess without knowing the delay of each direction, and the error is at most the
    other half (Cristian 1989).
    """
    best = min(exchanges, key=lambda each: each.rtt_ns)
    middle_ns = (best.sent_ns + best.back_ns) // 2
    return Offset(best.there_ns - middle_ns, (best.rtt_ns + 1) // 2, best.rtt_ns)


def monotonic_ns() -> int:
    """Return what CLOCK_MONOTONIC shows: the clock that volley starts by."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
