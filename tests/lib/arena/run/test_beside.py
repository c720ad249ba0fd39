"""Validations beside each other, with a script in the place of each."""

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.run import beside
from arena.run.beside import Candidate, Validator
from arena.run.verdicts import FrameworkVerdict
from arena.what.environment import STANDARD, Ports
from tests.fakes import FakeProgress

# Says its port, and what happens to a framework of this name.
PROGRAM = """
import json, os, pathlib, sys, time
name, port = sys.argv[4], os.environ["PORT_H2C"]
pathlib.Path(os.environ["TMPDIR"], name).write_text(str(os.getpid()))
print(f"check {name} on port {port}", file=sys.stderr, flush=True)
if name == "broken":
    sys.exit("Traceback\\nerror: it fell")
if name == "killed":
    os.kill(os.getpid(), 9)
if name.startswith("endless"):
    time.sleep(600)
print("error: a line for those who validate it alone", file=sys.stderr)
outcome = {"framework": name, "verdict": "pass", "reason": port}
print(json.dumps({"schema": 1, "frameworks": [outcome]}))
"""

SLOTS = (STANDARD, Ports(8081, 8444))


@pytest.fixture(autouse=True)
def _program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    monkeypatch.setattr(beside, "this_program", lambda: [sys.executable, str(program)])
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def ran(
    workspace: Workspace, parts: Sequence[Candidate], slots: Sequence[Ports] = SLOTS
) -> tuple[dict[str, FrameworkVerdict], list[str]]:
    """Return the outcomes by framework, and the lines that were shown."""
    shows = FakeProgress()
    found = Validator(workspace, (), (), slots, shows).run(parts)
    return {name: outcome() for name, outcome in found}, shows.lines


def test_each_has_ports_of_its_own_and_its_lines_its_name(workspace: Workspace) -> None:
    outcomes, lines = ran(workspace, [Candidate("a", True), Candidate("b", True)])
    assert {name: each.reason for name, each in outcomes.items()} == {"a": "8080", "b": "8081"}
    assert sorted(lines) == ["a: check a on port 8080", "b: check b on port 8081"]


def test_those_that_cannot_move_wait_for_the_first_ports(workspace: Workspace) -> None:
    outcomes, _ = ran(workspace, [Candidate(name, False) for name in "abc"])
    assert {each.reason for each in outcomes.values()} == {"8080"}
    assert sorted(outcomes) == ["a", "b", "c"]


def test_one_slot_does_for_all(workspace: Workspace) -> None:
    outcomes, _ = ran(workspace, [Candidate("a", True), Candidate("b", False)], [STANDARD])
    assert sorted(outcomes) == ["a", "b"]


@pytest.mark.parametrize(("name", "said"), [("broken", "it fell"), ("killed", "killed by SIGKILL")])
def test_one_that_finds_nothing_is_an_error_and_the_others_go_on(
    workspace: Workspace, name: str, said: str
) -> None:
    passed = []
    parts = [Candidate(name, True), Candidate("a", True)]
    for each, outcome in Validator(workspace, (), (), SLOTS, FakeProgress()).run(parts):
        if each == name:
            with pytest.raises(HostError, match=f"^{said}$"):
                outcome()
        else:
            passed.append(outcome().verdict)
    assert passed == ["pass"]


def test_an_interrupt_ends_all(workspace: Workspace, tmp_path: Path) -> None:
    begun: set[str] = set()

    class Interrupted(FakeProgress):
        def say(self, text: str) -> None:
            begun.add(text)
            if len(begun) == len(SLOTS):
                raise KeyboardInterrupt

    parts = [Candidate("endless-1", True), Candidate("endless-2", True)]
    with pytest.raises(KeyboardInterrupt):
        next(Validator(workspace, (), (), SLOTS, Interrupted()).run(parts))
    for each in parts:
        assert not psutil.pid_exists(int((tmp_path / each.framework).read_text()))
