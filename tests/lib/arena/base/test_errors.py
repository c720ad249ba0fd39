"""The exception tree: exit codes, and help with mistyped names."""

import pytest

from arena.base.errors import (
    ArenaError,
    ContractError,
    FrameworkError,
    GeneratorError,
    HostError,
    UsageError,
)
from arena.base.text import nearest


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FrameworkError("build", "broke"), 1),
        (ContractError("contract", "wrong"), 1),
        (UsageError("bad"), 2),
        (HostError("no Docker"), 3),
        (GeneratorError("run 1", "broke"), 3),
    ],
)
def test_each_kind_ends_with_its_own_code(error: ArenaError, code: int) -> None:
    assert error.exit_code == code


def test_only_a_wrong_answer_makes_a_record_invalid() -> None:
    assert ContractError("contract", "wrong").status == "invalid"
    assert FrameworkError("build", "broke").status == "failed"
    assert GeneratorError("run 1", "broke").status == "failed"


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("grpcgo", ["grpc-go", "tonic"], " (did you mean grpc-go?)"),
        ("zzz", ["tonic", "grpc-go"], " (there are: grpc-go, tonic)"),
        ("zzz", [], ""),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest_or_all(
    word: str, known: list[str], said: str
) -> None:
    assert nearest(word, known) == said
