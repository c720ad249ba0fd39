"""`arena round` and `arena raw`."""

import json
from pathlib import Path

import pytest

from arena.judge import leaderboard, rounds
from arena.judge.archive import open_archive
from arena.judge.derive import RULES
from arena.judge.packing import pack
from arena.judge.rounds import read_round
from arena.record.bundle import RAW
from arena.record.record import Record
from tests.commandline import Line
from tests.fakes import a_record, a_run, save


@pytest.fixture
def first(line: Line) -> Record:
    """Freeze a round of one record; return the record."""
    (record,) = save(line.workspace.results, a_record(runs=[a_run()]))
    assert line("round", "freeze", "first", "--note", "why").code == 0
    return record


def the_raw(line: Line) -> Path:
    (file,) = line.workspace.nights.glob(f"*/{RAW}")
    return file


def name_of(line: Line, record: Record) -> str:
    return open_archive(line.workspace.results).entries[record.path].sha256


def newer_rules(patch: pytest.MonkeyPatch) -> None:
    for where in (leaderboard, rounds):
        patch.setattr(where, "RULES", RULES + 1)


def older_round(line: Line) -> None:
    (old := line.workspace.rounds / "old").mkdir()
    (old / "round.json").write_text("{}")


def test_rounds_are_listed_and_what_is_none_is_said(line: Line, first: Record) -> None:
    frozen_at = read_round(line.workspace.rounds / "first.json").frozen_at
    listed = line("round", "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.split() == ["first", frozen_at, "1", "record", "rules", str(RULES)]
    older_round(line)
    again = line("round", "list")
    assert (again.code, again.out) == (2, listed.out)
    assert again.err.startswith("error: results/rounds/old: is a round of an older runner: move ")


def test_rounds_are_verified_one_by_one(line: Line, first: Record) -> None:
    for words in ((), ("first",), ("--raw",)):
        done = line("round", "verify", *words)
        assert (done.code, done.out) == (0, "first: is as it was frozen\n")
    unknown = line("round", "verify", "frist")
    assert unknown.code == 2
    assert unknown.err.startswith("error: there is no round 'frist'")
    older_round(line)
    done = line("round", "verify")
    assert (done.code, done.out) == (2, "first: is as it was frozen\n")
    assert "rounds/old: is a round of an older runner" in done.err


def test_raw_outputs_may_lie_elsewhere_unless_they_are_asked_for(line: Line, first: Record) -> None:
    (raw := the_raw(line)).unlink()
    assert line("round", "verify").code == 0
    done = line("round", "verify", "--raw")
    assert (done.code, done.out) == (2, "")
    where = f"nights/{raw.parent.name}: {RAW} is missing"
    assert done.err == f"error: results/rounds/first.json: {where}\n"


def test_boards_by_older_rules_are_said_to_be_and_those_by_newer_are_added(
    line: Line, first: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = line("round", "derive", "first")
    assert refused.code == 2
    assert refused.err.endswith(f"has the boards by rules {RULES} already\n")
    newer_rules(monkeypatch)
    older = "with boards by older rules: arena.sh round derive first"
    assert line("round", "verify").out == f"first: is as it was frozen, {older}\n"
    done = line("round", "derive", "first")
    assert done.out == "round: results/rounds/first.json: has boards by today's rules\n"
    assert line("round", "verify").out == "first: is as it was frozen\n"
    assert line("round", "list").out.strip().endswith(f"rules {RULES}, {RULES + 1}")


def test_a_round_is_exported_with_its_sums(line: Line, first: Record, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = line("round", "export", "first", str(out))
    assert (done.code, done.out.rpartition(": ")[2]) == (0, "1 record\n")
    found = open_archive(out).entries[first.path]
    assert (found.sha256, found.problem, found.flags) == (name_of(line, first), "", ())
    assert line("round", "export", "first", str(out)).err.endswith("exists already\n")
    (line.workspace.rounds / "first.json").write_text("{")
    broken = line("round", "export", "first", str(tmp_path / "new"))
    assert (broken.code, len(broken.err.splitlines())) == (2, 1)


def test_what_was_saved_of_a_record_is_shown(line: Line, first: Record) -> None:
    (loose,) = save(line.workspace.results, a_record("loose", minute=5))
    for record in (first, loose):
        for word in (
            record.path, f"results/{record.path}", record.path.removesuffix(".json"),
            name_of(line, record)[:16],
        ):  # fmt: skip
            done = line("raw", word)
            assert (done.code, json.loads(done.out)["started_at"]) == (0, record.started_at)
            assert "run-1.json: " in done.err


def test_a_file_beside_a_record_is_written_as_it_is(line: Line) -> None:
    (record,) = save(line.workspace.results, a_record())
    raw = (line.workspace.results / record.runs[0].raw.path).read_text()
    assert line("raw", record.path, "run-1.json").out == raw
    assert line("round", "freeze", "first").code == 0
    assert line("raw", record.path, "run-1.json").out == raw


def test_what_was_altered_is_shown_with_a_warning(line: Line) -> None:
    edited, nicer = save(line.workspace.results, a_record("edited"), a_record("nicer"))
    file = line.workspace.results / edited.path
    file.write_text(file.read_text() + " ")
    (line.workspace.results / nicer.runs[0].raw.path).write_text("nicer")
    done = line("raw", edited.path)
    assert (done.code, done.out) == (0, file.read_text())
    (warning,) = (each for each in done.err.splitlines() if each.startswith("warning: "))
    assert warning.startswith(f"warning: {edited.path}: its file was altered after it was saved")
    done = line("raw", nicer.path, "run-1.json")
    assert (done.code, done.out) == (0, "nicer")
    assert done.err == f"warning: {nicer.path}: run-1.json is not what was measured\n"


def test_a_bundled_raw_output_that_is_not_its_records_has_a_warning(line: Line) -> None:
    (record,) = save(line.workspace.results, a_record())
    archive = open_archive(line.workspace.results)
    (line.workspace.results / record.runs[0].raw.path).write_text("nicer")
    assert pack(archive, [record.path])
    done = line("raw", record.path, "run-1.json")
    assert (done.code, done.out) == (0, "nicer")
    assert done.err == f"warning: {record.path}: run-1.json is not what was measured\n"


@pytest.mark.parametrize("ending", ["", ".json"])
def test_a_record_that_is_cut_short_is_said_to_be(line: Line, ending: str) -> None:
    (record,) = save(line.workspace.results, a_record())
    file = line.workspace.results / record.path
    file.write_text(file.read_text()[:500])
    done = line("raw", record.path.removesuffix(".json") + ending)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert done.err.startswith(f"error: {record.path}: is not a whole JSON file (line ")


def test_a_freeze_says_what_moved_and_what_was_there(line: Line, first: Record) -> None:
    save(line.workspace.results, a_record("second"))
    done = line("round", "freeze", "again")
    assert done.out.splitlines()[:2] == [
        "round: results/rounds/again.json: 2 records in 2 bundles",
        "1 record moved into a new bundle, 1 is in bundles already",
    ]
    assert line("round", "freeze", "third").out.splitlines()[1] == "2 are in bundles already"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none",), "there is no record 'none': give its path or its name"),
        (("",), "is the beginning of 2 names: give more of it"),
    ],
)
def test_a_record_that_is_not_one_is_one_line(
    line: Line, words: tuple[str, ...], said: str
) -> None:
    save(line.workspace.results, a_record("a"), a_record("b"))
    done = line("raw", *words)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert said in done.err


def test_what_a_record_lacks_is_one_line(line: Line, first: Record) -> None:
    for file in ("run-9.json", "../../x"):
        done = line("raw", first.path, file)
        assert (done.code, done.out) == (2, "")
        assert f"has no file {file!r}" in done.err
    the_raw(line).unlink()
    done = line("raw", first.path, "run-1.json")
    assert (done.code, done.err) == (2, f"error: {first.path}: {RAW} is missing\n")
