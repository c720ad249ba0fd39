"""How a runtime is chosen, and a build that fails."""

from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.run.runtimes import choose
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
