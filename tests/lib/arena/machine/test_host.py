"""What is found out about this host: its facts, the commit, who holds a port, what is missing."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from arena.base.errors import HostError
from arena.machine import facts, git, needs, ports
from tests.fakes import a_program


def test_the_description_names_no_machine() -> None:
    found = facts.describe("29.1").model_dump_json()
    assert os.uname().nodename not in found
    assert '"docker":"29.1"' in found


def run_git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *who, *words], check=True)


def test_the_commit_is_known_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one")
    clean = git.git_state(tmp_path)
    (tmp_path / "file").write_text("")
    dirty = git.git_state(tmp_path)
    assert clean
    assert dirty
    assert len(clean.commit) == 40
    assert (clean.dirty, dirty.dirty) == (False, True)


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    assert git.git_state(tmp_path) is None


def listener(port: int, pid: int | None, status: str = psutil.CONN_LISTEN) -> SimpleNamespace:
    return SimpleNamespace(status=status, laddr=SimpleNamespace(port=port), pid=pid)


@pytest.mark.parametrize(
    ("pid", "said"),
    [
        (os.getpid(), rf"port 8080 is taken by process {os.getpid()}: .*py"),
        (None, "taken by a process of another user"),
        (2**22 + 1, rf"taken by process {2**22 + 1};"),
    ],
    ids=["known", "of another user", "gone"],
)
def test_a_taken_port_is_refused_with_its_holder(
    monkeypatch: pytest.MonkeyPatch, pid: int | None, said: str
) -> None:
    monkeypatch.setattr(psutil, "net_connections", lambda **_: [listener(8080, pid)])
    with pytest.raises(HostError, match=said):
        ports.require_free_port(8080)


def test_a_port_that_only_has_connections_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets = [listener(8081, 1), listener(8080, 1, psutil.CONN_TIME_WAIT)]
    monkeypatch.setattr(psutil, "net_connections", lambda **_: sockets)
    ports.require_free_port(8080)


def test_a_program_is_looked_for_on_path(bin_: Path) -> None:
    a_program(bin_ / "go", "true")
    assert needs.missing(("go", "zig")) == ("zig",)


@pytest.mark.parametrize(
    ("kind", "program"), [("pkg-config", "pkg-config"), ("gem", "ruby"), ("python", "python3")]
)
def test_a_library_is_looked_for_with_the_program_of_its_kind(
    bin_: Path, kind: str, program: str
) -> None:
    wanted = (f"{kind}:there", f"{kind}:absent")
    assert needs.missing(wanted) == (program, *wanted)
    a_program(bin_ / program, 'for last; do :; done; [ "$last" = there ]')
    assert needs.missing(wanted) == (f"{kind}:absent",)


def test_what_to_install_is_one_line_of_apt_after_what_debian_lacks() -> None:
    assert needs.install_lines(("zig", "g++", "make", "g++", "grpc_cpp_plugin", "dotnet")) == [
        "install dotnet zig",
        "apt-get install g++ make protobuf-compiler-grpc",
    ]
    assert needs.install_lines(()) == []
