"""Connections to test: to servers of any manner, and to what is no server at all."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from arena.measure.contract import Scope
from arena.measure.contract.client import OPEN_WINDOW, Client
from arena.measure.contract.expected import sum_request
from arena.measure.contract.messages import WrongError
from tests.lib.arena.measure.contract.honest import honest
from tests.lib.arena.measure.contract.lying_server import serving
from tests.lib.arena.measure.contract.talk import Manner

SOON_S = 0.1
LONG_S = 20.0


@contextmanager
def answering(converse: Callable[[socket.socket], None]) -> Iterator[Scope]:
    """Accept one connection, and hold it with this."""

    def run() -> None:
        connection, _ = listener.accept()
        connection.settimeout(LONG_S)
        with connection:
            converse(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(LONG_S)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield Scope(listener.getsockname()[1], tls=False)
        finally:
            thread.join(LONG_S)
            assert not thread.is_alive()


def until_end(connection: socket.socket) -> None:
    """Read, and say nothing, until the client has hung up."""
    with suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass


def over_tls(scope: Scope) -> Scope:
    return Scope(scope.port, tls=True)


@contextmanager
def a_client(
    manner: Manner = honest, timeout_s: float = LONG_S, window: int = OPEN_WINDOW
) -> Iterator[Client]:
    """Connect to a server of this manner."""
    with (
        serving(manner) as server,
        Client(Scope(server.port, tls=False), timeout_s, window=window) as client,
    ):
        yield client


def get_sum(client: Client) -> None:
    client.finish(client.call("GetSum", sum_request()))


def problem(scope: Scope, timeout_s: float = LONG_S) -> str:
    """Return what is wrong with GetSum."""
    with pytest.raises(WrongError) as caught, Client(scope, timeout_s) as client:
        get_sum(client)
    return caught.value.detail
