"""From records to the leaderboard and its page."""

import pytest
from tests.fakes import FakeProgress, a_record

from arena.leaderboard import Leaderboard
from arena.publish import publish
from arena.records import Draft
from arena.workspace import Workspace


def save(workspace: Workspace, name: str, rate: float) -> None:
    with Draft(workspace.results) as draft:
        draft.save(a_record(name, rate))


def test_the_leaderboard_and_the_page_are_made_of_all_records(workspace: Workspace) -> None:
    save(workspace, "fast", 2e6)
    save(workspace, "slow", 1e6)
    progress = FakeProgress()
    page = publish(workspace, progress)
    assert page == workspace.site / "public" / "index.html"
    assert page.read_text().index("2.00 M") < page.read_text().index("1.00 M")
    text = (workspace.results / "leaderboard.json").read_text()
    assert [row.framework for row in Leaderboard.model_validate_json(text).boards[0].rows] == [
        "fast",
        "slow",
    ]
    assert progress.lines == []


def test_a_broken_record_is_left_out_and_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)
    save(workspace, "good", 1e6)
    broken = workspace.results / "stream-grpc" / "64" / "bad" / "2026.json"
    broken.parent.mkdir()
    broken.write_text('{"schema": 9}')
    progress = FakeProgress()
    text = publish(workspace, progress).read_text()
    assert ">good<" in text
    (warning,) = progress.lines
    assert warning == (
        "warning: results/stream-grpc/64/bad/2026.json is left out: "
        "schema 9 is newer than this runner's 1"
    )


def test_publishing_twice_changes_no_byte(workspace: Workspace) -> None:
    save(workspace, "a", 1e6)
    made = [workspace.results / "leaderboard.json", publish(workspace, FakeProgress())]
    before = [path.read_bytes() for path in made]
    publish(workspace, FakeProgress())
    assert [path.read_bytes() for path in made] == before
