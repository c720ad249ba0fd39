"""How a runtime is chosen, and the native one with tiny real processes."""

import os
import shutil
from pathlib import Path

import psutil
import pytest

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.workspace import Workspace
from arena.measure.runtimes import choose, run_build
from arena.measure.runtimes.native import NativeRuntime
from arena.what.framework import Framework
from tests.fakes import FakeProgress, a_framework, a_program


def native(run: str = "true", build: str = "", needs: tuple[str, ...] = ()) -> Framework:
    return a_framework(native={"run": run, "build": build, "needs": needs})


ANSWERS = """
case "$1" in
version) echo 29.1 ;;
info) echo '{}'; echo '{}' ;;
esac
"""


@pytest.mark.parametrize(
    ("name", "script", "chosen", "said"),
    [
        ("auto", ANSWERS.format("Alpine", "[name=seccomp]"), "docker", "a daemon answers: 29.1"),
        ("auto", ANSWERS.format("Alpine", "[name=rootless]"), "native", "is rootless"),
        ("auto", ANSWERS.format("Docker Desktop", "[]"), "native", "in a virtual machine"),
        ("auto", "echo cannot connect >&2; exit 1", "native", "cannot connect"),
        ("auto", None, "native", "there is no `docker` command"),
        ("docker", ANSWERS.format("Alpine", "[]"), "docker", None),
        ("native", ANSWERS.format("Alpine", "[]"), "native", None),
    ],
)
def test_auto_is_docker_when_a_daemon_answers_and_says_why(
    workspace: Workspace, bin_: Path, name: str, script: str | None, chosen: str, said: str | None
) -> None:
    if script:
        a_program(bin_ / "docker", script)
    progress = FakeProgress()
    assert choose(name, workspace, progress).name == chosen
    assert len(progress.lines) == (1 if said else 0)
    assert (said or "") in "".join(progress.lines)


def test_docker_by_wish_without_a_daemon_is_refused_with_a_way_out(
    workspace: Workspace, bin_: Path
) -> None:
    a_program(bin_ / "docker", "echo cannot connect >&2; exit 1")
    with pytest.raises(HostError, match=r"cannot connect.*--runtime native"):
        choose("docker", workspace, FakeProgress())


@pytest.mark.parametrize(
    ("system", "security", "said"),
    [
        ("Alpine", "[name=seccomp,profile=builtin name=rootless]", "is rootless"),
        ("Docker Desktop", "[name=seccomp]", "Docker Desktop runs in a virtual machine"),
    ],
)
def test_docker_by_wish_on_a_network_of_its_own_is_refused(
    workspace: Workspace, bin_: Path, system: str, security: str, said: str
) -> None:
    a_program(bin_ / "docker", ANSWERS.format(system, security))
    with pytest.raises(HostError, match=rf"{said}.*not on this host.*--runtime native"):
        choose("docker", workspace, FakeProgress())


def test_an_unknown_runtime_is_answered_with_those_there_are(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"no runtime `podman`.*auto, docker, native"):
        choose("podman", workspace, FakeProgress())


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        (a_framework(), "grpc-go has no `native` section in its meta.json: use --runtime docker"),
        (
            native(needs=("zig", "pkg-config:openssl", "stub")),
            (
                "grpc-go needs zig, pkg-config, pkg-config:openssl to run natively: use --runtime "
                "docker, or install zig and apt-get install libssl-dev pkg-config"
            ),
        ),
        (native(needs=("stub",)), None),
    ],
)
def test_native_says_what_is_missing_and_ends_with_what_to_install(
    workspace: Workspace, bin_: Path, framework: Framework, said: str | None
) -> None:
    a_program(bin_ / "stub", "true")
    problem = NativeRuntime(workspace).unavailable(framework)
    assert (problem and problem.reason) == said


def test_a_failed_build_says_so_with_its_last_lines_and_its_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo error >&2; exit 2"
    with pytest.raises(FrameworkError) as caught:
        run_build(["/bin/sh", "-c", script], tmp_path, log)
    error = caught.value
    assert error.stage == "build"
    assert "exit code 2" in error.reason
    assert error.log == log
    assert error.output.splitlines()[-2:] == ["line 9", "error"]
    assert "line 1\n" not in error.output
    assert log.read_text().startswith("line 1\n")


def test_a_build_that_hangs_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.measure.runtimes.BUILD_TIMEOUT_S", 0.02)
    with pytest.raises(FrameworkError, match="took longer than 20ms"):
        run_build(["/bin/sh", "-c", "exec sleep 60"], tmp_path, tmp_path / "log")


def test_a_native_build_runs_in_the_frameworks_folder(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    runtime = NativeRuntime(workspace)
    runtime.build(native(build="pwd >made"), tmp_path / "log")
    assert (folder / "made").read_text().strip() == str(folder.resolve())
    assert runtime.build(native(), tmp_path / "log").image_digest is None


def test_a_native_server_has_a_small_environment_and_the_certificate(
    workspace: Workspace, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    log = tmp_path / "server.log"
    script = "env; echo $SECRET-; exec sleep 60"
    with NativeRuntime(workspace).start(native(script), None, log) as server:
        while "-\n" not in (log.read_text() if log.exists() else ""):
            assert server.ended() is None
        assert server.cost().peak_bytes > 0
    words = log.read_text()
    assert f"TLS_CERT={workspace.certs / 'server.crt'}" in words
    assert f"TLS_KEY={workspace.certs / 'server.key'}" in words
    assert "SECRET" not in words
    assert (server.ended() or "").startswith("killed by SIGTERM")


def test_a_native_plan_shows_what_is_executed_and_recorded(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    cpu = min(os.sched_getaffinity(0))
    framework = native("echo up; sleep 60; true", "build it")
    build, run = NativeRuntime(workspace).plan(framework, [cpu])
    assert build[-3:] == ["/bin/sh", "-c", "build it"]
    taskset = ["taskset", "--cpu-list", str(cpu), "/bin/sh", "-c", "echo up; sleep 60; true"]
    assert run[-6:] == taskset
    assert bool(shutil.which("setpriv")) == (run[:4] == ["setpriv", "--pdeathsig", "KILL", "--"])
    log = tmp_path / "log"
    with NativeRuntime(workspace).start(framework, [cpu], log) as server:
        assert server.argv == tuple(run)
        while not log.read_text():
            assert server.ended() is None
        assert any(each.cmdline() == taskset[3:] for each in psutil.Process().children())
    with pytest.raises(HostError, match="has no `native` section"):
        NativeRuntime(workspace).plan(a_framework(), None)
