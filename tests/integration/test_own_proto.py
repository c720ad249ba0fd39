"""Profiles with a .proto of their own, against real servers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plumbing import ROOT, Arena, load_command

pytestmark = pytest.mark.integration

HEALTH = "--proto requests/health.proto --call grpc.health.v1.Health/Check"


def quick_health(arena: Arena) -> None:
    """Make the example small enough for any server, and `victim` a subscriber."""
    small = {"connections": 2, "streams_per_connection": 2, "duration": "300ms", "runs": 1}
    lines = {"extends": "health-grpc", "name": "quick-health", "warmup": "200ms", **small}
    (arena.workspace.profiles / "quick-health.yaml").write_text(yaml.safe_dump(lines))
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    data = json.loads(meta.read_text())
    meta.write_text(json.dumps({**data, "tests": [*data["tests"], "quick-health"]}))


def the_record(arena: Arena, profile: str) -> dict[str, Any]:
    (record,) = arena.records("victim", profile)
    return record


@pytest.mark.parametrize("generator", ["volley", "ghz", "h2load"])
def test_every_generator_loads_the_health_service(
    arena: Arena, volley_program: Path, generator: str
) -> None:
    if generator == "h2load" and not shutil.which("h2load"):
        pytest.skip("no h2load (Debian: nghttp2-client)")
    quick_health(arena)
    words = ("victim", "quick-health", "--generator", generator)
    done = arena.run(*words, VOLLEY=str(volley_program))
    assert done.code == 0, done
    record = the_record(arena, "quick-health")
    assert record["status"] == "ok"
    assert record["runs"][0]["calls"]["ok"] > 0
    assert record["runs"][0]["calls"]["failed"] == {}
    proto = record["profile"]["proto"]
    assert len(proto.pop("sha256")) == 64
    assert proto == {"file": "requests/health.proto", "method_type": "unary"}
    assert record["offers"] == {"reflection": "v1", "lists_service": True, "health": "serving"}
    checks = {each["check"]: each["status"] for each in record["contract"]}
    assert checks["profile-call"] == "pass"
    assert "unary-sum" not in checks
    assert set(checks.values()) == {"pass"}
    command = " ".join(load_command(record))
    if generator == "h2load":
        assert "-d .tools/bodies/0000000000.bin" in command
        assert command.endswith("http://localhost:8080/grpc.health.v1.Health/Check")
    else:
        assert HEALTH in command
        assert ("--expect status = SERVING" in command) == (generator == "volley")
    page = arena.page(f"boards/quick-health/2/{generator}/*/index.html")
    assert "Health checks over h2c" in page
    said = "reflection v1, health: serving"
    assert said in arena.page("frameworks/victim/index.html")
    pages = [it.read_text() for it in arena.workspace.public.glob("records/*/index.html")]
    assert said in next(it for it in pages if "raw quick-health/2/victim/" in it)


def test_a_server_without_the_service_has_an_invalid_record_that_says_so(
    arena: Arena, volley_program: Path, faulty_server: str
) -> None:
    arena.add("victim", native={"run": f"{faulty_server} none"})
    quick_health(arena)
    done = arena.run("victim", "quick-health", VOLLEY=str(volley_program))
    assert done.code == 1, done
    record = the_record(arena, "quick-health")
    call = "grpc.health.v1.Health/Check"
    assert record["status"] == "invalid"
    assert record["failure"]["reason"] == (
        f"profile-call: {call}: the server does not offer {call} (UNIMPLEMENTED)"
    )
    assert record["offers"] == {"reflection": "none", "lists_service": False, "health": "none"}
    assert record["runs"] == []


def test_a_framework_that_does_not_subscribe_is_left_out(arena: Arena) -> None:
    done = arena.run("victim", "health-grpc", "--dry-run")
    assert done.code == 2
    assert done.error.startswith("error: victim does not subscribe to health-grpc")


@pytest.mark.parametrize(
    ("method", "more", "flags"),
    [
        ("StreamSum", {"request": {"a": 1, "b": 2, "count": 50}, "messages_per_call": 50,
                       "expect": "result = a + b + i"}, "--expect-replies 50"),
        ("CollectSum", {"request": {"a": 1, "b": 2}, "requests_per_call": 20,
                        "messages_per_call": 20, "expect": "result = sum(a) + sum(b)"},
         "--stream-call-count 20"),
        ("EchoSum", {"request": {"a": 1, "b": 2}, "requests_per_call": 20,
                     "messages_per_call": 40, "expect": "result = a + b"},
         "--stream-call-count 20"),
    ],
)  # fmt: skip
def test_calls_that_stream_are_checked_and_counted(
    arena: Arena, volley_program: Path, method: str, more: dict[str, Any], flags: str
) -> None:
    # The service that every entry has, in files that the runner does not know.
    text = (ROOT / "requests" / "benchmark.proto").read_text()
    at = text.index("message SumRequest")
    folder = arena.workspace.requests / "own"
    folder.mkdir()
    (folder / "messages.proto").write_text(f'syntax = "proto3"; package benchmark;{text[at:]}')
    head = text[:at].replace("package benchmark;", 'package benchmark; import "messages.proto";')
    (folder / "own.proto").write_text(head)
    own = {"proto": "requests/own/own.proto", "call": f"benchmark.BenchmarkService/{method}"}
    lines = {"extends": "quick", "name": "own", **own, **more}
    (arena.workspace.profiles / "own.yaml").write_text(yaml.safe_dump(lines))
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    meta.write_text(meta.read_text().replace('"quick"', '"own"'))
    words = ("victim", "own", "--generator", "volley")
    done = arena.run(*words, VOLLEY=str(volley_program))
    assert done.code == 0, done
    record = the_record(arena, "own")
    (run,) = record["runs"]
    assert (record["status"], run["calls"]["failed"]) == ("ok", {})
    assert run["messages"] >= run["calls"]["ok"] * record["profile"]["messages_per_call"] > 0
    assert f"--proto requests/own/own.proto --call {own['call']}" in " ".join(load_command(record))
    assert flags in " ".join(load_command(record))
    assert {each["status"] for each in record["contract"]} == {"pass"}


def test_validate_reports_what_a_server_offers_but_does_not_judge_it(
    arena: Arena, faulty_server: str
) -> None:
    done = arena.command("validate", "--wait", "--runtime", "native", "victim", "quick")
    assert (done.code, done.stdout) == (0, "victim  PASS\n")
    assert "  offers: reflection v1, health: serving\n" in done.stderr
    arena.add("victim", native={"run": f"{faulty_server} none"})
    done = arena.command("validate", "--wait", "--runtime", "native", "victim", "quick", "--json")
    assert done.code == 0, done
    assert "  offers: no reflection, no health service\n" in done.stderr
    (victim,) = json.loads(done.stdout)["frameworks"]
    assert victim["verdict"] == "pass"
    (port,) = victim["ports"]
    assert port["offers"] == {"reflection": "none", "lists_service": False, "health": "none"}
