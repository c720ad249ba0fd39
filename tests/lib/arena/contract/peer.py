"""What a client may meet: a server without a socket, one of any manner, and what is no server."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import hpack
import pytest
from hyperframe.frame import DataFrame, Frame, HeadersFrame, SettingsFrame

from arena.contract import Scope
from arena.contract.asks import sum_request
from arena.contract.client import Client
from arena.contract.messages import WrongError, frame
from arena.contract.scope import Disguise
from arena.contract.wire import Answer, Wire
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.talk import Manner, honest

OK_HEADERS = ((":status", "200"), ("content-type", "application/grpc"))
OK_TRAILERS = (("grpc-status", "0"),)
TWO = frame(b"ab") + frame(b"")

Fields = Iterable[tuple[str, str]]


def frames(data: bytes) -> list[Frame]:
    """Return the frames in some bytes, of which the last may be incomplete."""
    found = []
    while len(data) >= 9:
        seen, length = Frame.parse_frame_header(memoryview(data[:9]))
        if len(data) < 9 + length:
            break
        seen.parse_body(memoryview(data[9 : 9 + length]))
        found.append(seen)
        data = data[9 + length :]
    return found


class Peer:
    """A server that has greeted a client: what it sends is taken at once."""

    def __init__(
        self,
        window: int = 1 << 20,
        *,
        held: bool = False,
        tight: bool = False,
        tls: bool = False,
        disguise: Disguise | None = None,
    ) -> None:
        self.wire = Wire(
            "localhost:8080", tls=tls, disguise=disguise, window=window, held=held, tight=tight
        )
        self.encoder = hpack.Encoder()
        self.wire.output.clear()
        self.take(SettingsFrame(0))
        self.sent()

    def sent(self) -> list[Frame]:
        """Return what the client has sent since the last look."""
        found = frames(bytes(self.wire.output))
        self.wire.output.clear()
        return found

    def assert_sent(self, *expected: Frame) -> None:
        """Require that the client has sent these frames since the last look, and no others."""
        assert [each.serialize() for each in self.sent()] == [e.serialize() for e in expected]

    def uploads(self) -> list[tuple[int, bytes, bool]]:
        """Return the DATA sent since the last look: stream, bytes, and whether it is the last."""
        return [
            (each.stream_id, bytes(each.data), "END_STREAM" in each.flags)
            for each in self.sent()
            if isinstance(each, DataFrame)
        ]

    def request(self, path: str = "x", body: bytes = b"", **options: Any) -> HeadersFrame:
        """Have the client open a stream; return its HEADERS."""
        self.wire.request(path, body, **options)
        headers = self.sent()[0]
        assert isinstance(headers, HeadersFrame)
        return headers

    def call(self) -> Answer:
        """Have the client open a stream."""
        return self.wire.answers[self.request().stream_id]

    def take(self, *seen: Frame | bytes) -> None:
        """Have the client take frames, all at once."""
        self.wire.take(b"".join(e if isinstance(e, bytes) else e.serialize() for e in seen))

    def block(self, fields: Fields) -> bytes:
        return self.encoder.encode(list(fields))

    def headers(
        self, answer: Answer, fields: Fields = OK_HEADERS, *, end: bool = False
    ) -> HeadersFrame:
        """Return headers, or trailers."""
        flags = ["END_HEADERS", "END_STREAM"] if end else ["END_HEADERS"]
        return HeadersFrame(answer.stream, self.block(fields), flags=flags)

    def trailers(self, answer: Answer, fields: Fields = OK_TRAILERS) -> HeadersFrame:
        return self.headers(answer, fields, end=True)


def data(answer: Answer, payload: bytes, *, end: bool = False, padding: int = 0) -> DataFrame:
    """Return DATA; with padding, it has its flag, and its own byte."""
    flags = [*(["END_STREAM"] if end else []), *(["PADDED"] if padding else [])]
    return DataFrame(answer.stream, payload, pad_length=padding, flags=flags)


def wrong(take: Callable[..., object], *arguments: object) -> WrongError:
    """Return the WrongError that a call raises."""
    with pytest.raises(WrongError) as caught:
        take(*arguments)
    return caught.value


def taking(peer: Peer, *seen: Frame | bytes) -> WrongError:
    """Return what is wrong with these frames."""
    return wrong(peer.take, *seen)


def head(length: int, kind: int, flags: int = 0, stream: int = 0) -> bytes:
    """Return nine bytes that begin a frame of any kind."""
    return length.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")


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
