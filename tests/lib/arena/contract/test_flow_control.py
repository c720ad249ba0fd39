"""Whether a server rests, by its CPU and its memory, and whether it ends on SIGTERM."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf

import pytest

from arena.contract import AnyScope, ItemScope, ending, flow_control
from arena.contract.asks import usual
from arena.contract.flow_control import PATIENCE_S, rest
from arena.contract.items import PROBE
from arena.record.measurement import Cost
from tests.lib.arena.contract.lying_server import Clock, serving
from tests.lib.arena.contract.talk import Steps, Talk, honest


class Told:
    """A Watched that uses this much more CPU (seconds) and memory (bytes) in each slice."""

    def __init__(self, cpu_s: Iterable[float], grown: Iterable[int] = ()) -> None:
        self._cpu_s = iter((0.0, *cpu_s))
        self._grown = iter((0, *grown))
        self._now = Cost(cpu_s=100.0, peak_bytes=1 << 30)
        self.looks = 0

    def ended(self) -> str | None:
        return None

    def cost(self) -> Cost:
        self.looks += 1
        self._now = Cost(
            cpu_s=self._now.cpu_s + next(self._cpu_s),
            peak_bytes=self._now.peak_bytes + next(self._grown, 0),
        )
        return self._now


@pytest.mark.parametrize(
    ("cpu_s", "grown", "limits", "expected"),
    [
        ([0.0], [], (), (True, 0.1, 0.0, 0)),
        # A little is nothing, and a third of a CPU is not.
        ([0.02], [], (), (True, 0.1, 0.02, 0)),
        ([0.031, 0.02], [], (), (True, 0.2, 0.051, 0)),
        # A server may come to rest within two seconds, or within its longer patience.
        ([0.1, 0.2, 0.05, 0.0], [5, 6, 7], (), (True, 0.4, 0.35, 18)),
        ([*[0.1] * 50, 0.0], [], (inf, 6), (True, 5.1, 5.0, 0)),
        # Each slice is judged by itself.
        ([9.0, 0.0], [], (), (True, 0.2, 9.0, 0)),
        ([0.04, 0.01], [], (), (True, 0.2, 0.05, 0)),
        # A server that grows too much is not waited for; it may be idle though it grew.
        ([0.1] * 100, [40] * 100, (79,), (False, 0.2, 0.2, 80)),
        ([0.1] * 100, [40] * 100, (80,), (False, 0.3, 0.3, 120)),
        ([0.0], [500], (100,), (True, 0.1, 0.0, 500)),
    ],
)
def test_a_server_rests_or_is_given_up(
    cpu_s: list[float],
    grown: list[int],
    limits: tuple[float, ...],
    expected: tuple[bool, float, float, int],
    clock: Clock,
) -> None:
    found = rest(Told(cpu_s, grown), *limits)
    assert (found.idle, round(found.passed_s, 3), round(found.cpu_s, 3)) == expected[:3]
    assert found.grown_bytes == expected[3]


def test_a_server_that_never_rests_is_given_up(clock: Clock) -> None:
    server = Told([0.1] * 100)
    found = rest(server)
    assert not found.idle
    assert PATIENCE_S <= found.passed_s < PATIENCE_S + 0.2
    assert found.cpu_s == pytest.approx(found.passed_s)
    assert server.looks <= 1 + 21


def test_a_server_that_ends_meanwhile_is_reported(clock: Clock) -> None:
    class Ending(Told):
        def ended(self) -> str | None:
            return "exit code 3" if clock.now >= 1000.25 else None

    with pytest.raises(OSError, match=r"^exit code 3$"):
        rest(Ending([0.1] * 100))


def test_a_server_that_ended_has_no_cost(clock: Clock) -> None:
    class Ended(Told):
        def cost(self) -> Cost:
            raise ProcessLookupError

    with pytest.raises(OSError):
        rest(Ended([]))


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
    monkeypatch.setattr(flow_control, "time", clock)
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
