"""The command line in this process, on a checkout of its own."""

import sys
from dataclasses import dataclass

import click
import pytest

from arena.base.workspace import Workspace
from arena.cli import entry
from arena.cli.main import cli
from arena.machine import interrupts
from tests.fakes import add_framework


@dataclass(frozen=True)
class Ended:
    """How a command line ended: its exit code, and what it printed."""

    code: object
    out: str
    err: str


@dataclass(frozen=True)
class Line:
    """Runs command lines on a workspace."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str, command: click.Command = cli) -> Ended:
        argv = ["arena", f"--root={self.workspace.root}", *words]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", argv)
            patch.setattr(interrupts, "install", lambda: None)
            with pytest.raises(SystemExit) as caught:
                entry.start(command, "arena.sh")
        return Ended(caught.value.code, *self.capsys.readouterr())


@pytest.fixture
def line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Line:
    """Return what runs command lines on a checkout with one framework, tonic."""
    names = ("RUNS", "DURATION", "REQUESTS", "CONNECTIONS", "RUNTIME", "GHZ", "LOADGEN_DOCKER")
    for name in (*names, "ARENA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(workspace.root)
    add_framework(workspace, "tonic", language="Rust")
    return Line(workspace, capsys)
