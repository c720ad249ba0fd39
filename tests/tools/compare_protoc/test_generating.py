"""Generated files: a seed makes them again, protoc takes most of them, and refuses broken ones."""

from pathlib import Path

import pytest

from tools.compare_protoc import breaking, formatting, odd, protoc
from tools.compare_protoc.collecting import collected
from tools.compare_protoc.generating import Case, case_of, faults, oddities

SEEDS = range(100)


def verdict(folder: Path, case: Case) -> str:
    """Why protoc refuses the case; empty if it does not."""
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    described, reason = protoc.compiled(case.root, [folder])
    assert (described is None) == bool(reason)
    return reason


def test_a_seed_makes_the_same_files_and_another_one_does_not() -> None:
    assert all(case_of(seed) == case_of(seed) for seed in range(20))
    assert len({bytes(case_of(seed).files["root.proto"]) for seed in SEEDS}) == len(SEEDS)


def test_a_quarter_is_broken_and_protoc_takes_most_of_the_rest(tmp_path: Path) -> None:
    cases = [case_of(seed) for seed in SEEDS]
    whole = [case for case in cases if not case.fault]
    assert 0.6 < len(whole) / len(cases) < 0.9
    taken = [case for case in whole if not verdict(tmp_path, case)]
    assert len(taken) / len(whole) > 0.75


def test_every_syntax_and_kind_of_declaration_is_made() -> None:
    text = "\n".join(
        content.decode("utf-8", "replace")
        for seed in SEEDS for content in case_of(seed).files.values()
    )  # fmt: skip
    for words in (
        'syntax = "proto2"', 'syntax = "proto3"', 'edition = "2023"', 'edition = "2024"', "group ",
        "oneof ", "map<", "extend ", "extensions ", "reserved ", "default = ", "json_name = ",
        "rpc ", "stream ", "import public", "import weak", "(custom.opts.", "features.",
        "packed = ", "inf", "\ufeff",
    ):  # fmt: skip
        assert words in text, words


def test_protoc_refuses_broken_files_mostly(tmp_path: Path) -> None:
    broken = [case for case in map(case_of, SEEDS) if case.fault]
    refused = [case for case in broken if verdict(tmp_path, case)]
    assert len(refused) / len(broken) > 0.85


def test_protoc_refuses_almost_every_fault(tmp_path: Path) -> None:
    cases = list(faults())
    taken = {case.name for case in cases if not verdict(tmp_path, case)}
    assert {case.fault for case in cases} == breaking.FAULTS.keys()
    assert len(taken) < 0.2 * len(breaking.FAULTS), taken
    assert "fault number-twice" not in taken


def test_protoc_takes_every_oddity(tmp_path: Path) -> None:
    cases = list(oddities())
    assert {case.name.removeprefix("odd ") for case in cases} == odd.ODDITIES.keys()
    assert [reason for case in cases if (reason := verdict(tmp_path, case))] == []


def test_an_oddly_set_file_has_the_same_tokens() -> None:
    from random import Random

    text = 'message X { optional int32 a = 1 [default = -5]; /* b */ string c = 2; // "d"\n }'
    odd = formatting.oddly(Random(1), text)
    assert odd != text
    assert formatting.tokens(odd) == formatting.tokens(text)


def test_more_than_a_hundred_files_are_collected(pytestconfig: pytest.Config) -> None:
    files = list(collected(pytestconfig.rootpath))
    assert len(files) > 100
    assert all((each.folder / each.name).is_file() for each in files)


def test_what_a_build_left_is_not_collected(tmp_path: Path) -> None:
    for name in ("grpc-x/bench.proto", "grpc-x/.build/archives/wrappers.proto"):
        file = tmp_path / "frameworks" / name
        file.parent.mkdir(parents=True)
        file.touch()
    own = [each.name for each in collected(tmp_path) if each.folder.is_relative_to(tmp_path)]
    assert own == ["bench.proto"]
