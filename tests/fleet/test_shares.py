"""Loads are divided by CPUs, or as the hosts were told."""

import pytest

from arena_fleet.facts import divide


@pytest.mark.parametrize(
    ("cpus", "told", "shares"),
    [
        ([8, 8, 8], [None, None, None], ["1/3", "2/3", "3/3"]),
        ([8, 16, 8], [None, None, None], ["1/4", "2-3/4", "4/4"]),
        ([7, 8], [None, None], ["1/2", "2/2"]),
        ([1.5, 6], [None, None], ["1/5", "2-5/5"]),
        ([8, 16], [3, None], ["1-3/4", "4/4"]),
        ([1, 1000], [None, None], ["1/9", "2-9/9"]),
        ([4], [None], ["1-2/2"]),
        ([4], [1], ["1-2/2"]),
    ],
)
def test_hosts_take_parts(cpus: list[float], told: list[int | None], shares: list[str]) -> None:
    found = divide(cpus, told)
    assert [str(each) for each in found] == shares
    parts = [f"{number}/{each.of}" for each in found for number in each.numbers]
    of = found[0].of
    assert parts == [f"{number}/{of}" for number in range(1, of + 1)]
