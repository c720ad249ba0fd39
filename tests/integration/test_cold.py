"""Starts that are measured: a server that listens late, one that never does, and a night."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.plumbing import Arena, headline_of

pytestmark = pytest.mark.integration

_PROFILE = """extends: cold-start
name: tiny-cold
connections: [2]
rate: 200
duration: {duration}
"""


@pytest.fixture
def cold(bare: Arena, volley_program: Path) -> Arena:
    """Return a checkout with a short profile, where nothing is disturbed."""
    (bare.workspace.profiles / "tiny-cold.yaml").write_text(_PROFILE.format(duration="2s"))
    bare.judge_nothing()
    return Arena(bare.workspace, bare.ghz, {"VOLLEY": str(volley_program)})


def only_run(arena: Arena, name: str) -> dict[str, Any]:
    (record,) = arena.records(name, "tiny-cold")
    assert record["status"] == "ok"
    (run,) = record["runs"]
    assert headline_of(record).value == run["started"]["first_reply_s"] * 1e9
    return dict(run["started"])


def test_a_server_that_sleeps_before_it_listens_is_timed_from_its_start(
    cold: Arena, grpc_go: Path
) -> None:
    cold.add("victim", native={"run": f"sleep 1; exec {grpc_go}"}, tests=["tiny-cold"])
    done = cold.run("victim", "tiny-cold")
    assert done.code == 0, done
    assert "victim tiny-cold: time to first reply " in done.stdout
    started = only_run(cold, "victim")
    assert 1.0 < started["listens_s"] <= started["first_reply_s"] <= started["load_s"]
    assert [each["calls"] for each in started["seconds"]] == [200, 200]
    assert started["cpu_s"] > 0
    assert all(each["cpu_s"] > 0 for each in started["seconds"])
    peaks = [started["peak_bytes"], *(each["peak_bytes"] for each in started["seconds"])]
    assert peaks == sorted(peaks)
    (record,) = cold.records("victim", "tiny-cold")
    assert record["contract"] == []
    assert record["contract_after"]


def test_a_slow_starter_is_said_on_its_page(cold: Arena, grpc_go: Path) -> None:
    cold.add("victim", native={"run": f"sleep 11; exec {grpc_go}"}, tests=["tiny-cold"])
    done = cold.run("victim", "tiny-cold")
    assert done.code == 0, done
    page = cold.page("frameworks/victim/index.html")
    assert re.search(r"victim takes [1-9][0-9](\.[0-9])? s to start</b>", page)


def test_a_server_that_never_starts_is_a_failed_record(cold: Arena) -> None:
    cold.add("victim", native={"run": "exec sleep 60"}, tests=["tiny-cold"])
    done = cold.run("victim", "tiny-cold", "--ready-timeout", "500ms")
    assert done.code == 1
    assert "not ready on port 8080 within 0.5 s" in done.error
    (record,) = cold.records("victim", "tiny-cold")
    assert (record["status"], record["failure"]["stage"]) == ("failed", "start")


def test_each_visit_of_a_night_is_a_start_of_its_own(cold: Arena, grpc_go: Path) -> None:
    for name, late in (("ada", "0.5"), ("bob", "0")):
        cold.add(name, native={"run": f"sleep {late}; exec {grpc_go}"}, tests=["tiny-cold"])
    words = ("--wait", "--runtime", "native", "--twin", "none", "--quiet-wait", "0", "--seed", "x")
    done = cold.command("run", "ada,bob", "tiny-cold", "--blocks", "2", *words)
    assert done.code == 0, done
    records = cold.records("ada", "tiny-cold")
    assert [each["visit"]["warm_up_s"] for each in records] == [0, 0]
    assert all(each["runs"][0]["started"]["first_reply_s"] > 0.5 for each in records)
    assert "block 2 of 2, visit 2 of 2" in done.stderr
    first, second = (cold.row(name, "tiny-cold")["estimate"] for name in ("bob", "ada"))
    assert first["value"] < second["value"]
    # Two starts are too few for more.
    assert "steady" not in first
