"""What the verbs make of their words, and what they print."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.verbs import fleet
from arena.machine import lock
from arena.night import benchmark
from arena.night import night as job
from arena.run import validate as validating
from arena.run.request import Request
from tests.commandline import Line
from tests.fakes import a_request, add_framework


@pytest.mark.parametrize(
    ("environment", "words", "expected"),
    [
        ({}, [], {}),
        (
            {"RUNS": "2", "DURATION": "1s", "RUNTIME": "native", "CONNECTIONS": "7"},
            [],
            {"runs": 2, "duration": 1.0, "runtime": "native", "connections": (7,)},
        ),
        (
            {"RUNS": "2", "DURATION": "1s", "RUNTIME": "native", "CONNECTIONS": "7"},
            ["--runs=4", "--duration=500ms", "--runtime=docker", "--connections=1024,256,256"],
            {"runs": 4, "duration": 0.5, "runtime": "docker", "connections": (256, 1024)},
        ),
        ({"RUNS": "", "CONNECTIONS": ""}, [], {}),
    ],
)
def test_a_flag_wins_over_the_environment_and_that_over_the_profile(
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    words: list[str],
    expected: dict[str, Any],
) -> None:
    asked: list[Request] = []

    def note(_: Workspace, request: Request, *__: object) -> int:
        asked.append(request)
        return 3

    monkeypatch.setattr(benchmark, "benchmark", note)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert line("run", "tonic,grpc*", "stream-grpc", "load-*", *words).code == 3
    assert asked == [a_request("tonic,grpc*", ("stream-grpc", "load-*"), **expected)]


def test_a_ghz_that_is_none_ends_with_2_before_anything_is_locked(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    monkeypatch.setenv("GHZ", "/no/such/ghz")
    outcome = line("run", "tonic", "--runtime=native")
    assert outcome.code == 2
    assert outcome.err == "error: GHZ: /no/such/ghz is not a program that can be run\n"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"seed": "\udcff"}, "seed: is not UTF-8 text"),
        ({"frameworks": ("\udcff",)}, "frameworks: is not UTF-8 text"),
        ({"budget": float("inf")}, "budget: Input should be a finite number"),
        ({"seed": "x" * ((1 << 20) + 1)}, "seed: String should have at most 1048576 characters"),
    ],
)
def test_an_option_that_no_request_has_is_one_line_that_says_why(
    given: dict[str, object], why: str
) -> None:
    with pytest.raises(UsageError, match=f"^{why}$"):
        options.request_of(**given)


@pytest.mark.parametrize("verb", ["run", "night"])
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--fleet=tls://h:1", "--generator=ghz"], "--generator: a fleet runs volley, not ghz"),
        (
            ["--fleet=tls://h:1", "--server-quota=1"],
            "--server-quota: with --fleet, the server has all CPUs of its host",
        ),
        (["--fleet=h:1"], "--fleet: 'h:1' is not an address like tls://coordinator:8786"),
        (["--fleet="], "--fleet: '' is not an address like tls://coordinator:8786"),
        (["--fleet=tls://localhost:1", "--seed=x"], "--seed: is for blocks (add --blocks)"),
    ],
)
def test_a_fleet_that_cannot_be_is_refused_before_anything_is_installed_or_built(
    line: Line, monkeypatch: pytest.MonkeyPatch, verb: str, words: list[str], why: str
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("installs or builds"))
    outcome = line(verb, "tonic", *words)
    assert (outcome.code, outcome.err) == (2, f"error: {why}\n")


def test_the_commands_of_a_fleet_are_described_in_whole_sentences(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = line("fleet", "--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    shown = sorted(name for name, each in fleet.command.commands.items() if not each.hidden)
    assert [row.split()[0] for row in commands.splitlines()] == shown
    assert all(row.endswith(".") and not row.endswith("...") for row in commands.splitlines())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["fleet", "up", "local", "--hosts"], "integer"),
        (["run", "tonic", "--runs"], "integer"),
        (["night", "--quarantine"], "number"),
    ],
)
def test_what_is_no_number_is_called_so(line: Line, words: list[str], what: str) -> None:
    outcome = line(*words, "abc")
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: Invalid value for '{words[-1]}'")
    assert outcome.err.endswith(f": 'abc' is not a valid {what}. (see --help)\n")


def test_what_no_range_refuses_is_no_number(line: Line) -> None:
    outcome = line("night", "--quarantine", "nan")
    assert outcome.code == 2
    assert outcome.err.endswith(": 'nan' is not a valid number. (see --help)\n")


def test_validating_takes_the_same_words(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(validating, "validate", lambda _, request, **__: asked.append(request))
    assert line("validate", "tonic,grpc*", "stream-grpc", "load-*", "--jobs", "3").code == 0
    assert asked == [validating.ValidateOptions("tonic,grpc*", ("stream-grpc", "load-*"), jobs=3)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["tonic", "grpc-go"], {"frameworks": ("tonic", "grpc-go")}),
        (
            ["tonic", "--profile=a*", "--profile", "b"],
            {"frameworks": ("tonic",), "profiles": ("a*", "b")},
        ),
        (["tonic,grpc*", "load-*"], {"frameworks": ("tonic", "grpc*"), "profiles": ("load-*",)}),
        (
            ["unary-grpc", "--connections=1024"],
            {"profiles": ("unary-grpc",), "connections": (1024,)},
        ),
    ],
)
def test_a_night_takes_the_same_words_and_all_frameworks_without_them(
    line: Line, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: dict[str, Any]
) -> None:
    add_framework(line.workspace, "grpc-go")
    asked: list[object] = []
    monkeypatch.setattr(job, "night", lambda _, request, *__: asked.append(request))
    assert line("night", *words).code == 0
    assert asked == [Request(**expected)]


def test_the_list_names_what_can_be_run(line: Line, workspace: Workspace) -> None:
    add_framework(workspace, "retired", enabled=False)
    outcome = line("list")
    assert outcome.code == 0
    rows = [row.split() for row in outcome.out.splitlines()]
    assert ["tonic", "Rust", "tuned", "stream-grpc"] in rows
    assert "retired" not in outcome.out
    assert "Server streaming over TLS" in outcome.out


def test_the_list_survives_what_is_broken_and_says_it(line: Line, workspace: Workspace) -> None:
    for name in ("a-broken-one", "zz-broken"):
        folder = workspace.frameworks / name
        folder.mkdir()
        (folder / "meta.json").write_text('{"display_name": "x\x1b",\n}')
    (workspace.profiles / "odd.yaml").write_text("name: [")
    outcome = line("list")
    assert outcome.code == 2
    rows = [row.split() for row in outcome.out.splitlines()]
    assert ["tonic", "Rust", "tuned", "stream-grpc"] in rows
    assert "Server streaming over TLS" in outcome.out
    first, second, third = outcome.err.splitlines()
    assert first.startswith("error: frameworks/a-broken-one/meta.json: line ")
    assert second.startswith("error: frameworks/zz-broken/meta.json: line ")
    assert third.startswith("error: profiles/odd.yaml: line ")


def test_the_list_says_what_has_no_name_and_waits_for_nothing(
    line: Line, workspace: Workspace
) -> None:
    for name in ("my server", "café", "-x", "a" * 65, ".hidden"):
        add_framework(workspace, name)
    (workspace.frameworks / "notes").mkdir()
    (workspace.profiles / ".x.yaml").write_text("{")
    os.mkfifo(workspace.profiles / "pipe.yaml")
    piped = workspace.framework("piped") / "meta.json"
    piped.parent.mkdir()
    os.mkfifo(piped)
    outcome = line("list")
    warned = [each for each in outcome.err.splitlines() if each.startswith("warning: ")]
    assert [each.split(" is left out: ")[0] for each in warned] == [
        f"warning: frameworks/{name}" for name in ("-x", "a" * 65, "café", "my server")
    ]
    assert sorted(each for each in outcome.err.splitlines() if each not in warned) == [
        "error: frameworks/piped/meta.json: is not a plain file",
        "error: profiles/pipe.yaml: is not a plain file",
    ]
    assert outcome.code == 2
    assert "  tonic " in outcome.out
    assert "  stream-grpc " in outcome.out
    assert ".x" not in outcome.out + outcome.err


def test_the_list_shows_every_connection_count(line: Line) -> None:
    outcome = line("list")
    assert "  256, 1024 connections   Unary calls over h2c" in outcome.out


def test_an_empty_checkout_can_be_listed(line: Line, tmp_path: Path) -> None:
    outcome = line(f"--root={tmp_path / 'empty'}", "list")
    assert (outcome.code, outcome.out) == (0, "Frameworks\n\nProfiles\n")


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["run", "typist", "--dry-run"],
        ["night", "typist", "--dry-run"],
        ["validate", "all"],
    ],
)
def test_a_misspelt_test_is_warned_of(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock")
    monkeypatch.setenv("RUNTIME", "native")
    add_framework(line.workspace, "typist", "stream-grpc", "unary-grcp", "baseline-h2")
    (said,) = [each for each in line(*words).err.splitlines() if each.startswith("warning: ")]
    assert "/typist/meta.json: tests: no profile `unary-grcp` (did you mean unary-grpc?)" in said


@pytest.mark.parametrize(("name", "number"), [("record", 3), ("leaderboard", 2)])
def test_the_schema_is_published(line: Line, name: str, number: int) -> None:
    one = json.loads(line("schema", name).out)
    both = json.loads(line("schema").out)
    assert both[name] == one
    assert one["type"] == "object"
    assert one["properties"]["schema"]["const"] == number


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("round", "freeze", "../x"), "error: a round cannot be named '../x': write up to 64 "),
        (("round", "freeze", "first"), "error: results: there is no record to freeze\n"),
        (
            ("night", "tonik"),
            "error: there is no framework or profile `tonik` (did you mean tonic?)\n",
        ),
        (("night", "--budget", "soon"), "error: Invalid value for '--budget': 'soon' is not a "),
        (("night", "--profile", "x*"), "error: no profile matches `x*`"),
    ],
)
def test_what_cannot_be_frozen_or_measured_at_night_is_one_line(
    line: Line, words: tuple[str, ...], said: str
) -> None:
    outcome = line(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(said)
    assert len(outcome.err.splitlines()) == 1


def test_without_rounds_their_list_is_empty(line: Line) -> None:
    outcome = line("round", "list")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
