"""Load schedules, client streams and bidirectional streams, with the real generators."""

from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from tests.integration.plumbing import (
    ROOT,
    Arena,
    headline_of,
)

pytestmark = pytest.mark.integration

# A second and a half of each shape; the whole calls of the classic profiles, on fewer connections.
WORKLOADS = {
    "tiny-const": "extends: load-const\nname: tiny-const\nrequests: 90\n"
    "schedule: {shape: const, rps: 60}\nwarmup: 200ms\n",
    "tiny-line": "extends: load-line-up\nname: tiny-line\nrequests: 100\n"
    "schedule: {shape: line, start: 40, step: 80}\nwarmup: 200ms\n",
    "tiny-upload": "extends: client-stream-grpc\nname: tiny-upload\nconnections: [2]\n"
    "warmup: 200ms\nduration: 400ms\nruns: 1\n",
    "tiny-echo": "extends: bidi-grpc\nname: tiny-echo\nconnections: [2]\n"
    "warmup: 200ms\nduration: 400ms\nruns: 1\n",
}


@pytest.fixture
def loaded(bare: Arena, grpc_go: Path) -> Arena:
    """Return a checkout whose one framework subscribes to all of them."""
    for name, text in WORKLOADS.items():
        (bare.workspace.profiles / f"{name}.yaml").write_text(text)
    bare.add("victim", tests=list(WORKLOADS), native={"run": f"exec {grpc_go}"})
    return bare


def only_record(arena: Arena, profile: str) -> dict[str, Any]:
    (record,) = arena.records("victim", profile)
    assert record["status"] == "ok"
    return record


@pytest.mark.parametrize("generator", ["ghz", "volley"])
def test_a_schedule_is_followed_and_told_by_the_second(
    loaded: Arena, volley_program: Path, generator: str
) -> None:
    done = loaded.run("victim", "tiny-c*", "tiny-line", "--generator", generator,
                      VOLLEY=str(volley_program))  # fmt: skip
    assert done.code == 0, done
    for name, due in (("tiny-const", [60, 30]), ("tiny-line", [40, 60])):
        record = only_record(loaded, name)
        (run,) = record["runs"]
        assert [each["intended"] for each in run["seconds"] if each["intended"]] == due
        assert sum(each["sent"] for each in run["seconds"]) == sum(due) == run["calls"]["ok"]
        assert headline_of(record).value == run["latency_ns"]["p99"]
        assert headline_of(record).metric == "p99 latency"
        kind = "response" if generator == "volley" else "service"
        assert run["latency_ns"]["kind"] == kind
        # What the record says can be read again from what the generator printed.
        told = parse_ghz.parse_file(loaded.results / run["raw"]["path"])
        assert [each.sent for each in told.seconds] == [
            each["sent"] for each in run["seconds"][: len(told.seconds)]
        ]
    assert "victim tiny-line: p99 latency " in done.stdout
    assert loaded.row("victim", "tiny-line")["result"]["seconds"]


def test_a_schedule_can_be_shortened_for_a_try(loaded: Arena) -> None:
    done = loaded.run("victim", "tiny-const", "--requests", "30")
    assert done.code == 0, done
    record = only_record(loaded, "tiny-const")
    assert record["runs"][0]["calls"]["ok"] == 30
    assert record["provenance"]["overrides"]["REQUESTS"] == "30"


@pytest.mark.parametrize("generator", ["ghz", "volley"])
@pytest.mark.parametrize(("profile", "per_call"), [("tiny-upload", 1000), ("tiny-echo", 2000)])
def test_streams_of_the_client_are_counted_by_their_messages(
    loaded: Arena, volley_program: Path, generator: str, profile: str, per_call: int
) -> None:
    done = loaded.run("victim", profile, "--generator", generator, VOLLEY=str(volley_program))
    assert done.code == 0, done
    (run,) = only_record(loaded, profile)["runs"]
    assert run["calls"]["failed"] == {}
    assert run["messages"] >= run["calls"]["ok"] * per_call > 0
    most = (run["calls"]["ok"] + run["calls"]["cut"]) * per_call
    assert run["messages"] <= most
    assert run["unchecked"] == {
        "status": 0,
        "replies": 0 if generator == "volley" else run["calls"]["ok"],
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["tiny-const", "--duration", "1s"],
            (
                "(--duration): is for blast, capacity, closed, cold, live, paced, scenario "
                "and share loads"
            ),
        ),
        (
            ["tiny-echo", "--requests", "9"],
            "(--requests): is for blast and scheduled loads",
        ),
        (["tiny-const", "--requests", "0"], "0 is not in the range"),
        (["giant-*"], "no profile matches `giant-*`"),
        (["load-*"], "victim does not subscribe to load-*"),
        (["tiny-const", "--generator", "h2load"], "tiny-const: h2load cannot make this load: "),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_starts(
    loaded: Arena, words: list[str], said: str
) -> None:
    done = loaded.run("victim", *words)
    assert done.code == 2, done
    assert said in done.error
    # Only what is known of the host was there before.
    assert [each.name for each in loaded.results.iterdir()] == ["host"]


def test_every_profile_of_calls_in_the_checkout_is_planned_for_grpc_go(bare: Arena) -> None:
    meta = (ROOT / "frameworks" / "grpc-go" / "meta.json").read_text()
    (bare.workspace.frameworks / "grpc-go").mkdir()
    (bare.workspace.frameworks / "grpc-go" / "meta.json").write_text(meta)
    done = bare.run("grpc-go", "--dry-run")
    assert done.code == 0, done
    named = {line.split(" under ")[1].split(":")[0] for line in done.stdout.splitlines()
             if " under " in line}  # fmt: skip
    every = {path.stem for path in bare.workspace.profiles.glob("*.yaml")} - {"quick"}
    profiles = {name for name in every if not name.startswith("crud-")}
    # A share of what it can do is measured in blocks only.
    assert "left out: unary-rate-half: is for blocks: --blocks 8\n" in done.stderr
    profiles -= {"unary-rate-half"}
    assert {name.split(" at ")[0] for name in named} == profiles
