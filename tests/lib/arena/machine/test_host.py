"""What is found out about this host: its facts, the commit, who holds a port, what is missing."""

import hashlib
import os
import re
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.machine import builds, facts, ports
from arena.machine.facts import epoch_of
from arena.what.framework import KINDS_OF_NEEDS
from tests.fakes import a_program


def test_the_description_names_no_machine() -> None:
    found = facts.describe("29.1").model_dump_json(exclude={"virtualisation"})
    assert os.uname().nodename not in found
    assert '"docker":"29.1"' in found


def run_git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *who, *words], check=True)


def test_the_commit_is_known_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one")
    clean = facts.git_state(tmp_path)
    (tmp_path / "file").write_text("")
    dirty = facts.git_state(tmp_path)
    assert clean
    assert dirty
    assert len(clean.commit) == 40
    assert (clean.dirty, dirty.dirty) == (False, True)


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    assert facts.git_state(tmp_path) is None


def test_another_repository_has_no_commit_of_this_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "around")
    checkout = tmp_path / "unpacked"
    checkout.mkdir()
    assert facts.git_state(checkout) is None
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert facts.git_state(checkout) is None
    monkeypatch.delenv("GIT_DIR")
    run_git(checkout, "init", "--quiet")
    run_git(checkout, "commit", "--quiet", "--allow-empty", "--message", "own")
    own = facts.git_state(checkout)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / ".git"))
    assert facts.git_state(checkout) == own


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
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    sockets = [listener(8081, 1), listener(port, 1, psutil.CONN_TIME_WAIT)]
    monkeypatch.setattr(psutil, "net_connections", lambda **_: sockets)
    ports.require_free_port(port)
    assert ports.listeners() == {8081: 1}


def test_a_program_is_looked_for_on_path(bin_: Path) -> None:
    a_program(bin_ / "go", "true")
    assert builds.missing(("go", "zig")) == ("zig",)


@pytest.mark.parametrize(
    ("kind", "program"), [("pkg-config", "pkg-config"), ("gem", "ruby"), ("python", "python3")]
)
def test_a_library_is_looked_for_with_the_program_of_its_kind(
    bin_: Path, kind: str, program: str
) -> None:
    wanted = (f"{kind}:there", f"{kind}:absent")
    assert builds.missing(wanted) == (program, *wanted)
    a_program(bin_ / program, 'for last; do :; done; [ "$last" = there ]')
    assert builds.missing(wanted) == (f"{kind}:absent",)


def test_every_kind_of_need_can_be_looked_for() -> None:
    assert set(KINDS_OF_NEEDS) == set(builds.PROBES)


def test_what_to_install_is_one_line_of_apt_after_what_debian_lacks() -> None:
    assert builds.install_lines(("zig", "g++", "make", "g++", "grpc_cpp_plugin", "dotnet")) == [
        "install by hand: dotnet zig",
        "apt-get install g++ make protobuf-compiler-grpc",
    ]
    assert builds.install_lines(()) == []


X86 = """processor : 0
vendor_id : AuthenticAMD
cpu family : 25
model : 1
stepping : 1
microcode : 0x1
flags : fpu{flag}

"""
ARM = """CPU implementer : 0x41
CPU variant : 0x3
CPU part : {part}
CPU revision : 1

"""
METAL, GUEST = X86.format(flag=""), X86.format(flag=" hypervisor")


def tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder that stands for the root of a host."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("cpuinfo", "family"),
    [
        (METAL * 2, "AuthenticAMD 25 1 1"),
        (ARM.format(part="0xd0c") * 2, "0x41 0x3 0xd0c 1"),
        (ARM.format(part="0xd0b") + ARM.format(part="0xd05"),
         "0x41 0x3 0xd0b 1 + 0x41 0x3 0xd05 1"),
        ("machine : Power", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_family_of_the_cpus_is_read(tmp_path: Path, cpuinfo: str, family: str | None) -> None:
    assert facts.family(tree(tmp_path, {"proc/cpuinfo": cpuinfo})) == family


CLOCKS = "sys/devices/system/clocksource/clocksource0/available_clocksource"
DMI = "sys/class/dmi/id"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"proc/cpuinfo": METAL, f"{DMI}/sys_vendor": "Amazon EC2"}, "none"),
        ({"proc/cpuinfo": METAL, "proc/xen/capabilities": "control_d"}, "xen"),
        ({"proc/cpuinfo": GUEST, CLOCKS: "tsc kvm-clock"}, "kvm"),
        ({"proc/cpuinfo": GUEST, CLOCKS: "hyperv_clocksource_tsc_page"}, "hyperv"),
        ({"proc/cpuinfo": GUEST, CLOCKS: "tsc", f"{DMI}/sys_vendor": "VMware, Inc."}, "vmware"),
        ({"proc/cpuinfo": GUEST}, "vm"),
        ({"proc/cpuinfo": ARM, f"{DMI}/sys_vendor": "Amazon EC2"}, "kvm"),
        (
            {
                "proc/cpuinfo": ARM,
                f"{DMI}/sys_vendor": "Amazon EC2",
                f"{DMI}/product_name": "m6g.metal",
            },
            "none",
        ),
        ({"proc/cpuinfo": ARM, "proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, "kvm"),
        ({"proc/cpuinfo": ARM}, "none"),
        ({}, "none"),
    ],
)
def test_the_hypervisor_is_told_by_files(tmp_path: Path, files: dict[str, str], found: str) -> None:
    assert facts.virtualisation(tree(tmp_path, files)) == found


@pytest.mark.parametrize(
    ("space", "files", "found"),
    [
        ("pid:[4026531836]", {".dockerenv": ""}, "none"),
        ("pid:[4026532301]", {".dockerenv": ""}, "none in docker"),
        ("pid:[4026532301]", {"run/.containerenv": ""}, "none in podman"),
        ("pid:[4026532301]", {}, "none in a container"),
    ],
)
def test_a_container_is_told_by_its_namespace(
    tmp_path: Path, space: str, files: dict[str, str], found: str
) -> None:
    tree(tmp_path, {"proc/cpuinfo": METAL, "proc/self/ns/x": "", **files})
    (tmp_path / "proc/self/ns/pid").symlink_to(space)
    assert facts.virtualisation(tmp_path) == found


def test_a_need_is_asked_its_version_once(bin_: Path) -> None:
    builds.version.cache_clear()
    log = bin_ / "asked"
    for name in ("go", "java", "cargo", "ruby", "ghc-pkg", "python3", "dpkg-query"):
        a_program(bin_ / name, f'echo "$0 $*" >>{log}; [ -n "$1" ] && echo "one $1" && echo two')
    a_program(bin_ / "java", "echo said on stderr >&2")
    a_program(bin_ / "mvn", r"printf '\033[1mMaven 3\033[m\n'")
    a_program(bin_ / "broken", "echo 1; exit 1")
    assert builds.version("go") == builds.version("go") == "one version"
    assert builds.version("cargo") == "one --version"
    assert builds.version("java") == "said on stderr"
    assert builds.version("mvn") == "Maven 3"
    assert builds.version("gem:grpc") == "one -e"
    assert builds.version("ghc-pkg:warp-tls") == "one latest"
    assert builds.version("python:ensurepip") == "one --version"
    assert builds.version("luajit:http.server") == "one --show"
    assert re.search(r"dpkg-query --show .* lua-http\n", log.read_text())
    assert builds.version("broken") is None
    assert builds.version("absent") is None
    assert log.read_text().count("go version") == 1
    builds.version.cache_clear()


def test_a_need_that_does_not_answer_has_no_version(
    bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds.version.cache_clear()
    monkeypatch.setattr(builds, "_ANSWER_TIMEOUT_S", 0.05)
    a_program(bin_ / "go", "exec sleep 60")
    assert builds.version("go") is None
    builds.version.cache_clear()


def test_the_epoch_has_what_the_host_and_the_lock_files_say(
    workspace: Workspace, tmp_path: Path
) -> None:
    cpus = "sys/devices/system/cpu"
    root = tree(
        tmp_path / "host",
        {
            "proc/cpuinfo": METAL,
            f"{cpus}/vulnerabilities/mds": "Not affected\n",
            f"{cpus}/vulnerabilities/retbleed": "Vulnerable\n",
            f"{cpus}/intel_pstate/no_turbo": "1\n",
            "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
        },
    )
    folder = workspace.framework("victim")
    tree(folder, {"go.sum": "sums", "sub/requirements-dev.txt": "pins", "main.go": "", "locks": ""})
    tree(folder, {".build/Cargo.lock": "output"})
    tree(workspace.root, {"requirements.lock": "pins"})
    found = epoch_of(workspace, "victim", ["absent-program"], root)
    assert (found.microcode, found.governor, found.boost) == ("0x1", None, "off")
    assert found.kernel.startswith(os.uname().release)
    assert found.mitigations == {"mds": "Not affected", "retbleed": "Vulnerable"}
    assert found.toolchains == {}
    assert found.sysctls == {"net.ipv4.tcp_rmem": "4096 131072 6291456"}
    pins = hashlib.sha256(b"pins").hexdigest()
    assert found.locks == {
        "requirements.lock": pins,
        "frameworks/victim/go.sum": hashlib.sha256(b"sums").hexdigest(),
        "frameworks/victim/sub/requirements-dev.txt": pins,
    }


def test_on_a_host_that_says_nothing_the_epoch_is_the_kernels(
    workspace: Workspace, tmp_path: Path
) -> None:
    found = epoch_of(workspace, "absent", [], tmp_path / "nothing")
    assert found.model_dump(exclude={"kernel"}) == {
        "microcode": None, "mitigations": {}, "governor": None, "boost": None,
        "toolchains": {}, "locks": {}, "sysctls": {},
    }  # fmt: skip
