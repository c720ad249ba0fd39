"""Child processes: real ones, small ones."""

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from arena.machine import child as child_room
from arena.machine.child import (
    Child,
    allow_open_files,
    exit_words,
    run_bounded,
    stop_all,
)
from arena.machine.memory import peak_resident_bytes
from tests.lib.arena.machine.children import FOREVER, a_runner, alive, wait_for


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_room, "STOP_GRACE_S", 60.0)
    monkeypatch.setattr(child_room, "TICK_S", 0.005)


def await_death(pid: int) -> None:
    deadline = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < deadline, f"process {pid} lives"
        os.sched_yield()


def test_output_is_appended_to_its_files(sh: Callable[..., Child], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before\n")
    ended = run_bounded(lambda: sh("pwd; echo problem >&2"), 60)
    assert (ended.code, ended.timed_out) == (0, False)
    assert (tmp_path / "out").read_text() == f"before\n{tmp_path.resolve()}\n"
    assert (tmp_path / "err").read_text() == "problem\n"


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("true", 0, "exit code 0"),
        ("exit 3", 3, "exit code 3"),
        ("kill -KILL $$", -9, "killed by SIGKILL"),
        ("kill -SEGV $$", -11, "killed by SIGSEGV"),
    ],
)
def test_the_end_is_known_and_said(
    sh: Callable[..., Child], script: str, code: int, words: str
) -> None:
    ended = run_bounded(lambda: sh(script), 60)
    assert (ended.code, exit_words(ended.code)) == (code, words)


def test_a_signal_without_a_name_is_said_by_its_number() -> None:
    assert exit_words(-99) == "killed by signal 99"


def test_a_child_gets_the_environment_it_was_given_and_no_input(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    run_bounded(lambda: sh("echo $WORD-$HOME; cat", environment={"WORD": "a"}), 60)
    assert (tmp_path / "out").read_text() == "a-\n"


def test_a_child_reads_what_it_is_told_and_the_end_only_when_it_is_stopped(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    child = sh("read a; echo $a; read b || echo end", is_told=True)
    child.tell("open the window")
    assert wait_for(tmp_path / "out") == "open the window"
    assert child.poll() is None
    child.stop()
    child.tell("nobody listens")
    assert wait_for(tmp_path / "out") == "open the window"


def test_who_has_ended_can_be_told_anything(sh: Callable[..., Child]) -> None:
    child = sh("exit 3", is_told=True)
    while child.poll() is None:
        os.sched_yield()
    child.tell("open")
    assert child.stop() == 3


def test_a_child_runs_on_its_cpus_only(sh: Callable[..., Child], tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    run_bounded(lambda: sh("grep Cpus_allowed_list /proc/self/status", cpus=[last]), 60)
    assert (tmp_path / "out").read_text().split()[-1] == str(last)


def test_a_late_child_is_killed(sh: Callable[..., Child]) -> None:
    ended = run_bounded(lambda: sh(f"exec sleep {FOREVER}"), 0.02)
    assert (ended.code, ended.timed_out) == (-signal.SIGTERM, True)


def test_a_child_that_ignores_sigterm_is_killed_after_its_grace(
    sh: Callable[..., Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_room, "STOP_GRACE_S", 0.2)
    child = sh(f"trap '' TERM; echo ready; while :; do sleep {FOREVER}; done")
    wait_for(tmp_path / "out")
    assert child.stop() == -signal.SIGKILL


def test_several_children_clean_up_at_the_same_time(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    # Each one ends only when the other one has been told to end as well.
    wait = "until [ -e a ] && [ -e b ]; do sleep 0.01; done; exit 5"
    children = []
    for name in "ab":
        script = f"trap 'touch {name}; {wait}' TERM; touch ready-{name}; sleep {FOREVER} & wait"
        children.append(sh(script))
        while not (tmp_path / f"ready-{name}").exists():
            os.sched_yield()
    stop_all(children)
    assert [each.poll() for each in children] == [5, 5]


def test_a_child_may_clean_up_within_its_grace(sh: Callable[..., Child], tmp_path: Path) -> None:
    script = f"trap 'echo bye; exit 5' TERM; echo ready; sleep {FOREVER} & wait"
    child = sh(script)
    wait_for(tmp_path / "out")
    assert child.stop() == 5
    assert (tmp_path / "out").read_text() == "ready\nbye\n"


def test_grandchildren_end_with_the_group_even_if_they_ignore_sigterm(
    sh: Callable[..., Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_room, "STOP_GRACE_S", 0.2)
    (tmp_path / "stubborn.sh").write_text(f"trap '' TERM; echo $$; sleep {FOREVER}; :")
    child = sh("sh stubborn.sh & wait")
    grandchild = int(wait_for(tmp_path / "out"))
    assert alive(grandchild)
    child.stop()
    await_death(grandchild)


def test_what_an_ended_program_left_in_its_group_is_ended_too(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    assert run_bounded(lambda: sh(f"sleep {FOREVER} & echo $!"), 60).code == 0
    await_death(int(wait_for(tmp_path / "out")))


def test_a_descendant_that_left_the_group_is_ended_too(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    child = sh(f"setsid sh -c 'echo $$; sleep {FOREVER}; :' & wait")
    escaped = int(wait_for(tmp_path / "out"))
    assert os.getsid(escaped) != os.getsid(child.pid)
    child.stop()
    await_death(escaped)


def test_whatever_a_tick_raises_ends_the_child(sh: Callable[..., Child]) -> None:
    child = sh(f"exec sleep {FOREVER}")

    def tick(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_bounded(lambda: child, 60, tick)
    assert child.poll() == -signal.SIGTERM


def test_ticks_tell_the_time_that_passed(sh: Callable[..., Child]) -> None:
    told: list[float] = []
    run_bounded(lambda: sh("sleep 0.05"), 60, told.append)
    assert told
    assert told == sorted(told)


def test_the_cost_of_an_ended_program_includes_its_children(sh: Callable[..., Child]) -> None:
    busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    child = sh(f"sh -c '{busy}'; true")
    with pytest.raises(RuntimeError, match="before the end"):
        child.rusage()
    cost = run_bounded(lambda: child, 60).cost
    assert cost.cpu_s > 0
    assert cost.peak_bytes > 100_000


def test_the_cost_of_a_running_tree_includes_its_descendants(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    child = sh(f"sh -c 'echo $$; sleep {FOREVER}; :' & wait")
    grandchild = int(wait_for(tmp_path / "out"))
    whole = child.tree_cost()
    assert psutil.Process(grandchild).memory_info().rss > 0
    assert whole.peak_bytes > peak_resident_bytes(child.pid)
    assert whole.cpu_s >= 0


def test_the_cost_of_a_tree_keeps_what_ended_children_used(
    sh: Callable[..., Child], tmp_path: Path
) -> None:
    busy = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done"
    child = sh(f"sh -c '{busy}'; echo done; sleep {FOREVER}; :")
    wait_for(tmp_path / "out")
    assert child.tree_cost().cpu_s > 0


def test_stopping_twice_is_as_good_as_once(sh: Callable[..., Child]) -> None:
    child = sh(f"exec sleep {FOREVER}")
    assert child.stop() == child.stop() == -signal.SIGTERM


def test_an_ended_tree_costs_nothing_more(sh: Callable[..., Child]) -> None:
    child = sh("true")
    child.stop()
    assert child.tree_cost().cpu_s == 0


def test_an_orphan_that_left_its_session_is_ended_with_its_program(tmp_path: Path) -> None:
    script = f"setsid sh -c 'echo $$; sleep {FOREVER}; :' & read word < ready"
    os.mkfifo(tmp_path / "ready")
    runner = f'adopt_orphans(); run_bounded(lambda: start("sh", "-c", {script!r}), 60)'
    with a_runner(runner, tmp_path) as running:
        orphan = int(wait_for(tmp_path / "out"))
        (tmp_path / "ready").write_text("go\n")
        assert running.wait(60) == 0
    assert not alive(orphan)


def test_what_a_servers_orphans_used_is_no_part_of_a_generator(tmp_path: Path) -> None:
    busy = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done"
    hidden = f"(setsid sh -c '{busy}; echo done' &)"
    script = f"""
adopt_orphans()
generator = start("sleep", "{FOREVER}")
server = Child(["sh", "-c", {hidden + "; sleep " + FOREVER!r}], cwd=Path("."), stdout=Path("out"),
               stderr=Path("err"), is_contained=True)
while server.tree_cost().cpu_s < 0.05 or psutil.Process().children()[2:]:
    time.sleep(0.01)
print(generator.tree_cost().cpu_s)
server.stop()
generator.stop()
"""
    with a_runner(script, tmp_path) as running:
        assert float(running.communicate(timeout=120)[0]) < 0.05


def test_the_memory_of_a_program_is_its_own_and_not_its_parents(tmp_path: Path) -> None:
    script = """
ballast = b"x" * (100 << 20)
ended = run_bounded(lambda: start("sleep", "0.3"), 60)
print(ended.cost.peak_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
    with a_runner(script, tmp_path) as running:
        child, parent = map(int, running.communicate(timeout=120)[0].split())
    assert parent > 100 << 20
    assert 0 < child < 50 << 20


@pytest.fixture
def hard() -> Iterator[int]:
    """Return the hard limit of open files; both are as before when the test is over."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_files_may_be_open_as_the_host_lets_us(hard: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    allow_open_files()
    soft, still = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert still == hard
    assert soft == (1 << 20 if hard == resource.RLIM_INFINITY else min(hard, 1 << 20))
    allow_open_files()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
