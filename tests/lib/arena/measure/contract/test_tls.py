"""What a handshake that fails means: for most it is wrong, for what is too old it is right."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from arena.measure.contract import Scope, tls
from arena.measure.contract.messages import WrongError

Check = Callable[[Scope], object]


@contextmanager
def accepting(converse: Callable[[socket.socket], None]) -> Iterator[Scope]:
    """Hold every connection with this, one after the other."""

    def run() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    converse(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield Scope(listener.getsockname()[1], tls=True)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(20)
            assert not thread.is_alive()


def silent(connection: socket.socket) -> None:
    while connection.recv(1 << 16):
        pass


def hanging_up(connection: socket.socket) -> None:
    connection.recv(1 << 16)


def speaking_no_tls(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    silent(connection)


def problem(check: Check, scope: Scope) -> str:
    with pytest.raises(WrongError) as caught:
        check(scope)
    return caught.value.detail


@pytest.mark.parametrize("check", [tls.alpn, tls.version, tls.downgrade])
def test_a_server_that_never_shakes_hands_is_given_up(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_TIMEOUT_S", 0.1)
    with accepting(silent) as scope:
        assert problem(check, scope) == "no TLS handshake within 0.1 s"


@pytest.mark.parametrize("check", [tls.alpn, tls.version, tls.downgrade])
def test_a_server_that_is_gone_is_told(check: Check) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        scope = Scope(bound.getsockname()[1], tls=True)
        assert problem(check, scope) == "the TLS handshake fails (Connection refused)"


@pytest.mark.parametrize("converse", [hanging_up, speaking_no_tls])
def test_a_server_that_breaks_off_fails_but_where_it_is_offered_what_is_too_old(
    converse: Callable[[socket.socket], None],
) -> None:
    with accepting(converse) as scope:
        tls.version(scope)
        for check in (tls.alpn, tls.downgrade):
            said = problem(check, scope)
            assert said.startswith(
                ("the TLS handshake fails (", "the server hangs up on the TLS handshake")
            )


def test_a_reset_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(plain: socket.socket, _: object) -> None:
        plain.close()
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(tls, "tls_over", reset)
    with accepting(silent) as scope:
        assert problem(tls.alpn, scope) == "the server hangs up on the TLS handshake"
        tls.version(scope)
