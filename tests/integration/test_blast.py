"""Blasts with the real generator: from the profile to the record, and back to the raw output."""

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plumbing import (
    ROOT,
    Arena,
    derived_of,
    eventually,
    headline_of,
    load_command,
)

pytestmark = pytest.mark.integration

# The real profile, made small.
_TINY = {
    "extends": "blast-unary",
    "name": "tiny",
    "title": "Tiny",
    "sweep": [1, 2, 5],
    "connections": [1, 2],
    "repetitions": 2,
    "duration": "20s",
    "warmup": "200ms",
}

# So large that it takes far longer than its time.
_LONG = {**_TINY, "sweep": [1000, 2000], "repetitions": 1000}

_POINTS = [(ways, calls) for ways in (1, 2) for calls in (1, 2, 5)]


@pytest.fixture
def tiny(arena: Arena) -> Arena:
    """Return a checkout with the tiny blast, and a good server that takes part in it."""
    (arena.workspace.profiles / "tiny.yaml").write_text(yaml.safe_dump(_TINY))
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    changed = json.loads(meta.read_bytes())
    changed["tests"].append("tiny")
    meta.write_text(json.dumps(changed))
    return arena


def record_of(arena: Arena) -> dict[str, Any]:
    """Return the one record; its raw output gives the same figures again."""
    (record,) = arena.records("victim", "tiny")
    assert record["status"] == "ok"
    (run,) = record["runs"]
    raw = arena.results / run["raw"]["path"]
    assert hashlib.sha256(raw.read_bytes()).hexdigest() == run["raw"]["sha256"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "lib" / "parse_blast.py"), str(raw)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    again = json.loads(done.stdout)
    assert again["elapsed_s"] == run["elapsed_s"]
    assert again["calls"] == {name: run["calls"][name] for name in ("ok", "failed")}
    for point, saved in zip(again["points"], run["points"], strict=True):
        figures = point.pop("rate")
        rates = [figures["median"], figures["at_least"], figures["at_most"]]
        names = ("rate", "rate_at_least", "rate_at_most")
        assert rates == [saved[name] for name in names]
        assert point == {name: value for name, value in saved.items() if name not in names}
    return record


def check_sweep(record: dict[str, Any]) -> None:
    """Check that every point was measured as often as asked for, and that the best one counts."""
    (run,) = record["runs"]
    assert [(point["connections"], point["requests"]) for point in run["points"]] == _POINTS
    assert run["calls"] == {"ok": 2 * 2 * 8, "failed": {}, "cut": 0}
    assert {point["repetitions"] for point in run["points"]} == {2}
    assert run["messages"] == run["calls"]["ok"]
    assert run["generator"]["cpu_s"] > 0
    # A sweep this short may end before the second look at its memory.
    assert run["generator"]["peak_bytes"] > 0
    assert record["profile"]["connection_count"] == 2
    assert headline_of(record).metric == "requests/s"
    assert headline_of(record).rule.endswith(", the fastest point of one run")
    assert headline_of(record).value == run["rate"] > 0


def test_volley_blasts_and_checks_every_reply(tiny: Arena, volley_program: Path) -> None:
    done = tiny.run("victim", "tiny", VOLLEY=str(volley_program))
    assert done.code == 0, done
    record = record_of(tiny)
    check_sweep(record)
    (run,) = record["runs"]
    assert run["raw"]["path"].endswith("/run-1.json")
    assert run["latency_ns"]["kind"] == "response"
    assert run["unchecked"] == {"status": 0, "replies": 0}
    assert not run["approximate"]
    assert "approximate" not in derived_of(record).flags
    generator = record["provenance"]["generator"]
    assert (generator["name"], load_command(record)[1]) == ("volley", "blast")


def test_ghz_makes_no_blast(tiny: Arena) -> None:
    done = tiny.run("victim", "tiny", "--generator", "ghz")
    assert done.code == 2, done
    assert "a blast load is not one it knows" in done.stderr


def test_in_the_place_of_ghz_volley_blasts_as_volley(tiny: Arena, volley_program: Path) -> None:
    done = tiny.run("victim", "tiny", "--generator", "ghz", GHZ=str(volley_program))
    assert done.code == 0, done
    record = record_of(tiny)
    check_sweep(record)
    assert record["profile"]["generator"] == "volley"
    generator = record["provenance"]["generator"]
    assert (generator["name"], generator["found"]) == ("volley", "$GHZ")
    assert load_command(record)[1] == "blast"


def test_a_sweep_whose_time_is_over_has_measured_less_often(
    tiny: Arena, volley_program: Path
) -> None:
    path = tiny.workspace.profiles / "tiny.yaml"
    path.write_text(yaml.safe_dump({**_LONG, "duration": "500ms"}))
    done = tiny.run("victim", "tiny", VOLLEY=str(volley_program))
    assert done.code == 0, done
    (run,) = record_of(tiny)["runs"]
    assert 0 < sum(point["repetitions"] for point in run["points"]) < 4 * 1000


def test_a_sweep_can_be_interrupted(tiny: Arena, volley_program: Path) -> None:
    path = tiny.workspace.profiles / "tiny.yaml"
    path.write_text(yaml.safe_dump(_LONG))
    with tiny.running("victim", "tiny", VOLLEY=str(volley_program)) as running:
        running.await_line("run 1 of 1")
        eventually(lambda: tiny.processes(volley_program.name), "volley runs")
        running.signal(signal.SIGINT)
        done = running.end()
    assert done.code == 130
    assert "Traceback" not in done.stderr
    # That nothing is left behind is what the checkout sees to.
    assert tiny.records("victim", "tiny") == []
