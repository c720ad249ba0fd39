"""What the client takes from a server over HTTP/2: answers, cut and framed in any way."""

from collections.abc import Callable, Sequence

import hpack
import pytest
from hyperframe.frame import (
    AltSvcFrame,
    ContinuationFrame,
    Frame,
    HeadersFrame,
    PriorityFrame,
    RstStreamFrame,
    WindowUpdateFrame,
)

from arena.contract.messages import frame
from arena.contract.wire import Answer
from tests.lib.arena.contract.peer import OK_HEADERS, TWO, Fields, Peer, data, head

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
