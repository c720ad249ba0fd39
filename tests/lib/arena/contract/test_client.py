"""A connection to a server: how it begins, and how it fails."""

import socket
import ssl
import struct
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from hyperframe.frame import GoAwayFrame, SettingsFrame

from arena.contract import Scope, tls
from arena.contract.client import Client
from arena.contract.expected import sum_request
from tests.lib.arena.contract.clients import (
    LONG_S,
    SOON_S,
    Converse,
    a_client,
    answering,
    get_sum,
    hearing,
    problem,
    speaking_http1,
    until_end,
)
from tests.lib.arena.contract.lies import going_away, hanging_up, resetting, unary
from tests.lib.arena.contract.lying_server import Tls, context_of, serving
from tests.lib.arena.contract.peer import wrong
from tests.lib.arena.contract.talk import Manner, honest

CLOSED = "the server closed the connection in the middle of the call"
RESET = ConnectionResetError(104, "Connection reset by peer")

# Connecting.


@pytest.mark.parametrize("secure", [False, True])
def test_a_refused_connection_is_reported_in_plain_words(closed_port: int, secure: bool) -> None:
    assert problem(Scope(closed_port, tls=secure)) == "nothing listens there"


@pytest.mark.parametrize("secure", [False, True])
def test_a_client_that_gets_the_servers_port_does_not_take_itself_for_the_server(
    secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, met = socket.socket.connect, []
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]

    def from_that_port(own: socket.socket, address: tuple[str, int]) -> None:
        # Closed, it leaves nothing behind that takes the port.
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        own.bind(address)
        connect(own, address)
        met.append(own.getsockname() == own.getpeername())

    monkeypatch.setattr(socket.socket, "connect", from_that_port)
    assert problem(Scope(port, tls=secure)) == "nothing listens there"
    assert met
    assert all(met)


def resolved_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def resolve(host: str, port: int, *_: object) -> list[object]:
        assert host == "localhost"
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_every_address_of_localhost_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(honest) as server:
        resolved_to(monkeypatch, "127.0.0.2", "127.0.0.1")
        with Client(server.scope, LONG_S) as client:
            get_sum(client)


def test_if_none_answers_the_last_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(honest) as server:
        resolved_to(monkeypatch, "127.0.0.2", "127.0.0.3")
        assert problem(server.scope) == "nothing listens there"


def test_what_is_sent_goes_out_at_once_and_the_buffer_may_be_small() -> None:
    def buffer_of(client: Client) -> int:
        return client._link._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)

    with a_client() as wide:
        assert wide._link._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        scope = Scope(wide._link._socket.getpeername()[1], tls=False)
        with Client(scope, LONG_S, receive_buffer=8192) as narrow:
            assert buffer_of(narrow) < buffer_of(wide)
            get_sum(narrow)


def test_it_hangs_up_at_the_end_of_the_block_and_more_than_once() -> None:
    with answering(until_end) as scope, Client(scope, LONG_S) as client:
        client.flush()
        client.close()
        client.close()


# TLS.


@pytest.mark.parametrize("protocols", [(), ("http/1.1",)])
def test_h2_must_be_chosen(protocols: tuple[str, ...], certificates: Path) -> None:
    with serving(honest, context_of(Tls(protocols), certificates)) as server:
        assert problem(server.scope) == "the server does not choose h2 by ALPN"


def test_a_certificate_that_nobody_signed_is_trusted(certificates: Path) -> None:
    own = context_of(Tls(), certificates)
    with serving(honest, own) as server, Client(server.scope, LONG_S) as client:
        get_sum(client)
        secure = client._link._socket
        assert isinstance(secure, ssl.SSLSocket)
        assert (secure.selected_alpn_protocol(), secure.version()) == ("h2", "TLSv1.3")


@pytest.mark.parametrize(
    ("converse", "timeout_s", "said"),
    [
        (speaking_http1, LONG_S, "TLS failed (WRONG_VERSION_NUMBER)"),
        (until_end, SOON_S, "no answer within 0.1 s"),
        (hearing, LONG_S, ("TLS failed (", "the connection broke (")),
    ],
)
def test_a_handshake_that_fails_is_reported(
    converse: Converse, timeout_s: float, said: str | tuple[str, ...]
) -> None:
    with answering(converse, tls=True) as scope:
        assert problem(scope, timeout_s).startswith(said)


# The end of a connection.


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        (hanging_up, CLOSED),
        (going_away(11), f"{CLOSED}, with GOAWAY (ENHANCE_YOUR_CALM)"),
        (going_away(0), f"{CLOSED}, with GOAWAY (NO_ERROR)"),
        (unary(resetting(7)), "the server reset the stream (REFUSED_STREAM)"),
    ],
)
def test_a_call_that_breaks_off_is_reported(manner: Manner, said: str) -> None:
    with serving(manner) as server:
        assert problem(server.scope) == said


def broken(client: Client, *unread: bytes | Exception) -> None:
    """Break the client's socket, though there may be something left to be read."""
    client.close()
    dead = Mock(spec=socket.socket)
    dead.sendall.side_effect = BrokenPipeError(32, "Broken pipe")
    dead.recv.side_effect = unread
    client._link._socket = dead


A_TLS_ERROR = ssl.SSLError(1, "[SSL: BAD_RECORD] bad record (_ssl.c:1)")
A_TLS_ERROR.reason = "BAD_RECORD"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RESET, "the connection broke (Connection reset by peer)"),
        (ConnectionAbortedError("it stopped"), "the connection broke (it stopped)"),
        (A_TLS_ERROR, "TLS failed (BAD_RECORD)"),
        (OSError(), "OSError"),
    ],
)
def test_a_connection_that_breaks_is_reported(error: OSError, said: str) -> None:
    with a_client() as client:
        client.flush()
        broken(client, error)
        assert wrong(client.wait, lambda: False).detail == said


SETTINGS = SettingsFrame(0).serialize()
GOAWAY = GoAwayFrame(0, last_stream_id=0, error_code=1).serialize()


@pytest.mark.parametrize(
    ("unread", "said"),
    [
        (TimeoutError(), "the connection broke (Broken pipe)"),
        (SETTINGS + GOAWAY, "the connection broke (Broken pipe)"),
        (b"", CLOSED),
        (RESET, "the connection broke (Connection reset by peer)"),
        (b"HTTP/1.1 400 Bad Request", "the server does not speak HTTP/2"),
    ],
)
def test_a_server_may_report_why_before_it_closes_the_connection(
    unread: bytes | Exception, said: str
) -> None:
    with a_client() as client:
        broken(client, unread)
        assert wrong(client.flush).detail == said


# Calls that may end in any way.


@pytest.mark.parametrize(
    ("manner", "end"),
    [
        (honest, (True, "0")),
        (resetting(2), (True, None)),
        (hanging_up, (False, None)),
        (going_away(1), (False, None)),
    ],
)
def test_a_call_may_end_well_or_with_a_reset_or_with_its_connection(
    manner: Manner, end: tuple[bool, str | None]
) -> None:
    with a_client(manner) as client:
        answer = client.call("GetSum", sum_request())
        client.until_over(answer)
        assert (answer.over, answer.status) == end


def test_a_call_may_end_with_a_broken_connection() -> None:
    with a_client() as client:
        answer = client.call("GetSum", sum_request())
        client.flush()
        broken(client, RESET)
        client.until_over(answer)
        assert not answer.over


def test_a_call_may_not_end_in_what_is_no_http2() -> None:
    with answering(speaking_http1) as scope, Client(scope, LONG_S) as client:
        error = wrong(client.until_over, client.call("GetSum", sum_request()))
    assert error.detail == "the server does not speak HTTP/2"


# The checks of TLS: most fail with the handshake, and that of the old versions passes.

Check = Callable[[Scope], object]
each_check = pytest.mark.parametrize("check", [tls.alpn, tls.version, tls.downgrade])


@each_check
def test_a_server_that_never_shakes_hands_is_given_up(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_TIMEOUT_S", 0.1)
    with answering(until_end, tls=True) as scope:
        assert wrong(check, scope).detail == "no TLS handshake within 0.1 s"


@each_check
def test_a_server_that_is_gone_is_reported(check: Check, closed_port: int) -> None:
    error = wrong(check, Scope(closed_port, tls=True))
    assert error.detail == "the TLS handshake fails (Connection refused)"


@pytest.mark.parametrize("converse", [hearing, speaking_http1])
def test_a_server_that_breaks_off_fails_but_where_it_is_offered_old_versions(
    converse: Converse,
) -> None:
    with answering(converse, tls=True) as scope:
        tls.version(scope)
        for check in (tls.alpn, tls.downgrade):
            assert wrong(check, scope).detail.startswith(
                ("the TLS handshake fails (", "the server hangs up on the TLS handshake")
            )


def test_a_reset_is_reported_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(plain: socket.socket, _: object) -> None:
        plain.close()
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(tls, "tls_over", reset)
    with answering(until_end, tls=True) as scope:
        assert wrong(tls.alpn, scope).detail == "the server hangs up on the TLS handshake"
        tls.version(scope)
