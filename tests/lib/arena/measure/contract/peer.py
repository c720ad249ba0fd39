"""The server's side of a Wire, without a socket: frames to give to it, and frames it sent."""

from collections.abc import Iterable

import hpack
import pytest
from hyperframe.frame import (
    DataFrame,
    Frame,
    HeadersFrame,
    SettingsFrame,
)

from arena.measure.contract.messages import WrongError
from arena.measure.contract.wire import PREFACE, Answer, Wire

OK_HEADERS = ((":status", "200"), ("content-type", "application/grpc"))
OK_TRAILERS = (("grpc-status", "0"),)

Fields = Iterable[tuple[str, str]]


def frames_in(data: bytes) -> list[Frame]:
    """Return the frames that bytes are."""
    found = []
    while data:
        seen, length = Frame.parse_frame_header(memoryview(data[:9]))
        seen.parse_body(memoryview(data[9 : 9 + length]))
        found.append(seen)
        data = data[9 + length :]
    return found


def without_preface(data: bytes) -> bytes:
    assert data.startswith(PREFACE)
    return data.removeprefix(PREFACE)


class Peer:
    """A server that has greeted a client: what it sends is taken at once."""

    def __init__(
        self, window: int = 1 << 20, *, held: bool = False, tight: bool = False, tls: bool = False
    ) -> None:
        self.wire = Wire("localhost:8080", tls=tls, window=window, held=held, tight=tight)
        self.encoder = hpack.Encoder()
        self.greeting = frames_in(without_preface(bytes(self.wire.output)))
        self.wire.output.clear()
        self.take(SettingsFrame(0))
        self.sent()

    def sent(self) -> list[Frame]:
        """Return what the client has sent since the last look."""
        data = bytes(self.wire.output)
        self.wire.output.clear()
        return frames_in(data)

    def call(self, body: bytes = b"") -> Answer:
        """Have the client open a stream."""
        answer = self.wire.request("x.Y/Z", body)
        self.sent()
        return answer

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


def taking(peer: Peer, *seen: Frame | bytes) -> WrongError:
    """Return what is wrong with these frames."""
    with pytest.raises(WrongError) as caught:
        peer.take(*seen)
    return caught.value


def head(length: int, kind: int, flags: int = 0, stream: int = 0) -> bytes:
    """Return nine bytes that begin a frame of any kind."""
    return length.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
