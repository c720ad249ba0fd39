"""A night as lines of text."""

from pathlib import Path

from arena.judge.archive import open_archive
from arena.judge.night_table import night_lines
from arena.record.record import Record
from tests.fakes import save
from tests.lib.arena.judge.visits import blocks, night, visited


def lines(folder: Path, *records: Record) -> list[str]:
    save(folder, *records)
    archive = open_archive(folder)
    place = next(iter(archive.entries.values())).load.place
    return list(night_lines(archive, night(), place))


def test_a_night_is_a_table_of_ranks_and_estimates(tmp_path: Path) -> None:
    rates = {"slow": 1e6, "slow~twin": 1e6, "fast": 2e6}
    void = visited("slow", 1.0, 2, minute=500, size=3, is_void=True)
    other = blocks({"fast": 9e6}, hour=5)
    head, first, second, told, twin = lines(tmp_path, *blocks(rates), void, *other)
    assert head == (
        "stream-grpc, 64 connections, ghz: 8 of 8 blocks are whole, 1 of 25 visits void"
    )
    assert first.split()[:2] == ["1", "fast"]
    assert second.split()[:2] == ["2", "slow"]
    assert second.endswith("b  1 void")
    assert told.startswith("This night can usually tell two frameworks apart that differ by ")
    assert twin.startswith("slow and its twin: tied (ratio 1.00")


def test_it_says_why_there_are_no_ranks_and_who_failed(tmp_path: Path) -> None:
    failed = visited("c", 0, 1, minute=300, size=3, failure="it fell")
    first, *others = blocks({"a": 1e6, "b": 2e6}, 2)
    _, *rows, why = lines(tmp_path, first, *others, failed)
    assert [each.split()[:2] for each in rows] == [["–", "b"], ["–", "a"], ["–", "c"]]
    assert rows[-1].endswith("failed: it fell")
    assert why == "Ranks need 6 whole blocks at least; this night has 2."


def test_without_a_whole_block_it_says_so(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, visited("a", 1e6, minute=1))
    assert line.endswith("no block is whole, so there is no estimate")
