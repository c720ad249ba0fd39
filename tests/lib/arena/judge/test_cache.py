"""What is kept from one time to the next, and what becomes of a file that is not what it was."""

import sqlite3
from pathlib import Path

import pytest

from arena.judge import cache
from arena.judge.cache import Cache


@pytest.fixture
def kept(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "new" / "cache.sqlite")


def test_what_was_saved_is_there_the_next_time(kept: Cache, tmp_path: Path) -> None:
    kept.save("a", "1", {"x": "one", "y": "two"})
    kept.save("b", "1", {"x": "another"})
    kept.save("a", "1", {"y": "three", "z": "four"}, gone=["x"])
    again = Cache(tmp_path / "new" / "cache.sqlite")
    assert dict(again.load("a", "1")) == {"y": "three", "z": "four"}
    assert dict(again.load("b", "1")) == {"x": "another"}


def test_for_another_version_a_space_is_empty_and_begins_anew(kept: Cache) -> None:
    kept.save("a", "1", {"x": "one"})
    kept.save("b", "1", {"x": "other"})
    assert dict(kept.load("a", "2")) == {}
    kept.save("a", "2", {"y": "two"})
    assert dict(kept.load("a", "2")) == {"y": "two"}
    assert dict(kept.load("a", "1")) == {}
    assert dict(kept.load("b", "1")) == {"x": "other"}


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_file_is_empty_and_then_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(content)
    kept = Cache(path)
    assert dict(kept.load("a", "1")) == {}
    kept.save("a", "1", {"x": "one"})
    assert dict(kept.load("a", "1")) == {"x": "one"}


def test_a_file_of_other_tables_is_done_without(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE kept (something TEXT)")
    file.close()
    kept = Cache(path)
    kept.save("a", "1", {"x": "one"})
    assert dict(kept.load("a", "1")) == {}


def test_where_no_file_can_be_nothing_is_kept_and_nothing_said(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    for path in (tmp_path / "folder" / "cache.sqlite", tmp_path):
        kept = Cache(path)
        kept.save("a", "1", {"x": "one"})
        assert dict(kept.load("a", "1")) == {}


def test_a_locked_file_is_done_without_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_PATIENCE_S", 0.01)
    path = tmp_path / "cache.sqlite"
    kept = Cache(path)
    kept.save("a", "1", {"x": "one"})
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    assert dict(kept.load("a", "1")) == {}
    kept.save("a", "1", {"x": "two"})
    other.rollback()
    other.close()
    assert dict(kept.load("a", "1")) == {"x": "one"}
