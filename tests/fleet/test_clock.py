"""The offset of a clock is never wrong by more than its bound says."""

import random

import pytest

from arena_fleet.facts import Exchange, Offset, offset_of


def exchange(offset_ns: int, there_ns: int, back_ns: int, sent_ns: int = 10**12) -> Exchange:
    """Return what is seen of a message that takes so long there, and so long back."""
    arrives_ns = sent_ns + there_ns
    return Exchange(sent_ns, arrives_ns + offset_ns, arrives_ns + back_ns)


def test_the_error_is_within_the_bound_for_any_delays_of_both_directions() -> None:
    rng = random.Random("fleet")
    for _ in range(5_000):
        true_ns = rng.randint(-(10**13), 10**13)
        there, back = (rng.choice([10, 1_000, 10**6, 10**8]) for _ in range(2))
        exchanges = [
            exchange(true_ns, rng.randint(0, there), rng.randint(0, back), rng.randint(0, 10**15))
            for _ in range(rng.randint(1, 15))
        ]
        found = offset_of(exchanges)
        assert abs(found.ns - true_ns) <= found.bound_ns
        assert found.bound_ns <= (min(each.rtt_ns for each in exchanges) + 1) // 2


def test_the_fastest_exchange_counts() -> None:
    slow, fast = exchange(77, 500, 90_000), exchange(77, 40, 60)
    assert offset_of([slow, fast, slow]) == offset_of([fast])
    assert offset_of([fast]).rtt_ns == 100


@pytest.mark.parametrize("offset_ns", [0, 5_000_000_000, -50_000_000])
def test_moments_are_moved_between_the_clocks(offset_ns: int) -> None:
    offset = Offset(offset_ns, 5, 10)
    assert offset.there(1_000) == 1_000 + offset_ns
    assert offset.here(offset.there(123)) == 123
