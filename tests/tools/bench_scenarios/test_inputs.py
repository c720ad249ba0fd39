"""What the tools read: the same load for each."""

import json
import re

import pytest
import yaml

from tools.bench_scenarios import inputs
from tools.bench_scenarios.workloads import (
    BODY_BYTES,
    CHANGE_NOTE,
    CRUD_H1,
    CRUD_H2C,
    CRUD_LUA,
    CRUD_PACED,
    CRUD_TLS,
    GRPC_FLOW,
    ITEM_NOTE,
    MEMORY_OPEN,
    MEMORY_USERS,
    WORKLOADS,
    Workload,
)

CRUD = [each for each in WORKLOADS if not each.is_grpc]
SCENARIOS = [each for each in WORKLOADS if each.scenario]


def compact(body: object) -> str:
    return json.dumps(body, separators=(",", ":"))


@pytest.mark.parametrize("workload", CRUD, ids=lambda each: each.name)
def test_every_body_has_317_bytes(workload: Workload) -> None:
    plan = json.loads(inputs.scenario(workload, 4711, 2.0))
    create, change, remove = plan["scenarios"]["crud"]["steps"]
    item = {**create["json"], "sku": "0" * plan["data"]["sku"]["width"]}
    assert len(compact(item)) == len(compact(change["json"])) == BODY_BYTES
    assert "json" not in remove


@pytest.mark.parametrize("workload", CRUD, ids=lambda each: each.name)
def test_h2loadrunner_sends_the_same_bodies(workload: Workload) -> None:
    plan = json.loads(inputs.scenario(workload, 4711, 2.0))
    create, change, _ = plan["scenarios"]["crud"]["steps"]
    config = json.loads(inputs.h2loadrunner(workload, 4711, 2.0))
    post, patch, delete = config["Scenarios"][0]["Requests"]
    assert post["payload"] == compact(create["json"])
    assert patch["payload"] == compact(change["json"])
    assert "payload" not in delete
    # It fills a variable up to the length of the range's end.
    (sku,) = config["Scenarios"][0]["range-based-variables"]
    assert len(str(sku["variable-range-end"])) == plan["data"]["sku"]["width"]


def test_h2loadrunner_has_the_same_scripts() -> None:
    steps = json.loads(inputs.scenario(CRUD_LUA, 4711, 2.0))["scenarios"]["crud"]["steps"]
    config = json.loads(inputs.h2loadrunner(CRUD_LUA, 4711, 2.0))
    requests = config["Scenarios"][0]["Requests"]
    assert [each.get("luaScript") for each in requests] == [each.get("lua") for each in steps]
    assert [each["uri"]["typeOfAction"] for each in requests] == [
        "input",
        "fromLuaScript",
        "fromLuaScript",
    ]


def test_k6_sends_the_same_bodies() -> None:
    script = (inputs.HERE / "crud.js").read_text()
    lengths = [int(each) for each in re.findall(r'"n"\.repeat\((\d+)\)', script)]
    assert lengths == [len(CHANGE_NOTE), len(ITEM_NOTE)]


@pytest.mark.parametrize("workload", SCENARIOS, ids=lambda each: each.name)
def test_a_scenario_has_the_protocol_and_load_of_its_workload(workload: Workload) -> None:
    plan = json.loads(inputs.scenario(workload, 4711, 2.5))
    http = plan["http"]
    shape = (workload.http, workload.connections, workload.streams)
    assert (http["version"], http["connections"], http["streams"]) == shape
    (phase,) = plan["load"]
    assert phase["for"] == "2.5s"
    if workload.rate:
        assert phase["rate"] == f"{workload.rate // 3}/s"
        assert plan["limits"]["iterations_open"] == workload.in_flight
    else:
        assert phase["users"] == workload.in_flight


def test_memory_is_that_of_the_open_iterations_that_it_is_about() -> None:
    assert MEMORY_OPEN.in_flight == 10_000
    assert MEMORY_USERS.in_flight == 1000


def test_a_scenario_goes_to_the_server_of_the_bench() -> None:
    plan = json.loads(inputs.scenario(CRUD_TLS, 4711, 5.0))
    here = "https://127.0.0.1:4711"
    assert plan["targets"] == {"api": {"hosts": here, "tls": {"insecure": True}}}
    plan = json.loads(inputs.scenario(GRPC_FLOW, 4712, 5.0))
    assert plan["targets"] == {"rpc": {"hosts": "http://127.0.0.1:4712"}}
    (proto,) = plan["protos"]
    assert "service BenchmarkService" in (inputs.HERE / proto).read_text()


def test_files_in_the_repository_are_whole_scenarios() -> None:
    for file in inputs.HERE.glob("*.yaml"):
        plan = yaml.safe_load(file.read_text())
        assert {"targets", "http", "scenarios", "load"} <= set(plan), file.name


def test_the_rate_of_h2loadrunner_is_that_of_a_connection() -> None:
    config = json.loads(inputs.h2loadrunner(CRUD_PACED, 1, 20.0))
    assert config["request-per-second"] * config["clients"] == CRUD_PACED.rate
    assert json.loads(inputs.h2loadrunner(CRUD_H2C, 1, 5.0))["request-per-second"] == 0
    assert json.loads(inputs.h2loadrunner(CRUD_H1, 1, 5.0))["no-tls-proto"] == "http/1.1"
