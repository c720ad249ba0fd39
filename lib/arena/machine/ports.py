"""TCP ports of this machine."""

from contextlib import suppress

from arena.base.errors import HostError


def require_free_port(port: int) -> None:
    """Raise HostError, naming the process, if something already listens on the TCP port."""
    listeners = _listeners()
    if port in listeners:
        holder = _process_name(listeners[port])
        raise HostError(f"port {port} is taken by {holder}; stop it and try again")


def taken_ports() -> frozenset[int]:
    """Return the TCP ports on which something listens, as far as this process may know."""
    return frozenset(_listeners())


def _listeners() -> dict[int, int | None]:
    """Return each port on which something listens, with the id of the process, if known."""
    import psutil

    try:
        sockets = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return {}
    return {
        each.laddr.port: each.pid
        for each in sockets
        if each.status == psutil.CONN_LISTEN and each.laddr
    }


def _process_name(pid: int | None) -> str:
    import psutil

    if pid is None:
        return "a process of another user"
    command = ""
    with suppress(psutil.Error):
        command = " ".join(psutil.Process(pid).cmdline())
    return f"process {pid}: {command:.100}" if command else f"process {pid}"
