"""A liar: a server that is wrong in one way, and what the contract must say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from arena.measure.contract import Call, checks, concurrency, flow_control, streams
from tests.lib.arena.measure.contract.lying_server import Tls
from tests.lib.arena.measure.contract.talk import Manner

# Patterns: a number, 32 bytes and that there are more, and what is said of a server that is gone.
NUMBER = r"-?\d+"
MANY_BYTES = r"(?:[0-9a-f]{2} ){32}…"

# The calls that checks are about, beside GetSum.
_CALLS: Mapping[str, frozenset[Call]] = {
    **dict.fromkeys(
        ("stream", "framing", "backpressure", "cancel", "four", "connections"),
        frozenset[Call]({"StreamSum"}),
    ),
    "collect": frozenset({"CollectSum"}),
    "echo": frozenset({"EchoSum"}),
    "half": frozenset({"CollectSum", "EchoSum"}),
}


# The contract in small: fewer replies and connections, and less waiting.
EARNEST = flow_control.LONG, concurrency.CONNECTIONS

# More than the 64 KB of a window hold, at eight bytes or more for a reply.
LONG = 8000
CONNECTIONS = 8

# A profile's own request.
PROFILE = {"a": 1, "b": 2, "count": 300}

# For calls that are never answered.
SOON_S = 0.3


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Make it so for one test."""
    patch.setattr(flow_control, "LONG", LONG)
    patch.setattr(concurrency, "CONNECTIONS", CONNECTIONS)
    patch.setattr(flow_control, "_QUIET_S", 0.02)
    patch.setattr(flow_control, "_SILENT_S", 0.02)
    patch.setattr(streams, "_QUIET_S", 0.02)
    patch.setattr(checks, "_LAST_BREATH_S", 0.05)


@dataclass(frozen=True)
class Liar:
    """`check` finds out the `lie`, and says `words` (a pattern) and shows `wire` (another).

    A reply with a wrong value need not say its `wire`: it follows from the value. `alone`: no
    other check says anything; without it, this one does so first. `short` has the timeouts that
    its check waits for. A server with `tls` has it all the time, or, if `alone`, only while its
    check is made. Without `watched`, nobody looks at it from the outside.
    """

    check: str
    lie: str
    manner: Manner
    words: str
    wire: str = ""
    status: Literal["fail", "warn"] = "fail"
    alone: bool = True
    short: Mapping[str, float] = field(default_factory=dict)
    tls: Tls | None = None
    watched: bool = True

    def __str__(self) -> str:
        return f"{self.check}: {self.lie}"

    @property
    def calls(self) -> frozenset[Call]:
        """The calls that its check is about; the others need not be checked."""
        return frozenset[Call]({"GetSum"}) | _CALLS.get(self.check.split("-")[0], frozenset())
