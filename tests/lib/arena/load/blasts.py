"""The profile of a small blast, and a stand-in for ghz that can only be started."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arena.base.progress import Tick
from arena.base.workspace import Workspace
from arena.load.generators import Shot
from arena.load.ghz import GHZ
from arena.load.program import Program
from arena.record.measurement import Cost
from arena.what.profile import MeasuredProfile
from tests.fakes import UNARY, a_profile, a_program
from tests.lib.parsers.ghz.reports import small_json

# Answers as ghz does, with as many calls as it is told, each of which took a millisecond.
_GHZ = """
import json, sys
words = sys.argv[1:]
n = int(words[words.index("-n") + 1])
call = {"timestamp": "2026-01-02T03:04:05.5Z", "latency": 1000000, "error": "", "status": "OK"}
print(json.dumps({
    "count": n, "total": 2000000, "rps": 1, "statusCodeDistribution": {"OK": n},
    "options": {"argv": words}, "details": [call] * n,
}, separators=(",", ":")))
"""


def a_blast(**changes: Any) -> MeasuredProfile:
    """Return a blast of 1, 2 and 5 calls, over one connection and over two, twice."""
    values: dict[str, Any] = {
        "name": "blast-unary",
        "kind": "blast",
        **UNARY,
        "expect": ("result = a + b",),
        "connections": (1, 2),
        "connection_count": 2,
        "sweep": (1, 2, 5),
        "repetitions": 2,
        "duration_s": 30.0,
        "runs": 1,
    }
    return a_profile(**(values | changes))


def a_ghz(workspace: Workspace, script: str | None = None) -> Program:
    """Return ghz as a real program: the script, or one that answers as ghz does."""
    program = workspace.root / "bin" / "ghz"
    if script is None:
        answer = workspace.root / "ghz.py"
        answer.write_text(_GHZ)
        script = f'exec {sys.executable} {answer} "$@"'
    return Program(GHZ, workspace, None, str(a_program(program, script)), "v1", "here")


class Started(Program):
    """Keeps what it is started with; each time `answer` says what becomes of it."""

    def __init__(self, workspace: Workspace, answer: "Callable[[Started], Shot] | None" = None):
        super().__init__(GHZ, workspace, None, "ghz", "v1", "here")
        self.starts: list[Sequence[str]] = []
        self.output = Path()
        self.on_tick: Tick = lambda _: None
        self._answer = answer or Started.well

    def shoot(
        self,
        arguments: list[str],
        raw: Path,
        window_s: float,
        on_tick: Tick,
        opening: object = None,
    ) -> Shot:
        assert not raw.exists()
        self.starts.append(arguments)
        self.output, self.on_tick = raw, on_tick
        return self._answer(self)

    @property
    def requests(self) -> int:
        """How many calls it is to make now."""
        return int(self.starts[-1][self.starts[-1].index("-n") + 1])

    def well(self, problem: str | None = None) -> Shot:
        """Leave a whole report, and have cost a second more and a byte less than before."""
        calls = [(float(len(self.starts)), 0.001, "")] * self.requests
        self.output.write_text(json.dumps(small_json(*calls, endReason="normal")) + "\n")
        return self.ended(problem)

    def ended(self, problem: str | None = None) -> Shot:
        cost = Cost(cpu_s=len(self.starts), peak_bytes=1000 - len(self.starts))
        return Shot(raw=self.output, log=self.output, cost=cost, problem=problem)
