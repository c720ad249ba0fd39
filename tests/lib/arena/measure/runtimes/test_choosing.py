"""How a runtime is chosen, and a build that fails."""

from pathlib import Path

import pytest

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.workspace import Workspace
from arena.measure.runtimes import choose, run_build
from tests.fakes import FakeProgress, a_program

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
