"""What a killed runner left running, with real processes."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.machine.child import Child
from arena.machine.leftovers import end_leftovers
from tests.lib.arena.machine.children import FOREVER, a_runner, alive, wait_for


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
    script = "from arena.machine.leftovers import end_leftovers; end_leftovers()"
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    monkeypatch.setenv("HTTPARENA_RUNNER", f"{namespace}-{os.getpid()}-1")
    # Its parent has the mark too.
    with a_runner(
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}], check=True)",
        tmp_path,
    ) as running:
        assert running.wait(60) == 0
