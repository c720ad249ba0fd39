"""The limits file, and what past records teach."""

import json
from typing import Any

import pytest

from arena.base.workspace import Workspace
from arena.machine import facts
from arena.measure.limits import host_words, limits_file, limits_here
from arena.record.measurement import Watch
from tests.fakes import FakeProgress, a_record, a_run, save


@pytest.fixture(autouse=True)
def _records_of_this_host(workspace: Workspace) -> None:
    """Save 24 records with a foreign CPU that scatters around 1.2 %."""
    here = facts.describe(None)
    for minute in range(24):
        watch = Watch(elapsed_s=5.0, cpus=2, foreign=0.010 + minute % 5 / 1000, softirq=0.0)
        record = a_record(minute=minute, runs=[a_run().changed(watch=watch)])
        provenance = record.provenance.changed(host=here)
        save(workspace.results, record.changed(provenance=provenance))


def file_of(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(limits_file(workspace).read_text())
    return found


def test_limits_are_learned_from_records_and_kept_in_a_file(workspace: Workspace) -> None:
    shows = FakeProgress()
    limits = limits_here(workspace, shows)
    assert limits.limits["foreign"].windows == 24
    assert 0.012 < (limits.in_force("foreign") or 0) < 0.03
    kept = file_of(workspace)["limits"]["foreign"]
    assert (kept["first"], kept["in_force"]) == (0.01, limits.in_force("foreign"))
    assert shows.lines == []
    assert limits_here(workspace, shows) == limits


def test_the_file_can_be_deleted(workspace: Workspace) -> None:
    limits = limits_here(workspace, FakeProgress())
    limits_file(workspace).unlink()
    again = limits_here(workspace, FakeProgress())
    assert again.limits == limits.limits


def test_records_of_another_host_teach_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = facts.describe(None).changed(cpu="another CPU")
    monkeypatch.setattr(facts, "describe", lambda _: other)
    assert limits_here(workspace, FakeProgress()).limits["foreign"].windows == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1: "),
        ('{"schema": 1}', "host: Field required"),
        ('{"schema": 1, "host": "h", "limits": {"steal": {"in_force": -1}}}', "limits.steal."),
        ('{"schema": 1, "host": "elsewhere", "limits": {}}', "is of another host (elsewhere)"),
    ],
)
def test_a_broken_or_foreign_file_is_reported_in_a_line_and_made_again(
    workspace: Workspace, text: str, words: str
) -> None:
    path = limits_file(workspace)
    path.parent.mkdir()
    path.write_text(text)
    shows = FakeProgress()
    limits_here(workspace, shows)
    assert len(shows.lines) == 1
    assert words in shows.lines[0]
    assert shows.lines[0].endswith("the limits are learned again")
    assert file_of(workspace)["host"] == host_words(facts.describe(None))


def test_limits_that_are_not_to_be_kept_leave_no_file(workspace: Workspace) -> None:
    limits = limits_here(workspace, FakeProgress(), is_kept=False)
    assert limits.limits["foreign"].windows == 24
    assert not limits_file(workspace).exists()


def test_a_broken_record_is_passed_over(workspace: Workspace) -> None:
    folder = next(workspace.results.glob("*/*/*"))
    (folder / "2027-01-01T00-00-00.000000Z.json").write_text('{"runs": 7}')
    assert limits_here(workspace, FakeProgress()).limits["foreign"].windows == 24


def test_limits_that_cannot_be_kept_hold_all_the_same(workspace: Workspace) -> None:
    limits_file(workspace).parent.write_text("in the way")
    shows = FakeProgress()
    assert limits_here(workspace, shows).limits["foreign"].windows == 24
    assert "cannot be written" in shows.lines[0]
