"""The background of a host: how much of it, and who makes it, on a host that a test writes."""

from pathlib import Path

import pytest

from arena.machine.sentinel import HostFiles, Limits, Sentinel, judged, names
from arena.machine.sentinel.background import MOST, Background, busiest, look, middle
from arena.machine.sentinel.own import Process, Tree
from tests.lib.arena.machine.sentinel.hosts import FakeHost, a_watch

NOW = "2026-01-01T00-00-00.000000Z"


class Clock:
    """A host on which time passes when somebody sleeps; others use CPU ticks each second."""

    def __init__(self, host: FakeHost, ticks: list[int]) -> None:
        self.now = 50.0
        self.host = host
        self._ticks = iter(ticks)
        self._agent = 0
        self.host.sample()
        self._write(0)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._write(next(self._ticks))

    def _write(self, ticks: int) -> None:
        self.host.busy += ticks
        self._agent += ticks
        self.host.sample()
        stat = f"77 (agent)x) S 1 5 5 0 -1 0 1 2 3 4 {self._agent} 0 0 0 20 0\n"
        self.host.put("proc/77/stat", stat)


@pytest.fixture
def files(tmp_path: Path) -> HostFiles:
    return FakeHost(tmp_path).host


def looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ticks: list[int]
) -> tuple[list[float], str]:
    """Return the foreign CPU of each second, and who was busy."""
    clock = Clock(FakeHost(tmp_path), ticks)
    monkeypatch.setattr("arena.machine.sentinel.sample.time.monotonic", clock.monotonic)
    watches, busy = look(clock.host.host, clock.sleep)
    return [each.foreign or 0.0 for each in watches], names(busy)


def test_a_background_that_never_rests_is_measured_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, who = looked(tmp_path, monkeypatch, [3, 5, 4, 4, 4, 3, 5, 4])
    assert middle(values) == pytest.approx(0.02)
    assert who == "agent)x (77) 2 %"


def test_a_burst_of_two_seconds_leaves_no_trace_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, _ = looked(tmp_path, monkeypatch, [2, 2, 90, 100, 2, 2, 2, 2])
    assert middle(values) == pytest.approx(0.01)


def test_a_middle_needs_four_values_and_is_not_below_nothing() -> None:
    assert middle([0.01] * 3) is None
    assert middle([-0.02, -0.01, -0.01, 0.5]) == 0


def test_the_three_busiest_are_named_and_one_that_ended_is_not() -> None:
    before = {pid: Process(f"p{pid}", 100.0) for pid in range(1, 7)}
    used = {1: 0.4, 2: 0.1, 3: 0.0, 4: 0.3, 5: 0.2}
    after = {pid: Process(f"p{pid}", 100.0 + spent) for pid, spent in used.items()}
    after[9] = Process("new", 1.0)
    assert names(busiest(before, after, 10.0, 2)) == "new (9) 5 %, p1 (1) 2 %, p4 (4) 1.5 %"
    assert busiest(before, before, 10.0, 2) == busiest(before, after, 0.0, 2) == ()


def test_own_processes_are_no_strangers(tmp_path: Path) -> None:
    host = FakeHost(tmp_path)
    host.sample()
    assert set(Tree(host.root / "proc", 10).others()) == {12}


def test_the_limit_is_the_background_plus_one_percent() -> None:
    first = Limits.first("a host", is_virtual=False)
    limits = first.beside(Background(share=0.016))
    assert limits.in_force("foreign") == pytest.approx(0.026)
    assert not judged(a_watch(foreign=0.024), limits)
    assert judged(a_watch(foreign=0.024), first)
    # A second of one CPU in a window of five seconds on two.
    assert judged(a_watch(elapsed_s=5.0, foreign=0.016 + 0.1), limits)


def test_what_is_learned_beside_a_background_is_never_far_above_it() -> None:
    background = Background(share=MOST)
    limits = Limits.first("a host", is_virtual=False).beside(background)
    taught = limits.taught([a_watch(foreign=0.3)] * 20 + [a_watch(foreign=0.4)] * 20, NOW)
    assert taught.in_force("foreign") == pytest.approx(MOST + 0.03)
    assert taught.taught([], NOW).background == background


def test_waits_are_short_after_three_in_vain() -> None:
    sentinel = Sentinel(Limits.first("a host", is_virtual=False))
    for vain, wait_s in ((0, 120), (2, 120), (3, 10), (7, 10)):
        sentinel.vain_waits = vain
        assert (sentinel.wait_s(120), sentinel.wait_s(5), sentinel.wait_s(0)) == (wait_s, 5, 0)
