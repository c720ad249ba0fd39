"""A liar: a server that is wrong in one way, and what the contract must report of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.contract import Call, concurrency, flow_control
from tests.lib.arena.contract.lying_server import Tls
from tests.lib.arena.contract.talk import Manner

# Patterns: a number; 32 bytes, and a sign that there are more.
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
LONG = 8000  # more than the 64 KB of a window hold, at eight bytes or more for a reply
CONNECTIONS = 8
PROFILE = {"a": 1, "b": 2, "count": 300}  # a profile's own request
SOON_S = 0.3  # for calls that are never answered


@dataclass(frozen=True)
class Liar:
    """A server whose `lie` is found by `check`, which reports `words` and `wire` (both patterns).

    The `wire` of a wrong value may be left out: it follows from the value. If `alone`, no other
    check reports anything; otherwise this one is the first to do so. `short` has the timeouts
    that the check waits for. A server with `tls` has it all the time, or, if `alone`, only during
    its check. Without `watched`, the server is not observed from the outside.
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
