"""A sweep by ghz: the order that is volley's too, one start for each blast, one file for all."""

import gzip
import json
import os
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from arena.base.workspace import Workspace
from arena.load import generators, ghz_blast, ghz_flags, program
from arena.load.ghz_blast import fire, shuffled, split_mix, starts
from arena.record.measurement import Cost
from tests.fakes import a_profile
from tests.lib.parsers.blast.sweeps import VOLLEY

from .blasts import Started, a_blast, a_ghz
from .stubs import argv, preview


@pytest.fixture
def stem(tmp_path: Path) -> Path:
    folder = tmp_path / "draft"
    folder.mkdir()
    return folder / "run-1"


def lines_of(raw: Path) -> list[dict[str, Any]]:
    with gzip.open(raw, "rt") as file:
        return [json.loads(line) for line in file]


def ignore(_: float) -> None:
    pass


class Clock:
    """Passes only when it is told to; from somewhere, as the real one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(ghz_blast, "time", SimpleNamespace(monotonic=lambda: self.now))


def test_ghz_is_told_that_all_calls_leave_together() -> None:
    assert shlex.join(ghz_blast.arguments(a_blast(tls=True, port=8443), 2, 5)) == (
        "--skipTLS --proto requests/benchmark.proto --call benchmark.BenchmarkService/GetSum "
        '-d \'{"a":1,"b":2}\' --disable-template-functions --disable-template-data '
        "--connections 2 -c 5 -n 5 -O json localhost:8443"
    )


def test_a_call_has_at_most_one_connection() -> None:
    flags = ghz_blast.arguments(a_blast(connections=(1, 1000)), 1000, 5)
    assert flags[flags.index("--connections") + 1] == "5"


def test_the_command_line_that_is_shown_is_that_of_the_largest_blast(workspace: Workspace) -> None:
    shown = preview(a_blast(generator="ghz"), workspace, {"PATH": ""})
    assert shown == ["ghz", *ghz_blast.arguments(a_blast(), 2, 5)]
    assert argv(a_ghz(workspace), a_blast())[1:] == shown[1:]


def test_each_blast_is_a_start_and_a_line(workspace: Workspace, stem: Path) -> None:
    shot = a_ghz(workspace).fire(a_blast(), stem, ignore)
    assert (shot.problem, shot.raw, shot.log) == (None, stem.with_suffix(".jsonl.gz"), shot.raw)
    assert shot.cost.cpu_s > 0
    lines = lines_of(shot.raw)
    asked = [(line["repetition"], line["connections"], line["requests"]) for line in lines]
    assert asked == list(starts(a_blast()))
    assert [line["order"] for line in lines] == list(range(12))
    for line in lines:
        told = line["report"]["options"]["argv"]
        assert told == ghz_blast.arguments(a_blast(), line["connections"], line["requests"])
    assert [path.name for path in stem.parent.iterdir()] == ["run-1.jsonl.gz"]


def test_what_it_leaves_is_a_measurement(workspace: Workspace, stem: Path) -> None:
    generator = a_ghz(workspace)
    measured = generator.parse(generator.fire(a_blast(), stem, ignore).raw, a_blast())
    assert measured.approximate
    assert [(point.connections, point.requests) for point in measured.points] == [
        (ways, calls) for ways in (1, 2) for calls in (1, 2, 5)
    ]
    assert {point.repetitions for point in measured.points} == {2}
    # Five calls in a millisecond, as the stand-in says.
    assert measured.rate == pytest.approx(5000.0)
    assert measured.calls.ok == 2 * 2 * 8


def test_no_byte_of_a_report_is_changed(workspace: Workspace, stem: Path) -> None:
    odd = '{"rps":1.50000, "é":"\\u00e9", "rps":1e3}'
    generator = a_ghz(workspace, f"cat <<'END'\n{odd}\nEND")
    with gzip.open(generator.fire(a_blast(), stem, ignore).raw, "rt") as file:
        assert all(line.endswith(f'"report": {odd}}}\n') for line in file)


def test_a_load_that_is_no_blast_is_one_start(workspace: Workspace, stem: Path) -> None:
    shot = a_ghz(workspace, 'echo "$*"').fire(a_profile(), stem, ignore)
    assert shot.raw == stem.with_suffix(".json")
    assert shot.raw.read_text().split() == ghz_flags.closed(a_profile())


def test_costs_are_added_up_and_the_peak_is_the_highest(workspace: Workspace, stem: Path) -> None:
    started = Started(workspace)
    shot = fire(started, a_blast(), stem, ignore)
    assert len(started.starts) == 12
    assert shot.cost == Cost(cpu_s=sum(range(1, 13)), peak_bytes=999)


@pytest.mark.parametrize(("duration_s", "count"), [(30.0, 3), (1e-9, 1)])
def test_no_start_but_the_first_is_made_when_the_time_is_over(
    workspace: Workspace, stem: Path, monkeypatch: pytest.MonkeyPatch, duration_s: float, count: int
) -> None:
    clock = Clock(monkeypatch)

    def ten_seconds(started: Started) -> generators.Shot:
        clock.now += 10.0
        return started.well()

    started = Started(workspace, ten_seconds)
    shot = fire(started, a_blast(duration_s=duration_s), stem, ignore)
    assert (len(started.starts), shot.problem) == (count, None)
    measured = started.parse(shot.raw, a_blast())
    assert sum(point.repetitions for point in measured.points) == count


def test_the_time_that_is_told_is_that_of_the_whole_sweep(
    workspace: Workspace, stem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)

    def ticking(started: Started) -> generators.Shot:
        started.on_tick(0.0)
        clock.now += 1.0
        started.on_tick(1.0)
        return started.well()

    told: list[float] = []
    fire(Started(workspace, ticking), a_blast(repetitions=1, sweep=(1,)), stem, told.append)
    assert told == [0.0, 1.0, 1.0, 2.0]


def test_a_start_without_a_report_ends_the_sweep(workspace: Workspace, stem: Path) -> None:
    def third_breaks(started: Started) -> generators.Shot:
        if len(started.starts) < 3:
            return started.well()
        started.output.write_text("panic: oh no")
        return started.ended("ghz ended in the middle of it (exit code 2)")

    started = Started(workspace, third_breaks)
    shot = fire(started, a_blast(), stem, ignore)
    _, ways, calls = list(starts(a_blast()))[2]
    assert shot.problem == (
        "ghz ended in the middle of it (exit code 2) "
        f"(a blast of {calls} calls over {ways} connections)"
    )
    assert len(started.starts) == 3
    assert shot.cost == Cost(cpu_s=6, peak_bytes=999)
    assert shot.log.read_text() == "panic: oh no"
    assert len(lines_of(stem.with_suffix(".jsonl.gz"))) == 2


@pytest.mark.parametrize("text", ["", "7", "[]", '{"count": 1', "[" * 100_000])
def test_what_is_no_report_is_a_problem(workspace: Workspace, stem: Path, text: str) -> None:
    def answer(started: Started) -> generators.Shot:
        started.output.write_text(text)
        return started.ended()

    problem = fire(Started(workspace, answer), a_blast(), stem, ignore).problem
    assert problem
    assert problem.startswith("ghz printed no report (a blast of ")


def test_a_problem_with_a_report_is_none(workspace: Workspace, stem: Path) -> None:
    """A container may be gone before its cost was read, but its calls were made."""
    shot = fire(Started(workspace, lambda each: each.well("no cost")), a_blast(), stem, ignore)
    assert shot.problem is None
    assert len(lines_of(shot.raw)) == 12


def test_what_ghz_says_aside_is_kept(workspace: Workspace, stem: Path) -> None:
    shot = a_ghz(workspace, "echo oh >&2; echo '{}'").fire(a_blast(), stem, ignore)
    assert shot.log == stem.with_suffix(".stderr")
    assert shot.log.read_text() == "oh\n" * 12
    assert shot.output.endswith("oh")


def test_a_start_that_hangs_is_killed(
    workspace: Workspace, stem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ghz_blast, "CALL_TIMEOUT_S", 0.05)
    monkeypatch.setattr(program, "_GRACE_S", 0.0)
    shot = a_ghz(workspace, "exec sleep 60").fire(a_blast(), stem, ignore)
    assert shot.problem
    assert "was killed (a blast of " in shot.problem


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "pids"
    for pid in (tmp_path / "pids").read_text().split():
        if psutil.pid_exists(int(pid)):
            os.kill(int(pid), 9)


def test_an_interrupt_leaves_nothing_running(workspace: Workspace, stem: Path, pids: Path) -> None:
    def interrupt(_: float) -> None:
        if pids.exists() and pids.read_text().endswith("\n"):
            raise KeyboardInterrupt

    generator = a_ghz(workspace, f"echo $$ >>{pids}; exec sleep 60")
    with pytest.raises(KeyboardInterrupt):
        generator.fire(a_blast(), stem, interrupt)
    (pid,) = pids.read_text().split()
    assert not psutil.pid_exists(int(pid))
    assert lines_of(stem.with_suffix(".jsonl.gz")) == []


def test_volley_in_the_place_of_ghz_blasts_as_volley(workspace: Workspace) -> None:
    named = workspace.root / "bin" / "ghz"
    a_ghz(workspace, 'echo "volley 0.1.0"')
    shown = preview(a_blast(generator="ghz"), workspace, {"GHZ": str(named)})
    assert shown[:2] == ["./bin/ghz", "blast"]


def test_the_numbers_are_splitmix64s() -> None:
    """The first numbers that the authors' own program gives for the seed 1234567."""
    assert list(islice(split_mix(1_234_567), 3)) == [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 39])
def test_every_place_comes_once(count: int) -> None:
    assert sorted(shuffled(count, split_mix(7))) == list(range(count))


def test_each_repetition_has_all_points_in_another_order() -> None:
    found = list(starts(a_blast(sweep=(1, 2, 5, 10, 20))))
    points = [(ways, calls) for ways in (1, 2) for calls in (1, 2, 5, 10, 20)]
    assert [repetition for repetition, _, _ in found] == [1] * 10 + [2] * 10
    orders = [[(ways, calls) for _, ways, calls in half] for half in (found[:10], found[10:])]
    assert sorted(orders[0]) == sorted(orders[1]) == points
    assert orders[0] != orders[1] != points != orders[0]


def test_the_seed_says_in_which() -> None:
    assert list(starts(a_blast(seed=3))) == list(starts(a_blast(seed=3)))
    assert list(starts(a_blast(seed=3))) != list(starts(a_blast(seed=4)))


def test_it_is_the_order_of_a_real_volley_with_that_seed() -> None:
    sweep = json.loads((VOLLEY / "grpc-go.json").read_bytes())
    fired = {
        shot["order"]: (point["connections"], point["requests"])
        for point in sweep["points"]
        for shot in point["shots"]
    }
    profile = a_blast(
        connections=tuple(sweep["options"]["connections"]),
        sweep=tuple(sweep["options"]["requests"]),
        repetitions=sweep["repetitions"],
        seed=sweep["seed"],
    )
    assert [(ways, calls) for _, ways, calls in starts(profile)] == [
        fired[order] for order in range(390)
    ]
