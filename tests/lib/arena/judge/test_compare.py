"""Two frameworks of one night: the verdict, and which night it is."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.judge.archive import open_archive
from arena.judge.compare import Comparison, compare
from arena.judge.twins import NO_LOOKS
from arena.record.record import Record
from tests.fakes import a_provenance, a_record, save
from tests.lib.arena.judge.visits import blocks, drifting, night, visited

RATES = {"slow": 1e6, "fast": 1.2e6, "same": 1.0e6, "slow~twin": 1e6}


def compared(
    folder: Path, records: Iterable[Record], a: str = "slow", b: str = "fast", **given: object
) -> Comparison:
    save(folder, *records)
    return compare(open_archive(folder), NO_LOOKS, a, b, "stream-grpc", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "b", "verdict", "ratio"),
    [
        ("slow", "fast", "slower", 1 / 1.2),
        ("fast", "slow", "faster", 1.2),
        ("slow", "same", "not told apart", 1.0),
        ("slow~twin", "slow", "not told apart", 1.0),
    ],
)
def test_the_verdict_is_about_the_first(
    tmp_path: Path, a: str, b: str, verdict: str, ratio: float
) -> None:
    found = compared(tmp_path, blocks(RATES), a, b)
    assert (found.verdict, found.blocks, found.night) == (verdict, 8, night())
    assert found.ratio == pytest.approx(ratio, rel=0.01)
    assert found.low
    assert found.high
    assert found.low < ratio < found.high
    assert (found.connections, found.generator) == (64, "ghz")


def test_it_is_one_sentence(tmp_path: Path) -> None:
    records = list(blocks(RATES))
    words = compared(tmp_path, records).words
    assert words.startswith("slow is 16.")
    assert " % slower than fast (stream-grpc, 64 connections, ghz; slow ÷ fast = 0.8" in words
    assert f"8 blocks of the night {night()}; a CPU, 4 CPUs" in words
    same = compared(tmp_path / "again", records, "slow", "same")
    found = re.match(r"slow and same are not told apart \(([\d.]+)–([\d.]+) ×; ", same.words)
    assert found
    assert same.high
    assert same.low
    # The interval that is shown is never the smaller one.
    assert 0 <= same.low - float(found[1]) <= 0.01
    assert 0 <= float(found[2]) - same.high <= 0.01


def test_the_newest_night_with_both_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    other = {"slow": 1e6, "fast": 0.5e6}
    records = [*blocks(RATES), *blocks(other, hour=5), *blocks({"slow": 1e6, "c": 1e6}, hour=10)]
    assert compared(tmp_path, records).night == night(5)
    archive = open_archive(tmp_path)
    older = compare(archive, NO_LOOKS, "slow", "fast", "stream-grpc", night=night())
    assert (older.night, older.verdict) == (night(), "slower")


def test_the_night_is_one_of_the_current_load(tmp_path: Path) -> None:
    newer = a_record("slow", minute=900, profile={"warmup_s": 3.0})
    found = compared(tmp_path, [*blocks(RATES), newer])
    assert (found.verdict, found.ratio) == ("not comparable", None)
    assert found.words == (
        "slow and fast are not comparable. No night of this load has a whole block with both."
    )


def test_too_few_blocks_are_not_comparable(tmp_path: Path) -> None:
    found = compared(tmp_path, blocks(RATES, 2))
    assert (found.verdict, found.why) == (
        "not comparable",
        "The night has 2 whole blocks, but a comparison needs 3.",
    )


def test_a_newer_night_with_too_few_blocks_does_not_hide_one_that_can_be_compared(
    tmp_path: Path,
) -> None:
    found = compared(tmp_path, [*blocks(RATES), *blocks(RATES, 1, hour=5)])
    assert (found.night, found.verdict) == (night(), "slower")


def test_who_is_still_warming_up_is_not_comparable_but_has_a_ratio(tmp_path: Path) -> None:
    records = [
        each.model_copy(update={"runs": tuple(drifting(run.rate, 1.1) for run in each.runs)})
        if each.framework.name == "fast"
        else each
        for each in blocks(RATES)
    ]
    found = compared(tmp_path, records)
    assert (found.verdict, found.why) == ("not comparable", "fast was still warming up.")
    assert found.ratio
    assert found.words.startswith("slow and fast are not comparable (")
    assert found.words.endswith("). fast was still warming up.")


def test_a_noisy_night_is_said(tmp_path: Path) -> None:
    voids = [
        visited("slow", 1.0, at, minute=500 + at, size=4, is_void=True, repeat=1)
        for at in range(2, 7)
    ]
    found = compared(tmp_path, [*blocks(RATES), *voids])
    assert found.note == "It was a noisy night: 5 of 37 visits are void."
    assert found.verdict == "slower"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("slwo", "fast", "there is no record of `slwo` here (did you mean slow?)"),
        ("slow", "slow", "slow is compared with itself (its twin is slow~twin)"),
    ],
)
def test_a_name_that_is_none_is_refused(tmp_path: Path, a: str, b: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        compared(tmp_path, blocks(RATES), a, b)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"night": "yesterday"}, "--night: there is no night `yesterday`"),
        ({"night": ""}, "--night: there is no night ``"),
        ({"generator": "wrk"}, "there is no record of `stream-grpc` with --generator wrk"),
        ({"connections": 7}, "there is no record of `stream-grpc` with --connections 7"),
    ],
)
def test_a_choice_that_fits_no_record_is_refused(
    tmp_path: Path, asked: dict[str, Any], said: str
) -> None:
    save(tmp_path, *blocks(RATES))
    with pytest.raises(UsageError, match=said):
        compare(open_archive(tmp_path), NO_LOOKS, "slow", "fast", "stream-grpc", **asked)


def test_an_unknown_profile_is_refused(tmp_path: Path) -> None:
    save(tmp_path, *blocks(RATES))
    with pytest.raises(
        UsageError, match=r"^there is no record of `unary` \(there are: stream-grpc\)$"
    ):
        compare(open_archive(tmp_path), NO_LOOKS, "slow", "fast", "unary")


def test_several_loads_are_not_chosen_from_by_chance(tmp_path: Path) -> None:
    records = [*blocks(RATES), *blocks(RATES, hour=5, profile={"generator": "volley"})]
    with pytest.raises(UsageError, match="--generator: there are nights with ghz and volley"):
        compared(tmp_path, records)
    archive = open_archive(tmp_path)
    found = compare(archive, NO_LOOKS, "slow", "fast", "stream-grpc", generator="ghz")
    assert (found.generator, found.night) == ("ghz", night())


def test_a_night_of_the_class_of_the_newest_record_comes_before_a_newer_one(tmp_path: Path) -> None:
    here = a_provenance().host
    elsewhere = a_provenance(host=here.model_copy(update={"cpu": "another CPU"}))
    newer = [each.model_copy(update={"provenance": elsewhere}) for each in blocks(RATES, hour=5)]
    assert compared(tmp_path / "a", [*blocks(RATES), *newer]).night == night(5)
    newest = a_record("slow", minute=900)
    assert compared(tmp_path / "b", [*blocks(RATES), *newer, newest]).night == night()


def test_suspended_ranks_are_said(tmp_path: Path) -> None:
    missed = {"slow": 1e6, "slow~twin": 1.2e6, "fast": 2e6}
    records = [each for hour in (0, 1) for each in blocks(missed, hour=hour)]
    found = compared(tmp_path, records)
    assert found.verdict == "slower"
    assert found.note.startswith("Ranks are suspended: ")
