"""One benchmark at a time on a host, and what a killed one left running, with real processes."""

import fcntl
import os
import queue
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.machine import lock
from arena.machine.cgroups import own_group
from arena.machine.child import Child
from arena.machine.lock import end_leftovers
from tests.lib.arena.machine.children import FOREVER, a_runner, alive, wait_for


@pytest.fixture
def lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock")
    return tmp_path / "lock"


def test_a_second_benchmark_is_refused_with_the_firsts_command(lock_file: Path) -> None:
    with lock.only_benchmark("run grpc-go", wait=False):
        with (
            pytest.raises(HostError, match=rf"process {os.getpid()}: run grpc-go.*--wait"),
            lock.only_benchmark("run other", wait=False),
        ):
            pytest.fail("two at once")
        assert "run grpc-go" in lock_file.read_text()
    assert lock_file.read_text() == ""
    assert lock_file.stat().st_mode & 0o777 == 0o666


def test_the_lock_is_free_again_after_a_failure(lock_file: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock.only_benchmark("first", wait=False):
        raise ZeroDivisionError
    with lock.only_benchmark("second", wait=True):
        assert "second" in lock_file.read_text()


def test_a_benchmark_that_waits_says_for_whom_and_comes_next(lock_file: Path) -> None:
    told: queue.Queue[str] = queue.Queue()
    seen: list[str] = []

    def wait() -> None:
        with lock.only_benchmark("second", wait=True, say=told.put):
            seen.append(lock_file.read_text())

    waiting = threading.Thread(target=wait)
    with lock.only_benchmark("the first", wait=False):
        waiting.start()
        assert f"(process {os.getpid()}: the first)" in told.get(timeout=60)
        assert seen == []
    waiting.join(timeout=60)
    assert seen == [f"process {os.getpid()}: second\n"]


def test_a_lock_that_is_a_link_is_not_followed(lock_file: Path, tmp_path: Path) -> None:
    lock_file.symlink_to(tmp_path / "precious")
    with (
        pytest.raises(HostError, match="the lock cannot be opened"),
        lock.only_benchmark("x", wait=False),
    ):
        pytest.fail("opened")
    assert not (tmp_path / "precious").exists()


@pytest.mark.parametrize(
    ("words", "said"), [(b"\xff\xfe run \x1b[2J", "run"), (b"", "another user")]
)
def test_whatever_stands_in_the_lock_its_holder_is_told(
    lock_file: Path, words: bytes, said: str
) -> None:
    lock_file.write_bytes(words)
    with lock_file.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            pytest.raises(HostError, match=f"running on this host already .*{said}") as caught,
            lock.only_benchmark("me", wait=False),
        ):
            pytest.fail("entered")
    assert str(caught.value).isprintable()
    with lock.only_benchmark("a \udcff", wait=False):
        assert "a ?" in lock_file.read_text()


def test_what_a_killed_runner_left_is_ended_and_what_a_living_one_has_is_not(
    tmp_path: Path, sh: Callable[..., Child]
) -> None:
    script = f"setsid sleep {FOREVER} & echo $!; exec sleep {FOREVER}"
    with a_runner(f'start("sh", "-c", {script!r})._popen.wait()', tmp_path) as runner:
        worker = int(wait_for(tmp_path / "out"))
        mine = sh(f"exec sleep {FOREVER}")
        end_leftovers()
        assert alive(worker)
        runner.kill()
    assert alive(worker)
    assert f"process {worker}: sleep {FOREVER}" in end_leftovers()
    assert not alive(worker)
    assert alive(mine.pid)


def test_the_group_of_a_killed_runner_is_ended_even_if_its_processes_hide() -> None:
    pid = os.fork()
    if not pid:
        group = own_group(f"{Path('/proc/self/ns/pid').stat().st_ino}-{os.getpid()}-1")
        if group is None:
            os._exit(3)
        with group.entered():
            # It returns once the program runs.
            subprocess.Popen(["sleep", FOREVER], env={})
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3:
        pytest.skip("this host lets no control group be made")
    found = [words for words in end_leftovers() if f"sleep {FOREVER}" in words]
    assert found
    assert not alive(int(found[0].split()[1].rstrip(":")))


@pytest.mark.parametrize("mark", ["1-1-1", "", "nonsense", "{}-x", "{}-None", "{}-" + "9" * 5000])
def test_a_mark_of_another_pid_namespace_or_of_nobody_is_not_judged(mark: str) -> None:
    mark = mark.format(Path("/proc/self/ns/pid").stat().st_ino)
    stranger = subprocess.Popen(["sleep", FOREVER], env={**os.environ, "HTTPARENA_RUNNER": mark})
    try:
        end_leftovers()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_runner_that_a_leftover_started_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "from arena.machine.lock import end_leftovers; end_leftovers()"
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    monkeypatch.setenv("HTTPARENA_RUNNER", f"{namespace}-{os.getpid()}-1")
    # Its parent has the mark too.
    with a_runner(
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}], check=True)",
        tmp_path,
    ) as running:
        assert running.wait(60) == 0
