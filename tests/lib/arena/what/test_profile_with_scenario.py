"""Profiles of scenarios: what is read of the file that they name, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.judge.load_key import digest_of
from arena.what.loads import Scenario
from arena.what.metrics import Metric
from arena.what.profile import Profile, load_profile, measured_profile

PLAN: dict[str, Any] = {
    "targets": {"api": "http://elsewhere:1"},
    "scenarios": {"look": {"steps": [{"name": "read", "get": "${api}/"}]}},
}


def load(workspace: Workspace, plan: object = PLAN, **changes: Any) -> Profile:
    """Load a profile like crud-h2c, with changes, of a file with this plan or text."""
    text = plan if isinstance(plan, str) else json.dumps(plan)
    (workspace.requests / "own.yaml").write_text(text)
    profile = {"extends": "crud-h2c", "name": "own", "scenario": "requests/own.yaml", **changes}
    (workspace.profiles / "own.yaml").write_text(yaml.safe_dump(profile))
    return load_profile(workspace.profiles, "own")


def scenario(profile: Profile) -> Scenario:
    return profile.load_as(Scenario)


def test_the_profiles_of_items_differ_in_the_protocol_the_port_and_the_pace() -> None:
    folder = Path(__file__).resolve().parents[4] / "profiles"
    h2c, tls, h1, paced = (
        load_profile(folder, f"crud-{name}") for name in ("h2c", "tls", "h1", "paced")
    )
    files = {scenario(each).scenario.sha256 for each in (h2c, tls, h1, paced)}
    assert len(files) == 1
    assert [(each.port, each.tls) for each in (h2c, tls, h1)] == [
        (8080, False), (8443, True), (8080, False),
    ]  # fmt: skip
    assert [scenario(each).http_version for each in (h2c, tls, h1)] == [2, 2, 1]
    assert [each.load.in_flight(each.connections[0]) for each in (h2c, h1)] == [512, 32]
    assert (h2c.metric, paced.metric) == (Metric.REQUESTS, Metric.P99)
    assert (scenario(h2c).rate, scenario(paced).rate) == (None, 300.0)


def test_the_bodies_of_the_items_have_317_bytes() -> None:
    folder = Path(__file__).resolve().parents[4] / "profiles"
    plan = scenario(load_profile(folder, "crud-h2c")).scenario.plan
    create, change, _ = plan["scenarios"]["crud"]["steps"]
    for step in (create, change):
        body = json.dumps(step["json"], separators=(",", ":")).replace("${sku}", "0" * 8)
        assert len(body) == 317


def test_a_profile_of_a_scenario_makes_no_call() -> None:
    profile = load_profile(Path(__file__).resolve().parents[4] / "profiles", "crud-h1")
    assert (profile.call, profile.request, profile.messages_per_call) == ("", {}, 1)
    assert profile.call_words == "requests/crud.yaml, HTTP/1.1"


def test_the_files_own_load_does_not_count(workspace: Workspace) -> None:
    more = {"load": [{"users": 1, "for": "9s"}], "thresholds": ["p99 < 1ms"], "control": ":1"}
    own = scenario(load(workspace, {**PLAN, **more})).scenario
    assert own == scenario(load(workspace)).scenario
    assert own.plan.keys() == {"targets", "scenarios", "http", "limits"}


def test_a_change_of_what_is_sent_is_another_load(workspace: Workspace) -> None:
    def digest(plan: object) -> str:
        return digest_of(measured_profile(load(workspace, plan), 4))

    first = digest(PLAN)
    assert digest("# A remark.\n" + json.dumps(PLAN, indent=4)) == first
    changed = json.loads(json.dumps(PLAN).replace("read", "reads"))
    assert digest(changed) != first


def test_a_change_of_a_file_that_it_names_is_another_load(workspace: Workspace) -> None:
    data = {"user": {"csv": "users.csv"}}
    (workspace.requests / "users.csv").write_text("name\nann\n")
    before = scenario(load(workspace, {**PLAN, "data": data})).scenario
    (workspace.requests / "users.csv").write_text("name\nbob\n")
    after = scenario(load(workspace, {**PLAN, "data": data})).scenario
    assert before.sha256 != after.sha256


def test_files_are_named_as_they_are_seen_from_the_folder_of_volleys_files(
    workspace: Workspace,
) -> None:
    for name in ("users.csv", "rows.jsonl", "patch.json", "photo", "shop.proto"):
        (workspace.requests / name).write_text("")
    steps = [
        {"name": "a", "post": "${api}/", "body": {"file": "patch.json"}},
        {"together": [{"name": "b", "multipart": [{"name": "x", "file": "./photo"}]}]},
        {"name": "c", "json": {"file": "this is none", "csv": "nor this"}},
    ]
    plan = {
        **PLAN,
        "data": {"user": {"csv": "users.csv"}, "row": {"jsonl": "rows.jsonl"}, "n": {"range": []}},
        "protos": "shop.proto",
        "import_paths": ["."],
        "scenarios": {"look": {"steps": steps}},
    }
    found = json.dumps(scenario(load(workspace, plan)).scenario.plan)
    for name in ("users.csv", "rows.jsonl", "patch.json", "photo", "shop.proto"):
        assert f'"../../requests/{name}"' in found
    assert '"import_paths": ["../../requests"]' in found
    assert '{"file": "this is none", "csv": "nor this"}' in found


def test_yaml_is_read_as_volley_reads_it(workspace: Workspace) -> None:
    text = f"""
targets: {json.dumps(PLAN["targets"])}
scenarios: &all
  look:
    steps:
      - name: on
        json: {{a: yes, b: 010, c: 2024-01-01, d: 1.5, e: 7, f: ~, g: true}}
data: {{n: {{rows: [12:30:00]}}}}
"""
    plan = scenario(load(workspace, text)).scenario.plan
    step = plan["scenarios"]["look"]["steps"][0]
    assert step["name"] == "on"
    assert step["json"] == {
        "a": "yes", "b": "010", "c": "2024-01-01", "d": 1.5, "e": 7, "f": None, "g": True,
    }  # fmt: skip
    assert plan["data"]["n"]["rows"] == ["12:30:00"]


def refused(workspace: Workspace, plan: object = PLAN, **changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        load(workspace, plan, **changes)
    line = str(caught.value)
    assert "\n" not in line
    assert "profiles/own.yaml: " in line
    return line.partition("profiles/own.yaml: ")[2]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"call": "a.B/C"}, "call: is not for a scenario load"),
        ({"expect": ["a = 1"]}, "expect: is not for a scenario load"),
        ({"proto": "requests/health.proto"}, "proto: is not for a scenario load"),
        ({"concurrency": 3}, "concurrency: is not for a scenario load"),
        ({"scenario": None}, "scenario: is missing: a scenario load needs it"),
        ({"scenario": 7}, "scenario: names no scenario file below requests/: write a path such as"),
        ({"scenario": "profiles/x.yaml"}, "scenario: names no scenario file below requests/"),
        ({"scenario": "requests/../x.yaml"}, "scenario: names no scenario file below requests/"),
        ({"scenario": "requests/x.lua"}, "scenario: names no scenario file below requests/"),
        ({"scenario": "requests/crut.yaml"},
         "scenario: there is no requests/crut.yaml (did you mean requests/crud.yaml"),
        ({"http_version": 3}, "http_version: Input should be 1 or 2, not 3"),
        ({"http_version": 1},
         "streams_per_connection: must be 1: HTTP/1.1 has one request at a time"),
        ({"threads": 5}, "threads: 5 is more than the 4 connections"),
        ({"rate": 0}, "rate: Input should be greater than or equal to 0.001"),
        ({"rate": 5}, "metric: requests/s is not for a scenario load (write p99 latency)"),
        ({"metric": "p99 latency"}, "metric: p99 latency is not for a scenario load"),
        ({"metric": "messages/s"}, "metric: messages/s is not for a scenario load"),
    ],
)  # fmt: skip
def test_a_key_that_does_not_fit_is_named(
    workspace: Workspace, changes: dict[str, Any], complaint: str
) -> None:
    assert refused(workspace, **changes).startswith(complaint)


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        ({"scenarios": {}}, "targets: must be a mapping"),
        ({"targets": {}}, "scenarios: must be a mapping"),
        ({**PLAN, "http": [1]}, "http: must be a mapping"),
        ({**PLAN, "limits": 7}, "limits: must be a mapping"),
        ([], "must be a mapping"),
        ("a: [", "line 1: "),
        ("a: &a [*a]", "is not what JSON can hold"),
        ("? [1]\n: 2", "line 1: "),
        ("\0", "is not YAML"),
        ({**PLAN, "scenarios": {"look": {"load": []}}},
         "scenarios.look.load: the load is in the profile"),
        ({**PLAN, "data": {"user": {"csv": "none.csv"}}},
         "names `none.csv`: No such file or directory"),
        ({**PLAN, "data": {"user": {"csv": "../profiles/own.yaml"}}},
         "names `../profiles/own.yaml`, which is not below requests/"),
        ({**PLAN, "protos": [{"a": 1}]}, "names `{'a': 1}`: No such file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_a_profiles_is_refused(
    workspace: Workspace, plan: object, complaint: str
) -> None:
    line = refused(workspace, plan)
    assert line.startswith("scenario: ")
    assert "own.yaml: " in line
    assert complaint in line


def test_a_record_has_the_hash_of_the_file_but_not_what_is_in_it(workspace: Workspace) -> None:
    profile = measured_profile(load(workspace), 4)
    text = profile.model_dump_json()
    assert scenario(profile).scenario.sha256 in text
    assert "elsewhere" not in text
    again = type(profile).model_validate_json(text)
    assert scenario(again).scenario.plan == {}
    assert digest_of(again) == digest_of(profile)
