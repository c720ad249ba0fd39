"""The main job with volley: named, or in the place of ghz; and the bench of the generators."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from tests.integration.plumbing import (
    ROOT,
    Arena,
    derived_of,
    headline_of,
    load_command,
)

pytestmark = pytest.mark.integration

RULE = "--max-recv-message-size 4MiB --expect-replies 100 --expect result = a + b + i"


def check_counted(arena: Arena, record: dict[str, Any]) -> None:
    """Check that every run's figures are those that volley counted, in its saved output."""
    for run in record["runs"]:
        raw = arena.results / run["raw"]["path"]
        assert hashlib.sha256(raw.read_bytes()).hexdigest() == run["raw"]["sha256"]
        own = json.loads(raw.read_bytes())["volley"]
        assert run["messages"] == own["messages"] > 0
        assert run["rate"] == run["messages"] / run["elapsed_s"]
        assert run["rate_at_least"] == run["rate"] == run["rate_at_most"]
        assert run["elapsed_s"] == pytest.approx(own["window_s"])
        assert run["calls"] == {name: own["calls"][name] for name in ("ok", "failed", "cut")}
        latency = own["latency_ns"]
        latency["at_least"] = [name for name in latency.get("at_least", ()) if name != "p9999"]
        assert run["latency_ns"] == {name: latency[name] for name in run["latency_ns"]}
        calls = parse_ghz.parse_file(raw).calls
        assert {"ok": calls.ok, "failed": calls.failed, "cut": calls.cut} == run["calls"]


def boards(arena: Arena) -> dict[str, dict[str, Any]]:
    found = json.loads((arena.results / "leaderboard.json").read_bytes())["boards"]
    return {board["generator"]: board["rows"][0] for board in found}


def test_a_record_made_with_volley_holds_what_volley_counted(
    arena: Arena, volley_program: Path
) -> None:
    before = boards(arena)["ghz"]
    done = arena.run("victim", "quick", "--generator", "volley", VOLLEY=str(volley_program))
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    assert record["status"] == "ok"
    assert record["profile"]["generator"] == "volley"
    assert record["provenance"]["overrides"]["VOLLEY"] == str(volley_program)
    assert record["provenance"]["overrides"]["GENERATOR"] == "volley"
    generator = record["provenance"]["generator"]
    assert (generator["name"], generator["found"]) == ("volley", "$VOLLEY")
    assert RULE in " ".join(generator["argv"])
    check_counted(arena, record)
    assert "cut-calls" not in derived_of(record).flags
    assert "; counted" in done.stdout
    assert boards(arena)["volley"]["result"]["value"] == headline_of(record).value
    assert boards(arena)["ghz"] == before
    assert "loaded by volley" in arena.page("boards/quick/4/volley/*/index.html")


def test_in_the_place_of_ghz_volley_is_volley_and_has_its_own_board(
    arena: Arena, volley_program: Path
) -> None:
    before = boards(arena)["ghz"]
    done = arena.run("victim", "quick", "--runs", "2", GHZ=str(volley_program))
    assert done.code == 0, done
    record = arena.records("victim")[-1]
    assert record["profile"]["generator"] == "volley"
    generator = record["provenance"]["generator"]
    assert (generator["name"], generator["found"]) == ("volley", "$GHZ")
    assert " ".join(load_command(record)[1:]) == (
        "--insecure --proto requests/benchmark.proto "
        "--call benchmark.BenchmarkService/StreamSum "
        '-d {"a":1,"b":2,"count":100} --connections 4 -c 8 -z 800ms '
        f"-O json {RULE} localhost:8080"
    )
    check_counted(arena, record)
    assert boards(arena)["volley"]["result"]["value"] == headline_of(record).value
    assert boards(arena)["ghz"] == before


@pytest.mark.skipif(not shutil.which("go"), reason="grpc-go needs Go")
@pytest.mark.parametrize("profile", ["stream-grpc", "stream-grpc-tls"])
def test_every_profile_can_be_loaded_by_volley(
    bare: Arena, volley_program: Path, profile: str
) -> None:
    (bare.workspace.frameworks / "grpc-go").symlink_to(ROOT / "frameworks" / "grpc-go")
    done = bare.run(
        "grpc-go", profile, "--generator", "volley", "--runs", "1", "--duration", "1s",
        VOLLEY=str(volley_program),
    )  # fmt: skip
    assert done.code == 0, done
    (record,) = bare.records("grpc-go", profile)
    check_counted(bare, record)
    assert record["runs"][0]["calls"]["failed"] == {}


def test_wrong_answers_under_load_are_against_the_contract(
    arena: Arena, volley_program: Path
) -> None:
    """The contract is held; what the profile expects is not what the server gives."""
    path = arena.workspace.profiles / "quick.yaml"
    path.write_text(path.read_text() + "expect: [result = a + b + 2*i]\n")
    done = arena.run("victim", "quick", "--generator", "volley", VOLLEY=str(volley_program))
    assert done.code == 1, done
    assert re.search(r"warm-up: [\d,]+ of [\d,]+ calls had a wrong reply \(reply 1: ", done.error)
    record = arena.records("victim")[-1]
    assert record["status"] == "invalid"
    raw = json.loads((arena.results / record["failure"]["log"]).read_bytes())
    assert raw["volley"]["checks"]["samples"]


def test_the_bench_prints_every_generator_and_volleys_counts_are_the_servers(
    arena: Arena, volley_program: Path
) -> None:
    if not shutil.which("h2load"):
        pytest.skip("there is no h2load (Debian: nghttp2-client)")
    short = ["--runs", "1", "--duration", "1s", "--quiet-wait", "0"]
    words = ["--json", "--wait", *short, f"--root={arena.root}"]
    with arena.started(
        [sys.executable, "-m", "tools.bench", *words],
        VOLLEY=str(volley_program), PYTHONPATH=f"{ROOT / 'lib'}:{ROOT}",
    ) as running:  # fmt: skip
        done = running.end()
    assert done.code == 0, done
    rows = json.loads(done.stdout)["rows"]
    assert [(row["workload"], row["generator"]) for row in rows] == [
        ("stream", "ghz"),
        ("stream", "volley"),
        ("stream-tls", "ghz"),
        ("stream-tls", "volley"),
        ("unary", "ghz"),
        ("unary", "h2load"),
        ("unary", "volley"),
        ("unary-template", "ghz"),
        ("unary-template", "volley"),
        ("unary-1024", "volley"),
        ("paced", "ghz"),
        ("paced", "volley"),
        ("paced-10ms", "h2load"),
        ("paced-10ms", "volley"),
    ]
    for row in rows:
        assert row["rate"] > 0
        assert row["cpu_ns_per_unit"] > 0
        assert row["peak_bytes"] > 1 << 20
        if row["generator"] == "volley":
            assert row["failed_calls"] == 0
            assert row["counted"] == row["server_counted"]
