"""Waiting until a server's CPU time is steady under a fixed rate."""

from collections.abc import Callable
from math import exp

from arena.run.steady import Steady


def over_at(cpu_s: Callable[[float], float]) -> float:
    """Return when the wait is over, if the server has used so much CPU by then."""
    steady = Steady()
    moments = (tick / 10 for tick in range(1000))
    return next(at_s for at_s in moments if steady.is_over(at_s, cpu_s(at_s)))


def test_a_server_that_is_steady_is_waited_for_twice_five_seconds() -> None:
    assert over_at(lambda at_s: 3.0 + 0.2 * at_s) == 10.0


def test_a_compiler_that_has_less_and_less_to_do_is_waited_for() -> None:
    assert 15.0 < over_at(lambda at_s: 0.2 * at_s - 2.0 * exp(-at_s / 4)) < 25.0


def test_what_never_gets_steady_is_waited_for_forty_seconds() -> None:
    assert over_at(lambda at_s: at_s**3) == 40.0
