"""TCP ports of this machine, and what a server and its clients need of it."""

import errno
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from arena.base.reading import text_of
from arena.machine.blame import LOOPBACK, cannot, of_host
from arena.machine.child import most_open_files

# What a server, or a client, has open beside its connections.
_OTHER_FILES = 64

_LISTENS, _TIME_WAIT = "0A", "06"
_NET = Path("/proc/net")
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_REUSE = Path("/proc/sys/net/ipv4/tcp_tw_reuse")


def require_free_port(port: int) -> None:
    """Raise HostError, naming the process, if no server can listen on the TCP port now.

    Something listens there already, or a client has it as its local port.
    """
    if port in listeners() or _is_held(port):
        raise cannot(f"listen: port {port} is taken by {_holder(port)}; stop it and try again")


def require_able(port: int, connections: int, folder: Path, *, are_local: bool = True) -> None:
    """Raise HostError unless this host can serve so many connections to the port, and log to disk.

    The clients need ports here if they `are_local`.

    It is asked before a session, and again when a server has failed: was that its own fault?
    """
    _require_localhost()
    files = connections + _OTHER_FILES
    if files > (most := most_open_files()):
        raise cannot(
            f"open {connections:,} connections: a program may have {most:,} files open, and needs "
            f"{files:,}; raise the limit: ulimit -n {files}"
        )
    left = _local_ports_left(port) if are_local else None
    if left is not None and left < connections:
        raise cannot(
            f"open {connections:,} connections: {left:,} local ports are left for them; "
            "wait, or have more: sysctl net.ipv4.ip_local_port_range"
        )
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        raise of_host(error, "start", "write to the disk") from error


def localhost(port: int) -> Sequence[tuple[int, int, int, str, Any]]:
    """Return the addresses of localhost, as `getaddrinfo` does; `socket.gaierror` if none."""
    try:
        return socket.getaddrinfo("localhost", port, 0, socket.SOCK_STREAM)
    except socket.gaierror:
        raise
    except OSError:
        # Modules of the resolver hide what the host lacks; a socket names it.
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))]


def _require_localhost() -> None:
    """Raise HostError unless `localhost` is there, and a client reaches a server on it."""
    try:
        found = localhost(0)
    except OSError as error:
        raise of_host(error, "probe", "find localhost") from error
    problem: OSError | None = None
    for family, kind, protocol, _, address in found:
        try:
            with (
                socket.socket(family, kind, protocol) as server,
                socket.socket(family, kind, protocol) as client,
            ):
                server.bind(address)
                server.listen(1)
                client.settimeout(1)
                client.connect(server.getsockname())
        except OSError as error:
            problem = error
        else:
            return
    if problem and problem.errno in {errno.EADDRNOTAVAIL, errno.ENETUNREACH}:
        raise cannot(f"reach a server on localhost: {problem.strerror}", LOOPBACK)
    if problem:
        raise of_host(problem, "probe", "reach a server on localhost") from problem


def _is_held(port: int) -> bool:
    """Return whether the port cannot be bound, as a server binds it: to all addresses."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):  # noqa: S104
        with suppress(OSError), closing(socket.socket(family, socket.SOCK_STREAM)) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                server.bind((address, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return True
    return False


def _local_ports_left(port: int) -> int | None:
    """Return how many local ports are left for clients of a port; None if that is unknown.

    On loopback, most kernels lend the port of a connection that has ended again after a second.
    """
    lent = _TIME_WAIT if text_of(_REUSE).strip() in {"1", "2"} else ""
    try:
        first, last = map(int, _RANGE.read_text().split())
    except (OSError, ValueError):
        return None
    used = {
        local
        for local, remote, state in _sockets()
        if first <= local <= last and (state == _LISTENS or (remote == port and state != lent))
    }
    return last - first + 1 - len(used)


def _sockets() -> Iterator[tuple[int, int, str]]:
    """Yield the local port, the remote port and the state of each TCP socket (proc(5))."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError), (_NET / name).open() as file:
            next(file, None)
            for line in file:
                _, local, remote, state, *_ = line.split()
                yield int(local.rpartition(":")[2], 16), int(remote.rpartition(":")[2], 16), state


def listeners() -> dict[int, int | None]:
    """Return each TCP port on which something listens, as far as this process may know.

    It has the id of the process, if known.
    """
    import psutil

    return {port: pid for port, status, pid in _known_sockets() if status == psutil.CONN_LISTEN}


def _known_sockets() -> list[tuple[int, str, int | None]]:
    """Return the port, the status and the process, if known, of each socket that has a port."""
    import psutil

    try:
        found = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return []
    return [(each.laddr.port, each.status, each.pid) for each in found if each.laddr]


def _holder(port: int) -> str:
    """Return who has a port, as text: who listens there before all others."""
    found = listeners()
    if port in found:
        return _process_name(found[port])
    pids = [pid for local, _, pid in _known_sockets() if local == port and pid is not None]
    return f"a connection of {_process_name(pids[0] if pids else None)}"


def _process_name(pid: int | None) -> str:
    import psutil

    if pid is None:
        return "a process of another user"
    command = ""
    with suppress(psutil.Error):
        command = " ".join(psutil.Process(pid).cmdline())
    return f"process {pid}: {command:.100}" if command else f"process {pid}"
