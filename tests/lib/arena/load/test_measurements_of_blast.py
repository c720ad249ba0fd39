"""A sweep: its command line, and its measurement from captured outputs."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from arena.base.workspace import Workspace
from arena.load import volley
from arena.load.ghz import GHZ
from arena.load.measurements import of_blast, of_volley
from arena.record.measurement import Unchecked, Wrong
from arena.what.profile import MeasuredProfile
from tests.fakes import UNARY, a_profile, a_program
from tests.lib.arena.load.stubs import preview
from tests.lib.parsers.sweeps import SWEEPS, VOLLEY, small_sweep


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


def test_the_rate_and_the_latency_are_those_of_the_fastest_point(tmp_path: Path) -> None:
    raw = tmp_path / "run-1.json"
    raw.write_text(json.dumps(small_sweep((("points", 0, "latency_ns", "max"), 2_000_000))))
    found = of_blast(raw)
    first, second = found.points
    assert (found.rate, found.rate_at_least, found.rate_at_most) == (1500.0, 1000.0, 2000.0)
    assert (first.rate, first.rate_at_least, first.rate_at_most) == (1500.0, 1000.0, 2000.0)
    assert found.latency_ns == first.latency_ns != second.latency_ns
    assert (first.latency_ns.max, first.latency_ns.samples) == (2_000_000, 4)
    assert (first.connections, first.requests, first.repetitions) == (1, 2, 2)
    assert (second.ok, second.failed) == (1, {"Internal": 1, "Unavailable": 2})
    assert found.elapsed_s == 0.5
    assert (found.calls.ok, found.calls.failed, found.calls.cut) == (5, second.failed, 0)
    assert found.messages == 5
    assert found.reported_calls_per_s is None


@pytest.mark.parametrize(
    ("compared", "checked", "unchecked"), [(True, 5, 0), (True, 4, 5), (False, 5, 5)]
)
def test_replies_are_checked_if_all_were_compared(
    tmp_path: Path, compared: bool, checked: int, unchecked: int
) -> None:
    changes = ((("checks", "compared"), compared), (("checks", "replies_checked"), checked))
    (tmp_path / "raw").write_text(json.dumps(small_sweep(*changes)))
    assert of_blast(tmp_path / "raw").unchecked == Unchecked(status=0, replies=unchecked)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.name)
def test_every_captured_sweep_is_a_measurement(path: Path) -> None:
    found = volley.VOLLEY.way(a_blast()).read(path, a_blast())
    assert not found.approximate
    assert found.latency_ns.kind == "response"
    assert sum(point.ok for point in found.points) == found.calls.ok == found.messages
    assert found.rate == max(point.rate for point in found.points)
    assert found.rate_at_least <= found.rate <= found.rate_at_most
    assert found.unchecked == Unchecked(status=0, replies=0)


def test_a_sweep_without_an_ok_call_is_one_of_failures() -> None:
    found = of_blast(VOLLEY / "wrong.json")
    assert (found.calls.ok, found.calls.failed) == (0, {"DataLoss": 24})
    assert (found.rate, found.rate_at_most, found.latency_ns.samples) == (0.0, 0.0, 0)
    assert found.wrong == Wrong(24, "reply 0: `result` is 3, expected -1 = a - b")


def test_a_sweep_cut_before_its_first_blast_has_made_no_call(tmp_path: Path) -> None:
    never = small_sweep((("checks", "replies_checked"), 0))
    for point in never["points"]:
        point |= {"shots": [], "ok": 0, "failed": {}}
        point["latency_ns"] = {"kind": "response", "samples": 0}
    (tmp_path / "raw").write_text(json.dumps(never))
    found = of_blast(tmp_path / "raw")
    assert (found.points, found.calls.ok, found.calls.failed, found.rate) == ((), 0, {}, 0.0)


@pytest.mark.parametrize(
    ("text", "why"), [("panic: oh no", "broken or incomplete JSON"), ('{"report": {}}', "not what")]
)
def test_a_broken_output_is_a_valueerror(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "raw").write_text(text)
    with pytest.raises(ValueError, match=why):
        of_blast(tmp_path / "raw")


def test_a_closed_load_is_no_sweep() -> None:
    with pytest.raises(ValueError, match="`count` is missing"):
        of_volley(VOLLEY / "grpc-go.json", a_blast().warm_up())
    with pytest.raises(ValueError, match="not what `volley blast -O json` prints"):
        of_blast(VOLLEY.parent / "open-loop.json")


def test_ghz_makes_none_but_volley_in_its_place_does(workspace: Workspace) -> None:
    assert GHZ.problem(a_blast()) == "a blast load is not one it knows"
    named = a_program(workspace.root / "bin" / "ghz", 'echo "volley 0.1.0"')
    shown = preview(a_blast(generator="ghz"), workspace, {"GHZ": str(named)})
    assert shown[:2] == ["./bin/ghz", "blast"]


def test_volley_is_told_the_whole_sweep() -> None:
    assert shlex.join(volley.blast(a_blast(seed=7))) == (
        "blast --insecure --proto requests/benchmark.proto "
        '--call benchmark.BenchmarkService/GetSum -d \'{"a":1,"b":2}\' '
        "--max-recv-message-size 4MiB --expect-replies 1 --expect 'result = a + b' "
        "--requests 1,2,5 --connections 1,2 --repetitions 2 --seed 7 "
        "--max-duration 30s -O json localhost:8080"
    )
