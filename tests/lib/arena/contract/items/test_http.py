"""The client of items: what is no HTTP is reported, whatever it says of items."""

import socket
from collections.abc import Callable

import pytest

from arena.base.errors import FrameworkError
from arena.contract import ItemScope, Scope, check, items, wait_ready
from arena.contract.items import calls, values
from arena.contract.items.http import ItemRequest, Reply, speaker
from arena.contract.messages import WrongError
from arena.contract.wire import Answer
from tests.lib.arena.contract.items.service import Asked, Said, Service, serving
from tests.lib.arena.contract.lying_server import serving as serving_h2
from tests.lib.arena.contract.peer import answering, until_end, wrong
from tests.lib.arena.contract.talk import Field, Manner, Steps, Talk, manner

GET = ItemRequest("GET", "/v1/items/0")


def said_of(place: Scope, version: str, request: ItemRequest = GET) -> str:
    """Return what is wrong with the answer to a request."""
    scope = ItemScope(place.port, place.tls, ("h1",) if version == "h1" else ("h2",))

    def ask() -> Reply:
        with speaker(scope, scope.versions[0], 5) as one:
            return one.send(request)()

    return wrong(ask).detail


# HTTP/2.


@manner
def raw(talk: Talk, fields: list[Field], body: bytes = b"") -> Steps[None]:
    """Answer with these fields."""
    yield from talk.half_close()
    talk.connection.h2.send_headers(talk.stream, fields)
    yield from talk.data(body)
    talk.end()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (raw([(":status", "200"), ("connection", "close")]), "HTTP/2 has no field 'connection'"),
        (raw([(":status", "200"), ("Location", "/")]), "HTTP/2 has no field 'Location'"),
        (raw([(":status", "200"), ("content-length", "3")], b"ab"),
         "2 bytes come, and content-length is 3"),
        (raw([(":status", "fine")]), "the status is 'fine'"),
        (raw([("x", "y")]), "the status is ''"),
    ],
)  # fmt: skip
def test_what_is_no_http2_is_reported(one: Manner, words: str) -> None:
    with serving_h2(one) as server:
        assert said_of(server.scope, "h2") == f"GET /v1/items/0: {words}"


def test_the_length_of_what_head_leaves_out_is_allowed() -> None:
    fields = [(":status", "200"), ("content-length", "3")]
    with serving_h2(raw(fields)) as server:
        scope = ItemScope(server.port, False, ("h2",))
        with speaker(scope, "h2") as one:
            assert one.send(ItemRequest("HEAD", "/v1/items/0"))().body == b""


# HTTP/1.1.


def talking(data: bytes) -> Callable[[socket.socket], None]:
    """Return what answers anything with these bytes."""

    def converse(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        until_end(connection)

    return converse


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the server closed the connection unanswered"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", "the answer is not HTTP/1.1"),
        (b"PRI * HTTP/2.0\r\n\r\n", ("the answer is not HTTP/1.1 (illegal status line: "
         "bytearray(b'PRI * HTTP/2.0'))")),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab", ("the answer is not HTTP/1.1 "
         "(peer closed connection without sending complete message body "
         "(received 2 bytes, expected 3))")),
    ],
)  # fmt: skip
def test_what_is_no_http1_is_reported(data: bytes, words: str) -> None:
    with answering(talking(data)) as place:
        assert said_of(place, "h1") == f"GET /v1/items/0: {words}"


def test_a_server_that_says_nothing_is_not_waited_for_without_end() -> None:
    with answering(until_end) as place:
        scope = ItemScope(place.port, False, ("h1",))
        assert items.probe(scope, 0.05) == "no answer within 0.05 s"


# Replies and streams that no server here can be brought to send.


def test_204_has_no_body() -> None:
    calls.require_done(Reply(204, {}, b""))
    error = wrong(calls.require_done, Reply(204, {}, b"{}"))
    assert (error.detail, error.wire) == ("an answer of 204 has a body", "7b 7d")


def test_a_stream_beyond_the_limit_is_refused_with_one_of_two_codes() -> None:
    answers = [Answer(stream, 0, reset=code) for stream, code in ((1, None), (3, 7), (5, 1))]
    assert values._refused(answers) == {1, 2}
    error = wrong(values._refused, [Answer(1, 0, reset=11)])
    assert error.detail == "a stream beyond the limit ends with ENHANCE_YOUR_CALM"


# A server that is not there yet, or no more.


@pytest.mark.parametrize("version", ["h1", "h2"])
def test_a_server_is_ready_when_it_gives_any_answer(version: str) -> None:
    class Broken(Service):
        def answer(self, _: Asked) -> Said:
            return Said(500)

    with serving(Broken()) as port:
        wait_ready(ItemScope(port, False, (version,)), 5, lambda: None)  # type: ignore[arg-type]


def test_a_server_that_is_not_there_is_not_ready(closed_port: int) -> None:
    with pytest.raises(FrameworkError, match="nothing listens there"):
        wait_ready(ItemScope(closed_port, False, ("h2",)), 0.01, lambda: None)


def test_no_check_runs_after_the_server_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Service()) as port:
        scope = ItemScope(port, False, ("h1",))

    def gone() -> None:
        raise WrongError("it broke")

    made = [("h1-values", gone), ("h1-change", lambda: pytest.fail("checked"))]
    monkeypatch.setattr(items, "checks", lambda _: iter(made))
    (only,) = check(scope, None).checks
    said = "it broke; then GET /v1/items/0 is not answered (nothing listens there)"
    assert (only.check, only.detail) == ("h1-values", said)
