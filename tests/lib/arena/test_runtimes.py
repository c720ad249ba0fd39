"""How servers are built and started, with a stub `docker` and tiny real processes."""

import itertools
from pathlib import Path

import pytest
from tests.fakes import FakeProgress, a_framework, a_program

from arena.errors import FrameworkError, HostError, UsageError
from arena.frameworks import Framework
from arena.runtimes import choose, run_build
from arena.runtimes import docker as docker_room
from arena.runtimes.docker import DockerRuntime
from arena.runtimes.native import NativeRuntime
from arena.workspace import Workspace


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of stubs, the only place where `docker` is looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def native(run: str = "true", build: str = "", needs: tuple[str, ...] = ()) -> Framework:
    return a_framework(native={"run": run, "build": build, "needs": needs})


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    folder = workspace.frameworks / "grpc-go"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "script", "chosen", "said"),
    [
        ("auto", "echo 29.1", "docker", "a daemon answers: 29.1"),
        ("auto", "echo cannot connect >&2; exit 1", "native", "cannot connect"),
        ("auto", None, "native", "there is no `docker` command"),
        ("docker", "echo 29.1", "docker", None),
        ("native", "echo 29.1", "native", None),
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


def test_an_unknown_runtime_is_answered_with_those_there_are(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"no runtime `podman`.*auto, docker, native"):
        choose("podman", workspace, FakeProgress())


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        (a_framework(), "grpc-go has no `native` section.*--runtime docker"),
        (native(needs=("sh-x", "go-x")), "grpc-go needs sh-x, go-x on PATH.*--runtime docker"),
        (native(needs=("stub",)), None),
    ],
)
def test_native_says_what_is_missing(
    workspace: Workspace, bin_: Path, framework: Framework, said: str | None
) -> None:
    a_program(bin_ / "stub", "true")
    problem = NativeRuntime(workspace).unavailable(framework)
    if said is None:
        assert problem is None
    else:
        with pytest.raises(HostError, match=said):
            raise HostError(problem)


def test_docker_needs_a_dockerfile(workspace: Workspace, folder: Path) -> None:
    runtime = DockerRuntime(workspace)
    assert "grpc-go has no Dockerfile" in (runtime.unavailable(a_framework()) or "")
    (folder / "Dockerfile").write_text("FROM scratch")
    assert runtime.unavailable(a_framework()) is None


@pytest.mark.parametrize("cpus", [None, (0, 1, 4)])
def test_a_container_has_no_privileges(workspace: Workspace, cpus: tuple[int, ...] | None) -> None:
    build, run = DockerRuntime(workspace).plan(a_framework("Grpc-Go"), cpus)
    assert build == [
        "docker", "build", "--force-rm", "--tag", "httparena-grpc-go",
        str(workspace.frameworks / "Grpc-Go"),
    ]  # fmt: skip
    pairs = dict(itertools.pairwise(run))
    assert list(run[:3]) == ["docker", "run", "--detach"]
    assert run[-1] == "httparena-grpc-go"
    assert pairs["--name"] == "httparena-grpc-go"
    assert pairs["--network"] == "host"
    assert pairs["--cap-drop"] == "ALL"
    assert pairs["--security-opt"] == "no-new-privileges"
    assert pairs["--pids-limit"] == "4096"
    assert pairs["--ulimit"].startswith("nofile=")
    assert pairs["--label"] == "httparena"
    assert pairs["--mount"] == f"type=bind,source={workspace.certs},target=/certs,readonly"
    assert {"--log-driver", "--log-opt"} <= set(run)
    assert pairs.get("--cpuset-cpus") == (None if cpus is None else "0-1,4")
    assert not {"--privileged", "--cap-add", "--pid", "--ipc", "-v", "--volume"} & set(run)


DAEMON = """
echo "$@" >>"$LOG"
case "$1" in
build) echo step 1 ;;
inspect) cat "$LOG.$3" ;;
ps) printf 'httparena-a\\nhttparena-b\\n' ;;
logs) echo last words ;;
rm) echo "Error: No such container: $4" >&2; exit 1 ;;
esac
"""
ENDED = '[{"State": {"Running": false, "Pid": 0, "OOMKilled": true, "ExitCode": 137}}]'
IMAGE = '[{"Id": "sha256:1", "Config": {"Labels": {"httparena.standin.provides": "golang:1"}}}]'


@pytest.fixture
def daemon(bin_: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the log of a stub daemon in which the image exists and each container has died."""
    a_program(bin_ / "docker", DAEMON)
    monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(bin_ / "log"))
    (bin_ / "log.container").write_text(ENDED)
    (bin_ / "log.image").write_text(IMAGE)
    return bin_ / "log"


def test_a_built_image_is_known_by_its_digest_and_its_stand_in(
    workspace: Workspace, folder: Path, daemon: Path, tmp_path: Path
) -> None:
    built = DockerRuntime(workspace).build(a_framework(), tmp_path / "build.log")
    assert (built.image_digest, built.standin) == ("sha256:1", "golang:1")
    assert (tmp_path / "build.log").read_text() == "step 1\n"


def test_a_container_that_died_at_once_says_how_and_is_removed(
    workspace: Workspace, daemon: Path, tmp_path: Path
) -> None:
    runtime = DockerRuntime(workspace)
    with runtime.start(a_framework(), None, tmp_path / "server.log") as server:
        assert server.ended() == "exit code 137 (out of memory)"
        assert server.cost().cpu_s == 0
        assert server.argv == tuple(runtime.plan(a_framework(), None)[1])
    assert (tmp_path / "server.log").read_text() == "last words\n"
    asked = daemon.read_text().splitlines()
    assert [line.split()[0] for line in asked][-3:] == ["stop", "logs", "rm"]
    assert asked[-1] == "rm --force --volumes httparena-grpc-go"


def test_a_container_that_cannot_be_started_is_the_frameworks_failure(
    workspace: Workspace, bin_: Path, tmp_path: Path
) -> None:
    a_program(bin_ / "docker", "[ $1 = rm ] || { echo no such image >&2; exit 125; }")
    with (
        pytest.raises(FrameworkError, match="start: docker run: no such image"),
        DockerRuntime(workspace).start(a_framework(), None, tmp_path / "log"),
    ):
        pytest.fail("started")


def test_leftovers_are_found_by_our_label_and_removed(daemon: Path) -> None:
    assert docker_room.remove_leftovers() == ["httparena-a", "httparena-b"]
    asked = daemon.read_text()
    assert "--filter label=httparena" in asked
    assert asked.count("rm --force") == 2


def test_a_daemon_that_does_not_answer_is_not_waited_for(
    bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_program(bin_ / "docker", "while :; do :; done")
    with pytest.raises(HostError, match="docker ps did not answer within 50ms"):
        docker_room.docker("ps", timeout_s=0.05)


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
    monkeypatch.setattr("arena.runtimes.BUILD_TIMEOUT_S", 0.02)
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


def test_a_native_plan_shows_the_very_commands(workspace: Workspace) -> None:
    plan = NativeRuntime(workspace).plan(native("run it", "build it"), None)
    assert plan == [("/bin/sh", "-c", "build it"), ("/bin/sh", "-c", "run it")]
    with pytest.raises(HostError, match="has no `native` section"):
        NativeRuntime(workspace).plan(a_framework(), None)
