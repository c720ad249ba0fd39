"""Whether a server rests, by its CPU and its memory."""

from collections.abc import Iterable

import pytest

from arena.measure.contract.idle import PATIENCE_S, Rest, rest
from arena.record.measurement import Cost
from tests.lib.arena.measure.contract.lying_server import Clock


class Told:
    """A Watched that uses so many seconds of CPU and so many bytes more, slice after slice."""

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


def rounded(found: Rest) -> tuple[bool, float, float, int]:
    return found.idle, round(found.passed_s, 3), round(found.cpu_s, 3), found.grown_bytes


def test_a_server_that_does_nothing_is_idle_after_a_slice(clock: Clock) -> None:
    assert rounded(rest(Told([0.0]))) == (True, 0.1, 0.0, 0)


def test_a_little_is_nothing_and_a_third_of_a_cpu_is_not(clock: Clock) -> None:
    assert rounded(rest(Told([0.02]))) == (True, 0.1, 0.02, 0)
    assert rounded(rest(Told([0.031, 0.02]))) == (True, 0.2, 0.051, 0)


def test_a_server_may_come_to_rest_within_two_seconds(clock: Clock) -> None:
    assert rounded(rest(Told([0.1, 0.2, 0.05, 0.0], [5, 6, 7]))) == (True, 0.4, 0.35, 18)


def test_each_slice_is_judged_by_itself(clock: Clock) -> None:
    """Much at first is soon forgotten, and a little all the time does not add up."""
    assert rest(Told([9.0, 0.0])).idle
    assert rest(Told([0.04, 0.01])).idle


def test_a_server_that_never_rests_is_given_up(clock: Clock) -> None:
    server = Told([0.1] * 100)
    found = rest(server)
    assert not found.idle
    assert PATIENCE_S <= found.passed_s < PATIENCE_S + 0.2
    assert found.cpu_s == pytest.approx(found.passed_s)
    assert server.looks <= 1 + 21


def test_a_server_that_grows_too_much_is_not_waited_for(clock: Clock) -> None:
    assert rounded(rest(Told([0.1] * 100, [40] * 100), 79)) == (False, 0.2, 0.2, 80)
    assert rest(Told([0.1] * 100, [40] * 100), 80).grown_bytes == 120


def test_a_server_may_be_idle_though_it_grew(clock: Clock) -> None:
    assert rounded(rest(Told([0.0], [500]), 100)) == (True, 0.1, 0.0, 500)


def test_patience_may_be_longer(clock: Clock) -> None:
    assert not rest(Told([0.1] * 100)).idle
    found = rest(Told([*[0.1] * 50, 0.0]), patience_s=6)
    assert rounded(found) == (True, 5.1, 5.0, 0)


def test_a_server_that_ends_meanwhile_is_told(clock: Clock) -> None:
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
