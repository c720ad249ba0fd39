"""Whether a server ends on SIGTERM, and what its clients hold meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from arena.contract import AnyScope, ItemScope, ending, sigterm
from arena.contract.asks import usual
from arena.contract.items import PROBE
from arena.record.measurement import Cost
from tests.lib.arena.contract.lying_server import Clock, serving
from tests.lib.arena.contract.talk import Steps, Talk, honest


@dataclass
class Ending:
    """A server that ends like this, so many seconds after SIGTERM."""

    clock: Clock
    how: str = "exit code 0"
    after_s: float = 0.0
    on_terminate: Callable[[], object] = lambda: None
    due_s: float = float("inf")

    def ended(self) -> str | None:
        return self.how if self.clock.now >= self.due_s else None

    def cost(self) -> Cost:
        return Cost(cpu_s=1.0, peak_bytes=1 << 20)

    def terminate(self) -> None:
        self.on_terminate()
        self.due_s = self.clock.now + self.after_s


@pytest.mark.parametrize(
    ("how", "after_s", "odd"),
    [
        ("exit code 0", 0.0, ""),
        ("exit code 0", 1.9, ""),
        ("exit code 0", 2.2, "the server ends 2.2 s after SIGTERM"),
        ("exit code 0", 9.0, "the server still runs 5 s after SIGTERM"),
        (
            "killed by SIGTERM",
            0.0,
            "after SIGTERM, the server did not end with exit code 0: killed by SIGTERM",
        ),
    ],
)
def test_a_server_ends_in_time_and_well_or_is_warned_of(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, how: str, after_s: float, odd: str
) -> None:
    monkeypatch.setattr(sigterm, "time", clock)
    found = ending([], Ending(clock, how, after_s))
    assert (found.check, found.status, found.detail) == ("sigterm", "warn" if odd else "pass", odd)


def test_clients_hold_streams_that_they_do_not_read(clock: Clock) -> None:
    held: list[Talk] = []
    gone: list[Talk] = []

    def noted(talk: Talk) -> Steps[None]:
        held.append(talk)
        try:
            yield from honest(talk)
        finally:
            gone.append(talk)

    with serving(noted) as server:
        scope = replace(server.scope, calls=frozenset({"GetSum", "StreamSum"}))
        at_sigterm: list[int] = []
        one = Ending(clock, on_terminate=lambda: at_sigterm.extend([len(held), len(gone)]))
        assert ending([scope], one).status == "pass"
        assert at_sigterm == [2, 0]
        assert [talk.path.rpartition("/")[2] for talk in held] == ["StreamSum"] * 2
        # Without streams, a connection that has carried a call is all that is held.
        others: list[AnyScope] = [server.scope, ItemScope(server.port, tls=False, versions=("h2",))]
        assert ending(others, Ending(clock)).status == "pass"
        assert [talk.path for talk in held[2:]] == [f"/{usual(server.scope).path}", PROBE.path]


def test_a_server_that_is_gone_before_sigterm_is_warned_of(clock: Clock, closed_port: int) -> None:
    scope = ItemScope(closed_port, tls=False, versions=("h1",))
    found = ending([scope], Ending(clock))
    assert found.status == "warn"
    assert found.detail == "SIGTERM was not sent: nothing listens there"
    found = ending([scope], Ending(clock, due_s=clock.now))
    assert found.detail == "the server ended before SIGTERM: nothing listens there"
