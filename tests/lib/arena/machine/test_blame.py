"""Whose fault an error is, by its number and the stage; and what this host is asked for."""

import errno
import os
import resource
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from arena.base.errors import HostError
from arena.contract.client import connected
from arena.machine import blame, facts, ports
from arena.machine.blame import Stage, Whose
from arena.machine.child import Child, whole_command

PROGRAMS: tuple[Stage, ...] = ("build", "start", "generator")
SOCKETS: tuple[Stage, ...] = ("probe", "contract")
ALL = PROGRAMS + SOCKETS

# What each stage meets, and who answers for it.
TABLE: tuple[tuple[tuple[Stage, ...], Whose, str], ...] = (
    (ALL, "host", "EMFILE ENFILE ENOMEM ENOBUFS ENOSPC EDQUOT EROFS EIO"),
    (PROGRAMS, "host", "EAGAIN ENOENT ENOTDIR ELOOP EACCES EPERM ENOEXEC ETXTBSY E2BIG"),
    (PROGRAMS, "us", "EBADF EINVAL EFAULT ECONNREFUSED EADDRNOTAVAIL"),
    (SOCKETS, "host", "EADDRNOTAVAIL EADDRINUSE ENETDOWN ENETUNREACH EHOSTDOWN EHOSTUNREACH"),
    (SOCKETS, "host", "EACCES EPERM EAFNOSUPPORT"),
    (SOCKETS, "framework", "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTCONN EPROTO"),
    (SOCKETS, "us", "EBADF EINVAL EFAULT ENOTSOCK ENOENT"),
)


@pytest.mark.parametrize(
    ("stage", "name", "whose"),
    [
        (stage, name, whose)
        for stages, whose, names in TABLE
        for stage in stages
        for name in names.split()
    ],
)
def test_a_number_and_a_stage_decide_whose_fault_an_error_is(
    stage: Stage, name: str, whose: Whose
) -> None:
    number = getattr(errno, name)
    error = OSError(number, os.strerror(number))
    assert blame.whose(error, stage) == whose
    raised = blame.judged(error, stage, "do it")
    kind = {"host": HostError, "us": RuntimeError, "framework": type(None)}[whose]
    assert type(raised) is kind
    if whose == "host":
        assert str(raised).startswith(f"this host cannot: do it: {os.strerror(number)}")


def test_errors_without_a_number_of_the_system_have_their_place() -> None:
    for stage in SOCKETS:
        # Its number is 1, which is no EPERM.
        assert blame.whose(ssl.SSLError(1, "[SSL] bad record"), stage) == "framework"
        assert blame.whose(TimeoutError("timed out"), stage) == "framework"
        assert blame.whose(socket.gaierror(-2, "Name or service not known"), stage) == "host"


@pytest.mark.parametrize(
    ("stage", "output", "remedy"),
    [
        ("build", "cc1: /tmp/x.s: No space left on device\nmake: *** [x] Error 1", "free space"),
        ("build", "ERROR: BuildKit is enabled but the buildx component is missing or broken.",
         "DOCKER_BUILDKIT=0"),
        ("build", "curl: (6) Could not resolve host: static.crates.io", "a proxy?"),
        ("build", "npm error code EAI_AGAIN", "a proxy?"),
        ("build", "server.go:3: undefined: x", None),
        ("build", "golang:99: failed to resolve source metadata for golang:99: not found", None),
        ("generator", "dial tcp 127.0.0.1:8080: socket: too many open files", "ulimit -n"),
        ("generator", "connect: cannot assign requested address", "ip_local_port_range"),
        ("generator", "rpc error: code = Internal desc = no", None),
        ("start", "docker run: Cannot connect to the Docker daemon at unix:///x", "running?"),
        ("start", 'docker run: exec: "server": executable file not found in $PATH', None),
    ],
)  # fmt: skip
def test_what_the_tools_of_a_host_print_names_the_host(
    stage: Stage, output: str, remedy: str | None
) -> None:
    found = blame.said(stage, output)
    assert (found is None) == (remedy is None)
    if found:
        assert str(found).startswith(f"this host cannot: {stage}: ")
        assert str(remedy) in str(found)


def test_what_has_run_out_is_found_far_up_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("ld: Cannot allocate memory\n" + "make: waiting\n" * 100)
    assert "free memory" in str(blame.said("build", "make: waiting", log))
    # A mirror that did not answer, long before what went wrong, is no reason.
    log.write_text("retry: connection refused\n" + "ok\n" * 100)
    assert blame.said("build", "x.c:1: error", log) is None


@contextmanager
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Make a connection as clients and servers do; yield both of its ends."""
    with socket.socket() as server, socket.socket() as client:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())
        with closing(server.accept()[0]) as accepted:
            server.close()
            yield client, accepted


def test_a_client_that_holds_the_port_is_named() -> None:
    with connection() as (client, _):
        port = client.getsockname()[1]
        said = rf"^this host cannot: listen: port {port} is taken by a connection of process "
        with pytest.raises(HostError, match=f"{said}{os.getpid()}: "):
            ports.require_free_port(port)


def test_a_connection_that_a_server_left_holds_no_port() -> None:
    with connection() as (_, accepted):
        ports.require_free_port(accepted.getsockname()[1])


def test_a_host_that_can_is_asked_for_nothing_more(tmp_path: Path) -> None:
    ports.require_able(8080, 64, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_too_few_files_or_ports_for_the_connections_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "most_open_files", lambda: 1024)
    ports.require_able(8080, 900, tmp_path)
    with pytest.raises(HostError, match=r"^this host cannot: open 1,024 .*: ulimit -n 1088$"):
        ports.require_able(8080, 1024, tmp_path)
    (tmp_path / "range").write_text("40000\t40019\n")
    columns = "  sl  local_address rem_address   st\n"
    # To the port, to another one, a listener, and one of another range.
    lines = ("9C40 1F90 01", "9C41 0050 01", "9C42 0000 0A", "0050 1F90 01")
    rows = [
        "0: 0100007F:{} 0100007F:{} {} 0".format(*line.split()) + "\n" for line in lines
    ]  # fmt: skip
    (tmp_path / "tcp").write_text(columns + "".join(rows))
    monkeypatch.setattr(ports, "_NET", tmp_path)
    monkeypatch.setattr(ports, "_RANGE", tmp_path / "range")
    ports.require_able(8080, 18, tmp_path)
    with pytest.raises(
        HostError, match=r"open 19 connections: 18 local ports are left.*port_range"
    ):
        ports.require_able(8080, 19, tmp_path)


@pytest.mark.parametrize(("reuse", "left"), [("2\n", 20), ("1\n", 20), ("0\n", 19), ("", 19)])
def test_ports_of_connections_that_have_ended_are_lent_again_where_the_kernel_does(
    reuse: str, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "range").write_text("40000\t40019\n")
    (tmp_path / "reuse").write_text(reuse)
    (tmp_path / "tcp").write_text("head\n0: 0100007F:9C40 0100007F:1F90 06 0\n")
    for name, file in {"_NET": "", "_RANGE": "range", "_REUSE": "reuse"}.items():
        monkeypatch.setattr(ports, name, tmp_path / file)
    ports.require_able(8080, left, tmp_path)
    with pytest.raises(HostError, match=f"{left} local ports are left"):
        ports.require_able(8080, left + 1, tmp_path)


def test_a_host_without_localhost_or_disk_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HostError, match=r"^this host cannot: write to the disk: No such file"):
        ports.require_able(8080, 1, tmp_path / "gone")

    def resolve(*_: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for ask in (lambda: ports.require_able(8080, 1, tmp_path), lambda: connected(8080, 1)):
        with pytest.raises(HostError, match=r"Name or service not known; write .* /etc/hosts$"):
            ask()


_LONELY = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]


@pytest.mark.parametrize("call", ["ports.require_able(1, 1, Path())", "connected(1, 1)"])
def test_a_host_whose_loopback_is_down_is_named(call: str) -> None:
    if subprocess.run([*_LONELY, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    script = (
        "from pathlib import Path\nfrom arena.base.errors import HostError\n"
        "from arena.machine import ports\n"
        "from arena.contract.client import connected\n"
        f"try:\n    {call}\nexcept HostError as error:\n    print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(blame.__file__).parents[2])}
    argv = [*_LONELY, sys.executable, "-c", script]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("this host cannot: "), done
    assert "ip link set lo up" in done.stdout


def test_a_server_that_refuses_weighs_more_than_an_address_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whichever of the two is asked first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    here = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
    nowhere = (44, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0))  # EAFNOSUPPORT
    for found in ([here, nowhere], [nowhere, here]):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found: found)
        with pytest.raises(ConnectionRefusedError):
            connected(port, 1)


@pytest.fixture
def no_more_files() -> Iterator[None]:
    """Leave this process no file to open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (psutil.Process().num_fds(), hard))
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        yield
    finally:
        for each in held:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("no_more_files")
def test_a_host_without_descriptors_is_at_fault_in_the_contract_and_in_starting_programs(
    tmp_path: Path,
) -> None:
    said = r"^this host cannot: .*Too many open files.*; raise the limit of open files: ulimit -n$"
    with pytest.raises(HostError, match=said):
        connected(8080, 1)
    with pytest.raises(HostError, match=said):
        Child(["true"], cwd=tmp_path, stdout=tmp_path / "out", stderr=tmp_path / "err")


def test_a_host_without_taskset_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sh := shutil.which("setpriv"):
        (tmp_path / "setpriv").symlink_to(sh)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert whole_command(["true"])[-1] == "true"
    with pytest.raises(HostError, match="there is no `taskset`; install util-linux"):
        whole_command(["true"], (0,))


@pytest.mark.parametrize("text", [None, "", "cpu0 1 2 3 4 5 6 7 8\n"])
def test_a_host_whose_proc_says_nothing_of_the_cpus_is_named(
    tmp_path: Path, text: str | None
) -> None:
    facts.require_stat()
    stat = tmp_path / "stat"
    if text is not None:
        stat.write_text(text)
    with pytest.raises(HostError, match=r"cannot: tell what its CPUs do: .* a whole /proc$"):
        facts.require_stat(stat)
