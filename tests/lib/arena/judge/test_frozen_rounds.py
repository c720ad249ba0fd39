"""Rounds: what is frozen, what is refused, and what is noticed afterwards."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.judge import frozen_rounds
from arena.judge.archive import open_archive
from arena.judge.frozen_rounds import Frost, Round, freeze, read_rounds
from arena.judge.leaderboard import rank_entries
from arena.judge.store import SUMS
from arena.record.record import Record
from tests import fakes
from tests.fakes import FakeProgress, a_record, a_run, a_trial, at
from tests.lib.arena.judge.visits import blocks, visited


def save(workspace: Workspace, record: Record) -> Record:
    (saved,) = fakes.save(workspace.results, record)
    return saved


def frozen(workspace: Workspace, name: str = "first", note: str = "") -> Frost:
    return freeze(workspace, name, note, FakeProgress())


def problems(workspace: Workspace, **options: Any) -> list[str]:
    found = [each for _, each in read_rounds(workspace.rounds, **options)]
    return [str(each) for each in found if isinstance(each, ValueError)]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


TRIAL = {"RUNS": "1"}


def test_a_round_holds_what_current_boards_show_byte_for_byte(workspace: Workspace) -> None:
    old = save(workspace, a_record(minute=1))
    good = save(workspace, a_record(minute=2))
    trial = save(workspace, a_trial("grpc-go", 1e6, minute=3))
    only_a_trial = save(workspace, a_record("tonic", overrides=TRIAL, profile={"name": "other"}))
    before = files(workspace.results)
    made = frozen(workspace, note="why")

    kept = files(workspace.rounds / "first")
    described = Round.model_validate_json(kept.pop("round.json"))
    assert set(described.records) == {good.path, only_a_trial.path}
    assert {old.path, trial.path}.isdisjoint(kept)
    assert kept == {name: before[name] for name in kept}
    for path in described.records:
        assert hashlib.sha256(kept[path]).hexdigest() == described.records[path]
        assert f"{path.removesuffix('.json')}/server.log" in kept
    assert (described.name, described.note) == ("first", "why")
    assert (made.records, made.files) == (2, len(kept))
    assert made.size_bytes == sum(map(len, kept.values()))
    assert problems(workspace, thorough=True) == []


def test_a_newer_failure_is_frozen_beside_the_record_it_does_not_replace(
    workspace: Workspace,
) -> None:
    good = save(workspace, a_record(minute=1))
    failed = save(workspace, a_record(minute=2, failure="it fell over"))
    frozen(workspace)
    ((_, found),) = read_rounds(workspace.rounds)
    assert isinstance(found, Round)
    assert set(found.records) == {good.path, failed.path}


def test_freezing_deletes_nothing_and_leaves_no_draft(workspace: Workspace) -> None:
    save(workspace, a_record())
    before = files(workspace.results)
    (workspace.rounds / ".httparena-draft-of-a-killed-one").mkdir(parents=True)
    frozen(workspace)
    after = files(workspace.results)
    assert {name: after[name] for name in before} == before
    assert [path.name for path in workspace.rounds.iterdir()] == ["first"]


def test_a_round_is_never_made_again(workspace: Workspace) -> None:
    save(workspace, a_record())
    frozen(workspace)
    before = files(workspace.rounds)
    with pytest.raises(UsageError, match=r"first: exists already, and a round is never changed$"):
        frozen(workspace)
    assert files(workspace.rounds) == before


def test_a_name_taken_by_an_empty_folder_is_taken(workspace: Workspace) -> None:
    save(workspace, a_record())
    (workspace.rounds / "first").mkdir(parents=True)
    with pytest.raises(UsageError, match="exists already"):
        frozen(workspace)


def test_a_name_that_is_taken_while_it_freezes_is_taken(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, a_record())

    def overtaken(source: Path, target: Path) -> int:
        (workspace.rounds / "first").mkdir(exist_ok=True)
        return copy(source, target)

    copy = frozen_rounds._copy
    monkeypatch.setattr(frozen_rounds, "_copy", overtaken)
    with pytest.raises(UsageError, match="exists already"):
        frozen(workspace)
    assert [path.name for path in workspace.rounds.iterdir()] == ["first"]


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", ".hidden", "a.b", "Big", "-a", "a--b", "a\n", "ä", "x" * 65],
)
def test_a_bad_name_is_refused_in_one_line(workspace: Workspace, name: str) -> None:
    save(workspace, a_record())
    with pytest.raises(UsageError, match=r"^a round cannot be named ") as caught:
        frozen(workspace, name)
    assert len(str(caught.value).splitlines()) == 1
    assert not workspace.rounds.exists()


@pytest.mark.parametrize("note", ["x" * 1001, "\udcff"])
def test_a_bad_note_is_refused_in_one_line(workspace: Workspace, note: str) -> None:
    save(workspace, a_record())
    with pytest.raises(UsageError, match=r"^--note: "):
        frozen(workspace, note=note)
    assert not workspace.rounds.exists()


def test_where_there_is_no_record_nothing_is_frozen(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="there is no record to freeze"):
        frozen(workspace)
    assert not workspace.rounds.exists()


def test_a_broken_record_is_said_and_the_others_are_frozen(workspace: Workspace) -> None:
    good = save(workspace, a_record())
    (workspace.results / good.path).with_name("broken.json").write_text("{")
    shows = FakeProgress()
    assert freeze(workspace, "first", "", shows).records == 1
    assert [line for line in shows.lines if "broken.json is left out" in line]


def test_raw_outputs_that_are_not_those_of_the_record_are_said(workspace: Workspace) -> None:
    record = save(workspace, a_record("tonic", 1e6, 2e6))
    beside = (workspace.results / record.path).with_suffix("")
    (beside / "run-1.json").write_text("another")
    (beside / "run-2.json").unlink()
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    assert [line.rpartition(": ")[2] for line in shows.lines] == [
        "run-1.json is not what was measured",
        "run-2.json is missing",
    ]


def test_a_record_without_its_proof_is_no_part_of_a_round(workspace: Workspace) -> None:
    proven, unproven = save(workspace, a_record("one", 1e6)), save(workspace, a_record("two", 9e6))
    ((workspace.results / unproven.path).with_suffix("") / "SHA256SUMS").unlink()
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    (line,) = shows.lines
    assert line.endswith(f"{unproven.path} is left out: SHA256SUMS is missing")
    ((_, found),) = read_rounds(workspace.rounds)
    assert isinstance(found, Round)
    assert list(found.records) == [proven.path]


def test_a_raw_output_that_can_be_no_file_is_missing(workspace: Workspace) -> None:
    record = save(workspace, a_record("tonic", 1e6))
    path = workspace.results / record.path
    data = json.loads(path.read_bytes())
    data["runs"][0]["raw"]["path"] = "nowhere\0.json"
    path.write_text(json.dumps(data))
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    assert [line.rpartition(": ")[2] for line in shows.lines] == ["nowhere.json is missing"]


def link_a_log(beside: Path) -> None:
    (beside / "secret").symlink_to("/etc/passwd")


def link_a_folder(beside: Path) -> None:
    (beside / "secrets").symlink_to("/etc")


def link_itself(beside: Path) -> None:
    beside.rename(beside.with_name("elsewhere"))
    beside.symlink_to(beside.with_name("elsewhere"))


def make_a_pipe(beside: Path) -> None:
    os.mkfifo(beside / "pipe")


@pytest.mark.parametrize("trap", [link_a_log, link_a_folder, link_itself, make_a_pipe])
def test_what_is_no_plain_file_is_left_out_with_a_line(workspace: Workspace, trap: Any) -> None:
    record = save(workspace, a_record())
    trap((workspace.results / record.path).with_suffix(""))
    shows = FakeProgress()
    assert freeze(workspace, "first", "", shows).records == 1
    assert any(line.endswith("is left out: it is not a plain file") for line in shows.lines)
    round_ = workspace.rounds / "first"
    assert all(each.is_dir() or each.is_file() for each in round_.rglob("*"))
    assert not any(each.is_symlink() for each in round_.rglob("*"))


def test_a_record_that_is_a_link_is_refused(workspace: Workspace) -> None:
    path = workspace.results / save(workspace, a_record()).path
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(UsageError):
        frozen(workspace)
    assert not workspace.rounds.exists()


def test_results_may_be_a_link_itself(workspace: Workspace, tmp_path: Path) -> None:
    workspace.results.rename(tmp_path / "big-disk")
    workspace.results.symlink_to(tmp_path / "big-disk")
    save(workspace, a_record())
    assert frozen(workspace).records == 1


def test_interrupted_it_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minute, name in enumerate(("grpc-go", "tonic")):
        save(workspace, a_record(name, minute=minute))
    copied = []

    def interrupted(source: Path, target: Path) -> int:
        copied.append(source)
        if len(copied) == 3:
            raise KeyboardInterrupt
        return copy(source, target)

    copy = frozen_rounds._copy
    monkeypatch.setattr(frozen_rounds, "_copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frozen(workspace)
    assert list(workspace.rounds.iterdir()) == []


# ---- read again


@pytest.fixture
def first(workspace: Workspace) -> tuple[Path, Record]:
    """Freeze a round of one record; return its folder and the record."""
    record = save(workspace, a_record(runs=[a_run()]))
    return frozen(workspace).folder, record


def test_a_record_that_was_altered_is_noticed(
    workspace: Workspace, first: tuple[Path, Record]
) -> None:
    folder, record = first
    path = folder / record.path
    path.write_text(path.read_text().replace("1000000.0", "9000000.0"))
    assert problems(workspace) == [f"{record.path}: was altered"]


def test_a_record_that_was_added_or_has_gone_is_noticed(
    workspace: Workspace, first: tuple[Path, Record]
) -> None:
    folder, record = first
    path = folder / record.path
    other = path.with_name("2026-01-01T00-00-09.000000Z.json")
    other.write_bytes(path.read_bytes())
    (said,) = problems(workspace)
    assert said.endswith("09.000000Z.json: was added later")
    other.unlink()
    path.unlink()
    assert problems(workspace) == [f"{record.path}: is missing"]


def test_a_raw_output_that_was_altered_is_noticed_by_who_looks_closely(
    workspace: Workspace, first: tuple[Path, Record]
) -> None:
    folder, record = first
    (folder / record.runs[0].raw.path).write_text("nicer")
    assert problems(workspace) == []
    assert problems(workspace, thorough=True) == [
        f"{record.path}: run-1.json is not what was measured"
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "round.json: No such file or directory"),
        ("{", "round.json: Invalid JSON"),
        ("[]", "round.json: Input should be an object"),
        ('{"schema": 2}', "round.json: schema: Input should be 1"),
        ('{"schema": 1, "name": "../../x"}', "round.json: name: String should match pattern"),
        (
            f'{{"schema": 1, "name": "other", "frozen_at": "{at(0)}", "records": {{}}}}',
            "round.json: name: it is that of other",
        ),
        (
            '{"schema": 1, "name": "first", "frozen_at": "2026-13-45T00-00-00.000000Z"}',
            "round.json: frozen_at: Value error, month must be in 1..12",
        ),
    ],
)
def test_a_broken_round_is_one_line_and_the_others_stand(
    workspace: Workspace, first: tuple[Path, Record], content: str | None, said: str
) -> None:
    folder = workspace.rounds / "broken"
    folder.mkdir()
    if content is not None:
        (folder / "round.json").write_text(content)
    assert [each.startswith(said) for each in problems(workspace)] == [True]
    assert [type(found) for _, found in read_rounds(workspace.rounds)] == [ValueError, Round]


def test_what_is_being_frozen_is_no_round_yet(
    workspace: Workspace, first: tuple[Path, Record]
) -> None:
    draft = workspace.rounds / ".httparena-draft-x"
    first[0].rename(draft)
    assert list(read_rounds(workspace.rounds)) == []


def test_a_raw_output_outside_of_the_round_is_none_of_it(
    workspace: Workspace, first: tuple[Path, Record]
) -> None:
    folder, record = first
    path = folder / record.path
    data = json.loads(path.read_bytes())
    data["runs"][0]["raw"]["path"] = "../../../profiles/stream-grpc.yaml"
    path.write_text(json.dumps(data))
    described = json.loads((folder / "round.json").read_bytes())
    described["records"][record.path] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "round.json").write_text(json.dumps(described))
    assert problems(workspace, thorough=True) == [f"{record.path}: stream-grpc.yaml is missing"]


def test_a_round_has_every_visit_of_a_night_and_ranks_to_the_same(workspace: Workspace) -> None:
    rates = {"a": 1e6, "a~twin": 1.2e6, "b": 2e6}
    older = [save(workspace, each) for each in blocks(rates)]
    void = save(workspace, visited("b", 1.0, 3, minute=500, hour=5, size=3, is_void=True))
    newer = [save(workspace, each) for each in blocks(rates, hour=5)]
    frozen(workspace)
    ((folder, found),) = read_rounds(workspace.rounds, thorough=True)
    assert isinstance(found, Round)
    assert found.records.keys() == {each.path for each in (*newer, void)}
    assert older[0].path not in found.records
    here, there = open_archive(workspace.results), open_archive(folder)
    (current,) = rank_entries(here.entries.values(), here.read).boards
    (again,) = rank_entries(there.entries.values(), there.read, found.twin_book).boards
    assert current.twin_history
    assert current.twin_history.is_suspended
    assert again == current


def test_of_a_good_visit_a_round_keeps_the_runs_and_of_a_failed_one_everything(
    workspace: Workspace,
) -> None:
    for each in blocks({"a": 1e6, "b": 2e6}, 3):
        save(workspace, each)
    failed = visited("c", 0, 3, minute=300, size=3, failure="it fell")
    save(workspace, failed)
    frozen(workspace)
    kept = {name.rsplit("/", 1)[1] for name in files(workspace.rounds / "first") if "/a/" in name}
    assert {"run-1.json", SUMS} <= kept
    assert "server.log" not in kept
    assert f"first/{failed.path.removesuffix('.json')}/server.log" in files(workspace.rounds)
    assert problems(workspace, thorough=True) == []
