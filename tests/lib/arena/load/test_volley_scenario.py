"""`volley run` for a profile: its command line, the file that it reads, and what it measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.load import measurements, volley
from arena.load.ghz import GHZ
from arena.load.h2load import H2LOAD
from arena.load.volley import VOLLEY
from arena.what.loads import Scenario
from arena.what.profile import MeasuredProfile, load_profile, measured_profile
from arena.what.scenarios import MADE
from tests.fakes import ITEMS, a_profile

REPORTS = Path(__file__).parents[3] / "fixtures" / "volley" / "scenario"


def items(workspace: Workspace, name: str = "crud-h2c", **changes: Any) -> MeasuredProfile:
    """Return one of the profiles of items, with changes of its load."""
    profile = load_profile(workspace.profiles, name)
    changed = profile.changed(load=profile.load_as(Scenario).changed(**changes))
    return measured_profile(changed, profile.connections[0])


def written(workspace: Workspace, profile: MeasuredProfile) -> dict[str, Any]:
    """Return what stands in the file that volley is given."""
    VOLLEY.prepare(profile, workspace)
    _, path, *_ = volley.scenario(profile, None)
    found: dict[str, Any] = json.loads((workspace.root / path).read_text())
    return found


def test_each_load_has_a_file_of_its_own_which_its_name_identifies(workspace: Workspace) -> None:
    words = volley.scenario(items(workspace), None)
    assert words[0] == "run"
    assert words[1].startswith(f"{MADE}/")
    assert words[2:] == ["--quiet", "-O", "json"]
    assert volley.scenario(items(workspace), None) == words
    for other in (
        items(workspace, "crud-tls"),
        items(workspace, "crud-h1"),
        items(workspace, "crud-paced"),
        items(workspace, duration_s=1.0),
        items(workspace).changed(connection_count=5),
    ):
        assert volley.scenario(other, None)[1] != words[1]


def test_there_is_a_thread_for_each_cpu_of_its_own_unless_the_profile_says_how_many(
    workspace: Workspace,
) -> None:
    def threads(profile: MeasuredProfile, cpus: list[int] | None) -> list[str]:
        words = volley.scenario(profile, cpus)
        return words[2 : words.index("--quiet")]

    assert threads(items(workspace), None) == []
    assert threads(items(workspace), [0, 1, 2]) == ["--threads", "3"]
    assert threads(items(workspace), list(range(9))) == ["--threads", "4"]
    assert threads(items(workspace, threads=2), None) == ["--threads", "2"]
    assert threads(items(workspace, threads=2), [0]) == ["--threads", "2"]


def test_users_go_to_the_server_over_what_the_profile_says(workspace: Workspace) -> None:
    plan = written(workspace, items(workspace))
    assert plan["targets"] == {"api": {"hosts": "http://localhost:8080"}}
    assert plan["http"] == {"version": 2, "timeout": "10s", "connections": 4, "streams": 128}
    assert plan["load"] == [{"users": 512, "for": "5s"}]
    assert plan["limits"] == {"iterations_open": 512, "drain": "10s"}
    assert [step["name"] for step in plan["scenarios"]["crud"]["steps"]] == [
        "create", "change", "remove",
    ]  # fmt: skip
    over_tls = written(workspace, items(workspace, "crud-tls"))
    tls = {"hosts": "https://localhost:8443", "tls": {"insecure": True}}
    assert over_tls["targets"] == {"api": tls}
    assert written(workspace, items(workspace, "crud-h1"))["http"] == {
        "version": 1, "timeout": "10s", "connections": 32, "streams": 1,
    }  # fmt: skip


def test_a_rate_is_that_of_iterations(workspace: Workspace) -> None:
    plan = written(workspace, items(workspace, "crud-paced"))
    assert plan["load"] == [{"rate": "300/s", "for": "10s"}]
    assert plan["limits"]["iterations_open"] == 512
    slow = written(workspace, items(workspace, "crud-paced", rate=0.5))
    assert slow["load"][0]["rate"] == "0.5/s"


def test_a_folder_that_cannot_be_made_is_named(workspace: Workspace) -> None:
    workspace.tools.write_text("a file")
    with pytest.raises(HostError, match=r"\.tools/scenarios: cannot be made"):
        VOLLEY.prepare(items(workspace), workspace)


def test_volley_alone_makes_this_load_and_its_containers_see_its_file() -> None:
    profile = a_profile(**ITEMS)
    assert VOLLEY.problem(profile) == ""
    for other in (GHZ, H2LOAD):
        assert other.problem(profile) == "a scenario load is not one it knows"
    assert MADE in VOLLEY.folders


def test_the_rate_is_that_of_requests_that_succeeded() -> None:
    found = measurements.of_scenario(REPORTS / "faults.json", a_profile(**ITEMS))
    assert (found.calls.ok, found.calls.cut, found.messages) == (3020, 7, 3020)
    assert found.calls.failed == {"missing value": 21, "status": 31, "timeout": 25}
    assert found.rate == found.rate_at_least == found.rate_at_most == 3020 / found.elapsed_s
    assert [(step.name, step.count, step.ok) for step in found.steps] == [
        ("create", 1073, 1025), ("change", 1025, 1006), ("remove", 1006, 989),
    ]  # fmt: skip
    # A status is not what a response says; a value that is missing from it is.
    assert found.wrong.calls == 21
    assert found.steps[1].failed == {"status": 13, "timeout": 5}
    assert found.steps[1].latency_ns.samples == 1006


def test_only_a_load_at_a_given_rate_has_iterations_that_were_due() -> None:
    raw = REPORTS / "paced.json"
    paced = a_profile(**ITEMS | {"rate": 100.0, "metric": "p99 latency"})
    due = [each.intended for each in measurements.of_scenario(raw, paced).seconds]
    assert due == [100, 30]
    users = measurements.of_scenario(raw, a_profile(**ITEMS))
    assert {each.intended for each in users.seconds} == {None}
    assert sum(each.sent or 0 for each in users.seconds) == 76


@pytest.mark.parametrize("path", sorted(REPORTS.glob("*.json")), ids=lambda path: path.name)
def test_every_captured_report_is_a_measurement(path: Path) -> None:
    profile = a_profile(**ITEMS)
    found = VOLLEY.way(profile).read(path, profile)
    assert sum(step.ok for step in found.steps) == found.calls.ok == found.messages
    assert sum(second.messages for second in found.seconds) == found.messages
