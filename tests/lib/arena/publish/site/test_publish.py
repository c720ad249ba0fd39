"""From records to the leaderboard and its page."""

import json
from typing import Any

import pytest

from arena.base.model import to_json
from arena.base.workspace import Workspace
from arena.judge.leaderboard import Leaderboard
from arena.publish.site.build import build as publish
from tests.fakes import FakeProgress, a_record, save
from tests.lib.arena.publish.editions import put
from tests.lib.arena.publish.loads import lasting


def test_the_leaderboard_and_the_page_are_made_of_all_records(workspace: Workspace) -> None:
    save(workspace.results, a_record("fast", 2e6), a_record("slow", 1e6))
    progress = FakeProgress()
    page = publish(workspace, progress)
    assert page == workspace.site / "public" / "index.html"
    assert page.read_text().index("2.00 M") < page.read_text().index("1.00 M")
    text = (workspace.results / "leaderboard.json").read_text()
    rows = Leaderboard.model_validate_json(text).boards[0].rows
    assert [row.framework for row in rows] == ["fast", "slow"]
    assert progress.lines == []


def test_a_broken_record_is_left_out_and_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)
    save(workspace.results, a_record("good", 1e6))
    put(workspace.results / "stream-grpc/64/bad/2026.json", '{"schema": 9}')
    progress = FakeProgress()
    text = publish(workspace, progress).read_text()
    assert ">good<" in text
    said = "is left out: schema 9 is newer than this runner's 2"
    assert progress.lines == [f"warning: results/stream-grpc/64/bad/2026.json {said}"]


TIME, NO_DAY = "2026-01-01T00-00-00.000000Z", "2026-02-30T00-00-00.000000Z"


@pytest.mark.parametrize(
    ("folder", "stem", "changes", "said"),
    [
        ("bad", "now", {"started_at": "now"}, "started_at: String should match pattern"),
        ("bad", NO_DAY, {"started_at": NO_DAY}, "day is out of range"),
        ("bad", TIME, {"headline": {"run": 9}}, "headline: there is no run 9"),
        ("bad", TIME, {"headline": {"run": 0}}, "headline: there is no run 0"),
        ("bad", TIME, {"headline": None}, "a record that is ok must have a headline"),
        ("bad", TIME, {"status": "failed"}, "a record that is failed must say why"),
        ("bad", TIME, {"framework": {"name": "bad/../../x"}}, "framework.name: String should"),
        ("other", TIME, {}, f"it belongs to stream-grpc/64/bad/{TIME}.json"),
        ("bad", "2026-01-02T00-00-00.000000Z", {}, f"it belongs to stream-grpc/64/bad/{TIME}.json"),
    ],
)
def test_a_record_that_cannot_be_a_row_is_left_out_and_the_others_stand(
    workspace: Workspace, folder: str, stem: str, changes: dict[str, Any], said: str
) -> None:
    data = json.loads(to_json(a_record("bad", 9e6)))
    for key, value in changes.items():
        data[key] = {**data[key], **value} if isinstance(value, dict) else value
    put(workspace.results / f"stream-grpc/64/{folder}/{stem}.json", json.dumps(data))
    save(workspace.results, a_record("good", 1e6))
    progress = FakeProgress()
    text = publish(workspace, progress).read_text()
    assert ">1.00 M<" in text
    assert ">9.00 M<" not in text
    (warning,) = progress.lines
    assert f"{stem}.json is left out: " in warning
    assert said in warning


def test_publishing_twice_changes_no_byte(workspace: Workspace) -> None:
    save(workspace.results, a_record("a", 1e6), lasting("b", 1000.0))
    made = [workspace.results / "leaderboard.json", publish(workspace, FakeProgress())]
    before = [path.read_bytes() for path in made]
    publish(workspace, FakeProgress())
    assert [path.read_bytes() for path in made] == before
