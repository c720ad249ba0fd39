"""The figures of the sentinel's bench."""

import math

import pytest

from arena.machine.sentinel import Limits
from arena.record.measurement import Watch
from arena.run.driver import Warmed
from tests.fakes import a_run
from tools.bench_sentinel.bursts import _burst_row
from tools.bench_sentinel.scatter import Spread


def test_scatter_of_starts_alone_is_between_them() -> None:
    spread = Spread.of([[math.exp(1)] * 3, [math.exp(2)] * 3, [math.exp(3)] * 3])
    assert spread.within == pytest.approx(0, abs=1e-9)
    assert spread.between == pytest.approx(1.0)
    assert spread.first == pytest.approx(1.0)


def test_scatter_of_windows_alone_is_within_a_start() -> None:
    spread = Spread.of([[math.exp(1), math.exp(3)], [math.exp(3), math.exp(1)]])
    assert spread.within == pytest.approx(math.sqrt(2))
    assert spread.between == 0


def test_too_few_windows_have_no_scatter() -> None:
    assert Spread.of([[1.0]]) == Spread(None, None, None)
    assert Spread.of([[1.0], [math.e]]).within is None


def test_a_row_counts_the_windows_that_are_void_and_says_by_what() -> None:
    quiet = a_run().changed(watch=Watch(elapsed_s=5.0, cpus=2, steal=0.001, foreign=0.002))
    stolen = a_run().changed(watch=Watch(elapsed_s=5.0, cpus=2, steal=0.03, foreign=0.002))
    limits = Limits.first("a host", is_virtual=True)
    row = _burst_row([Warmed(quiet, 10.0, 0.0), Warmed(stolen, 10.0, 7.0)], "no burst", limits)
    assert row[:3] == ["2 with no burst", "1 (50 of 100)", "steal 1"]
    assert row[-1] == "mean 3.5 s, most 7 s"
