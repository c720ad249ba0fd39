"""The limits file, and what past records teach."""

import json
from typing import Any

import pytest

from arena.base.workspace import Workspace
from arena.machine import facts
from arena.machine.sentinel.limits import Busy
from arena.record.measurement import Watch
from arena.run.limits import host_words, limits_file, limits_here
from tests.fakes import FakeProgress, a_record, a_run, save


class Look:
    """What an idle host does, as a test says; `times` it was looked at."""

    share = 0.0
    times = 0

    def __call__(self, _: object) -> tuple[list[Watch], tuple[Busy, ...]]:
        self.times += 1
        watch = Watch(elapsed_s=1.0, cpus=2, foreign=self.share, softirq=0.0)
        return [watch] * 8, (Busy(name="agent (7)", share=self.share),)


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> Look:
    found = Look()
    monkeypatch.setattr("arena.run.limits.look", found)
    return found


@pytest.fixture(autouse=True)
def _records_of_this_host(workspace: Workspace) -> None:
    """Save 24 records with a foreign CPU that scatters around 1.2 %."""
    here = facts.describe(None)
    for minute in range(24):
        watch = Watch(elapsed_s=5.0, cpus=2, foreign=0.010 + minute % 5 / 1000, softirq=0.0)
        record = a_record(minute=minute, runs=[a_run().changed(watch=watch)])
        provenance = record.provenance.changed(host=here)
        save(workspace.results, record.changed(provenance=provenance))


def told(shows: FakeProgress) -> list[str]:
    return [line for line in shows.lines if not line.startswith("look at what this host does")]


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
    assert told(shows) == []
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
    assert len(told(shows)) == 1
    assert words in told(shows)[0]
    assert told(shows)[0].endswith("the limits are learned again")
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
    assert "cannot be written" in told(shows)[0]


def test_the_background_is_measured_once_told_with_its_makers_and_kept(
    workspace: Workspace, idle: Look
) -> None:
    idle.share = 0.018
    shows = FakeProgress()
    limits = limits_here(workspace, shows)
    assert told(shows) == ["background: 1.8 % of the CPUs (agent (7) 1.8 %); up to 2.8 % is quiet"]
    assert limits.in_force("foreign") == pytest.approx(0.028)
    assert limits_here(workspace, shows) == limits
    assert idle.times == 1


def test_a_background_is_measured_again_after_a_day(
    workspace: Workspace, idle: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["2026-05-01T10-00-00.000000Z"]
    monkeypatch.setattr("arena.run.limits.utc_now", lambda: now[0])
    idle.share = 0.02
    limits_here(workspace, FakeProgress())
    now[0] = "2026-05-02T09-59-00.000000Z"  # The limits are learned again, but beside it.
    assert limits_here(workspace, FakeProgress()).in_force("foreign") == pytest.approx(0.03)
    assert idle.times == 1
    now[0], idle.share = "2026-05-02T10-01-00.000000Z", 0.0
    limits_here(workspace, FakeProgress())
    assert idle.times == 2


def test_a_host_that_is_busy_has_no_background_and_is_looked_at_again_after_an_hour(
    workspace: Workspace, idle: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["2026-05-01T10-00-00.000000Z"]
    monkeypatch.setattr("arena.run.limits.utc_now", lambda: now[0])
    idle.share = 0.3
    shows = FakeProgress()
    limits = limits_here(workspace, shows)
    assert limits.background is None
    assert limits.in_force("foreign") == pytest.approx(0.017)
    assert told(shows)[0] == (
        "warning: other programs use 30 % of this host's CPUs (largest: agent (7) 30 %). "
        "Above 1.7 %, runs are marked as disturbed: stop them, or wait."
    )
    now[0] = "2026-05-01T10-59-00.000000Z"
    limits_here(workspace, shows)
    assert idle.times == 1
    now[0], idle.share = "2026-05-01T11-01-00.000000Z", 0.01
    assert limits_here(workspace, shows).background


def test_limits_of_an_earlier_runner_get_a_background(workspace: Workspace, idle: Look) -> None:
    limits_here(workspace, FakeProgress())
    path = limits_file(workspace)
    kept = json.loads(path.read_text())
    del kept["background"], kept["looked_at"]
    path.write_text(json.dumps(kept))
    idle.share = 0.02
    assert limits_here(workspace, FakeProgress()).background
    assert idle.times == 2


def test_where_foreign_cpu_is_not_judged_no_background_is_measured(
    workspace: Workspace, idle: Look
) -> None:
    limits_here(workspace, FakeProgress())
    path = limits_file(workspace)
    kept = json.loads(path.read_text())
    kept["limits"]["foreign"]["in_force"], kept["looked_at"] = None, None
    path.write_text(json.dumps(kept))
    assert limits_here(workspace, FakeProgress()).in_force("foreign") is None
    assert idle.times == 1
