"""Work that is spread over processes: all of it is done, and no process is left behind."""

import gc
import os
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable

import psutil
import pytest

from arena.base.errors import HostError
from arena.machine.forks import spread

# What earlier tests left to this process: it may adopt orphans.
_OTHERS: set[int] = set()


def children() -> list[int]:
    return [each.pid for each in psutil.Process().children() if each.pid not in _OTHERS]


@pytest.fixture(autouse=True)
def _others() -> None:
    _OTHERS.clear()
    _OTHERS.update(children())


def here(number: int) -> str:
    return f"{number} in {os.getpid()}"


@pytest.fixture(autouse=True)
def _two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.mark.parametrize(("forks", "most"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_every_number_is_worked_on_once_by_at_most_as_many_forks_as_are_asked_for(
    forks: int, most: int
) -> None:
    with spread(500, here, forks=forks) as answers:
        found = dict(answers)
    assert sorted(found) == list(range(500))
    assert all(text.startswith(f"{number} in ") for number, text in found.items())
    processes = {text.split()[-1] for text in found.values()}
    assert min(most, 1) <= len(processes - {str(os.getpid())}) <= most
    assert children() == []


def test_nothing_to_do_starts_nothing() -> None:
    with spread(0, here, forks=2) as answers:
        assert children() == []
        assert list(answers) == []


def test_what_is_long_comes_through_whole() -> None:
    with spread(10, lambda number: str(number) * 300_000, forks=2) as answers:
        assert dict(answers) == {number: str(number) * 300_000 for number in range(10)}


def test_a_fork_collects_its_garbage_even_if_its_parent_does_not() -> None:
    class Knot:
        def __init__(self) -> None:
            self.self = self

    def leave_behind(number: int) -> str:
        del number
        knots = weakref.WeakSet(Knot() for _ in range(100_000))
        return str(len(knots))

    gc.disable()
    try:
        with spread(1, leave_behind, forks=1) as answers:
            (left,) = (int(text) for _, text in answers)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert left < 50_000


def _raising(error: Exception) -> Callable[[int], str]:
    def work(number: int) -> str:
        if number == 7:
            raise error
        return ""

    return work


@pytest.mark.parametrize("forks", [0, 2])
def test_what_the_host_cannot_do_is_raised_as_it_is(forks: int) -> None:
    failing = _raising(HostError("disk: full"))
    with pytest.raises(HostError, match=r"^disk: full$"), spread(20, failing, forks=forks) as each:
        list(each)
    assert children() == []


def test_a_bug_in_a_fork_is_raised_with_where_it_was() -> None:
    failing = _raising(KeyError("x"))
    with pytest.raises(KeyError, match="x") as caught, spread(20, failing, forks=2) as answers:
        list(answers)
    assert "in work" in str(caught.value.__cause__)


def test_a_fork_that_is_killed_is_said() -> None:
    def work(number: int) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    with pytest.raises(HostError, match="was killed"), spread(4, work, forks=2) as answers:
        list(answers)


def test_leaving_early_ends_the_forks() -> None:
    def work(number: int) -> str:
        if number:
            signal.pause()
        return ""

    with spread(2, work, forks=2) as answers:
        assert next(answers) == (0, "")
        assert children() != []
    assert children() == []


def test_forks_end_with_the_process_that_forked_even_if_it_is_killed() -> None:
    code = """
import os, signal
from arena.machine.forks import spread
def work(number):
    print(os.getpid(), flush=True)
    signal.pause()
with spread(1, work, forks=1) as answers:
    list(answers)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout
        # Readable once it has ended, even if whoever adopts it never waits for it.
        fork = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        ended, _, _ = select.select([fork], [], [], 10)
        os.close(fork)
    assert ended


def test_an_interrupt_is_left_to_the_process_that_forked() -> None:
    def work(number: int) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "still here"

    with spread(2, work, forks=2) as answers:
        assert dict(answers) == {0: "still here", 1: "still here"}
