"""What a framework can do wrong: exit code 1, a record that says it, and no good value lost."""

import json
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.integration.plumbing import (
    Arena,
    Outcome,
    derived_of,
    eventually,
)

pytestmark = pytest.mark.integration


def failure_on_record(
    arena: Arena,
    done: Outcome,
    status: str,
    stage: str,
    good: dict[str, Any],
    trial: str = "",
) -> dict[str, Any]:
    """Check that the failure was saved and published beside the good value; return its record.

    `trial` names the load of a trial, such as 60s-x-1: its failure stands on a board of its own,
    and the good row is as it was.
    """
    record = arena.records("victim")[-1]
    assert record["status"] == status
    assert record["failure"]["stage"] == stage
    assert derived_of(record).headline is None
    assert done.error == f"error: victim: {stage}: {record['failure']['reason']}"
    assert Path(arena.root, done.said("record: ")).is_file()

    row = arena.row("victim", is_current=not trial)
    assert row.pop("failure") == {
        **record["failure"],
        "status": status,
        "started_at": record["started_at"],
        "record": f"quick/4/victim/{record['started_at']}.json",
    }
    if trial:
        assert (row["rank"], row["result"]) == (None, None)
        assert arena.row("victim") == good
    else:
        assert row == {name: value for name, value in good.items() if name != "failure"}
    board = Path("boards/quick/4/ghz", "*", trial, "index.html")
    assert f'<b class="bad">{status}</b>' in arena.page(str(board))
    return record


@pytest.fixture
def good(arena: Arena) -> dict[str, Any]:
    """Return victim's row before it fails: a good one."""
    row = arena.row("victim")
    assert row["result"]["value"]
    assert row["failure"] is None
    return row


@pytest.mark.parametrize(
    ("build", "how"),
    [
        ("echo compiling; echo no such type >&2; exit 7", "failed (exit code 7)"),
        ("echo compiling; echo no such type; kill -SEGV $$", "failed (killed by SIGSEGV)"),
    ],
)
def test_a_failed_build_shows_its_last_lines_and_names_its_log(
    arena: Arena, good: dict[str, Any], build: str, how: str
) -> None:
    arena.add("victim", native={"build": build, "run": "exec sleep 60"})
    done = arena.run("victim", "quick")
    assert done.code == 1
    assert how in done.error
    assert "  | compiling\n  | no such type\n" in done.stderr
    record = failure_on_record(arena, done, "failed", "build", good)
    log = Path(arena.root, done.said("log: "))
    assert log == arena.results / record["failure"]["log"]
    assert log.read_text() == "compiling\nno such type\n"


@pytest.mark.parametrize(
    "run",
    [
        "exec sleep 60",
        "sleep 60 & setsid sleep 60 & wait",
        "trap '' TERM; while :; do sleep 1; done",
    ],
)
def test_a_server_that_is_never_ready_is_stopped_at_the_deadline(
    arena: Arena, good: dict[str, Any], run: str
) -> None:
    arena.add("victim", native={"run": run})
    done = arena.run("victim", "quick", "--ready-timeout", "500ms")
    assert done.code == 1
    assert "not ready on port 8080 within 0.5 s" in done.error
    failure_on_record(arena, done, "failed", "start", good)


@pytest.mark.parametrize(
    ("run", "how"),
    [
        ("echo no such port >&2; exit 3", "ended before it was ready (exit code 3)"),
        ("echo no such port >&2; kill -ABRT $$", "ended before it was ready (killed by SIGABRT)"),
        ("./no-such-program", "ended before it was ready (exit code 127)"),
    ],
)
def test_a_server_that_ends_instead_of_getting_ready_is_not_waited_for(
    arena: Arena, good: dict[str, Any], run: str, how: str
) -> None:
    arena.add("victim", native={"run": run})
    done = arena.run("victim", "quick")
    assert done.code == 1
    assert how in done.error
    record = failure_on_record(arena, done, "failed", "start", good)
    said = record["failure"]["log"]
    assert said is None or all(
        f"  | {line}\n" in done.stderr for line in (arena.results / said).read_text().splitlines()
    )


def test_a_server_that_accepts_and_says_nothing_is_never_ready(
    arena: Arena, good: dict[str, Any]
) -> None:
    deaf = (
        "import socket, time; s = socket.create_server(('', 8080), family=socket.AF_INET6, "
        "dualstack_ipv6=True); time.sleep(60)"
    )
    arena.add("victim", native={"run": f'exec python3 -c "{deaf}"'})
    # It listens only after Python has started, which takes its time on a busy host.
    done = arena.run("victim", "quick", "--ready-timeout", "5s")
    assert done.code == 1
    assert "no answer within" in done.error
    failure_on_record(arena, done, "failed", "start", good)


def failed_checks(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks that failed, in their order."""
    return [each for each in checks if each["status"] == "fail"]


def measure(arena: Arena, faulty_server: str, fault: str) -> Outcome:
    """Measure a server with a fault, which fails the session."""
    arena.add("victim", native={"run": f"{faulty_server} {fault}"})
    done = arena.run("victim", "quick")
    assert done.code == 1
    return done


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("wrong-sum", "unary-sum"),
        ("garbage", "unary-sum"),
        ("one-short", "stream-5000"),
        ("error-at-end", "stream-10"),
    ],
)
def test_wrong_answers_make_an_invalid_record_without_a_run(
    arena: Arena, faulty_server: str, good: dict[str, Any], fault: str, check: str
) -> None:
    done = measure(arena, faulty_server, fault)
    assert "warm-up" not in done.stderr
    record = failure_on_record(arena, done, "invalid", "contract", good)
    first = failed_checks(record["contract"])[0]
    assert first["check"] == check
    assert record["failure"]["reason"] == f"{check}: {first['detail']}"
    assert record["runs"] == record["contract_after"] == []


def test_a_server_that_is_right_for_the_contract_only_is_not_ranked(
    arena: Arena, faulty_server: str, good: dict[str, Any]
) -> None:
    done = measure(arena, faulty_server, "tired")
    assert "ResourceExhausted" in done.error
    record = failure_on_record(arena, done, "failed", "warm-up", good)
    assert failed_checks(record["contract"]) == []


def test_a_server_that_breaks_under_load_is_invalid_and_keeps_its_runs(
    arena: Arena, faulty_server: str, good: dict[str, Any]
) -> None:
    """Under the load it looked right: ghz looks at no reply."""
    done = measure(arena, faulty_server, "worn")
    assert "run 1 of 1: " in done.stderr
    record = failure_on_record(arena, done, "invalid", "contract after the runs", good)
    assert failed_checks(record["contract"]) == []
    assert failed_checks(record["contract_after"])[0]["check"] == "unary-sum"
    assert record["failure"]["reason"].startswith("unary-sum: ")
    assert len(record["runs"]) == 1
    assert record["runs"][0]["rate"] > 0
    assert record["provenance"]["stages_s"]["contract after the runs"] > 0


def test_a_server_that_the_load_has_ended_is_invalid_after_the_runs(
    arena: Arena, faulty_server: str, good: dict[str, Any]
) -> None:
    done = measure(arena, faulty_server, "collapsing")
    assert "contract after the runs: unary-sum: " in done.error
    assert "then the server ended (exit code 7)" in done.error
    record = failure_on_record(arena, done, "invalid", "contract after the runs", good)
    assert len(record["runs"]) == 1


def the_only(arena: Arena, program: str) -> psutil.Process:
    """Wait until a process of the benchmark is that program; return it."""
    (found,) = eventually(lambda: arena.processes(program), f"{program} runs")
    return found


@pytest.mark.parametrize(
    ("line", "stage", "runs", "number"),
    [
        ("warm-up", "warm-up", 0, signal.SIGKILL),
        ("run 1 of 2 (", "run 1 of 2", 0, signal.SIGTERM),
        ("run 2", "run 2 of 2", 1, signal.SIGKILL),
    ],
)
def test_a_server_that_dies_under_load_ends_the_session_at_that_stage(
    arena: Arena, good: dict[str, Any], line: str, stage: str, runs: int, number: signal.Signals
) -> None:
    with arena.running("victim", "quick", "--runs", "2", "--duration", "500ms") as running:
        running.await_line(line)
        the_only(arena, "server").send_signal(number)
        done = running.end()
    assert done.code == 1
    assert f"{stage}: the server ended in the middle of it" in done.error
    record = failure_on_record(arena, done, "failed", stage, good, "500ms-x-2")
    assert len(record["runs"]) == runs


def test_a_ghz_that_is_killed_is_the_hosts_fault_and_says_at_which_run(
    arena: Arena, good: dict[str, Any]
) -> None:
    with arena.under_load() as running:
        the_only(arena, arena.ghz.name).kill()
        done = running.end()
    assert done.code == 3
    assert (
        done.error == "error: victim: run 1 of 1: ghz ended in the middle of it (killed by SIGKILL)"
    )
    failure_on_record(arena, done, "failed", "run 1 of 1", good, "60s-x-1")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo half a report; exit 0", "ghz's output cannot be read"),
        ("echo cannot dial >&2; exit 4", "ghz ended in the middle of it (exit code 4)"),
    ],
)
def test_a_ghz_that_breaks_is_the_hosts_fault_and_its_words_are_shown(
    arena: Arena, good: dict[str, Any], script: str, words: str
) -> None:
    broken = arena.root / "ghz"
    broken.write_text(f'#!/bin/sh\n[ "$1" = --help ] && exec {arena.ghz} --help\n{script}\n')
    broken.chmod(0o755)
    done = arena.run("victim", "quick", GHZ=str(broken))
    assert done.code == 3
    assert words in done.error
    assert "exit 0" in script or "  | cannot dial\n" in done.stderr
    failure_on_record(arena, done, "failed", "warm-up", good)


def test_a_framework_that_never_was_good_is_on_the_board_with_its_failure(arena: Arena) -> None:
    arena.add("newcomer", native={"run": "exit 3"})
    assert arena.run("newcomer", "quick").code == 1
    row = arena.row("newcomer")
    assert row["rank"] is None
    assert row["result"] is None
    assert row["failure"]["stage"] == "start"


def test_all_measures_the_others_when_one_cannot_be_read(arena: Arena) -> None:
    arena.add("a-broken-one")
    (arena.workspace.frameworks / "a-broken-one" / "meta.json").write_text("{")
    done = arena.run("all", "quick")
    assert done.code == 1
    assert done.error.startswith("error: frameworks/a-broken-one/meta.json: line 1: ")
    assert done.stdout.splitlines()[-1] == "1 measured, 1 failed: a-broken-one"
    assert len(arena.records("victim")) == 2


def test_all_measures_the_others_when_one_fails(arena: Arena) -> None:
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    native = json.loads(meta.read_bytes())["native"]
    arena.add("a-broken-one", native={"build": "exit 1", "run": "true"})
    arena.add("one-that-is-off", native={"run": "true"}, enabled=False)
    arena.add("without-its-tools", native={"needs": ["no-such-compiler"], "run": "true"})
    arena.add("zz-a-good-one", native=native)
    done = arena.run("all", "quick")
    assert done.code == 1
    assert done.error.startswith("error: a-broken-one: build: ")
    assert "skipped without-its-tools" in done.stderr
    assert [len(arena.records(name)) for name in ("a-broken-one", "victim", "zz-a-good-one")] == [
        1,
        2,
        1,
    ]
    assert arena.records("one-that-is-off") == arena.records("without-its-tools") == []
