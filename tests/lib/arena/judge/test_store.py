"""Drafts: a record is written whole or not at all, and none is ever lost."""

import os
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.base.model import to_json
from arena.judge import store
from arena.judge.store import SUMS, Draft
from arena.record.reading import parse_record
from tests.fakes import a_record, records_in


def test_a_written_record_reads_back_identical(tmp_path: Path) -> None:
    record = a_record(
        "grpc-go", 1e6, 1.5e6, flags=["cut-calls", "disturbed"], overrides={"RUNS": "2"}
    )
    with Draft(tmp_path) as draft:
        (draft.folder / "run-1.json").write_text("raw")
        path = draft.save(record)
    assert path == tmp_path / "stream-grpc/64/grpc-go/2026-01-01T00-00-00.000000Z.json"
    assert parse_record(path.read_bytes()) == record
    assert path.read_text() == to_json(record)
    assert (path.with_suffix("") / "run-1.json").read_text() == "raw"
    assert records_in(tmp_path) == [record]


def test_a_draft_that_is_not_saved_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with Draft(tmp_path / "results") as draft:
            (draft.folder / "server.log").write_text("words")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list((tmp_path / "results").iterdir()) == []


def test_a_record_whose_sum_cannot_be_written_is_an_error_in_a_line(tmp_path: Path) -> None:
    record = a_record("grpc-go", 1.0)
    with Draft(tmp_path) as draft:
        (draft.folder / SUMS).mkdir()
        with pytest.raises(HostError, match="cannot be written"):
            draft.save(record)
    assert list(tmp_path.iterdir()) == []


def test_a_saved_record_is_never_overwritten(tmp_path: Path) -> None:
    first, second = a_record("grpc-go", 1.0), a_record("grpc-go", 2.0)
    with Draft(tmp_path) as draft:
        (draft.folder / "run-1.json").write_text("first")
        path = draft.save(first)
    with Draft(tmp_path) as draft:
        (draft.folder / "run-1.json").write_text("second")
        with pytest.raises(HostError, match="cannot be written"):
            draft.save(second)
    assert parse_record(path.read_bytes()) == first
    assert (path.with_suffix("") / "run-1.json").read_text() == "first"


def test_a_record_that_cannot_be_written_leaves_no_outputs_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise HostError("no space left")

    monkeypatch.setattr(store, "write_new", full)
    with pytest.raises(HostError, match="no space"), Draft(tmp_path) as draft:
        draft.save(a_record())
    assert [path for path in tmp_path.rglob("*") if path.name.startswith("2026")] == []


def test_results_that_cannot_be_written_are_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    for advice in ("", ", or go"):
        with (
            pytest.raises(HostError, match=f"; make it a writable folder{advice}$"),
            Draft(tmp_path / "results", advice),
        ):
            pytest.fail("entered")


def test_what_a_killed_session_left_can_be_cleared(tmp_path: Path) -> None:
    with Draft(tmp_path) as draft:
        name = draft.folder.name
    (tmp_path / name).mkdir()
    (tmp_path / ".draft-of-somebody-else").mkdir()
    (tmp_path / "stream-grpc").mkdir()
    store.clear_drafts(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".draft-of-somebody-else",
        "stream-grpc",
    ]


def test_all_that_is_saved_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real, rename = os.fsync, Path.rename

    def noted(handle: int) -> None:
        done.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        real(handle)

    def renamed(folder: Path, target: Path) -> Path:
        done.append("renamed")
        return rename(folder, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "rename", renamed)
    with Draft(tmp_path) as draft:
        (draft.folder / "a").mkdir()
        for name in ("run-1.json", "a/b"):
            (draft.folder / name).write_text("raw")
        draft.save(a_record("grpc-go"))
    before = set(done[: done.index("renamed")])
    assert {"run-1.json", "b", "a", SUMS, draft.folder.name} <= before
    assert done[-1] == "grpc-go"
