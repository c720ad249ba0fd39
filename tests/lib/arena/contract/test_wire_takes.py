"""What the client takes from a server over HTTP/2, and what it must not be sent."""

import random
from collections.abc import Callable, Sequence

import hpack
import pytest
from hyperframe.frame import (
    AltSvcFrame,
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    PushPromiseFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from arena.contract.messages import WrongError, frame, hexadecimal
from arena.contract.wire import Answer, Wire
from tests.lib.arena.contract.peer import (
    OK_HEADERS,
    TWO,
    Fields,
    Peer,
    data,
    head,
    taking,
    wrong,
)

OK_EARLY = [*OK_HEADERS, ("grpc-status", "0")]


def test_an_answer_is_its_headers_its_messages_and_its_trailers(peer: Peer, answer: Answer) -> None:
    trailers = peer.trailers(answer, [("grpc-status", "5"), ("grpc-message", "no")])
    peer.take(peer.headers(answer), data(answer, TWO), trailers)
    assert answer.headers == dict(OK_HEADERS)
    assert answer.trailers == {"grpc-status": "5", "grpc-message": "no"}
    assert answer.messages == [b"ab", b""]
    assert (answer.status, answer.over, answer.ended, answer.reset) == ("5", True, True, None)
    assert (answer.received, answer.data_frames, len(answer.pending)) == (12, 1, 0)


def test_bytes_may_be_cut_anywhere() -> None:
    sizes = set()
    for cut in range(1, 120):
        peer = Peer()
        answer = peer.call()
        twice = data(answer, TWO)
        parts: tuple[Frame, ...] = (peer.headers(answer), twice, twice, peer.trailers(answer))
        whole = b"".join(each.serialize() for each in parts)
        sizes.add(len(whole))
        peer.take(whole[:cut])
        assert not answer.over or cut >= len(whole)
        peer.take(whole[cut:])
        assert answer.messages == [b"ab", b""] * 2
        assert answer.status == "0"
    assert max(sizes) < 120


def test_bytes_may_come_one_by_one(peer: Peer, answer: Answer) -> None:
    padded = data(answer, TWO, padding=3)
    parts: tuple[Frame, ...] = (peer.headers(answer), padded, peer.trailers(answer))
    for part in parts:
        for byte in part.serialize():
            assert not answer.over
            peer.take(bytes([byte]))
    assert (answer.messages, answer.status) == ([b"ab", b""], "0")


def test_a_message_may_be_cut_across_frames_and_frames_may_be_empty(
    peer: Peer, answer: Answer
) -> None:
    peer.take(peer.headers(answer), data(answer, TWO[:3]), data(answer, b""))
    peer.take(data(answer, TWO[3:9]))
    assert (answer.messages, bytes(answer.pending)) == ([b"ab"], TWO[7:9])
    peer.take(data(answer, TWO[9:]), peer.trailers(answer))
    assert (answer.messages, bytes(answer.pending)) == ([b"ab", b""], b"")
    assert answer.data_frames == 3


def test_padding_counts_for_flow_control_and_for_nothing_else() -> None:
    peer = Peer(window=100)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, TWO, padding=9), data(answer, b"", padding=4))
    assert answer.messages == [b"ab", b""]
    assert answer.data_frames == 1
    assert answer.received == len(TWO) + 1 + 9 + 1 + 4
    assert answer.window == 100 - answer.received


@pytest.mark.parametrize(
    "headers",
    [[(":status", "200"), ("content-type", "text/html")],
     [(":status", "404"), ("content-type", "application/grpc")], [(":status", "200")]],
)  # fmt: skip
def test_a_page_has_no_messages(headers: Fields) -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    peer.take(peer.headers(answer, headers), data(answer, b"<!doctype html>", end=True))
    assert (answer.messages, len(answer.pending), answer.over) == ([], 0, True)
    assert (answer.received, answer.data_frames, answer.window) == (15, 1, 85)


def test_an_answer_is_not_over_before_its_end(peer: Peer, answer: Answer) -> None:
    assert (answer.over, answer.status) == (False, None)
    peer.take(peer.headers(answer, OK_EARLY), data(answer, TWO))
    assert (answer.over, answer.status) == (False, None)


def test_trailers_only_are_headers_and_trailers(peer: Peer, answer: Answer) -> None:
    peer.take(peer.headers(answer, [*OK_HEADERS, ("grpc-status", "12")], end=True))
    assert (answer.status, answer.over, answer.trailers) == ("12", True, None)


@pytest.mark.parametrize(
    ("frames", "end"),
    [
        (lambda p, a: [p.headers(a), RstStreamFrame(a.stream, error_code=7)], (False, 7, None)),
        (lambda p, a: [p.headers(a), p.trailers(a), RstStreamFrame(a.stream, error_code=0)],
         (True, None, "0")),
        # A status in the headers does not count once there are data, or trailers.
        (lambda p, a: [p.headers(a, OK_EARLY), data(a, TWO, end=True)], (True, None, None)),
        (lambda p, a: [p.headers(a, OK_EARLY), data(a, TWO), p.trailers(a, [("x", "y")])],
         (True, None, None)),
    ],
)  # fmt: skip
def test_the_first_end_of_an_answer_is_its_end(
    frames: Callable[[Peer, Answer], Sequence[Frame]],
    end: tuple[bool, int | None, str | None],
    peer: Peer,
    answer: Answer,
) -> None:
    peer.take(*frames(peer, answer))
    assert (answer.ended, answer.reset, answer.status) == end
    assert answer.over


def test_informational_headers_are_passed_over(peer: Peer, answer: Answer) -> None:
    peer.take(peer.headers(answer, [(":status", "103"), ("client", "x")]))
    assert [answer.headers] == [None]
    peer.take(peer.headers(answer), peer.trailers(answer))
    assert (answer.headers, answer.status) == (dict(OK_HEADERS), "0")


def test_an_informational_status_that_ends_the_stream_is_all_there_is(
    peer: Peer, answer: Answer
) -> None:
    peer.take(peer.headers(answer, [(":status", "103")], end=True))
    assert (answer.headers, answer.over) == ({":status": "103"}, True)


def test_values_that_are_no_text_do_no_harm(peer: Peer, answer: Answer) -> None:
    block = hpack.Encoder().encode([(b":status", b"200"), (b"x", b"\xff\xfe")])
    peer.take(HeadersFrame(answer.stream, block, flags=["END_HEADERS"]))
    assert answer.headers == {":status": "200", "x": "\N{REPLACEMENT CHARACTER}" * 2}


def test_answers_do_not_mix(peer: Peer) -> None:
    first, second = peer.call(), peer.call()
    peer.take(peer.headers(second), peer.headers(first), data(first, frame(b"1")))
    peer.take(data(second, frame(b"2")[:3]), data(first, frame(b"1")), peer.trailers(first))
    assert (first.messages, first.status) == ([b"1", b"1"], "0")
    assert (second.messages, bytes(second.pending)) == ([], frame(b"2")[:3])
    assert not second.over


def test_what_the_future_brings_is_passed_over(peer: Peer, answer: Answer) -> None:
    peer.take(
        head(1, 0xBE, 0xFF, 9) + b"?",
        PriorityFrame(answer.stream, depends_on=0, stream_weight=1),
        AltSvcFrame(0, origin=b"localhost", field=b"h3"),
        WindowUpdateFrame(99, window_increment=1),
    )
    assert peer.sent() == []


def test_a_header_block_may_be_continued(peer: Peer, answer: Answer) -> None:
    block = peer.block(OK_EARLY)
    peer.take(
        HeadersFrame(answer.stream, block[:2], flags=["END_STREAM"]),
        ContinuationFrame(answer.stream, block[2:5]),
        ContinuationFrame(answer.stream, b""),
    )
    assert [answer.headers] == [None]
    peer.take(ContinuationFrame(answer.stream, block[5:], flags=["END_HEADERS"]))
    assert (answer.headers, answer.ended) == (dict(OK_EARLY), True)


def test_headers_may_be_padded_and_have_a_priority(peer: Peer, answer: Answer) -> None:
    flags = ["END_HEADERS", "PADDED", "PRIORITY"]
    peer.take(HeadersFrame(answer.stream, peer.block(OK_HEADERS), pad_length=7, flags=flags))
    assert answer.headers == dict(OK_HEADERS)


ENDED = ["END_HEADERS"]
COMPRESSED = b"\1" + frame(b"ab")[1:]


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", PingFrame(0, b"12345678").serialize(), b"\0" * 9,
     HeadersFrame(1, b"", flags=ENDED).serialize(), b"\x15\x03\x01\x00\x02\x02\x28\0\0"],
)  # fmt: skip
def test_a_server_that_does_not_begin_with_settings_speaks_no_http2(first: bytes) -> None:
    error = wrong(Wire("localhost:1", tls=False, window=1).take, first)
    assert error.detail == "the server does not speak HTTP/2"
    assert error.wire == hexadecimal(first)


def test_less_than_a_frames_head_is_waited_for() -> None:
    wire = Wire("localhost:1", tls=False, window=1)
    wire.take(b"HTTP/1.1")
    assert wrong(wire.take, b" ").detail == "the server does not speak HTTP/2"


def test_a_frame_must_not_be_larger_than_allowed(peer: Peer, answer: Answer) -> None:
    peer.take(peer.headers(answer), data(answer, frame(bytes(16_384 - 5))))
    assert len(answer.messages) == 1
    # The head alone shows it.
    error = taking(peer, head(16_385, 0, 0, answer.stream))
    assert error.detail == "a frame of 16385 bytes is larger than allowed"
    assert error.wire == "00 40 01 00 00 00 00 00 01"


@pytest.mark.parametrize(
    "broken",
    [
        head(5, 4) + b"12345",  # SETTINGS that are no multiple of six
        head(6, 4, 1) + b"123456",  # an acknowledgement that is not empty
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
def test_a_broken_frame_is_shown(broken: bytes, peer: Peer, answer: Answer) -> None:
    error = taking(peer, broken)
    assert error.detail.startswith("a frame is broken: ")
    assert error.wire == hexadecimal(broken)


def test_the_frames_before_a_broken_one_count(peer: Peer, answer: Answer) -> None:
    taking(peer, peer.headers(answer), data(answer, TWO), peer.trailers(answer), head(0, 0))
    assert answer.status == "0"


@pytest.mark.parametrize("stream", [2, 3, 2**31 - 1])
@pytest.mark.parametrize(
    "make",
    [
        lambda stream, _: DataFrame(stream, b""),
        lambda stream, peer: HeadersFrame(stream, peer.block(OK_HEADERS), flags=ENDED),
        lambda stream, _: RstStreamFrame(stream, error_code=0),
    ],
)
def test_a_stream_that_was_not_opened_must_not_be_used(
    make: Callable[[int, Peer], Frame], stream: int, peer: Peer, answer: Answer
) -> None:
    said = f"a frame came on stream {stream}, which was not opened"
    assert taking(peer, make(stream, peer)).detail == said


@pytest.mark.parametrize(
    ("frames", "said", "shown"),
    [
        (lambda _, a: [data(a, TWO)], "DATA comes before the headers", TWO),
        (lambda p, a: [p.headers(a, [(":status", "100")]), data(a, TWO)],
         "DATA comes before the headers", TWO),
        (lambda p, a: [p.headers(a), p.trailers(a), data(a, TWO)],
         "DATA follows the end of its stream", TWO),
        (lambda p, a: [p.headers(a), p.headers(a, [("x", "y")])],
         "headers come in the middle of a stream", b""),
        (lambda p, a: [p.headers(a), data(a, frame(b"1") + COMPRESSED)],
         "a reply is compressed: none may be", COMPRESSED),
        (lambda p, a: [PushPromiseFrame(a.stream, 2, p.block(OK_HEADERS), flags=ENDED)],
         "the server pushes, though that was turned off", b""),
        (lambda p, a: [HeadersFrame(a.stream, b""),
                       ContinuationFrame(p.call().stream, p.block(OK_HEADERS), flags=ENDED)],
         "a CONTINUATION follows no HEADERS", b""),
        (lambda p, a: [p.headers(a), ContinuationFrame(a.stream, b"", flags=ENDED)],
         "a CONTINUATION follows no HEADERS", b""),
        (lambda *_: [GoAwayFrame(0, last_stream_id=0, error_code=0)],
         "the server refuses the call: GOAWAY (NO_ERROR)", b""),
    ],
    ids=["data before headers", "data after informational headers", "data after the end",
         "headers twice", "a compressed message", "a push", "a continuation of another stream",
         "a continuation of nothing", "a goaway that leaves out the call"],
)  # fmt: skip
def test_a_frame_out_of_place_is_reported(
    frames: Callable[[Peer, Answer], Sequence[Frame]],
    said: str,
    shown: bytes,
    peer: Peer,
    answer: Answer,
) -> None:
    error = taking(peer, *frames(peer, answer))
    assert (error.detail, error.wire) == (said, hexadecimal(shown))


def test_trailers_after_the_end_are_too_late(peer: Peer, answer: Answer) -> None:
    peer.take(peer.headers(answer), data(answer, TWO, end=True))
    assert taking(peer, peer.trailers(answer)).detail == "trailers follow the end of their stream"
    assert answer.status is None


@pytest.mark.parametrize(
    "between",
    [PingFrame(0, b"12345678"), DataFrame(1, b""), SettingsFrame(0), head(1, 0xBE) + b"?",
     WindowUpdateFrame(0, window_increment=1), HeadersFrame(1, b"", flags=ENDED)],
)  # fmt: skip
def test_nothing_interrupts_a_header_block(
    between: Frame | bytes, peer: Peer, answer: Answer
) -> None:
    error = taking(peer, HeadersFrame(answer.stream, b""), between)
    assert error.detail == "a header block is interrupted by another frame"


def test_a_broken_header_block_is_shown(peer: Peer, answer: Answer) -> None:
    error = taking(peer, HeadersFrame(answer.stream, b"\xff\xff\x01", flags=ENDED))
    assert error.detail.startswith("a header block is broken: ")
    assert error.wire == "ff ff 01"


def conversation(peer: Peer) -> bytes:
    """Return a right answer to a call, with all that belongs to it."""
    answer = peer.call()
    block = peer.block([*OK_HEADERS, ("x-note", "a long one, to be continued")])
    frames = (
        SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 5}),
        HeadersFrame(answer.stream, block[:9]),
        ContinuationFrame(answer.stream, block[9:], flags=ENDED),
        PingFrame(0, b"12345678"),
        data(answer, frame(b"\x08\x07") * 3, padding=3),
        peer.trailers(answer),
    )
    return b"".join(each.serialize() for each in frames)


def garbled(whole: bytes, chance: random.Random) -> bytes:
    """Change, remove, repeat or add some bytes."""
    found = bytearray(whole)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(found))
        match chance.randrange(4):
            case 0:
                found[at] = chance.randrange(256)
            case 1:
                del found[at : at + chance.randint(1, 9)]
                found += b"\0"
            case 2:
                found[at:at] = found[at : at + chance.randint(1, 30)]
            case _:
                found[at:at] = chance.randbytes(chance.randint(1, 9))
    return bytes(found)


def test_garbled_bytes_are_taken_or_reported() -> None:
    chance = random.Random(4)
    reported = set()
    for _ in range(1500):
        peer = Peer()
        try:
            peer.take(garbled(conversation(peer), chance))
        except WrongError as error:
            reported.add(error.detail.partition(":")[0])
    # All kinds of errors were there, not only broken frames.
    assert len(reported) > 10


def test_a_header_block_has_an_end(peer: Peer, answer: Answer) -> None:
    peer.take(HeadersFrame(answer.stream, b"x" * 16_000))
    more = [ContinuationFrame(answer.stream, b"x" * 16_000) for _ in range(4)]
    peer.take(*more[:3])
    assert taking(peer, more[3]).detail == "a header block has more than 65,536 bytes"


def test_a_small_block_of_many_fields_is_refused(peer: Peer, answer: Answer) -> None:
    block = peer.block([("x", "y" * 4000)]) + b"\xbe" * 60  # the newest field, again and again
    error = taking(peer, HeadersFrame(answer.stream, block, flags=ENDED))
    assert error.detail.startswith("a header block is broken: ")


def test_what_is_kept_of_messages_has_a_limit(
    peer: Peer, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.contract.wire._MOST_REPLIES", 1 << 20)
    peer.take(peer.headers(answer))
    block = frame(bytes(16_379))
    for _ in range(64):
        peer.take(data(answer, block))
    said = "more than 1 MiB of messages came on a connection"
    assert taking(peer, data(answer, block)).detail == said
