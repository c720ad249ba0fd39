"""The gate as a command: its exit code, and the file that it writes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commandline import Line
from tests.tools.bench_instructions.samples import CONDITIONS
from tools.bench_instructions import counting
from tools.bench_instructions.__main__ import command
from tools.bench_instructions.figures import FIGURES
from tools.bench_instructions.judging import COMMITTED, Measured

Count = Callable[[float], None]


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Return what makes every figure so high."""
    monkeypatch.setattr(counting, "require_valgrind", lambda: "3.19.0")
    monkeypatch.setattr(counting, "volley_of", lambda *_: Path("volley"))
    monkeypatch.setattr(counting, "conditions_of", lambda *_: CONDITIONS)

    def make(instructions: float) -> None:
        measured = [Measured(each.name, [instructions]) for each in FIGURES]
        monkeypatch.setattr(counting, "measure", lambda *_: measured)

    return make


def test_three_percent_more_instructions_fail(line: Line, count: Count) -> None:
    count(1000.0)
    assert line("--write", command=command).code == 0
    assert line(command=command).code == 0
    count(1030.0)
    ended = line(command=command)
    assert ended.code == 1
    assert ended.err.startswith(f"error: {COMMITTED}: figures of today are more than 2 % above: ")
    count(970.0)
    assert line("--json", command=command).code == 0


def test_without_a_committed_file_nothing_is_measured(line: Line, count: Count) -> None:
    ended = line(command=command)
    assert ended.code == 2
    assert f"error: {COMMITTED}: cannot be read" in ended.err
