"""A connection to a server: how it begins, how it is waited for, and how it fails."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import Mock

import pytest
from hyperframe.frame import DataFrame, GoAwayFrame, SettingsFrame

from arena.contract import Scope, connections
from arena.contract.asks import stream_request, sum_request
from arena.contract.client import Client, HangError
from arena.contract.messages import WrongError
from arena.contract.wire import Answer
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.lies import going_away, hanging_up, resetting, unary
from tests.lib.arena.contract.lying_server import Tls, context_of, serving
from tests.lib.arena.contract.peer import (
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
    wrong,
)
from tests.lib.arena.contract.talk import TURN, Manner, Steps, Talk, changed, honest, reply

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
        return client._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)

    with a_client() as wide:
        assert wide._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        scope = Scope(wide._socket.getpeername()[1], tls=False)
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
        secure = client._socket
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
    client._socket = dead


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
each_check = pytest.mark.parametrize(
    "check", [connections.alpn, connections.version, connections.downgrade]
)


@each_check
def test_a_server_that_never_shakes_hands_is_given_up(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_HANDSHAKE_S", 0.1)
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
        connections.version(scope)
        for check in (connections.alpn, connections.downgrade):
            assert wrong(check, scope).detail.startswith(
                ("the TLS handshake fails (", "the server hangs up on the TLS handshake")
            )


def test_a_reset_is_reported_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(plain: socket.socket, _: object) -> None:
        plain.close()
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(connections, "tls_over", reset)
    with answering(until_end, tls=True) as scope:
        assert wrong(connections.alpn, scope).detail == "the server hangs up on the TLS handshake"
        connections.version(scope)


def trickling(talk: Talk) -> Steps[None]:
    """Send replies without end, each in time."""
    talk.headers()
    while True:
        talk.raw(DataFrame(talk.stream, reply(7)))
        yield TURN


def given_up() -> AbstractContextManager[object]:
    """Expect the deadline to pass, which on a busy host may be as early as while connecting."""
    return pytest.raises(HangError, match=r"^no answer within 0\.1 s$")


def test_a_server_that_never_answers_is_given_up() -> None:
    with answering(until_end) as scope, given_up(), Client(scope, SOON_S) as client:
        get_sum(client)


def test_a_server_that_never_reads_is_given_up() -> None:
    done = threading.Event()
    with answering(lambda _: done.wait(LONG_S)) as scope:
        with given_up(), Client(scope, SOON_S) as client:
            client.wire.output += bytes(64 << 20)
            client.flush()
        done.set()


@pytest.mark.parametrize(
    ("manner", "wait"),
    [
        (trickling, lambda client, answer: client.wait(lambda: answer.over)),
        (trickling, lambda client, answer: client.until_over(answer)),
        (lies.hanging, lambda client, answer: client.until_over(answer)),
        (lies.hanging, lambda client, _: client.wait(lambda: False, lambda: None)),
        (changed(lies.without_end), lambda client, _: client.until_quiet(LONG_S)),
        # The deadline cuts the silence short.
        (lies.hanging, lambda client, _: client.until_quiet(LONG_S)),
    ],
)
def test_all_waiting_ends_at_one_deadline(
    manner: Manner, wait: Callable[[Client, Answer], None]
) -> None:
    with given_up(), a_client(lies.unary(manner), SOON_S) as client:
        wait(client, client.call("GetSum", sum_request()))


@pytest.mark.parametrize(("manner", "looks"), [(lies.hanging, 2), (lies.unary(trickling), 1)])
def test_a_wait_may_look_around_meanwhile(manner: Manner, looks: int) -> None:
    seen = []

    def look() -> None:
        seen.append(1)
        if len(seen) == looks:
            raise WrongError("enough")

    with a_client(manner) as client:
        client.call("GetSum", sum_request())
        assert wrong(client.wait, lambda: False, look).detail == "enough"
    assert len(seen) == looks


def test_a_wait_does_not_look_around_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.contract.client._STEP_S", LONG_S)
    seen: list[int] = []
    with given_up(), a_client(lies.unary(trickling), SOON_S) as client:
        client.call("GetSum", sum_request())
        client.wait(lambda: False, lambda: seen.append(1))
    assert seen == []


def test_what_holds_already_is_not_waited_for() -> None:
    with a_client(lies.hanging) as client:
        client.wait(lambda: True, lambda: pytest.fail("waited"))


def test_calls_are_finished_together() -> None:
    with a_client() as client:
        answers = [client.call("StreamSum", stream_request(count)) for count in (300, 20, 1)]
        client.finish(*answers)
        assert [len(answer.messages) for answer in answers] == [300, 20, 1]


def test_one_call_of_two_that_is_reset_is_enough() -> None:
    with a_client(lies.streaming(lies.resetting(2))) as client:
        answers = client.call("GetSum", sum_request()), client.call("StreamSum", stream_request(2))
        error = wrong(client.finish, *answers)
    assert error.detail == "the server reset the stream (INTERNAL_ERROR)"


def test_an_answer_without_an_end_is_given_up_before_it_fills_the_memory() -> None:
    with a_client(lies.unary(changed(lies.without_end))) as client:
        answer = client.call("GetSum", sum_request())
        assert wrong(client.finish, answer).detail == "there are more than 10000 replies"
        assert len(answer.messages) < 50_000


def test_an_answer_of_very_many_replies_may_be_finished_once_it_is_over() -> None:
    with a_client() as client:
        answer = client.call("StreamSum", stream_request(10_500))
        client.wait(lambda: answer.over)
        client.finish(answer)
        assert len(answer.messages) == 10_500


def test_an_answer_larger_than_every_window_arrives_whole() -> None:
    with a_client(window=5000) as client:
        answer = client.call("StreamSum", stream_request(3000))
        client.finish(answer)
        assert len(answer.messages) == 3000
        assert answer.received > 3 * 5000


def test_quiet_comes_when_nothing_has_come_for_a_while() -> None:
    with a_client(lies.streaming(lies.hanging_after(lies.at_most(30)))) as client:
        answer = client.call("StreamSum", stream_request(100))
        client.until_quiet(0.2)
        assert len(answer.messages) == 30
        assert not answer.over


def test_a_server_that_hangs_up_is_quiet() -> None:
    with a_client(lies.hanging_up) as client:
        answer = client.call("GetSum", sum_request())
        client.until_quiet(LONG_S)
        assert answer.headers
        assert not answer.over
