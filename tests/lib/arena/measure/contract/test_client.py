"""A connection to a server: how it begins, and how it fails."""

import socket
import ssl
from pathlib import Path
from typing import cast

import pytest
from hyperframe.frame import GoAwayFrame, SettingsFrame

from arena.measure.contract import Scope
from arena.measure.contract.client import Client, HangError
from arena.measure.contract.expected import sum_request
from arena.measure.contract.messages import WrongError
from tests.lib.arena.measure.contract.clients import (
    LONG_S,
    SOON_S,
    a_client,
    answering,
    get_sum,
    over_tls,
    problem,
    until_end,
)
from tests.lib.arena.measure.contract.honest import honest
from tests.lib.arena.measure.contract.lies import going_away, hanging, hanging_up, resetting
from tests.lib.arena.measure.contract.lying_server import Tls, context_of, serving

# Connecting.


def test_a_refused_connection_is_told_in_plain_words() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # Nobody else gets the port, and nobody listens at it.
        scope = Scope(bound.getsockname()[1], tls=False)
        assert problem(scope) == "nothing listens there"
        assert problem(over_tls(scope)) == "nothing listens there"


def resolved_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def resolve(host: str, port: int, **_: object) -> list[object]:
        assert host == "localhost"
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_every_address_of_localhost_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(honest) as server:
        resolved_to(monkeypatch, "127.0.0.2", "127.0.0.1")
        with Client(Scope(server.port, tls=False), LONG_S) as client:
            get_sum(client)


def test_if_none_answers_the_last_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(honest) as server:
        resolved_to(monkeypatch, "127.0.0.2", "127.0.0.3")
        assert problem(Scope(server.port, tls=False)) == "nothing listens there"


def test_a_host_that_cannot_be_resolved_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert "Name or service not known" in problem(Scope(1, tls=False))


def test_what_is_sent_goes_out_at_once_and_the_buffer_may_be_small() -> None:
    with serving(honest) as server:
        scope = Scope(server.port, tls=False)
        with Client(scope, LONG_S) as wide, Client(scope, LONG_S, receive_buffer=8192) as narrow:
            assert wide._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            sizes = [
                each._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
                for each in (narrow, wide)
            ]
            assert sizes[0] < sizes[1]
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
        said = problem(Scope(server.port, tls=True))
    assert said == "the server does not choose h2 by ALPN"


def test_a_certificate_that_nobody_signed_is_trusted(certificates: Path) -> None:
    tls = context_of(Tls(), certificates)
    with serving(honest, tls) as server, Client(Scope(server.port, tls=True), LONG_S) as client:
        get_sum(client)
        secure = client._socket
        assert isinstance(secure, ssl.SSLSocket)
        assert (secure.selected_alpn_protocol(), secure.version()) == ("h2", "TLSv1.3")


def test_a_server_that_speaks_no_tls_is_told() -> None:
    def converse(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        until_end(connection)

    with answering(converse) as scope:
        assert problem(over_tls(scope)) == "TLS failed (WRONG_VERSION_NUMBER)"


def test_a_handshake_that_never_ends_is_given_up() -> None:
    with answering(until_end) as scope:
        assert problem(over_tls(scope), SOON_S) == "no answer within 0.1 s"


def test_a_handshake_that_is_hung_up_on_is_told() -> None:
    def converse(connection: socket.socket) -> None:
        assert connection.recv(1 << 16)

    with answering(converse) as scope:
        assert problem(over_tls(scope)).startswith(("TLS failed (", "the connection broke ("))


# The end of a connection.


def test_a_connection_that_is_closed_in_the_middle_is_told() -> None:
    with serving(hanging_up) as server:
        said = problem(Scope(server.port, tls=False))
    assert said == "the server closed the connection in the middle of the call"


@pytest.mark.parametrize(("code", "said"), [(11, "ENHANCE_YOUR_CALM"), (0, "NO_ERROR")])
def test_its_goaway_is_told(code: int, said: str) -> None:
    with serving(going_away(code)) as server:
        found = problem(Scope(server.port, tls=False))
    closed = "the server closed the connection in the middle of the call"
    assert found == f"{closed}, with GOAWAY ({said})"


class Broken:
    """A socket that cannot be used any more, though there may be something left to be read."""

    def __init__(self, *unread: bytes | Exception) -> None:
        self.unread = list(unread)

    def settimeout(self, _: float) -> None:
        pass

    def close(self) -> None:
        pass

    def sendall(self, _: bytes) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    def recv(self, _: int) -> bytes:
        match self.unread.pop(0):
            case bytes(data):
                return data
            case error:
                raise error


def broken(client: Client, *unread: bytes | Exception) -> None:
    client.close()
    client._socket = cast("socket.socket", Broken(*unread))


A_TLS_ERROR = ssl.SSLError(1, "[SSL: BAD_RECORD] bad record (_ssl.c:1)")
A_TLS_ERROR.reason = "BAD_RECORD"
RESET = ConnectionResetError(104, "Connection reset by peer")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RESET, "the connection broke (Connection reset by peer)"),
        (ConnectionAbortedError("it stopped"), "the connection broke (it stopped)"),
        (A_TLS_ERROR, "TLS failed (BAD_RECORD)"),
        (OSError(113, "No route to host"), "[Errno 113] No route to host"),
        (OSError(), "OSError"),
    ],
)
def test_a_connection_that_breaks_is_told(error: OSError, said: str) -> None:
    with a_client() as client:
        client.flush()
        broken(client, error)
        with pytest.raises(WrongError) as caught:
            client.wait(lambda: False)
    assert caught.value.detail == said


SETTINGS = SettingsFrame(0).serialize()
GOAWAY = GoAwayFrame(0, last_stream_id=0, error_code=1).serialize()


@pytest.mark.parametrize(
    ("unread", "said"),
    [
        ((TimeoutError(),), "the connection broke (Broken pipe)"),
        ((SETTINGS + GOAWAY,), "the connection broke (Broken pipe)"),
        ((b"",), "the server closed the connection in the middle of the call"),
        ((RESET,), "the connection broke (Connection reset by peer)"),
        ((b"HTTP/1.1 400 Bad Request",), "the server does not speak HTTP/2"),
    ],
)
def test_who_closes_a_connection_may_have_said_why(
    unread: tuple[bytes | Exception, ...], said: str
) -> None:
    with a_client() as client:
        broken(client, *unread)
        with pytest.raises(WrongError) as caught:
            client.flush()
    assert caught.value.detail == said


# Calls whose end may be any.


def over(scope: Scope, timeout_s: float = LONG_S) -> tuple[bool, str | None]:
    """Return how GetSum ends, however it does."""
    with Client(scope, timeout_s) as client:
        answer = client.call("GetSum", sum_request())
        client.until_over(answer)
        return answer.over, answer.status


def test_a_call_may_end_well_or_with_a_reset_or_with_its_connection() -> None:
    for manner, expected in (
        (honest, (True, "0")),
        (resetting(2), (True, None)),
        (hanging_up, (False, None)),
        (going_away(1), (False, None)),
    ):
        with serving(manner) as server:
            assert over(Scope(server.port, tls=False)) == expected


def test_a_call_may_end_with_a_broken_connection() -> None:
    with a_client() as client:
        answer = client.call("GetSum", sum_request())
        client.flush()
        broken(client, RESET)
        client.until_over(answer)
        assert not answer.over


def test_a_call_may_not_hang() -> None:
    with serving(hanging) as server, pytest.raises(HangError):
        over(Scope(server.port, tls=False), SOON_S)


def test_a_call_may_not_end_in_what_is_no_http2() -> None:
    def converse(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        until_end(connection)

    with answering(converse) as scope, pytest.raises(WrongError, match="does not speak HTTP/2"):
        over(scope)
