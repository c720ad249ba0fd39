"""The native runtime, with tiny real processes."""

import os
import shutil
from pathlib import Path

import psutil
import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.machine.builds import finished
from arena.run.runtimes.native import NativeRuntime
from arena.what.environment import Ports
from arena.what.framework import Framework
from tests.fakes import FakeProgress, a_framework, a_program


def native(run: str = "true", build: str = "", needs: tuple[str, ...] = ()) -> Framework:
    return a_framework(native={"run": run, "build": build, "needs": needs})


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        (a_framework(), "grpc-go has no `native` section in its meta.json: use --runtime docker"),
        (
            native(needs=("zig", "pkg-config:openssl", "stub")),
            (
                "grpc-go needs zig, pkg-config, pkg-config:openssl to run natively: use --runtime "
                "docker, or install by hand: zig; apt-get install libssl-dev pkg-config"
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


def test_a_native_build_runs_in_the_frameworks_folder(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    runtime = NativeRuntime(workspace)
    finished(runtime.build(native(build="pwd >made"), tmp_path / "log"), FakeProgress())
    assert (folder / "made").read_text().strip() == str(folder.resolve())
    nothing = finished(runtime.build(native(), tmp_path / "log"), FakeProgress())
    assert nothing.image_digest is None


def test_a_native_build_has_the_way_to_its_packages_and_no_secret(
    workspace: Workspace, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"https_proxy": "http://p:1", "NO_PROXY": "a", "CARGO_HOME": "/c", "GOPROXY": "off"}
    secret = ("GITHUB_TOKEN", "CARGO_REGISTRY_TOKEN", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY")
    for name, value in {**given, **dict.fromkeys(secret, "hidden")}.items():
        monkeypatch.setenv(name, value)
    build = NativeRuntime(workspace).build(native(build="env >made"), tmp_path / "log")
    finished(build, FakeProgress())
    found = dict(line.split("=", 1) for line in (folder / "made").read_text().splitlines())
    assert given.items() <= found.items()
    assert {name: found[name] for name in ("PATH", "HOME")} == {
        name: os.environ[name] for name in ("PATH", "HOME")
    }
    assert "hidden" not in found.values()


def test_a_native_server_has_a_small_environment_and_the_certificate(
    workspace: Workspace, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    log = tmp_path / "server.log"
    script = "env; echo $SECRET-; exec sleep 60"
    runtime = NativeRuntime(workspace, Ports(9080, 9443))
    movable = native(script).changed(ports="environment")
    with runtime.start(movable, None, log) as server:
        while "-\n" not in (log.read_text() if log.exists() else ""):
            assert server.ended() is None
        assert server.cost().peak_bytes > 0
    words = log.read_text()
    assert f"TLS_CERT={workspace.certs / 'server.crt'}" in words
    assert f"TLS_KEY={workspace.certs / 'server.key'}" in words
    assert "PORT_H2C=9080\n" in words
    assert "PORT_TLS=9443\n" in words
    assert "SECRET" not in words
    assert (server.ended() or "").startswith("killed by SIGTERM")


def test_a_server_that_cannot_move_is_told_the_standard_ports(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    runtime = NativeRuntime(workspace, Ports(9080, 9443))
    with runtime.start(native("exec env"), None, log) as server:
        while server.ended() is None:
            os.sched_yield()
    assert "PORT_H2C=8080\n" in log.read_text()


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
