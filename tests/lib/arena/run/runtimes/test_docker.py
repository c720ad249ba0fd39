"""The docker runtime, with a stub `docker`; tests/integration has the real one."""

import csv
import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base.errors import ArenaError, FrameworkError, HostError
from arena.base.workspace import Workspace
from arena.machine import docker
from arena.machine.builds import finished
from arena.machine.cgroups import Cgroup
from arena.machine.child import whole_command
from arena.machine.docker import bind_mount
from arena.run.runtimes import docker as docker_room
from arena.run.runtimes.docker import Container, DockerRuntime
from tests.fakes import FakeProgress, a_framework, a_program


def test_docker_needs_a_dockerfile(workspace: Workspace, folder: Path) -> None:
    runtime = DockerRuntime(workspace)
    assert "grpc-go has no Dockerfile" in str(runtime.unavailable(a_framework()))
    (folder / "Dockerfile").write_text("FROM scratch")
    assert runtime.unavailable(a_framework()) is None


@pytest.mark.parametrize("cpus", [None, (0, 1, 4)])
def test_a_container_has_no_privileges(workspace: Workspace, cpus: tuple[int, ...] | None) -> None:
    build, run = DockerRuntime(workspace).plan(a_framework("Grpc-Go"), cpus)
    assert build == whole_command([
        "docker", "build", "--force-rm", "--tag", "httparena-grpc-go",
        str(workspace.frameworks / "Grpc-Go"),
    ])  # fmt: skip
    pairs = dict(itertools.pairwise(run))
    mounts = [value for option, value in itertools.pairwise(run) if option == "--mount"]
    limits = [
        value.partition("=")[0] for option, value in itertools.pairwise(run) if option == "--ulimit"
    ]
    assert list(run[:3]) == ["docker", "run", "--detach"]
    assert run[-1] == "httparena-grpc-go"
    assert pairs["--name"] == "httparena-grpc-go"
    assert pairs["--network"] == "host"
    assert pairs["--cap-drop"] == "ALL"
    assert pairs["--security-opt"] == "no-new-privileges"
    assert pairs["--pids-limit"] == "4096"
    assert limits == ["nofile", "memlock"]
    assert pairs["--label"] == "httparena"
    assert mounts[0] == f'type=bind,"source={workspace.certs}",target=/certs,readonly'
    assert [each.split(",")[2:] for each in mounts] == [
        ["target=/certs", "readonly"],
        ["target=/data/dataset.json", "readonly"],
        ["target=/data/static", "readonly"],
    ]
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
wait) echo 137 ;;
rm) echo "Error: No such container: $4" >&2; exit 1 ;;
esac
"""
ENDED = '[{"State": {"Running": false, "Pid": 0, "OOMKilled": true, "ExitCode": 137}}]'
_LABELS = '{"httparena.standin.provides": "golang:1"}'
IMAGE = f'[{{"Id": "sha256:1", "Size": 9000000, "Config": {{"Labels": {_LABELS}}}}}]'


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
    build = DockerRuntime(workspace).build(a_framework(), tmp_path / "build.log")
    built = finished(build, FakeProgress())
    assert (built.image_digest, built.standin) == ("sha256:1", "golang:1")
    assert built.image_bytes == 9_000_000
    assert (tmp_path / "build.log").read_text() == "step 1\n"


@pytest.mark.parametrize(
    ("printed", "no_network"),
    [
        ("Get https://registry-1.docker.io/v2/: dial tcp: lookup x: no such host", True),
        ("dial tcp 127.0.0.1:443: connect: connection refused", True),
        ("dial tcp 1.2.3.4:443: i/o timeout", True),
        ("net/http: TLS handshake timeout", True),
        ("ERROR: golang:1: failed to resolve source metadata for docker.io/library/golang:1", True),
        ("toomanyrequests: You have reached your pull rate limit", True),
        ("net/http: request canceled (Client.Timeout exceeded while awaiting headers)", True),
        ("go:9: failed to resolve source metadata for docker.io/go:9: not found", False),
        ("service.go:7: syntax error", False),
    ],
)
def test_a_build_without_a_registry_names_the_ways_out(
    workspace: Workspace, folder: Path, bin_: Path, tmp_path: Path, printed: str, no_network: bool
) -> None:
    a_program(bin_ / "docker", f"echo '{printed}'; exit 1")
    with pytest.raises(ArenaError) as caught:
        finished(
            DockerRuntime(workspace).build(a_framework(), tmp_path / "build.log"), FakeProgress()
        )
    error, said = caught.value, str(caught.value)
    assert ("--runtime native" in said) == ("standin-images.sh" in said) == no_network
    if no_network:
        assert isinstance(error, HostError)
        assert said.startswith(f"this host cannot: build: {printed}")
    else:
        assert isinstance(error, FrameworkError)
        assert error.reason.startswith("`docker build` failed (exit code 1)")
        assert error.output == printed


def test_a_daemon_that_cannot_start_containers_is_no_failure_of_a_framework(
    workspace: Workspace, bin_: Path, tmp_path: Path
) -> None:
    said = "Error response from daemon: write /var/lib/docker/x: no space left on device"
    a_program(bin_ / "docker", f"[ $1 = rm ] || {{ echo {said} >&2; exit 125; }}")
    with (
        pytest.raises(HostError, match=r"cannot: start: docker create: .*; free space on the disk"),
        DockerRuntime(workspace).start(a_framework(), None, tmp_path / "log"),
    ):
        pytest.fail("started")


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


def test_a_containers_time_begins_when_it_is_started_and_not_when_it_is_created(
    workspace: Workspace, daemon: Path, tmp_path: Path
) -> None:
    stub = DAEMON.replace("build)", "create) sleep 0.05 ;;\nbuild)")
    a_program(daemon.parent / "docker", stub)
    before_s = time.monotonic()
    with DockerRuntime(workspace).start(a_framework(), None, tmp_path / "server.log") as server:
        assert before_s + 0.05 <= server.began_s <= time.monotonic()
        created, started, *_ = daemon.read_text().splitlines()
    assert created.startswith("create --name httparena-grpc-go --label httparena ")
    assert started == "start httparena-grpc-go"


def test_a_container_that_cannot_be_started_is_the_frameworks_failure(
    workspace: Workspace, bin_: Path, tmp_path: Path
) -> None:
    a_program(bin_ / "docker", "[ $1 = rm ] || { echo no such image >&2; exit 125; }")
    with (
        pytest.raises(FrameworkError, match="start: docker create: no such image"),
        DockerRuntime(workspace).start(a_framework(), None, tmp_path / "log"),
    ):
        pytest.fail("started")


def test_leftovers_are_found_by_our_label_and_removed(daemon: Path) -> None:
    assert docker.remove_leftovers() == ["httparena-a", "httparena-b"]
    asked = daemon.read_text()
    assert "--filter label=httparena" in asked
    assert asked.count("rm --force") == 2


def test_a_daemon_that_does_not_answer_is_not_waited_for(
    bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_program(bin_ / "docker", "while :; do :; done")
    with pytest.raises(HostError, match="docker ps did not answer within 50ms"):
        docker.docker("ps", timeout_s=0.05)


@pytest.mark.parametrize("name", ["plain", "a,b", 'a"b', 'a",b"', "a b", "a=b"])
def test_a_folder_of_any_name_can_be_mounted(name: str) -> None:
    option, value = bind_mount(Path("/x") / name, "/certs")
    assert option == "--mount"
    # The docker client reads the value as a line of CSV (RFC 4180).
    (fields,) = csv.reader([value], strict=True)
    assert fields == ["type=bind", f"source=/x/{name}", "target=/certs", "readonly"]


@pytest.fixture
def running(daemon: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that the stub daemon says is the first of its container."""
    process = subprocess.Popen(["sleep", "60"])
    state = {"Running": True, "Pid": process.pid, "OOMKilled": False, "ExitCode": 0}
    (daemon.parent / "log.container").write_text(json.dumps([{"State": state}]))
    yield process
    process.kill()
    process.wait()


def test_a_container_runs_as_long_as_its_first_process(
    running: subprocess.Popen[bytes], daemon: Path
) -> None:
    container = Container("a", ())
    asked = daemon.read_text()
    assert container.ended() is None
    assert daemon.read_text() == asked
    running.kill()
    running.wait()
    assert container.ended() == "exit code 137"
    container.close()


def test_each_look_at_a_running_container_notes_its_memory(
    running: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = tmp_path / "memory.current"
    group = Cgroup(cpu=tmp_path / "x", memory_peak=tmp_path / "y", memory_now=now)
    monkeypatch.setattr(docker_room, "cgroup_of", lambda _: group)
    container = Container("a", ())
    for held in ("600", "9000", "700"):
        now.write_text(held)
        assert container.ended() is None
    now.unlink()
    assert container.ended() is None
    assert group._largest == 9000
    container.close()


@pytest.mark.parametrize("where", ["pidfd_open", "cgroup_of"])
def test_a_container_that_dies_while_it_is_looked_up_has_ended(
    running: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def gone(_: int) -> None:
        running.kill()
        running.wait()
        # The daemon still says that it runs: it learns of the end a moment later.
        raise ProcessLookupError(3, "No such process") if where == "pidfd_open" else HostError("")

    room = os if where == "pidfd_open" else docker_room
    monkeypatch.setattr(room, where, gone)
    container = Container("a", ())
    assert container.ended() == "exit code 137"
    container.close()


def test_a_running_container_that_is_hidden_from_us_is_the_hosts_fault(
    running: subprocess.Popen[bytes], daemon: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(_: int) -> None:
        raise HostError("hidden")

    a_program(daemon.parent / "docker", DAEMON.replace("wait) echo 137", "wait) exec sleep 60"))
    monkeypatch.setattr(docker_room, "_LAST_BREATH_S", 0.05)

    monkeypatch.setattr(docker_room, "cgroup_of", hidden)
    with pytest.raises(HostError, match="hidden"):
        Container("a", ())


def test_a_container_that_somebody_removed_has_ended(daemon: Path) -> None:
    container = Container("a", ())
    a_program(daemon.parent / "docker", "echo No such container: a >&2; exit 1")
    assert (container.ended() or "").startswith("its container is gone: docker wait: No such")


STOP_FAILS = "echo cannot stop >&2; exit 1"
HANGS = "while :; do :; done"


@pytest.mark.parametrize(
    ("command", "script", "said"),
    [
        ("stop", STOP_FAILS, "cannot stop\nCommand '['docker', 'stop'"),
        ("stop", HANGS, "timed out"),
        ("logs", HANGS, "timed out"),
        ("logs", "echo no log driver >&2; exit 1", "no log driver"),
    ],
)
def test_what_goes_wrong_at_the_stop_hides_no_failure_and_leaves_no_container(
    workspace: Workspace,
    daemon: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    script: str,
    said: str,
) -> None:
    stub = daemon.parent / "docker"
    a_program(stub, DAEMON.replace('case "$1" in', f'case "$1" in\n{command}) {script} ;;', 1))
    monkeypatch.setattr(docker_room, "CONTROL_TIMEOUT_S", 0.3)
    monkeypatch.setattr(docker.docker, "__kwdefaults__", {"timeout_s": 0.3})
    with (
        pytest.raises(FrameworkError, match="run 1: the server ended"),
        DockerRuntime(workspace).start(a_framework(), None, tmp_path / "server.log"),
    ):
        raise FrameworkError("run 1", "the server ended")
    assert said in (tmp_path / "server.log").read_text()
    assert daemon.read_text().splitlines()[-1] == "rm --force --volumes httparena-grpc-go"


def test_a_stand_in_matches_a_line_with_a_digest_and_other_images_keep_theirs(
    workspace: Workspace, folder: Path, bin_: Path, tmp_path: Path
) -> None:
    digest = f"@sha256:{'ab' * 32}"
    text = f"FROM go:1{digest} AS build\nRUN go\nFROM --platform=x debian:9{digest}\nUSER 1\n"
    (folder / "Dockerfile").write_text(text)
    a_program(
        bin_ / "docker",
        f"""echo "$*" >>{tmp_path}/asked
case "$*" in
    "images --quiet --filter label=httparena.standin.of=go:1 go:1") echo 4f ;;
    inspect*) echo '[{{"Id": "sha256:1", "Config": {{}}}}]' ;;
esac""",
    )
    build = DockerRuntime(workspace).build(a_framework(), tmp_path / "build.log")
    finished(build, FakeProgress())
    copy = workspace.tools / "builds" / "grpc-go.Dockerfile"
    assert copy.read_text() == text.replace(f"go:1{digest}", "go:1")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert sum(line.endswith(f"--file {copy} {folder}") for line in asked) == 1
    assert (folder / "Dockerfile").read_text() == text
