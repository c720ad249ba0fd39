"""Connections to test: to servers of any manner, and to what is no server at all."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from arena.contract import Scope
from arena.contract.client import Client
from arena.contract.expected import sum_request
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.peer import wrong
from tests.lib.arena.contract.talk import Manner, honest

SOON_S = 0.1
LONG_S = 60.0

Converse = Callable[[socket.socket], object]


@contextmanager
def answering(converse: Converse, *, tls: bool = False) -> Iterator[Scope]:
    """Hold every connection with this, one after the other."""

    def run() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.settimeout(LONG_S)
                with connection, suppress(OSError):
                    converse(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield Scope(listener.getsockname()[1], tls=tls)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(LONG_S)
            assert not thread.is_alive()


def until_end(connection: socket.socket) -> None:
    """Read, and send nothing, until the client has hung up."""
    while connection.recv(1 << 16):
        pass


def hearing(connection: socket.socket) -> None:
    """Hang up at the first bytes."""
    assert connection.recv(1 << 16)


def speaking_http1(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    until_end(connection)


@contextmanager
def a_client(
    manner: Manner = honest, timeout_s: float = LONG_S, window: int = 1 << 20
) -> Iterator[Client]:
    """Connect to a server of this manner."""
    with serving(manner) as server, Client(server.scope, timeout_s, window=window) as client:
        yield client


def get_sum(client: Client) -> None:
    client.finish(client.call("GetSum", sum_request()))


def problem(scope: Scope, timeout_s: float = LONG_S) -> str:
    """Return what is wrong with GetSum."""

    def call() -> None:
        with Client(scope, timeout_s) as client:
            get_sum(client)

    return wrong(call).detail
