"""Every record of a set: what is read anew, and what is wrong with what is left out."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grimp
import pytest

from arena.base.errors import HostError
from arena.base.model import to_json
from arena.judge import archive
from arena.judge.archive import missing_proof, open_archive
from arena.judge.cache import Cache
from arena.judge.entry import entry_of
from arena.judge.leaderboard import Leaderboard, rank_entries, shown_records
from arena.judge.packing import pack
from arena.judge.store import SUMS, Draft
from arena.record.bundle import RAW, RECORDS, name_of
from arena.record.reading import parse_record
from arena.record.record import Record
from tests import fakes
from tests.fakes import FakeProgress, a_record
from tests.lib.arena.judge.visits import blocks


def save(folder: Path, *records: Record) -> list[Path]:
    paths = []
    for record in records:
        with Draft(folder) as draft:
            paths.append(draft.save(record))
    return paths


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def kept(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache.sqlite")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which files are read."""
    names: list[str] = []
    original = archive._look_into

    def noted(records: Any, stale: Any, number: int) -> archive.Seen:
        names.append(stale[number][0])
        return original(records, stale, number)

    monkeypatch.setattr(archive, "_look_into", noted)
    return names


def test_every_record_is_there_with_its_hash_and_can_be_read(results: Path) -> None:
    records = fakes.save(
        results,
        a_record("a", 2e6, flags=("unpinned",)),
        a_record("a", minute=5, failure="it fell"),
        a_record("b", 1e6, flags=("unpinned",)),
    )
    paths = [results / record.path for record in records]
    found = open_archive(results)
    assert found.broken == {}
    assert list(found.entries) == sorted(each.path for each in records)
    for record, path in zip(records, paths, strict=True):
        assert found.entries[record.path] == entry_of(record, name_of(path.read_bytes()))
        assert found.read(record.path) == record


def test_older_records_have_todays_flags_and_not_those_of_their_day(results: Path) -> None:
    rising = a_record("a", 1e6, 2e6, 3e6)
    older = json.loads(to_json(rising))
    older |= {"schema": 2, "headline": None, "spread": None, "flags": ["of-that-day"]}
    put(results, rising.path, json.dumps(older))
    entry = open_archive(results).entries[rising.path]
    assert entry.flags == ("still-warming", "unproven")
    assert (entry.value, entry.problem) == (3e6, "")


def test_cpus_that_are_no_list_are_one_line(results: Path) -> None:
    record = a_record("bad")
    data = json.loads(to_json(record))
    data["provenance"]["cpus"] = {"policy": "override", "server": "0", "generator": "3-1"}
    put(results, record.path, json.dumps(data))
    ((where, said),) = open_archive(results).broken.items()
    problem = "'3-1' is not a CPU list (3-1 runs backwards)"
    assert (where, said) == (record.path, f"provenance.cpus.generator: Value error, {problem}")


def test_without_a_folder_there_are_no_records(tmp_path: Path) -> None:
    put(tmp_path, "file", "")
    for folder in (tmp_path / "nowhere", tmp_path / "file"):
        assert open_archive(folder).entries == {}


def test_what_comes_from_the_cache_is_what_was_read(results: Path, kept: Cache) -> None:
    save(results, a_record("a", 2e6, flags=("client-bound", "unpinned")), a_record("b"))
    save(results, *blocks({"c": 1e6}, 2, hour=1))
    put(results, "stream-grpc/64/c/x.json", "{")
    cold = open_archive(results, kept)
    assert open_archive(results, kept) == cold
    assert cold.broken != {}


def test_only_what_is_new_or_has_changed_is_read(
    results: Path, kept: Cache, read: list[str]
) -> None:
    first, second = save(results, a_record("a"), a_record("b"))
    open_archive(results, kept)
    open_archive(results, kept)
    assert len(read) == 2
    read.clear()
    (third,) = save(results, a_record("c"))
    record = a_record("a", 7e6)
    os.utime(put(results, record.path, to_json(record)), ns=(1, 1))
    second.unlink()
    found = open_archive(results, kept)
    assert sorted(read) == [record.path, third.relative_to(results).as_posix()]
    assert [each.value for each in found.entries.values()] == [7e6, 1e6]
    read.clear()
    assert open_archive(results, kept) == found
    assert read == []
    assert first.is_file()


def test_other_code_reads_everything_again(
    results: Path, kept: Cache, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(results, a_record("a"))
    open_archive(results, kept)
    monkeypatch.setattr(archive, "_version", lambda: "another")
    open_archive(results, kept)
    assert len(read) == 2


def test_the_code_that_is_looked_at_is_all_that_makes_an_entry() -> None:
    imports = grimp.build_graph(
        "arena", "parsers", exclude_type_checking_imports=True, cache_dir=None
    )
    made_by = imports.find_upstream_modules("arena.judge.entry") | {"arena.judge.entry"}
    files = [each.replace(".", "/") for each in made_by - {"arena"}]
    assert [each for each in files if not each.startswith(archive._SOURCES)] == []


def test_a_cache_of_nonsense_is_read_over(results: Path, kept: Cache, read: list[str]) -> None:
    (path,) = save(results, a_record("a"))
    name = path.relative_to(results).as_posix()
    status = path.stat()
    for nonsense in ("", "[]", "[1]", "7", f"[{status.st_size}, {status.st_mtime_ns}, [1, 2]]"):
        kept.save(f"records in {results}", archive._version(), {name: nonsense})
        assert list(open_archive(results, kept).entries) == [name]
    assert len(read) == 5


def test_two_sets_in_one_cache_do_not_mix(tmp_path: Path, kept: Cache) -> None:
    save(tmp_path / "one", a_record("a", 1e6))
    save(tmp_path / "two", a_record("a", 2e6))
    for _ in range(2):
        values = [
            [each.value for each in open_archive(tmp_path / name, kept).entries.values()]
            for name in ("one", "two")
        ]
        assert values == [[1e6], [2e6]]


NAME = "2026-01-01T00-00-00.000000Z.json"


def _changed(**changes: Any) -> str:
    data = json.loads(to_json(a_record("bad")))
    for key, value in changes.items():
        data[key] = {**data[key], **value} if isinstance(value, dict) else value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad/x.json", "", "Expecting value"),
        ("bad/x.json", "[" * 100_000, "recursion"),
        ("bad/x.json", "[]", "is not a record"),
        ("bad/x.json", b'{"schema": "\xff"}', "codec can't decode"),
        ("bad/x.json", '{"schema": 9}', "schema 9 is newer than this runner's 3"),
        (f"other/{NAME}", _changed(), f"it belongs to stream-grpc/64/bad/{NAME}"),
        (f"bad/{NAME}", _changed(profile={"generator": "../../ghz"}), "profile.generator: "),
        (f"bad/{NAME}", _changed(profile={"generator": "g" * 65}), "profile.generator: "),
        (f"bad/{NAME}", _changed(profile={"name": "../up"}), "profile.name: "),
        (
            f"index.html/{NAME}",
            _changed(framework={"name": "index.html"}),
            "framework.name: is that of a page",
        ),
        (f"bad/{NAME}", _changed(framework={"display_name": "\ud800"}), "display_name"),
        (f"bad/{NAME}", _changed(runs=[]), "must have a run"),
    ],
)
def test_what_is_broken_is_left_out_in_one_line(
    results: Path, kept: Cache, name: str, text: str | bytes, said: str
) -> None:
    save(results, a_record("good"))
    put(results, f"stream-grpc/64/{name}", text)
    for _ in range(2):
        found = open_archive(results, kept)
        assert [each.framework for each in found.entries.values()] == ["good"]
        ((where, what),) = found.broken.items()
        assert where == f"stream-grpc/64/{name}"
        assert said in what
        assert len(what.splitlines()) == 1
        assert len(what) <= 300


def test_what_is_no_file_is_left_out_and_never_waited_for(results: Path, tmp_path: Path) -> None:
    (good,) = save(results, a_record("good"))
    folder = good.parent
    outside = put(tmp_path, "outside/a.json", to_json(a_record("good")))
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to(outside)
    (results / "linked").symlink_to(outside.parent)
    (results / "stream-grpc" / "64" / "too").symlink_to(outside.parent)
    os.close(os.open(os.fsencode(folder) + b"/\xff.json", os.O_CREAT | os.O_WRONLY))
    put(folder.parent, "\udcfe/2026.json", "{}")
    found = open_archive(results)
    assert len(found.entries) == 1
    assert {name.rpartition("/")[2]: what for name, what in found.broken.items()} == {
        "pipe.json": "is not a regular file",
        "folder.json": "is not a regular file",
        "link.json": "is not a regular file",
        "linked": "is a symbolic link, which is not followed",
        "too": "is a symbolic link, which is not followed",
        "\udcff.json": "its name is not UTF-8",
        "\udcfe": "its name is not UTF-8",
    }


def test_a_file_that_is_too_large_is_not_opened(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LONGEST_RECORD", 1 << 20)
    path = put(results, "stream-grpc/64/big/x.json", "")
    os.truncate(path, (1 << 20) + 1)
    assert open_archive(results).broken == {"stream-grpc/64/big/x.json": "is larger than 1 MiB"}


def test_hidden_names_and_other_depths_hold_no_records(results: Path) -> None:
    (good,) = save(results, a_record("good"))
    for name in ("leaderboard.json", "a/b/x.json", "a/b/c/d/x.json", ".draft/1/c/x.json"):
        put(results, name, "{")
    put(good.parent, ".x.json", "{")
    put(good.with_suffix(""), "run-1.json", "{")
    found = open_archive(results)
    assert (len(found.entries), found.broken) == (1, {})


def test_a_record_that_changes_under_our_hands_is_said(results: Path, kept: Cache) -> None:
    (path,) = save(results, a_record("a"))
    open_archive(results, kept)
    found = open_archive(results, kept)
    path.write_text("{")
    with pytest.raises(HostError, match=r"Z\.json: is not the record that it was"):
        found.read(path.relative_to(results).as_posix())


def test_a_record_of_a_small_set_is_parsed_once(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def noted(data: bytes) -> Record:
        parsed.append(data)
        return parse_record(data)

    monkeypatch.setattr(archive, "parse_record", noted)
    save(results, a_record("a"), a_record("b"))
    found = open_archive(results)
    boards = rank_entries(found.entries.values(), found.read).boards
    assert [found.read(path).framework.name for path in shown_records(boards)] == ["a", "b"]
    assert len(parsed) == 2


def test_many_records_are_read_by_several_processes_to_the_same_end(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(results, *(a_record("a", minute=minute) for minute in range(20)))
    put(results, "stream-grpc/64/b/x.json", "{")
    here = open_archive(results)
    monkeypatch.setattr(archive, "_PER_PROCESS", 5)
    monkeypatch.setattr(archive, "_MANY", 20)
    progress = FakeProgress()
    assert open_archive(results, progress=progress) == here
    assert progress.lines == ["reading 21 records"]


def altered(results: Path) -> list[tuple[str, str]]:
    (board,) = rank_of(results).boards
    return [(each.record, each.problem) for each in board.altered]


def rank_of(results: Path) -> Leaderboard:
    found = open_archive(results)
    assert found.broken == {}
    return rank_entries(found.entries.values(), found.read)


def test_a_record_that_was_edited_by_hand_does_not_count_and_its_board_says_which(
    results: Path,
) -> None:
    old, new = fakes.save(results, a_record("a", 1e6), a_record("a", 2e6, minute=1))
    fakes.save(results, a_record("b", 1.5e6))
    assert altered(results) == []
    path = results / new.path
    path.write_text(path.read_text().replace("2000000.0", "9000000.0"))
    said = "its file was altered after it was saved (SHA256SUMS has another sum)"
    assert altered(results) == [(new.path, said)]
    b, a = rank_of(results).boards[0].rows
    assert a.result
    assert (a.result.value, a.result.record) == (1e6, old.path)
    assert a.failure
    assert (a.failure.status, a.failure.reason, a.failure.record) == ("altered", said, new.path)
    assert b.rank == 1


def test_the_sum_of_a_record_is_one_that_sha256sum_checks(results: Path) -> None:
    (path,) = save(results, a_record("a"))
    beside = path.with_suffix("")
    done = subprocess.run(["sha256sum", "-c", SUMS], cwd=beside, check=False, capture_output=True)
    assert done.returncode == 0, done


def test_a_raw_output_that_was_edited_is_noticed(results: Path) -> None:
    (record,) = fakes.save(results, a_record("a", 1e6, 2e6))
    (results / record.runs[1].raw.path).write_text("{}")
    assert altered(results) == [(record.path, "run-2.json is not what was measured")]


def test_a_raw_output_that_was_edited_is_noticed_whatever_is_cached(
    results: Path, kept: Cache
) -> None:
    (record,) = fakes.save(results, a_record("a", 1e6))
    assert not open_archive(results, kept).entries[record.path].problem
    raw = results / record.runs[0].raw.path
    status, text = raw.stat(), raw.read_text()
    for content in (text.replace("1", "2"), text, text + "\n"):
        raw.write_text(content)
        os.utime(raw, ns=(status.st_atime_ns, status.st_mtime_ns))
        fresh = open_archive(results).entries[record.path].problem
        assert bool(fresh) == (content != text)
        assert open_archive(results, kept).entries[record.path].problem == fresh


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_the_sum_of_a_record_is_found_by_its_name(results: Path, order: slice) -> None:
    (path,) = save(results, a_record("a"))
    sums = path.with_suffix("") / SUMS
    other = f"{'0' * 64}  run-1.json\n"
    sums.write_text("".join([other, sums.read_text()][order]))
    assert altered(results) == []
    sums.write_text(other)
    assert altered(results)


def test_a_record_without_a_sum_can_only_be_told_by_its_raw_outputs(results: Path) -> None:
    (record,) = fakes.save(results, a_record("a", 1e6, 2e6))
    path = results / record.path
    (path.with_suffix("") / SUMS).unlink()
    assert altered(results) == []
    (path.with_suffix("") / "run-1.json").write_text("7")
    assert altered(results) == [(record.path, "run-1.json is not what was measured")]


def lose_a_sum(beside: Path, name: str) -> str:
    (beside / SUMS).unlink()
    return f"{SUMS} is missing"


def lose_a_raw_output(beside: Path, name: str) -> str:
    (beside / name).unlink()
    return f"{name} is missing"


def move_a_raw_output(beside: Path, name: str) -> str:
    (beside / "deeper").mkdir()
    (beside / name).rename(beside / "deeper" / name)
    return f"{name} is missing"


LOSSES = (lose_a_sum, lose_a_raw_output, move_a_raw_output)


@pytest.mark.parametrize("lose", LOSSES)
def test_a_record_without_its_proof_is_shown_and_has_no_rank(
    results: Path, lose: Callable[[Path, str], str], kept: Cache
) -> None:
    named = (a_record("best", 9e6, 8e6), a_record("other", 1e6), a_record("third", 1e5))
    best, other, _ = fakes.save(results, *named)
    assert open_archive(results, kept).entries[best.path].is_ranked
    missing = lose((results / best.path).with_suffix(""), "run-2.json")
    for _ in range(2):
        found = open_archive(results, kept)
        assert missing_proof(results, found.read(best.path)) == missing
        assert missing_proof(results, found.read(other.path)) == ""
        (board,) = rank_entries(found.entries.values(), found.read).boards
        proven, third, unproven = board.rows
        assert (proven.framework, proven.rank) == ("other", 1)
        assert (third.framework, third.rank) == ("third", 2)
        assert (unproven.framework, unproven.rank) == ("best", None)
        assert unproven.result
        assert unproven.result.flags == ("unproven",)
        assert (unproven.result.value, unproven.failure) == (9e6, None)


def test_a_visit_without_its_proof_makes_its_block_not_whole(results: Path) -> None:
    visits = fakes.save(results, *blocks({"a": 1e6, "b": 2e6}))
    lose_a_sum((results / visits[7].path).with_suffix(""), "")
    (board,) = rank_of(results).boards
    assert board.night
    assert (board.night.blocks, board.night.visits) == (7, 16)


def test_a_failure_needs_no_proof(results: Path) -> None:
    (record,) = fakes.save(results, a_record("a", failure="it fell"))
    lose_a_sum((results / record.path).with_suffix(""), "")
    assert open_archive(results).entries[record.path].flags == ()


def test_an_altered_visit_makes_its_block_not_whole(results: Path) -> None:
    visits = fakes.save(results, *blocks({"a": 1e6, "b": 2e6}))
    path = results / visits[7].path
    path.write_text(path.read_text().replace('"is_twin": false', '"is_twin":  false'))
    (board,) = rank_of(results).boards
    assert board.night
    assert (board.night.blocks, board.night.visits) == (7, 16)
    assert [each.record for each in board.altered] == [visits[7].path]


def test_a_record_that_cannot_be_read_any_more_is_named_on_its_current_boards(
    results: Path,
) -> None:
    good, bad = fakes.save(results, a_record("a"), a_record("b", minute=1))
    fakes.save(results, a_record("a", profile={"connection_count": 1}))
    (results / bad.path).write_text("{<b>")
    (results / "not-a-number").mkdir()
    found = open_archive(results)
    odd = {"x/64/a/\udcff.json": "odd", "x/many/a/y.json": "odd", "lost": "odd"}
    one, many = rank_entries(
        found.entries.values(), found.read, broken={**found.broken, **odd}
    ).boards
    assert (one.altered, [each.record for each in many.altered]) == ((), [bad.path])
    (altered,) = many.altered
    assert altered.framework == "b"
    assert altered.problem.startswith("it cannot be read: ")
    assert [row.framework for row in many.rows] == ["a"]
    assert good.path in found.entries


# ---- bundles


def bundled(results: Path, *records: Record) -> Path:
    """Save records and pack them; return the folder of the bundle."""
    paths = [record.path for record in fakes.save(results, *records)]
    folder = pack(open_archive(results), paths)
    assert folder
    return folder


def test_loose_records_and_bundled_ones_are_read_together(results: Path, kept: Cache) -> None:
    bundled(results, a_record("a"), a_record("b"))
    (loose,) = fakes.save(results, a_record("c"))
    for _ in range(2):
        found = open_archive(results, kept)
        assert [each.framework for each in found.entries.values()] == ["a", "b", "c"]
        assert (found.broken, loose.path in found.bundles) == ({}, False)
    assert found == open_archive(results)
    assert {found.read(path).framework.name for path in found.entries} == {"a", "b", "c"}


def test_a_loose_copy_counts_once_and_another_record_of_its_name_is_said(results: Path) -> None:
    first, second = fakes.save(results, a_record("a"), a_record("b"))
    shutil.copytree(results, results.with_name("before"))
    pack(open_archive(results), [first.path, second.path])
    shutil.copytree(results.with_name("before"), results, dirs_exist_ok=True)
    assert (len(open_archive(results).entries), open_archive(results).broken) == (2, {})
    path = results / first.path
    path.write_text(path.read_text().replace("1000000.0", "2000000.0"))
    assert any(first.path in each for each in open_archive(results).broken)


@pytest.mark.parametrize("part", [RECORDS, RAW])
def test_a_bundle_that_was_altered_is_noticed_whatever_is_cached(
    results: Path, kept: Cache, part: str
) -> None:
    folder = bundled(results, a_record("a"))
    assert open_archive(results, kept).broken == {}
    with (folder / part).open("ab") as file:
        file.write(b"x")
    found = open_archive(results, kept)
    assert found.entries == {}
    assert found.broken == {f"nights/{folder.name}": f"{part} was altered"}


def test_without_its_raw_outputs_a_bundled_record_has_no_rank(results: Path, kept: Cache) -> None:
    folder = bundled(results, a_record("a", 1e6, 2e6))
    (before,) = open_archive(results, kept).entries.values()
    (folder / RAW).unlink()
    (after,) = open_archive(results, kept).entries.values()
    assert (before.is_ranked, after.is_ranked) == (True, False)
    assert open_archive(results).missing_proof(after.path) == f"{RAW} is missing"
