"""Scenarios against a real server of items: from the profile to the record and the board."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plumbing import (
    ROOT,
    Arena,
    headline_of,
    load_command,
)

pytestmark = pytest.mark.integration

STEPS = ["create", "change", "remove"]
OWN = "own.yaml"


@pytest.fixture
def serve(volley_program: Path) -> str:
    """Return the command of a server of items: HTTP/1.1 and HTTP/2 on both ports."""
    serve = f"{volley_program} serve --threads 1 --listen 127.0.0.1"
    return f'{serve}:8443 --tls-cert "$TLS_CERT" --tls-key "$TLS_KEY" & exec {serve}:8080'


@pytest.fixture
def items(bare: Arena, serve: str) -> Arena:
    """Return a checkout with such a server, and small variants of the profiles.

    The server keeps the scenario, not all of the contract of items: it ignores what a change says.
    """
    requests = bare.workspace.requests
    (requests / OWN).write_text((requests / "crud.yaml").read_text())
    for name in ("h2c", "tls", "h1", "paced"):
        small = {"extends": f"crud-{name}", "name": f"tiny-{name}", "runs": 1}
        small["scenario"] = f"requests/{OWN}"
        times = {"warmup": "100ms", "duration": "300ms"}
        path = bare.workspace.profiles / f"tiny-{name}.yaml"
        path.write_text(yaml.safe_dump({**small, **times}))
    tests = ["tiny-h2c", "tiny-tls", "tiny-h1", "tiny-paced"]
    for name in ("ada", "bob"):
        bare.add(name, native={"run": serve}, tests=tests)
    bare.judge_nothing()
    return bare


def test_the_profiles_of_items_make_records_and_boards_with_a_column_a_step(
    items: Arena, volley_program: Path
) -> None:
    done = items.run("ada", "tiny-*", VOLLEY=str(volley_program))
    assert done.code == 0, done
    for name, connections in (("h2c", 4), ("tls", 4), ("h1", 32), ("paced", 4)):
        (record,) = items.records("ada", f"tiny-{name}")
        check(items, record)
        assert record["profile"]["connection_count"] == connections
        page = items.page(f"boards/tiny-{name}/{connections}/volley/*/index.html")
        for step in STEPS:
            assert f">{step} <small>p99, " in page
    (paced,) = items.records("ada", "tiny-paced")
    (run,) = paced["runs"]
    assert run["latency_ns"]["kind"] == "response"
    assert headline_of(paced).value == run["latency_ns"]["p99"]
    assert run["seconds"][0]["intended"] == 90


def check(arena: Arena, record: dict[str, Any]) -> None:
    """Check that nothing failed, and that the raw output gives the same figures again."""
    assert record["status"] == "ok"
    (run,) = record["runs"]
    assert [step["name"] for step in run["steps"]] == STEPS
    create, change, remove = (step["ok"] for step in run["steps"])
    assert create == change == remove > 0
    assert run["calls"] == {"ok": 3 * create, "failed": {}, "cut": 0}
    raw = arena.results / run["raw"]["path"]
    assert hashlib.sha256(raw.read_bytes()).hexdigest() == run["raw"]["sha256"]
    words = [sys.executable, str(ROOT / "lib" / "parse_scenario.py"), str(raw)]
    again = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    for name in ("elapsed_s", "calls", "latency_ns", "steps"):
        assert again[name] == run[name]
    assert again["requests_per_s"] == run["rate"]
    _, verb, file, *_ = load_command(record)
    assert (verb, (arena.root / file).is_file()) == ("run", True)


def test_a_server_that_fails_its_requests_is_not_ranked_and_the_reasons_are_named(
    items: Arena, volley_program: Path, serve: str
) -> None:
    items.add("ada", native={"run": f"{serve} --status-every 503:9"}, tests=["tiny-h2c"])
    done = items.run("ada", "tiny-h2c", VOLLEY=str(volley_program))
    assert done.code == 1
    (record,) = items.records("ada", "tiny-h2c")
    assert (record["status"], record["failure"]["stage"]) == ("failed", "warm-up")
    assert "calls failed (" in record["failure"]["reason"]
    assert "x status)" in record["failure"]["reason"]


def test_a_file_that_volley_refuses_ends_the_session_with_volleys_own_line(
    items: Arena, volley_program: Path
) -> None:
    file = items.workspace.requests / OWN
    file.write_text(file.read_text().replace("status: 201", "stattus: 201"))
    done = items.run("ada", "tiny-h2c", VOLLEY=str(volley_program))
    assert done.code == 3
    assert "volley ended in the middle of it" in done.stderr
    assert "stattus" in done.stderr


def test_a_load_of_users_is_measured_in_blocks(items: Arena, volley_program: Path) -> None:
    words = (
        "ada,bob", "tiny-h2c,tiny-paced", "--blocks", "2", "--twin", "none", "--duration", "200ms",
        "--block-warm-up", "100ms", "--quiet-wait", "0",
    )  # fmt: skip
    done = items.run(*words, VOLLEY=str(volley_program))
    assert done.code == 0, done
    for name in ("ada", "bob"):
        users = [record["visit"] for record in items.records(name, "tiny-h2c")]
        assert [each["block"] for each in users] == [1, 2]
        (paced,) = items.records(name, "tiny-paced")
        assert paced["visit"] is None
    assert items.row("ada", "tiny-h2c")["estimate"]["blocks"] == 2


def test_a_scenario_of_ones_own_may_name_files(
    items: Arena, volley_program: Path, serve: str
) -> None:
    folder = items.workspace.requests
    (folder / "users.csv").write_text("name\nann\nbob\n")
    (folder / "patch.json").write_text('{"owner": "eve"}')
    create = {"name": "create", "post": "${api}/v1/items", "json": {"owner": "${user.name}"}}
    create |= {"expect": {"status": 201}, "save": {"url": {"header": "location"}}}
    change = {"name": "change", "patch": "${url}", "body": {"file": "./patch.json"}}
    own = {
        "targets": {"api": "http://elsewhere:1"},
        "data": {"user": {"csv": "users.csv"}},
        "scenarios": {"own": {"steps": [create, change]}},
    }
    (folder / "own.yaml").write_text(yaml.safe_dump(own))
    profile = {"extends": "tiny-h2c", "name": "tiny-own", "scenario": "requests/own.yaml"}
    path = items.workspace.profiles / "tiny-own.yaml"
    path.write_text(yaml.safe_dump({**profile, "duration": "100ms"}))
    items.add("ada", native={"run": serve}, tests=["tiny-own"])
    done = items.run("ada", "tiny-own", VOLLEY=str(volley_program))
    assert done.code == 0, done
    (record,) = items.records("ada", "tiny-own")
    (run,) = record["runs"]
    assert [step["name"] for step in run["steps"]] == ["create", "change"]
    assert run["calls"]["failed"] == {}
