"""What a server must not do over HTTP/2, and how it is told."""

import pytest
from hyperframe.frame import (
    DataFrame,
    HeadersFrame,
    PingFrame,
    PushPromiseFrame,
    RstStreamFrame,
)

from arena.measure.contract.messages import WrongError, frame, hexadecimal
from arena.measure.contract.wire import Wire
from tests.lib.arena.measure.contract.peer import OK_HEADERS, Peer, data, head, taking

TWO = frame(b"ab") + frame(b"")


def greeted_by(first: bytes) -> WrongError:
    with pytest.raises(WrongError) as caught:
        Wire("localhost:1", tls=False, window=1).take(first)
    return caught.value


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", PingFrame(0, b"12345678").serialize(), b"\0" * 9,
     HeadersFrame(1, b"", flags=["END_HEADERS"]).serialize(), b"\x15\x03\x01\x00\x02\x02\x28\0\0"],
)  # fmt: skip
def test_who_does_not_begin_with_settings_speaks_no_http2(first: bytes) -> None:
    error = greeted_by(first)
    assert error.detail == "the server does not speak HTTP/2"
    assert error.wire == hexadecimal(first)


def test_less_than_a_frames_head_is_waited_for() -> None:
    wire = Wire("localhost:1", tls=False, window=1)
    wire.take(b"HTTP/1.1")
    with pytest.raises(WrongError, match=r"^the server does not speak HTTP/2$"):
        wire.take(b" ")


def test_a_frame_must_not_be_larger_than_allowed() -> None:
    peer = Peer()
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(16_384 - 5))))
    assert len(answer.messages) == 1
    # The head alone says it.
    error = taking(peer, head(16_385, 0, 0, answer.stream))
    assert error.detail == "a frame of 16385 bytes is larger than allowed"
    assert error.wire == "00 40 01 00 00 00 00 00 01"


@pytest.mark.parametrize(
    "broken",
    [
        head(5, 4) + b"12345",  # SETTINGS that are no multiple of six
        head(6, 4, 1) + b"123456",  # an acknowledgement that says something
        head(0, 4, 0, 1),  # SETTINGS on a stream
        head(3, 3, 0, 1) + b"123",  # RST_STREAM
        head(7, 6) + b"1234567",  # PING
        head(7, 7) + b"1234567",  # GOAWAY
        head(3, 8) + b"123",  # WINDOW_UPDATE
        head(4, 8) + b"\0\0\0\0",  # WINDOW_UPDATE by nothing
        head(0, 0),  # DATA on no stream
        head(0, 1, 4),  # HEADERS on no stream
        head(2, 0, 8, 1) + b"\x09a",  # more padding than DATA
        head(0, 0, 8, 1),  # padding without its length
        head(1, 1, 0x20, 1) + b"1",  # HEADERS with half a priority
    ],
)
def test_a_broken_frame_is_shown(broken: bytes) -> None:
    peer = Peer()
    peer.call()
    error = taking(peer, broken)
    assert error.detail.startswith("a frame is broken: ")
    assert error.wire == hexadecimal(broken)


def test_the_frames_before_a_broken_one_count() -> None:
    peer = Peer()
    answer = peer.call()
    taking(peer, peer.headers(answer), data(answer, TWO), peer.trailers(answer), head(0, 0))
    assert answer.status == "0"


def test_a_push_was_turned_off() -> None:
    peer = Peer()
    answer = peer.call()
    pushed = PushPromiseFrame(answer.stream, 2, peer.block(OK_HEADERS), flags=["END_HEADERS"])
    assert taking(peer, pushed).detail == "the server pushes, though that was turned off"


@pytest.mark.parametrize("stream", [2, 3, 2**31 - 1])
def test_a_stream_that_was_not_opened_is_the_servers_invention(stream: int) -> None:
    said = f"a frame came on stream {stream}, which was not opened"
    for make in (
        lambda _: DataFrame(stream, b""),
        lambda peer: HeadersFrame(stream, peer.block(OK_HEADERS), flags=["END_HEADERS"]),
        lambda _: RstStreamFrame(stream, error_code=0),
    ):
        peer = Peer()
        peer.call()
        assert taking(peer, make(peer)).detail == said


def test_data_before_the_headers_is_shown() -> None:
    peer = Peer()
    answer = peer.call()
    error = taking(peer, data(answer, TWO))
    assert (error.detail, error.wire) == ("DATA comes before the headers", hexadecimal(TWO))


def test_data_after_informational_headers_still_comes_before_the_headers() -> None:
    peer = Peer()
    answer = peer.call()
    error = taking(peer, peer.headers(answer, [(":status", "100")]), data(answer, TWO))
    assert error.detail == "DATA comes before the headers"


def test_data_after_the_end_is_shown() -> None:
    peer = Peer()
    answer = peer.call()
    peer.take(peer.headers(answer), peer.trailers(answer))
    error = taking(peer, data(answer, TWO))
    assert (error.detail, error.wire) == ("DATA follows the end of its stream", hexadecimal(TWO))


def test_trailers_after_the_end_are_too_late() -> None:
    peer = Peer()
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, TWO, end=True))
    error = taking(peer, peer.trailers(answer))
    assert error.detail == "trailers follow the end of their stream"
    assert answer.status is None


def test_headers_that_do_not_end_the_stream_come_once() -> None:
    peer = Peer()
    answer = peer.call()
    error = taking(peer, peer.headers(answer), peer.headers(answer, [("x", "y")]))
    assert error.detail == "headers come in the middle of a stream"


def test_a_compressed_message_is_wrong_wherever_it_comes() -> None:
    peer = Peer()
    answer = peer.call()
    compressed = b"\1" + frame(b"ab")[1:]
    error = taking(peer, peer.headers(answer), data(answer, frame(b"1") + compressed))
    assert (error.detail, error.wire) == ("a reply is compressed, unasked", hexadecimal(compressed))
