"""A liar: a server that is wrong in one way, and what the contract must say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.measure.contract import Call
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
