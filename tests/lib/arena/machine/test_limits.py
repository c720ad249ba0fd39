"""Limits that children inherit."""

import resource
from collections.abc import Iterator

import pytest

from arena.machine.child import allow_open_files


@pytest.fixture
def hard() -> Iterator[int]:
    """Return the hard limit of open files; both are as before when the test is over."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_files_may_be_open_as_the_host_lets_us(hard: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    allow_open_files()
    soft, still = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert still == hard
    assert soft == (1 << 20 if hard == resource.RLIM_INFINITY else min(hard, 1 << 20))
    allow_open_files()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
