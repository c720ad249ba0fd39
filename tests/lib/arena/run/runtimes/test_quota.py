"""Servers with a CPU quota: real processes in real control groups, and what docker is told."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.machine.cgroups import OwnGroup, left_groups, own_group
from arena.machine.sentinel import Limits, Sentinel
from arena.run.runtimes import choose
from arena.run.runtimes.docker import DockerRuntime
from arena.run.runtimes.native import NativeRuntime
from tests.fakes import FakeProgress, a_framework, a_program

# So little that it is used up on a busy host, too.
QUOTA = 0.1
WINDOW_S = 1.5

# Two processes that would use two CPUs.
BUSY = """
import os, sys
os.fork()
print("begun", flush=True)
while True:
    pass
"""


@pytest.fixture
def limited() -> Iterator[OwnGroup]:
    """Return a group with a quota; skip if this host lets us make none."""
    try:
        group = own_group("0-0-0", QUOTA)
    except HostError as error:
        pytest.skip(str(error))
    assert group
    yield group
    group.end()


@pytest.mark.usefixtures("limited")
def test_a_server_uses_no_more_than_its_quota_and_a_quiet_window_stays_quiet(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    (folder / "server.py").write_text(BUSY)
    framework = a_framework(native={"run": "exec python3 server.py"})
    log, sentinel = tmp_path / "server.log", Sentinel(Limits.first("x", is_virtual=True))
    with NativeRuntime(workspace, quota=QUOTA).start(framework, None, log) as server:
        while log.read_text().count("begun") < 2:
            time.sleep(0.01)
        began, before = time.monotonic(), server.cost()
        window = sentinel.window(server.away_s)
        time.sleep(WINDOW_S)
        window.close()
        after, elapsed_s = server.cost(), time.monotonic() - began
        group = server._child._group
    assert before.throttled_s is not None
    assert after.throttled_s is not None
    assert (after.cpu_s - before.cpu_s) / elapsed_s < 2 * QUOTA
    held_s = after.throttled_s - before.throttled_s
    assert held_s > 0.1
    watch = window.watch()
    assert watch
    # A quota of the runner itself, or of all of this host, would void the window.
    assert (watch.throttled_s or 0.0) < held_s / 10
    assert group
    assert not any(each.exists() for each in group.folders)


def test_a_group_with_a_quota_that_a_killed_runner_left_is_found(limited: OwnGroup) -> None:
    found = [group for name, group in left_groups() if name == "0-0-0"]
    assert any(set(group.folders) == set(limited.folders) for group in found)
    for group in found:
        group.end()
    assert not any(each.exists() for each in limited.folders)


def test_a_server_without_a_quota_is_never_throttled(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    (folder / "server.py").write_text("import time; time.sleep(60)")
    framework = a_framework(native={"run": "exec python3 server.py"})
    with NativeRuntime(workspace).start(framework, None, tmp_path / "log") as server:
        assert server.cost().throttled_s is None


@pytest.mark.parametrize(("quota", "words"), [(None, []), (1.0, ["--cpus", "1"])])
def test_docker_is_told_the_quota(
    workspace: Workspace, quota: float | None, words: list[str]
) -> None:
    _, run = DockerRuntime(workspace, quota=quota).plan(a_framework(), None)
    at = run.index("--cpus") if "--cpus" in run else len(run)
    assert run[at : at + 2] == words


INFO = """
case "$*" in
version*) echo 29.1 ;;
*CPUCfsQuota*) echo {} ;;
info*) echo Alpine; echo '[]' ;;
esac
"""


def test_a_daemon_without_quotas_is_refused_before_any_start(
    workspace: Workspace, bin_: Path
) -> None:
    a_program(bin_ / "docker", INFO.format("true"))
    assert choose("docker", workspace, FakeProgress(), quota=1.0).name == "docker"
    a_program(bin_ / "docker", INFO.format("false"))
    assert choose("docker", workspace, FakeProgress()).name == "docker"
    with pytest.raises(HostError, match="--server-quota: the Docker daemon's host has no CPU quo"):
        choose("docker", workspace, FakeProgress(), quota=1.0)


def test_a_host_without_quotas_is_refused_before_any_start(
    workspace: Workspace, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.machine.cgroups._home", lambda **_: ())
    assert choose("native", workspace, FakeProgress()).name == "native"
    with pytest.raises(HostError, match="--server-quota: this host has no control group"):
        choose("native", workspace, FakeProgress(), quota=1.0)
