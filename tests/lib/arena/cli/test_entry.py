"""How every command line ends: with a line and an exit code."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from arena.base.errors import FrameworkError, GeneratorError, HostError, UsageError
from arena.cli import options
from arena.machine import lock
from tests.commandline import Line

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (UsageError("bad word"), 2, "error: bad word\n"),
        (HostError("no Docker"), 3, "error: no Docker\n"),
        (FrameworkError("build", "broke"), 1, "error: build: broke\n"),
        (GeneratorError("run 1", "broke"), 3, "error: run 1: broke\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (
            OSError(28, "No space left on device", "/x/y"),
            3,
            "cannot: use /x/y: No space left on device",
        ),
        (RuntimeError("surprise"), 3, "error: this is a bug: RuntimeError: surprise (please"),
        (ZeroDivisionError(), 3, "error: this is a bug: ZeroDivisionError"),
        (UsageError("x\x1b[2J: \u202eno"), 2, "error: x\ufffd[2J: \ufffdno\n"),
        (HostError("taken by a\nb\x07"), 3, "error: taken by a\ufffdb\ufffd\n"),
        (RuntimeError("\x1b[2J\nmore"), 3, "bug: RuntimeError: \ufffd[2J\ufffdmore (please"),
        (OSError(28, "No space", "/x/\x1b"), 3, "cannot: use /x/\ufffd: No space\n"),
        (click.UsageError("a \x1b[2J word"), 2, "error: a \ufffd[2J word (see"),
    ],
)
def test_every_failure_is_a_line_and_its_own_code(
    line: Line, raised: BaseException, code: int, said: str
) -> None:
    @click.command()
    @options.root
    def command(**_: object) -> None:
        raise raised

    outcome = line(command=command)
    assert outcome.code == code
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert outcome.out == ""


def test_for_debugging_there_is_a_traceback(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    @options.root
    def command(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv("ARENA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        line(command=command)


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "stream-grpc"],
        ["run", "tonic", "stream-grpc", "more"],
        ["run", "tonic", "--connections=0"],
        ["run", "tonic", "--connections=64,"],
        ["run", "tonic", "--connections=1000001"],
        ["run", "tonic", "--connections=many"],
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
        ["night", "*"],
        ["night", "--connections=7"],
        ["schema", "page"],
        ["jump"],
        [],
    ],
)
def test_bad_usage_ends_with_2(
    line: Line, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    outcome = line(*words)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "publish an honest"),
        ([], "Exit codes: 0 success; 1 a framework failed; 2 bad usage"),
        ([], "list List the frameworks and the profiles. new"),
        (["run"], "Usage: arena.sh run [OPTIONS] FRAMEWORKS [PROFILES]... Measure"),
        (["run"], options.EXIT_CODES),
        (["validate"], options.EXIT_CODES),
        (["night"], options.EXIT_CODES),
        (["publish"], "from the records"),
    ],
)
def test_each_command_has_help(line: Line, words: list[str], said: str) -> None:
    for flag in ("--help", "-h"):
        outcome = line(*words, flag)
        assert (outcome.code, outcome.err) == (0, "")
        assert said in " ".join(outcome.out.split())


@pytest.mark.parametrize("words", [[], ["round"], ["fleet"], ["site"]])
def test_a_list_of_commands_cuts_no_sentence_and_fits_80_columns(
    line: Line, words: list[str]
) -> None:
    commands = line(*words, "--help").out.partition("Commands:")[2]
    assert commands
    assert "..." not in commands
    assert max(map(len, commands.splitlines())) <= 80


@pytest.mark.parametrize("words", ["schema", "list", "--help"])
def test_where_the_reader_of_the_output_has_gone_the_end_is_silent(line: Line, words: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, str(ROOT / "lib"), f"--root={line.workspace.root}", words],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
