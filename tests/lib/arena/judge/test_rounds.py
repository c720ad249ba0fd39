"""Rounds: what is frozen, what is refused, and what is noticed afterwards."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.judge import packing, rounds
from arena.judge.archive import NIGHTS, open_archive
from arena.judge.derive import RULES
from arena.judge.flags import UNPROVEN
from arena.judge.leaderboard import rank_entries
from arena.judge.packing import pack
from arena.judge.rounds import (
    Frost,
    Round,
    derive,
    export,
    freeze,
    problems_of,
    read_round,
    read_rounds,
)
from arena.judge.store import SUMS
from arena.record import bundle as bundling
from arena.record.bundle import MANIFEST, RAW, RECORDS, Bundle, line_of
from arena.record.record import Record
from tests import fakes
from tests.fakes import FakeProgress, a_record, a_run, a_trial, at
from tests.lib.arena.judge.visits import blocks, visited


def save(workspace: Workspace, record: Record) -> Record:
    (saved,) = fakes.save(workspace.results, record)
    return saved


def frozen(workspace: Workspace, name: str = "first", note: str = "") -> Frost:
    return freeze(workspace, name, note, FakeProgress())


def round_of(workspace: Workspace, name: str = "first") -> Round:
    return read_round(workspace.rounds / f"{name}.json")


def problems(workspace: Workspace, *, raw: bool = True) -> list[str]:
    return [*problems_of(round_of(workspace), open_archive(workspace.results), raw=raw)]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


TRIAL = {"RUNS": "1"}


def test_a_round_names_what_current_boards_show_which_is_then_in_a_bundle(
    workspace: Workspace,
) -> None:
    old = save(workspace, a_record(minute=1))
    good = save(workspace, a_record(minute=2))
    trial = save(workspace, a_trial("grpc-go", 1e6, minute=3))
    only_a_trial = save(workspace, a_record("tonic", overrides=TRIAL, profile={"name": "other"}))
    before = files(workspace.results)
    made = frozen(workspace, note="why")

    found = round_of(workspace)
    assert (found.name, found.note, found.licence) == ("first", "why", "CC-BY-4.0")
    assert (made.file, made.records) == (workspace.rounds / "first.json", 2)
    assert found.records.keys() == {good.path, only_a_trial.path}
    archive = open_archive(workspace.results)
    assert archive.broken == {}
    assert archive.bundles.keys() == found.records.keys()
    for path, name in found.records.items():
        bundle = archive.bundles[path]
        assert found.bundles == {bundle.folder.name: bundle.sha256}
        assert bundle.by_name[name] == line_of(before[path])
        assert archive.log(path, "server.log") == before[path.replace(".json", "/server.log")]
    # What no board shows stays as it was, and no draft is left.
    after = files(workspace.results)
    loose = {name for name in after if not name.startswith(("nights/", "rounds/"))}
    kept = (old.path, trial.path)
    assert loose == {name for name in before if f"{Path(name).parent}.json" in kept} | {*kept}
    assert {name: after[name] for name in loose} == {name: before[name] for name in loose}
    assert sorted(each.name for each in workspace.rounds.iterdir()) == ["first.json"]
    assert problems(workspace) == []


def test_what_is_bundled_already_is_frozen_where_it_is(workspace: Workspace) -> None:
    save(workspace, a_record("a"))
    frozen(workspace)
    before = files(workspace.results / NIGHTS)
    save(workspace, a_record("b", minute=1))
    made = frozen(workspace, "second")
    assert (len(made.bundles), made.records, made.moved, made.new) == (2, 2, 1, 1)
    after = files(workspace.results / NIGHTS)
    assert before.items() < after.items()
    assert round_of(workspace).records.items() < round_of(workspace, "second").records.items()


def test_a_newer_failure_is_frozen_beside_the_record_it_does_not_replace(
    workspace: Workspace,
) -> None:
    good = save(workspace, a_record(minute=1))
    failed = save(workspace, a_record(minute=2, failure="it fell over"))
    frozen(workspace)
    assert round_of(workspace).records.keys() == {good.path, failed.path}


def test_the_boards_of_a_round_are_those_that_were_frozen(workspace: Workspace) -> None:
    save(workspace, a_record("a", 1e6, 2e6))
    save(workspace, a_record("b", 3e6, 2e6))
    archive = open_archive(workspace.results)
    boards = rank_entries(archive.entries.values(), archive.read)
    frozen(workspace)
    found = round_of(workspace)
    assert [each.leaderboard for each in found.judged] == [boards]
    assert found.newest.rules == RULES


def test_a_round_is_never_made_again(workspace: Workspace) -> None:
    save(workspace, a_record())
    frozen(workspace)
    before = files(workspace.results)
    said = r"first\.json: exists already, and a round is never changed$"
    with pytest.raises(UsageError, match=said):
        frozen(workspace)
    assert files(workspace.results) == before


@pytest.mark.parametrize("taken", [Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_a_name_is_taken_whatever_has_it(
    workspace: Workspace, taken: Callable[[Path], None]
) -> None:
    save(workspace, a_record())
    workspace.rounds.mkdir()
    taken(workspace.rounds / "first.json")
    with pytest.raises(UsageError, match="exists already"):
        frozen(workspace)


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
    assert files(workspace.results) == {}


def test_a_broken_record_is_said_and_the_others_are_frozen(workspace: Workspace) -> None:
    good = save(workspace, a_record())
    broken = (workspace.results / good.path).with_name("broken.json")
    broken.write_text("{")
    shows = FakeProgress()
    assert freeze(workspace, "first", "", shows).records == 1
    assert [line for line in shows.lines if "broken.json is left out" in line]
    assert broken.read_text() == "{"


def lose_its_sum(beside: Path) -> None:
    (beside / SUMS).unlink()


def lose_a_raw_output(beside: Path) -> None:
    (beside / "run-2.json").unlink()


@pytest.mark.parametrize(
    ("harm", "why"),
    [(lose_its_sum, "SHA256SUMS is missing"), (lose_a_raw_output, "run-2.json is missing")],
)
def test_a_record_without_its_proof_is_no_part_of_a_round(
    workspace: Workspace, harm: Callable[[Path], None], why: str
) -> None:
    proven, unproven = save(workspace, a_record("one", 1e6)), save(workspace, a_record("two", 9e6))
    harm((workspace.results / unproven.path).with_suffix(""))
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    (line,) = shows.lines
    assert line.endswith(f"{unproven.path} is left out: {why}")
    assert list(round_of(workspace).records) == [proven.path]
    assert (workspace.results / unproven.path).is_file()


def test_an_edited_raw_output_is_in_no_round(workspace: Workspace) -> None:
    good, bad = save(workspace, a_record("one", 1e6)), save(workspace, a_record("two", 9e6))
    (workspace.results / bad.runs[0].raw.path).write_text("nicer")
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    (line,) = shows.lines
    assert line.startswith("warning: ")
    assert line.endswith(f"{bad.path} is left out: run-1.json is not what was measured")
    assert list(round_of(workspace).records) == [good.path]
    assert (workspace.results / bad.path).is_file()


def test_an_altered_visit_is_said_once_and_is_in_no_round(workspace: Workspace) -> None:
    fakes.save(workspace.results, *(visits := list(blocks({"one": 1e6, "two": 2e6}, 7))))
    path = workspace.results / (bad := visits[-1]).path
    path.write_text(path.read_text() + " ")
    shows = FakeProgress()
    freeze(workspace, "first", "", shows)
    (line,) = shows.lines
    assert f"{bad.path} is left out: its file was altered after it was saved" in line
    assert len(round_of(workspace).records) == len(visits) - 1


def link_a_log(beside: Path) -> None:
    (beside / "secret").symlink_to("/etc/passwd")


def link_a_folder(beside: Path) -> None:
    (beside / "secrets").symlink_to("/etc")


def make_a_pipe(beside: Path) -> None:
    os.mkfifo(beside / "pipe")


@pytest.mark.parametrize("trap", [link_a_log, link_a_folder, make_a_pipe])
def test_what_is_no_plain_file_is_left_out(
    workspace: Workspace, trap: Callable[[Path], None]
) -> None:
    record = save(workspace, a_record())
    trap((workspace.results / record.path).with_suffix(""))
    frozen(workspace)
    names = open_archive(workspace.results).files(record.path)
    assert list(names) == ["run-1.json", "run-2.json", "run-3.json", "server.log"]
    assert problems(workspace) == []


def test_a_record_that_is_a_link_is_refused(workspace: Workspace) -> None:
    path = workspace.results / save(workspace, a_record()).path
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(UsageError):
        frozen(workspace)
    assert not (workspace.rounds / "first.json").exists()


def test_results_may_be_a_link_itself(workspace: Workspace, tmp_path: Path) -> None:
    workspace.results.rename(tmp_path / "big-disk")
    workspace.results.symlink_to(tmp_path / "big-disk")
    save(workspace, a_record())
    assert frozen(workspace).records == 1
    assert problems(workspace) == []


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (packing, "write_bundle"),
        (packing, "_remove"),
        (rounds, "rank_entries"),
        (rounds, "write_new"),
    ],
)
def test_interrupted_it_is_no_round_and_the_next_try_is_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, where: Any, what: str
) -> None:
    saved = [save(workspace, a_record(name)) for name in ("grpc-go", "tonic")]

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(where, what, interrupted)
        with pytest.raises(KeyboardInterrupt):
            frozen(workspace)
    assert list(workspace.rounds.iterdir()) == []
    assert list(workspace.results.glob("**/.*")) == []
    assert fakes.records_in(workspace.results) == saved
    assert frozen(workspace).records == 2
    assert problems(workspace) == []


def test_where_nothing_can_be_written_all_stays(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, a_record())
    before = files(workspace.results)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "sync_tree", full)
    with pytest.raises(HostError, match="No space left"):
        frozen(workspace)
    assert files(workspace.results) == before


def test_a_round_has_every_visit_of_a_night_and_ranks_to_the_same(workspace: Workspace) -> None:
    rates = {"a": 1e6, "a~twin": 1.2e6, "b": 2e6}
    older = [save(workspace, each) for each in blocks(rates)]
    void = save(workspace, visited("b", 1.0, 3, minute=500, hour=5, size=3, is_void=True))
    newer = [save(workspace, each) for each in blocks(rates, hour=5)]
    here = open_archive(workspace.results)
    (current,) = rank_entries(here.entries.values(), here.read).boards
    frozen(workspace)
    found = round_of(workspace)
    assert found.records.keys() == {each.path for each in (*newer, void)}
    assert older[0].path not in found.records
    assert current.twin_history
    assert current.twin_history.is_suspended
    (again,) = found.newest.boards
    assert again.rows == current.rows
    assert again.twin_history == current.twin_history
    assert problems(workspace) == []


def test_of_a_good_visit_a_round_keeps_the_runs_and_of_a_failed_one_everything(
    workspace: Workspace,
) -> None:
    good = [save(workspace, each) for each in blocks({"a": 1e6, "b": 2e6}, 3)]
    failed = save(workspace, visited("c", 0, 3, minute=300, size=3, failure="it fell"))
    frozen(workspace)
    found = open_archive(workspace.results)
    assert list(found.files(good[0].path)) == ["run-1.json", "run-2.json", "run-3.json"]
    assert "server.log" in found.files(failed.path)
    assert problems(workspace) == []


# ---- read again


@pytest.fixture
def first(workspace: Workspace) -> Record:
    """Freeze a round of one record; return the record."""
    record = save(workspace, a_record(runs=[a_run()]))
    frozen(workspace)
    return record


def the_bundle(workspace: Workspace) -> Path:
    (folder,) = (workspace.results / NIGHTS).iterdir()
    return folder


def link_elsewhere(folder: Path) -> None:
    (folder / RAW).rename(elsewhere := folder.parent.parent / RAW)
    (folder / RAW).symlink_to(elsewhere)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: flip(folder / RECORDS), f"{RECORDS} was altered"),
        (lambda folder: flip(folder / RAW), f"{RAW} was altered"),
        (lambda folder: (folder / RECORDS).unlink(), f"{RECORDS} is missing"),
        (lambda folder: (folder / RAW).rename(folder / "x"), ""),
        (link_elsewhere, f"{RAW} is not a plain file"),
        (lambda folder: (folder / MANIFEST).write_text("{}"), "is not the manifest of a bundle"),
        (lambda folder: (folder / MANIFEST).unlink(), f"{MANIFEST} is missing"),
        (
            lambda folder: (folder / MANIFEST).write_text((folder / MANIFEST).read_text() + "\n"),
            f"{MANIFEST}: is that of ",
        ),
        (shutil.rmtree, " is missing"),
    ],
)
@pytest.mark.parametrize("raw", [False, True])
def test_a_bundle_that_is_not_the_frozen_one_is_noticed(
    workspace: Workspace, first: Record, harm: Callable[[Path], None], said: str, raw: bool
) -> None:
    assert problems(workspace, raw=raw) == []
    harm(the_bundle(workspace))
    if not said and not raw:  # Raw outputs may lie elsewhere.
        assert problems(workspace, raw=raw) == []
        return
    (problem,) = problems(workspace, raw=raw)
    said = said or f"{RAW} is missing"
    assert problem.startswith(f"{NIGHTS}/{first.started_at}")
    assert said in problem


def edited(workspace: Workspace, change: Callable[[dict[str, Any]], object]) -> None:
    file = workspace.rounds / "first.json"
    data = json.loads(file.read_bytes())
    change(data)
    file.write_text(json.dumps(data))


def a_nicer_board(data: dict[str, Any]) -> None:
    (board,) = data["judged"][0]["leaderboard"]["boards"]
    board["rows"][0]["result"]["value"] *= 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (a_nicer_board, f"its boards by rules {RULES} are not those of its records"),
        (lambda data: data["records"].update({f"a/1/b/{at(1)}.json": "0" * 64}), "is missing"),
        (
            lambda data: data["records"].update(dict.fromkeys(data["records"], "0" * 64)),
            "was altered",
        ),
        (lambda data: data["bundles"].update({at(1): "0" * 64}), f"{NIGHTS}/{at(1)} is missing"),
        (
            lambda data: data["bundles"].update(dict.fromkeys(data["bundles"], "0" * 64)),
            "is another bundle than the one that was frozen",
        ),
    ],
)
def test_a_round_that_was_edited_is_noticed(
    workspace: Workspace, first: Record, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    edited(workspace, change)
    (problem,) = problems(workspace)
    assert said in problem


def test_a_bundle_with_another_raw_output_than_its_record_says_is_noticed(
    workspace: Workspace,
) -> None:
    """As somebody makes it who also writes the sums and the manifest anew."""
    record = save(workspace, a_record(runs=[a_run()]))
    archive = open_archive(workspace.results)
    (workspace.results / record.runs[0].raw.path).write_text("nicer")
    pack(archive, [record.path])
    frozen(workspace)
    assert problems(workspace, raw=False) == []
    assert problems(workspace) == [f"{record.path}: run-1.json is not what was measured"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Invalid JSON"),
        ("[]", "Input should be an object"),
        ('{"schema": 1}', "schema: Input should be 2"),
        ('{"schema": 2, "name": "../../x"}', "name: String should match pattern"),
        (
            (
                f'{{"schema": 2, "name": "other", "frozen_at": "{at(0)}", "records": {{}}, '
                '"bundles": {}}'
            ),
            "name: it is that of other",
        ),
        (
            (
                f'{{"schema": 2, "name": "broken", "frozen_at": "{at(0)}", "records": {{}}, '
                '"bundles": {}}'
            ),
            "judged: it has no boards",
        ),
        (
            '{"schema": 2, "name": "first", "frozen_at": "2026-13-45T00-00-00.000000Z"}',
            "frozen_at: Value error, month must be in 1..12",
        ),
        (
            (
                f'{{"schema": 2, "name": "broken", "frozen_at": "{at(0)}", "records": {{}}, '
                f'"bundles": {{}}, "judged": [{{"derived_at": "{at(0)}", "leaderboard": '
                '{"rules": 1e999, "boards": []}}]}'
            ),
            "judged: 0: leaderboard: ",
        ),
    ],
)
def test_a_broken_round_is_one_line_and_the_others_stand(
    workspace: Workspace, first: Record, content: str, said: str
) -> None:
    (workspace.rounds / "broken.json").write_text(content)
    (_, broken), (file, found) = read_rounds(workspace.rounds)
    assert str(broken).startswith(said)
    assert len(str(broken).splitlines()) == 1
    assert isinstance(found, Round)
    assert file.stem == found.name == "first"


def test_hidden_files_and_folders_are_no_rounds(workspace: Workspace, first: Record) -> None:
    (workspace.rounds / ".httparena-draft-first.json").write_text("{")
    (workspace.rounds / "folder").mkdir()
    assert [file.name for file, _ in read_rounds(workspace.rounds)] == ["first.json"]


def test_a_round_of_an_older_runner_is_one_line(workspace: Workspace, first: Record) -> None:
    (old := workspace.rounds / "old").mkdir()
    (old / "round.json").write_text("{}")
    (folder, said), (file, _) = read_rounds(workspace.rounds)
    assert (folder, file.stem) == (old, "first")
    assert str(said).startswith("is a round of an older runner: move ")


def test_loose_copies_break_no_round_whose_raw_outputs_are_elsewhere(
    workspace: Workspace, first: Record
) -> None:
    save(workspace, first)
    next((workspace.results / NIGHTS).glob(f"*/{RAW}")).unlink()
    assert problems(workspace, raw=False) == []
    (said,) = problems(workspace)
    assert said.endswith(f"{RAW} is missing")


def test_a_record_that_is_in_no_bundle_is_one_line(workspace: Workspace, first: Record) -> None:
    loose = save(workspace, a_record("loose", minute=3))
    (name,) = (it.sha256 for it in open_archive(workspace.results).entries.values()
               if it.path == loose.path)  # fmt: skip
    edited(workspace, lambda data: data["records"].update({loose.path: name}))
    assert problems(workspace) == [f"{loose.path}: is in no bundle"]


def the_boards(data: dict[str, Any]) -> Any:
    return data["judged"][0]["leaderboard"]


def with_another_record(data: dict[str, Any]) -> None:
    the_boards(data)["boards"][0]["rows"][0]["result"]["record"] = a_record("none").path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda data: data["judged"].append(data["judged"][0]),
            "judged: the rules are not in order, each once",
        ),
        (with_another_record, f"judged: {a_record('none').path} is none of its records"),
    ],
)
def test_a_round_whose_boards_make_no_sense_is_one_line(
    workspace: Workspace, first: Record, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    edited(workspace, change)
    ((_, found),) = read_rounds(workspace.rounds)
    assert str(found) == said


def test_boards_that_cannot_be_derived_again_have_a_sum(
    workspace: Workspace, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those by older rules, and all if raw outputs lie elsewhere."""
    said = f"its boards by rules {RULES} have another sum than the one that was saved"
    whole = (workspace.rounds / "first.json").read_bytes()
    edited(workspace, a_nicer_board)
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "RULES", RULES + 1)
        assert problems(workspace) == [said]
    (the_bundle(workspace) / RAW).unlink()
    assert problems(workspace, raw=False) == [said]
    (workspace.rounds / "first.json").write_bytes(whole)
    assert problems(workspace, raw=False) == []
    edited(workspace, lambda data: data["judged"][0].pop("sha256"))
    assert problems(workspace, raw=False) == [said]


def test_a_bundle_is_read_once_however_many_rounds_have_it(
    workspace: Workspace, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, a_record("b", minute=1))
    frozen(workspace, "second")
    archive = open_archive(workspace.results)
    unpacked = count_calls(monkeypatch, Bundle, "extract")
    for name in ("first", "second"):
        assert list(problems_of(round_of(workspace, name), archive, raw=True)) == []
    assert len(unpacked) == 2


def test_a_freeze_opens_the_archive_once_and_nothing_that_is_the_same_is_hashed_again(
    workspace: Workspace, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, a_record("b", minute=1))
    opened = [count_calls(monkeypatch, it, "open_archive") for it in (packing, rounds)]
    frozen(workspace, "second")
    assert list(map(len, opened)) == [1, 0]
    open_archive(workspace.results)
    hashed = count_calls(monkeypatch, bundling, "sha256_of")
    open_archive(workspace.results)
    assert hashed == []
    flip(next((workspace.results / NIGHTS).iterdir()) / RAW)
    assert len(open_archive(workspace.results).broken) == 1
    assert len(hashed) == 1


def count_calls(patch: pytest.MonkeyPatch, where: Any, name: str) -> list[None]:
    """Return a list that has an element for each call from now on."""
    calls: list[None] = []
    real = getattr(where, name)

    def counted(*given: Any, **more: Any) -> Any:
        calls.append(None)
        return real(*given, **more)

    patch.setattr(where, name, counted)
    return calls


# ---- derived anew, exported


def test_newer_rules_add_boards_and_replace_none(
    workspace: Workspace, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = round_of(workspace)
    with pytest.raises(UsageError, match=f"has the boards by rules {RULES} already"):
        derive(workspace, "first")
    assert round_of(workspace) == before
    rules = "arena.judge.leaderboard.RULES"
    monkeypatch.setattr(rules, RULES + 1)
    monkeypatch.setattr(rounds, "RULES", RULES + 1)
    assert problems(workspace) == []  # Nothing has boards by today's rules yet.
    derive(workspace, "first")
    after = round_of(workspace)
    assert after.judged[:-1] == before.judged
    assert (after.newest.rules, after.newest.boards) == (RULES + 1, before.newest.boards)
    assert after.model_copy(update={"judged": before.judged}) == before
    assert problems(workspace) == []


def test_a_round_that_is_broken_is_not_derived(
    workspace: Workspace, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "RULES", RULES + 1)
    before = (workspace.rounds / "first.json").read_bytes()
    shutil.rmtree(the_bundle(workspace))
    with pytest.raises(UsageError, match=r"first\.json: nights/.* is missing"):
        derive(workspace, "first")
    assert (workspace.rounds / "first.json").read_bytes() == before


def test_what_is_exported_is_what_was_there(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(workspace, a_record(name, 1e6, 2e6))
    other = save(workspace, a_record("c", failure="it fell", minute=9))
    before = files(workspace.results)
    pack(open_archive(workspace.results), [other.path])
    frozen(workspace)
    save(workspace, a_record("later"))
    export(round_of(workspace), open_archive(workspace.results), tmp_path / "out" / "first")
    out = tmp_path / "out" / "first"
    assert files(out) == before
    again = open_archive(out)
    assert (len(again.entries), again.broken) == (3, {})
    assert all(not it.problem and UNPROVEN not in it.flags for it in again.entries.values())


def test_an_export_writes_over_nothing_and_not_from_what_is_broken(
    workspace: Workspace, first: Record, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="there: exists already"):
        export(round_of(workspace), open_archive(workspace.results), tmp_path / "there")
    (the_bundle(workspace) / RAW).unlink()
    with pytest.raises(UsageError, match=f"round first: .*{RAW} is missing"):
        export(round_of(workspace), open_archive(workspace.results), tmp_path / "new")
    flip(the_bundle(workspace) / RECORDS)
    with pytest.raises(UsageError, match=f"round first: .*{RECORDS} was altered"):
        export(round_of(workspace), open_archive(workspace.results), tmp_path / "newer")
    assert not (tmp_path / "newer").exists()
