"""`arena validate`: a verdict for each framework, and nothing is left running or recorded."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.machine import certs
from tests.integration.plumbing import ROOT, Arena, Outcome, Snapshot, eventually, listeners

pytestmark = pytest.mark.integration


def validate(arena: Arena, *arguments: str, **environment: str) -> Outcome:
    """Validate to its end, natively, queueing behind whoever measures on this host."""
    return arena.command("validate", "--wait", "--runtime", "native", *arguments, **environment)


def kept(arena: Arena) -> Snapshot:
    """Return every file of the checkout but the certificate and the logs of validations."""
    made = (".certs", ".tools/validate")
    found = arena.snapshot().items()
    return {name: what for name, what in found if not any(each in name for each in made)}


@pytest.mark.skipif(not shutil.which("go"), reason="grpc-go needs Go")
def test_grpc_go_passes_on_both_ports(bare: Arena) -> None:
    (bare.workspace.frameworks / "grpc-go").symlink_to(ROOT / "frameworks" / "grpc-go")
    done = validate(bare, "grpc-go", "--verbose")
    assert done.code == 0, done
    assert done.stdout == "grpc-go  PASS\n"
    h2c, _, tls = done.stderr.partition("check grpc-go on port 8443 (TLS) …\n")
    for line in ("  ok   unary-sum", "  ok   stream-5000", "  ok   backpressure"):
        assert line in h2c.splitlines()
    for line in ("  ok   unary-sum", "  ok   tls-alpn", "  ok   tls-version"):
        assert line in tls.splitlines()
    assert not list(bare.workspace.tools.glob("validate/*"))
    # Only what is known of the host was there before.
    assert [each.name for each in bare.results.iterdir()] == ["host"]


def test_a_named_profile_is_checked_on_its_port_alone(arena: Arena) -> None:
    before = kept(arena)
    done = validate(arena, "victim", "quick", "--json")
    assert done.code == 0, done
    (victim,) = json.loads(done.stdout)["frameworks"]
    assert (victim["framework"], victim["verdict"]) == ("victim", "pass")
    ((port),) = victim["ports"]
    assert (port["port"], port["tls"], port["verdict"]) == (8080, False, "pass")
    assert port["messages_per_data_frame"] >= 1
    assert {each["status"] for each in port["checks"]} == {"pass"}
    assert kept(arena) == before


@pytest.mark.parametrize(
    ("fault", "check"), [("wrong-sum", "unary-sum"), ("one-short", "stream-5000")]
)
def test_a_server_that_lies_fails_by_the_name_of_the_check(
    arena: Arena, faulty_server: str, fault: str, check: str
) -> None:
    arena.add("victim", native={"run": f"echo listening; {faulty_server} {fault}"})
    done = validate(arena, "victim", "quick")
    assert done.code == 1, done
    assert done.stdout.startswith(f"victim  FAIL  {check}: ")
    assert f"\n  FAIL {check}  " in done.stderr
    assert "  | listening\n" in done.stderr
    (log,) = [each for each in done.stderr.splitlines() if each.startswith("  log: ")]
    assert (arena.root / log.removeprefix("  log: ")).read_text().startswith("listening\n")
    assert len(arena.records("victim")) == 1


def test_the_bytes_that_were_wrong_are_shown(arena: Arena, faulty_server: str) -> None:
    arena.add("victim", native={"run": f"{faulty_server} garbage"})
    done = validate(arena, "victim", "quick")
    assert done.code == 1, done
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("  FAIL unary-sum  ")]
    # A reply of one byte that is no message.
    assert line.endswith("  bytes: 00 00 00 00 01 ff")


def test_a_server_that_does_not_end_is_warned_of_and_killed(
    arena: Arena, faulty_server: str
) -> None:
    arena.add("victim", native={"run": f"{faulty_server} deaf"})
    done = validate(arena, "victim", "quick")
    assert done.code == 0, done
    assert "  WARN sigterm  the server still runs 5 s after SIGTERM\n" in done.stderr
    assert arena.left_behind() == []


def test_all_goes_on_after_every_kind_of_failure(arena: Arena, faulty_server: str) -> None:
    meta = arena.workspace.frameworks / "victim" / "meta.json"
    native = json.loads(meta.read_bytes())["native"]
    for name in ("a-broken-meta", "b-build", "c-start", "d-lies", "e-off", "f-tools", "zz-good"):
        arena.add(name, tests=["quick"], native=native)
    (arena.workspace.frameworks / "a-broken-meta" / "meta.json").write_text('{"type": 1,\n')
    arena.add("b-build", tests=["quick"], native={"build": "echo no; exit 7", "run": "true"})
    arena.add("c-start", tests=["quick"], native={"run": "exit 3"})
    arena.add("d-lies", tests=["quick"], native={"run": f"{faulty_server} wrong-sum"})
    arena.add("e-off", tests=["quick"], native=native, enabled=False)
    arena.add("f-tools", tests=["quick"], native={"needs": ["no-such-compiler"], "run": "true"})
    before = kept(arena)
    done = validate(arena, "all", "quick")
    assert done.code == 1, done
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    expected = [
        "a-broken-meta  FAIL  frameworks/a-broken-meta/meta.json: line ",
        "b-build        FAIL  build: `echo no; exit 7` failed (exit code 7)",
        "c-start        FAIL  start: the server ended before it was ready (exit code 3)",
        "d-lies         FAIL  unary-sum: ",
        "e-off          SKIP  its meta.json says `enabled`: false",
        "f-tools        SKIP  f-tools needs no-such-compiler to run natively: ",
        "victim         PASS",
        "zz-good        PASS",
        "2 passed, 0 warned, 4 failed, 2 skipped",
        "install by hand: no-such-compiler",
    ]
    assert len(lines) == len(expected), done
    for line, beginning in zip(lines, expected, strict=True):
        assert line.startswith(beginning)
    assert kept(arena) == before


def test_where_everything_is_skipped_the_host_cannot_do_it(arena: Arena) -> None:
    arena.add("victim", native={"needs": ["no-such-compiler"], "run": "true"})
    for words in (["all"], ["victim"]):
        done = validate(arena, *words)
        assert done.code == 3
        assert done.stdout.startswith("victim  SKIP  victim needs no-such-compiler to run natively")
        assert done.error


@contextmanager
def started_by_hand(program: Path, certificates: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the good server as its author would."""
    eventually(lambda: not listeners(), "the ports are free")
    files = {"TLS_CERT": certificates / "server.crt", "TLS_KEY": certificates / "server.key"}
    environment = {**os.environ, **{name: str(path) for name, path in files.items()}}
    server = subprocess.Popen([program], env=environment, stdin=subprocess.DEVNULL)
    try:
        eventually(listeners, "the server listens")
        yield server
    finally:
        server.kill()
        server.wait()


def test_a_server_that_runs_already_is_checked_and_left_alone(arena: Arena, grpc_go: Path) -> None:
    arena.add("victim", tests=["quick"], native={"build": "exit 7", "run": "exit 7"})
    certs.ensure_certificate(arena.workspace.certs)
    with started_by_hand(grpc_go, arena.workspace.certs) as server:
        done = arena.command("validate", "--wait", "--running", "victim")
        assert done.code == 0, done
        assert done.stdout == "victim  PASS\n"
        assert server.poll() is None


def test_where_nothing_runs_that_is_said(arena: Arena) -> None:
    done = arena.command(
        "validate", "--wait", "--running", "victim", "quick", "--ready-timeout", "100ms"
    )
    assert done.code == 1
    assert done.stdout.startswith(
        "victim  FAIL  start: the server was not ready on port 8080 within 0.1 s ("
    )


@pytest.mark.parametrize(
    ("line", "native", "number"),
    [
        ("build victim", {"build": "sleep 60", "run": "true"}, signal.SIGINT),
        ("await victim", {"run": "sleep 60 & setsid sleep 60 & wait"}, signal.SIGTERM),
        ("check victim on port 8080", None, signal.SIGINT),
    ],
)
def test_an_interrupt_leaves_nothing(
    arena: Arena, line: str, native: dict[str, Any] | None, number: signal.Signals
) -> None:
    if native:
        arena.add("victim", native=native)
    before = kept(arena)
    words = ("validate", "--wait", "--runtime", "native", "victim", "quick")
    with arena.start(*words) as running:
        running.await_line(line)
        running.signal(number)
        done = running.end()
    assert done.code == 130, done
    assert done.stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in done.stderr
    assert arena.left_behind() == []
    assert kept(arena) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["victin"], ["no framework `victin`", "did you mean victim?"]),
        (["victim", "quik"], ["no profile `quik`", "did you mean quick?"]),
        (["victim", "unary-grpc"], ["victim does not subscribe to unary-grpc"]),
        (["all", "--running"], ["--running"]),
        ([], ["FRAMEWORK"]),
    ],
)
def test_bad_usage_is_refused_in_a_line(
    arena: Arena, arguments: list[str], words: list[str]
) -> None:
    done = validate(arena, *arguments)
    assert done.code == 2
    assert done.stdout == ""
    assert all(word in done.error for word in words), done.error


def test_a_benchmark_that_runs_is_not_disturbed(arena: Arena) -> None:
    with arena.under_load() as first:
        for words in (["--runtime", "native"], ["--running"]):
            done = arena.command("validate", "victim", "quick", *words)
            assert done.code == 3
            assert f"(process {first.popen.pid}: " in done.error
        first.signal(signal.SIGINT)
        assert first.end().code == 130


def test_two_are_checked_at_once_where_their_ports_allow_it(
    arena: Arena, grpc_go: Path, tmp_path: Path
) -> None:
    # Each server waits for the other one: so both pass, or none does.
    meet = f"touch {tmp_path}/$PORT_H2C; until [ -e {tmp_path}/8080 ] && [ -e {tmp_path}/8081 ]"
    run = f"{meet}; do sleep 0.05; done; exec {grpc_go}"
    for name in ("first", "second"):
        arena.add(name, tests=["quick"], ports="environment", native={"run": run})
    done = validate(arena, "first,second", "--jobs", "2", "--json")
    assert done.code == 0, done
    found = json.loads(done.stdout)["frameworks"]
    assert [(each["framework"], each["verdict"]) for each in found] == [
        ("first", "pass"),
        ("second", "pass"),
    ]
    assert [each["ports"][0]["port"] for each in found] == [8080, 8081]
    assert "second: check second on port 8081 (h2c) …" in done.stderr.splitlines()


def test_an_interrupt_ends_all_that_are_checked_at_once(arena: Arena, grpc_go: Path) -> None:
    for name in ("first", "second"):
        run = f"sleep 60; exec {grpc_go}"
        arena.add(name, tests=["quick"], ports="environment", native={"run": run})
    words = ("validate", "first,second", "--wait", "--runtime", "native", "--jobs", "2")
    with arena.start(*words) as running:
        running.await_line("second: await second on port 8081 (h2c) …")
        running.signal(signal.SIGINT)
        done = running.end()
    assert done.code == 130, done
    assert done.stderr.splitlines()[-1] == "interrupted"
    eventually(lambda: not arena.left_behind(), "nothing is left behind")
