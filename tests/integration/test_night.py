"""A night with a real server and a real generator: killed, resumed, and frozen as a round."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plumbing import Arena, Outcome, eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def night(bare: Arena, grpc_go: Path) -> Arena:
    """Return a checkout where two good servers subscribe to two quick profiles."""
    quick = yaml.safe_load((bare.workspace.profiles / "quick.yaml").read_text())
    other = {**quick, "name": "other", "connections": [2]}
    (bare.workspace.profiles / "other.yaml").write_text(yaml.safe_dump(other))
    for name in ("ada", "bob"):
        bare.add(name, native={"run": f"exec {grpc_go}"}, tests=["quick", "other"])
    return bare


def measure(arena: Arena, *arguments: str) -> Outcome:
    return arena.command("night", "--wait", "--runtime", "native", *arguments)


def measured(arena: Arena) -> list[tuple[str, str, str]]:
    """Return what was measured, in that order, and how it ended."""
    return [
        (each["framework"]["name"], each["profile"]["name"], each["status"])
        for each in arena.every_record()
    ]


def kill_in_session(arena: Arena, title: str, *arguments: str) -> None:
    """Start a night and kill it outright while the named session puts its load on."""
    words = ("night", "--wait", "--runtime", "native", *arguments)
    with arena.start(*words) as running:
        running.await_line(f"{title}, ")
        running.await_line("run 1 of 1")
        running.signal(signal.SIGKILL)
        assert running.end().code == -signal.SIGKILL
    eventually(lambda: not arena.processes(), "everything died with the runner")


ORDER = [("ada", "quick"), ("bob", "quick"), ("ada", "other"), ("bob", "other")]


def test_a_killed_night_loses_the_session_in_progress_and_is_resumed(night: Arena) -> None:
    first, killed, *others = ORDER
    kill_in_session(night, " under ".join(killed))
    assert measured(night) == [(*first, "ok")]

    done = measure(night, "--resume")
    assert done.code == 0, done
    assert "resuming the night of " in done.stderr
    assert measured(night) == [(*each, "ok") for each in (first, *others, killed)]
    assert done.said("page: ") == "site/public/index.html"
    assert night.left_behind() == []

    again = measure(night, "--resume", "--only-changed")
    assert again.code == 0, again
    assert "no night was cut short: a new one begins" in again.stderr
    assert len(measured(night)) == len(ORDER)


def test_what_a_killed_night_leaves_running_does_not_stop_the_next_one(
    night: Arena, grpc_go: Path
) -> None:
    # The shell dies with the runner, and the server that it started goes on.
    night.add("ada", native={"run": f"{grpc_go} & wait"}, tests=["quick"])
    with night.start("night", "ada", "--wait", "--runtime", "native") as running:
        running.await_line("run 1 of 1")
        running.signal(signal.SIGKILL)
        assert running.end().code == -signal.SIGKILL
    # The kernel ends the runner's own children, but not in the same instant.
    eventually(lambda: len(night.processes()) == 1, "the server is alone")
    (left,) = night.processes()
    done = measure(night, "--resume")
    assert done.code == 0, done
    assert f"ended process {left.pid}: " in done.stderr
    assert measured(night) == [("ada", "quick", "ok")]
    assert night.left_behind() == []


def test_a_server_that_is_broken_does_not_stop_the_night_and_the_site_is_built(
    night: Arena,
) -> None:
    night.add("ada", native={"build": "echo no such compiler; exit 1", "run": "true"})
    done = measure(night)
    assert done.code == 1, done
    assert measured(night) == [
        ("ada", "quick", "failed"),
        ("bob", "quick", "ok"),
        ("ada", "stream-grpc", "failed"),
        ("bob", "other", "ok"),
    ]
    assert "\nfailed:\n  quick: ada\n  stream-grpc: ada\n" in done.stdout
    assert "bob" in night.page()


def test_a_budget_is_kept_and_what_it_leaves_is_measured_first_the_next_time(night: Arena) -> None:
    # What was never measured is expected to take half a minute and its windows.
    done = measure(night, "--budget", "32s")
    assert done.code == 0, done
    first = measured(night)
    assert first[0] == ("ada", "quick", "ok")
    assert len(first) < len(ORDER)
    assert "no time left for:\n" in done.stdout
    assert measure(night).code == 0
    assert measured(night)[len(first)][:2] not in [each[:2] for each in first]


def test_a_night_is_frozen_as_a_round(night: Arena) -> None:
    assert measure(night, "--profile", "quick").code == 0
    done = night.command("round", "freeze", "first", "--note", "a try")
    assert done.code == 0, done
    described: dict[str, Any] = json.loads((night.results / "rounds" / "first.json").read_bytes())
    assert [path.split("/")[2] for path in described["records"]] == ["ada", "bob"]
    assert done.said("round: ") == "results/rounds/first.json: 2 records in 1 bundle"
    [bundle] = described["bundles"]
    assert bundle in done.said("publish it with: ")

    listed = night.command("round", "list")
    assert listed.code == 0, listed
    assert listed.stdout.split()[:4] == ["first", described["frozen_at"], "2", "records"]
    assert night.command("publish").code == 0
    verified = night.command("round", "verify", "--raw")
    assert (verified.code, verified.stdout) == (0, "first: is as it was frozen\n")
    record = next(path for path in described["records"] if "/bob/" in path)
    shown = night.command("raw", record, "run-1.json")
    assert json.loads(shown.stdout)
    assert json.loads(night.command("raw", described["records"][record][:16]).stdout)
    assert night.command("raw", record, "run-9.json").code == 2
    with (night.results / "nights" / bundle / "raw.tar.xz").open("ab") as file:
        file.write(b"x")
    verified = night.command("round", "verify")
    assert verified.code == 2
    assert "raw.tar.xz was altered" in verified.error
    assert night.command("round", "freeze", "first").code == 2
