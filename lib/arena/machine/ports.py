"""TCP ports of this machine."""

from contextlib import suppress

from arena.base.errors import HostError


def require_free_port(port: int) -> None:
    """Raise HostError, naming the process, if something already listens on the TCP port."""
    import psutil

    try:
        sockets = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        sockets = []
    for socket in sockets:
        if socket.status == psutil.CONN_LISTEN and socket.laddr and socket.laddr.port == port:
            holder = _process_name(socket.pid)
            raise HostError(f"port {port} is taken by {holder}; stop it and try again")


def _process_name(pid: int | None) -> str:
    import psutil

    if pid is None:
        return "a process of another user"
    command = ""
    with suppress(psutil.Error):
        command = " ".join(psutil.Process(pid).cmdline())
    return f"process {pid}: {command:.100}" if command else f"process {pid}"
