"""The command line: every way out is a line and an exit code."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import click
import pytest

from arena.base.errors import FrameworkError, GeneratorError, HostError, UsageError
from arena.base.workspace import Workspace
from arena.cli import benchmark, main
from arena.machine import interrupts, lock
from arena.measure import plan


class Outcome:
    """Runs the command line in this process; keeps what it printed and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["arena", *words])
            patch.setattr(interrupts, "install", lambda: None)
            with pytest.raises(SystemExit) as caught:
                main.main()
        self.code = caught.value.code
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def root(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("RUNS", "DURATION", "RUNTIME", "GHZ", "LOADGEN_DOCKER", "ARENA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(workspace.root)
    folder = workspace.frameworks / "tonic"
    folder.mkdir()
    meta = {"display_name": "Tonic", "language": "Rust", "type": "tuned", "tests": ["stream-grpc"]}
    (folder / "meta.json").write_text(json.dumps(meta))
    return f"--root={workspace.root}"


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (UsageError("bad word"), 2, "error: bad word\n"),
        (HostError("no Docker"), 3, "error: no Docker\n"),
        (FrameworkError("build", "broke"), 1, "error: build: broke\n"),
        (GeneratorError("run 1", "broke"), 3, "error: run 1: broke\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (OSError(28, "No space left on device", "/x/y"), 3, "error: /x/y: No space left on device"),
        (RuntimeError("surprise"), 3, "error: this is a bug: RuntimeError: surprise (please"),
        (ZeroDivisionError(), 3, "error: this is a bug: ZeroDivisionError"),
        (UsageError("x\x1b[2J: \u202eno"), 2, "error: x\ufffd[2J: \ufffdno\n"),
        (HostError("taken by a\nb\x07"), 3, "error: taken by a\ufffdb\ufffd\n"),
        (RuntimeError("\x1b[2J\nmore"), 3, "bug: RuntimeError: \ufffd[2J\ufffdmore (please"),
        (OSError(28, "No space", "/x/\x1b"), 3, "error: /x/\ufffd: No space\n"),
        (click.UsageError("a \x1b[2J word"), 2, "error: a \ufffd[2J word (see"),
    ],
)
def test_every_failure_is_a_line_and_its_own_code(
    root: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise raised

    monkeypatch.setattr(benchmark, "benchmark", fail)
    outcome = Outcome(capsys, root, "run", "tonic")
    assert outcome.code == code
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert outcome.out == ""


def test_for_debugging_there_is_a_traceback(
    root: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(benchmark, "benchmark", fail)
    monkeypatch.setenv("ARENA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        Outcome(capsys, root, "run", "tonic")


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_is_the_benchmarks(
    root: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(benchmark, "benchmark", lambda *_, **__: code)
    assert Outcome(capsys, root, "run", "tonic").code == code


@pytest.mark.parametrize(
    ("environment", "words", "runs", "duration", "runtime"),
    [
        ({}, [], None, None, "auto"),
        ({"RUNS": "2", "DURATION": "1s", "RUNTIME": "native"}, [], 2, 1.0, "native"),
        (
            {"RUNS": "2", "DURATION": "1s", "RUNTIME": "native"},
            ["--runs=4", "--duration=500ms", "--runtime=docker"],
            4,
            0.5,
            "docker",
        ),
        ({"RUNS": ""}, [], None, None, "auto"),
    ],
)
def test_a_flag_wins_over_the_environment_and_that_over_the_profile(
    root: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    words: list[str],
    runs: int | None,
    duration: float | None,
    runtime: str,
) -> None:
    asked: list[plan.Request] = []

    def note(_: Workspace, request: plan.Request, *__: object, **___: object) -> int:
        asked.append(request)
        return 0

    monkeypatch.setattr(benchmark, "benchmark", note)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Outcome(capsys, root, "run", "tonic", "stream-grpc", *words).code == 0
    expected = plan.Request(
        "tonic", ("stream-grpc",), runs=runs, duration=duration, runtime=runtime
    )
    assert asked == [expected]


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "tonic", "stream-grpc", "more"],
        ["run", "tonic", "--runs=0"],
        ["run", "tonic", "--duration=5"],
        ["run", "tonic", "--ready-timeout=soon"],
        ["run", "tonic", "--surprise"],
        ["run", "tonik"],
        ["run", "tonic", "stream-grpc-tls"],
        ["run", "tonic", "--dry-run", "--runtime=podman"],
        ["run", "tonic", "--runtime=podman"],
        ["run", "tonic", "--duration=999us"],
        ["run", "\udcff"],
        ["validate"],
        ["validate", "tonik"],
        ["validate", "tonic", "stream-grpc-tls"],
        ["validate", "tonic", "stream-grp"],
        ["validate", "tonic", "--runtime=podman"],
        ["validate", "tonic", "--ready-timeout=soon"],
        ["validate", "all", "--running"],
        ["validate", "all", "unary-grpc"],
        ["schema", "page"],
        ["jump"],
        [],
    ],
)
def test_bad_usage_ends_with_2(
    root: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    outcome = Outcome(capsys, root, *words)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err


def test_a_ghz_that_is_none_ends_with_2_before_anything_is_locked(
    root: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    monkeypatch.setenv("GHZ", "/no/such/ghz")
    outcome = Outcome(capsys, root, "run", "tonic", "--runtime=native")
    assert outcome.code == 2
    assert outcome.err == "error: GHZ: /no/such/ghz is not a program that can be run\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "publish an honest"),
        (["run"], "Exit codes: 0 done, 1 a framework failed, 2 bad usage"),
        (["validate"], "Check that the answers of FRAMEWORK"),
        (["validate"], "Exit codes: 0 done, 1 a framework failed, 2 bad usage"),
        (["list"], "Show the frameworks"),
        (["schema"], "JSON Schema"),
        (["publish"], "from the records alone"),
    ],
)
def test_each_command_has_help(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    for flag in ("--help", "-h"):
        outcome = Outcome(capsys, *words, flag)
        assert (outcome.code, outcome.err) == (0, "")
        assert said in " ".join(outcome.out.split())


def test_the_list_names_what_can_be_run(
    root: str, capsys: pytest.CaptureFixture[str], workspace: Workspace
) -> None:
    folder = workspace.frameworks / "retired"
    folder.mkdir()
    text = (workspace.frameworks / "tonic" / "meta.json").read_text()
    (folder / "meta.json").write_text(text.replace("{", '{"enabled": false, ', 1))
    outcome = Outcome(capsys, root, "list")
    assert outcome.code == 0
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["tonic", "Rust", "tuned", "stream-grpc"] in rows
    assert "retired" not in outcome.out
    assert "Server streaming over TLS" in outcome.out


def test_the_list_survives_what_is_broken_and_says_it(
    root: str, capsys: pytest.CaptureFixture[str], workspace: Workspace
) -> None:
    for name in ("a-broken-one", "zz-broken"):
        folder = workspace.frameworks / name
        folder.mkdir()
        (folder / "meta.json").write_text('{"display_name": "x\x1b",\n}')
    (workspace.profiles / "odd.yaml").write_text("name: [")
    outcome = Outcome(capsys, root, "list")
    assert outcome.code == 2
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["tonic", "Rust", "tuned", "stream-grpc"] in rows
    assert "Server streaming over TLS" in outcome.out
    first, second, third = outcome.err.splitlines()
    assert first.startswith("error: frameworks/a-broken-one/meta.json: line ")
    assert second.startswith("error: frameworks/zz-broken/meta.json: line ")
    assert third.startswith("error: profiles/odd.yaml: line ")


def test_the_list_shows_every_connection_count(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = Outcome(capsys, root, "list")
    assert "  256, 1024 connections   Unary calls over h2c" in outcome.out


def test_an_empty_checkout_can_be_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    outcome = Outcome(capsys, f"--root={tmp_path}", "list")
    assert (outcome.code, outcome.out) == (0, "Frameworks\n\nProfiles\n")


@pytest.mark.parametrize("name", ["record", "leaderboard"])
def test_the_schema_is_published(capsys: pytest.CaptureFixture[str], name: str) -> None:
    one = json.loads(Outcome(capsys, "schema", name).out)
    both = json.loads(Outcome(capsys, "schema").out)
    assert both[name] == one
    assert one["type"] == "object"
    assert one["properties"]["schema"]["const"] == 2


def test_the_page_can_be_published_from_nothing(
    root: str, capsys: pytest.CaptureFixture[str], workspace: Workspace
) -> None:
    outcome = Outcome(capsys, root, "publish")
    assert (outcome.code, outcome.out) == (0, "page: site/public/index.html\n")
    assert "Nothing has been measured" in (workspace.site / "public/index.html").read_text()


def test_a_reader_that_has_gone_is_no_framework_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    lib = Path(main.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(lib), "schema"],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=30,
    )  # fmt: skip
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("round", "freeze", "../x"), "error: a round cannot be named '../x': write up to 64 "),
        (("round", "freeze", "first"), "error: results: there is no record to freeze\n"),
        (("night", "tonik"), "error: there is no framework `tonik` (did you mean tonic?)\n"),
        (("night", "--budget", "soon"), "error: Invalid value for '--budget': 'soon' is not a "),
        (("night", "--profile", "x*"), "error: no profile matches `x*`"),
    ],
)
def test_what_cannot_be_frozen_or_measured_at_night_is_one_line(
    root: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    outcome = Outcome(capsys, root, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(said)
    assert len(outcome.err.splitlines()) == 1


def test_without_rounds_their_list_is_empty(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome(capsys, root, "round", "list")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_the_site_is_built_and_checked(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    built = Outcome(capsys, root, "site", "build")
    assert (built.code, built.out) == (0, "page: site/public/index.html\n")
    index = Path("site/public/index.html")
    index.write_text(index.read_text().replace("</main>", "<a href=gone.html>x</a></main>"))
    checked = Outcome(capsys, root, "site", "check")
    assert checked.code == 1
    assert "error: index.html: the link 'gone.html' leads nowhere\n" in checked.err
    assert checked.out.endswith(" problems\n")


def test_of_very_many_problems_only_the_first_are_shown(
    root: str, capsys: pytest.CaptureFixture[str], workspace: Workspace
) -> None:
    workspace.public.mkdir()
    links = "".join(f'<a href="{number:03}\x1b.html">x</a>' for number in range(60))
    (workspace.public / "a.html").write_text(f"<!doctype html><title>x</title>{links}")
    checked = Outcome(capsys, root, "site", "check")
    lines = checked.err.splitlines()
    problems = int(checked.out.split()[-2])
    assert (len(lines), lines[-1]) == (51, f"error: and {problems - 50} more")
    assert "\x1b" not in checked.err


def test_without_a_site_there_is_nothing_to_check(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = Outcome(capsys, root, "site", "check")
    assert (outcome.code, outcome.out) == (2, "")
    said = "error: site/public: there is no site yet (./scripts/site.sh build)\n"
    assert outcome.err == said


def test_the_site_is_served_until_ctrl_c_which_ends_it_quietly(root: str) -> None:
    lib = Path(__file__).resolve().parents[4] / "lib"
    with subprocess.Popen(
        [sys.executable, str(lib), root, "site", "serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdout
        assert serving.stderr
        try:
            address = serving.stdout.readline().split()[1]
            with urllib.request.urlopen(address, timeout=30) as answer:
                assert b"HttpArena" in answer.read()
        finally:
            serving.send_signal(signal.SIGINT)
        assert serving.wait(30) == 0
        assert serving.stderr.read() == ""
    assert address.startswith("http://127.0.0.1:")


def test_a_taken_port_is_one_line(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        outcome = Outcome(capsys, root, "site", "serve", "--port", port)
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == f"error: port {port} is taken: name another one with --port\n"
