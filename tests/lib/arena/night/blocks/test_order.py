"""The order of a night: the same for the same seed, and fair."""

import hashlib
from collections import Counter

import pytest

from arena.night.schedule import Slot, loads_of, seed_of, twin_of, visits_of

SEED = seed_of("a night")
SLOTS = [Slot("ada"), Slot("bob"), Slot("cyd"), Slot("ada", is_twin=True)]
LOADS = ["stream-grpc/64", "unary-grpc/256", "unary-grpc/1024"]


def test_a_seed_is_64_hex_digits_and_any_other_text_is_hashed() -> None:
    assert seed_of(SEED) == SEED
    assert hashlib.sha256(b"a night").hexdigest() == SEED
    assert seed_of(SEED.upper()) == hashlib.sha256(SEED.upper().encode()).hexdigest()


def test_the_same_seed_gives_the_same_order_whatever_the_order_of_the_request() -> None:
    for block in range(1, 9):
        order = visits_of(SEED, LOADS[0], block, SLOTS)
        assert order == visits_of(SEED, LOADS[0], block, reversed(SLOTS))
        assert loads_of(SEED, block, LOADS) == loads_of(SEED, block, reversed(LOADS))
    assert [str(slot) for slot in visits_of(SEED, LOADS[0], 1, SLOTS)] == [
        "cyd", "bob", "ada", "ada (twin)",
    ]  # fmt: skip


def test_another_seed_block_or_load_gives_another_order() -> None:
    slots = [Slot(f"{number}") for number in range(20)]
    one = visits_of(SEED, LOADS[0], 1, slots)
    assert one != visits_of(SEED, LOADS[0], 2, slots)
    assert one != visits_of(SEED, LOADS[1], 1, slots)
    assert one != visits_of(seed_of("another"), LOADS[0], 1, slots)


def test_what_is_left_out_does_not_reorder_the_others() -> None:
    whole = visits_of(SEED, LOADS[0], 3, SLOTS)
    fewer = visits_of(SEED, LOADS[0], 3, [slot for slot in SLOTS if slot.framework != "bob"])
    assert fewer == [slot for slot in whole if slot.framework != "bob"]
    assert loads_of(SEED, 3, LOADS[:2]) == [
        load for load in loads_of(SEED, 3, LOADS) if load in LOADS[:2]
    ]


@pytest.mark.parametrize("number", range(len(SLOTS)))
def test_every_slot_is_first_in_a_fair_share_of_the_blocks(number: int) -> None:
    firsts = Counter(visits_of(SEED, LOADS[0], block, SLOTS)[0] for block in range(2000))
    assert abs(firsts[SLOTS[number]] - 500) < 100


def test_every_framework_is_the_twin_in_a_fair_share_of_the_nights() -> None:
    names = ["ada", "bob", "cyd"]
    twins = Counter(twin_of(seed_of(f"{night}"), LOADS[0], names) for night in range(1500))
    assert all(abs(twins[name] - 500) < 90 for name in names)
