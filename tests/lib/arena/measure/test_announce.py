"""Text lines for sessions: what a visit of a block adds."""

import pytest

from arena.measure.announce import headline_line
from tests.fakes import a_record, a_visit


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "grpc-go stream-grpc: 1.00 M messages/s (block 3 of 8; one run; "),
        ({"is_twin": True}, "grpc-go~twin stream-grpc: "),
        (
            {"repeat": 1, "is_void": True},
            "grpc-go stream-grpc: 1.00 M messages/s (block 3 of 8, repeat 1, void: it does not c",
        ),
    ],
)
def test_a_visit_says_its_block(changes: dict[str, object], said: str) -> None:
    assert headline_line(a_record(visit=a_visit(3, **changes))).startswith(said)


def test_a_record_of_no_visit_says_nothing_of_blocks() -> None:
    assert "block" not in headline_line(a_record())
