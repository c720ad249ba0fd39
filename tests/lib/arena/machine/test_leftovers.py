"""What a killed runner left running, with real processes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.machine.child import Child
from arena.machine.leftovers import end_leftovers
from tests.lib.arena.machine.children import FOREVER, LIB, alive, wait_for

# A benchmark that a test starts meanwhile would end the same processes.
HOST = pytest.mark.xdist_group("host")


@HOST
def test_what_a_killed_runner_left_is_ended_and_what_a_living_one_has_is_not(
    tmp_path: Path, sh: Callable[..., Child]
) -> None:
    script = f"""
from pathlib import Path
from arena.machine.child import Child
command = ["sh", "-c", "setsid sleep {FOREVER} & echo $!; exec sleep {FOREVER}"]
child = Child(command, cwd=Path("."), stdout=Path("out"), stderr=Path("err"))
child._popen.wait()
"""
    runner = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(LIB)}
    )
    worker = int(wait_for(tmp_path / "out"))
    mine = sh(f"exec sleep {FOREVER}")
    end_leftovers()
    assert alive(worker)
    runner.kill()
    runner.wait()
    assert alive(worker)
    assert f"process {worker}: sleep {FOREVER}" in end_leftovers()
    assert not alive(worker)
    assert alive(mine.pid)


@HOST
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


@HOST
def test_a_runner_that_a_leftover_started_is_none(tmp_path: Path) -> None:
    script = "from arena.machine.leftovers import end_leftovers; end_leftovers(); print('alive')"
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    mark = {"HTTPARENA_RUNNER": f"{namespace}-{os.getpid()}-1", "PYTHONPATH": str(LIB)}
    # Its parent has the mark too.
    command = ["sh", "-c", '"$0" -c "$1"; :', sys.executable, script]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **mark}, check=False, capture_output=True
    )
    assert (done.returncode, done.stdout) == (0, b"alive\n")
