"""What the client sends over HTTP/2: requests, acknowledgements, windows, cancels."""

from unittest.mock import ANY

import hpack
import pytest
from hyperframe.frame import (
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from arena.measure.contract.messages import frame, hexadecimal
from arena.measure.contract.wire import LARGEST_WINDOW, PREFACE, Wire, code_name
from tests.lib.arena.measure.contract.peer import OK_HEADERS, Peer, data, taking

TWO = frame(b"ab") + frame(b"")


def decoded(block: bytes, decoder: hpack.Decoder | None = None) -> list[tuple[str, str]]:
    """Return the fields of a header block."""
    found = (decoder or hpack.Decoder()).decode(block)
    return [(str(name), str(value)) for name, value in found]


def test_it_greets_with_the_preface_its_window_and_a_ban_on_pushes() -> None:
    settings, update = Peer(window=70_000).greeting
    assert isinstance(settings, SettingsFrame)
    assert settings.settings == {
        SettingsFrame.ENABLE_PUSH: 0,
        SettingsFrame.INITIAL_WINDOW_SIZE: 70_000,
    }
    assert isinstance(update, WindowUpdateFrame)
    assert (update.stream_id, update.window_increment) == (0, LARGEST_WINDOW - 65_535)


def test_the_preface_comes_first() -> None:
    wire = Wire("localhost:1", tls=False, window=1)
    assert wire.output.startswith(PREFACE)
    assert PREFACE.startswith(b"PRI * HTTP/2.0")


@pytest.mark.parametrize(("tls", "scheme"), [(False, "http"), (True, "https")])
def test_a_request_is_that_of_a_grpc_client(tls: bool, scheme: str) -> None:
    peer = Peer(tls=tls)
    answer = peer.wire.request("a.B/C", b"body")
    headers, body = peer.sent()
    assert isinstance(headers, HeadersFrame)
    assert decoded(headers.data) == [
        (":method", "POST"), (":scheme", scheme), (":path", "/a.B/C"),
        (":authority", "localhost:8080"), ("te", "trailers"),
        ("content-type", "application/grpc"), ("user-agent", ANY),
    ]  # fmt: skip
    assert set(headers.flags) == {"END_HEADERS"}
    assert isinstance(body, DataFrame)
    assert (body.data, set(body.flags)) == (b"body", {"END_STREAM"})
    assert headers.stream_id == body.stream_id == answer.stream == 1
    assert peer.wire.answers == {1: answer}


def test_a_content_type_may_be_another() -> None:
    peer = Peer()
    peer.wire.request("a.B/C", b"", content_type="text/plain")
    headers = peer.sent()[0]
    assert isinstance(headers, HeadersFrame)
    assert ("content-type", "text/plain") in decoded(headers.data)


def test_streams_have_odd_numbers_one_after_the_other() -> None:
    peer = Peer()
    assert [peer.call().stream for _ in range(3)] == [1, 3, 5]
    assert list(peer.wire.answers) == [1, 3, 5]


def test_a_request_may_be_open_and_continued() -> None:
    peer = Peer()
    answer = peer.wire.request("a.B/C", b"", end=False)
    assert [type(each) for each in peer.sent()] == [HeadersFrame]
    peer.wire.send(answer, b"1")
    peer.wire.send(answer, b"2", end=True)
    first, last = peer.sent()
    assert isinstance(first, DataFrame)
    assert isinstance(last, DataFrame)
    assert (first.data, set(first.flags)) == (b"1", set())
    assert (last.data, set(last.flags)) == (b"2", {"END_STREAM"})


def test_a_request_may_begin_with_bytes_and_stay_open() -> None:
    peer = Peer()
    peer.wire.request("a.B/C", b"1", end=False)
    assert [set(each.flags) for each in peer.sent()] == [{"END_HEADERS"}, set()]


def test_a_request_without_a_body_is_ended_by_empty_data() -> None:
    peer = Peer()
    peer.wire.request("a.B/C", b"")
    body = peer.sent()[1]
    assert isinstance(body, DataFrame)
    assert (body.data, set(body.flags)) == (b"", {"END_STREAM"})


@pytest.mark.parametrize("largest", [0, 100, 4096, 65_536])
def test_its_header_table_is_no_larger_than_the_server_wants(largest: int) -> None:
    peer = Peer()
    settings = SettingsFrame(0, settings={SettingsFrame.HEADER_TABLE_SIZE: largest})
    peer.take(settings)
    peer.sent()
    decoder = hpack.Decoder()
    decoder.max_allowed_table_size = min(largest, 4096)
    decoder.header_table_size = min(largest, 4096)
    for path in ("a", "b", "a"):
        peer.wire.request(path, b"")
        headers = peer.sent()[0]
        assert isinstance(headers, HeadersFrame)
        assert (":path", f"/{path}") in decoded(headers.data, decoder)


def test_settings_are_acknowledged_and_acknowledgements_are_not() -> None:
    peer = Peer()
    peer.take(SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 5}))
    (sent,) = peer.sent()
    assert isinstance(sent, SettingsFrame)
    assert (set(sent.flags), sent.settings) == ({"ACK"}, {})
    peer.take(SettingsFrame(0, flags=["ACK"]))
    assert peer.sent() == []


def test_a_ping_is_answered_in_kind_and_its_answer_is_not() -> None:
    peer = Peer()
    peer.take(PingFrame(0, b"abcdefgh"))
    (sent,) = peer.sent()
    assert isinstance(sent, PingFrame)
    assert (sent.opaque_data, set(sent.flags)) == (b"abcdefgh", {"ACK"})
    peer.take(PingFrame(0, b"abcdefgh", flags=["ACK"]))
    assert peer.sent() == []


def test_a_goaway_is_noted_and_calls_go_on() -> None:
    peer = Peer()
    answer = peer.call()
    assert [peer.wire.goaway] == [None]
    peer.take(GoAwayFrame(0, last_stream_id=1, error_code=11, additional_data=b"calm"))
    assert peer.wire.goaway == 11
    peer.take(peer.headers(answer), peer.trailers(answer))
    assert answer.status == "0"


def test_a_goaway_that_leaves_out_what_is_over_refuses_nothing() -> None:
    peer = Peer()
    answer = peer.call()
    peer.take(peer.headers(answer), peer.trailers(answer))
    peer.take(GoAwayFrame(0, last_stream_id=0, error_code=0))
    assert peer.wire.goaway == 0


def test_it_is_noted_how_many_streams_are_allowed() -> None:
    peer = Peer()
    assert (peer.wire.greeted, [peer.wire.most_streams]) == (True, [None])
    peer.take(SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 0}))
    peer.take(SettingsFrame(0))
    assert peer.wire.most_streams == 0


def test_nobody_is_greeted_at_first() -> None:
    assert not Wire("localhost:1", tls=False, window=1).greeted


def test_it_calls_itself_what_generators_do() -> None:
    seen = set()
    for _ in range(100):
        peer = Peer()
        peer.wire.request("x", b"")
        headers = peer.sent()[0]
        assert isinstance(headers, HeadersFrame)
        seen.add(dict(decoded(headers.data))["user-agent"].partition("/")[0])
    assert seen == {"grpc-go", "h2load nghttp2", "volley"}


def test_codes_have_names_but_for_those_that_are_unknown() -> None:
    assert [code_name(number) for number in (0, 1, 8, 11, 13, 14, 2**32 - 1)] == [
        "NO_ERROR", "PROTOCOL_ERROR", "CANCEL", "ENHANCE_YOUR_CALM", "HTTP_1_1_REQUIRED",
        "14", "4294967295",
    ]  # fmt: skip


def test_exactly_the_window_is_allowed() -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(95))))
    assert (answer.window, answer.messages) == (0, [bytes(95)])
    peer.take(data(answer, b""))
    assert peer.sent() == []


@pytest.mark.parametrize(("payload", "padding"), [(101, 0), (90, 10), (105, 0)])
def test_a_breach_of_the_window_is_counted_and_shown(payload: int, padding: int) -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    beyond = data(answer, frame(bytes(payload - 5)), padding=padding)
    error = taking(peer, peer.headers(answer), beyond)
    more = payload + (padding + 1 if padding else 0) - 100
    assert error.detail == f"the server sent {more} bytes more than the window allows"
    assert error.wire == hexadecimal(frame(bytes(payload - 5)))


def test_what_is_cancelled_still_takes_from_the_connection() -> None:
    peer = Peer(window=LARGEST_WINDOW, held=True, tight=True)
    answer = peer.call()
    peer.take(peer.headers(answer))
    peer.wire.cancel(answer)
    peer.take(*[data(answer, bytes(16_384))] * 3, data(answer, bytes(16_383)))
    error = taking(peer, data(answer, b"1"))
    assert error.detail == "the server sent 1 bytes more than the window allows"


def test_a_window_opens_by_as_much_as_it_is_told() -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(95))))
    peer.wire.open_window(answer, 50)
    (update,) = peer.sent()
    assert isinstance(update, WindowUpdateFrame)
    assert (update.stream_id, update.window_increment) == (answer.stream, 50)
    peer.take(data(answer, frame(bytes(45))))
    assert answer.window == 0
    assert (
        taking(peer, data(answer, b"1")).detail
        == "the server sent 1 bytes more than the window allows"
    )


def test_what_arrived_is_given_back_once_half_of_it_is_used() -> None:
    peer = Peer(window=100)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(45))))
    assert (answer.window, peer.sent()) == (50, [])
    peer.take(data(answer, frame(b"")))
    (update,) = peer.sent()
    assert isinstance(update, WindowUpdateFrame)
    assert (update.stream_id, update.window_increment) == (answer.stream, 55)
    assert answer.window == 100


def test_nothing_is_given_back_of_a_window_that_is_held() -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(90))))
    assert (answer.window, peer.sent()) == (5, [])


def test_nothing_is_given_back_at_the_end() -> None:
    peer = Peer(window=100)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(bytes(90)), end=True))
    assert peer.sent() == []


def test_each_stream_has_a_window_of_its_own() -> None:
    peer = Peer(window=100, held=True)
    first, second = peer.call(), peer.call()
    peer.take(peer.headers(first), peer.headers(second))
    peer.take(data(first, frame(bytes(95))), data(second, frame(bytes(95))))
    assert (first.window, second.window) == (0, 0)


def test_a_cancelled_stream_is_reset_and_what_comes_is_counted_and_dropped() -> None:
    peer = Peer(window=100, held=True)
    answer = peer.call()
    peer.take(peer.headers(answer), data(answer, frame(b"1")))
    peer.wire.cancel(answer)
    (reset,) = peer.sent()
    assert isinstance(reset, RstStreamFrame)
    assert (reset.stream_id, code_name(reset.error_code)) == (answer.stream, "CANCEL")
    peer.take(data(answer, frame(bytes(200))), data(answer, b"\7\7\7\7\7\7"))
    assert answer.messages == [b"1"]
    assert answer.received == 6 + 205 + 6
    assert peer.sent() == []


def test_the_header_blocks_of_a_cancelled_stream_still_count_for_compression() -> None:
    peer = Peer()
    cancelled, other = peer.call(), peer.call()
    peer.wire.cancel(cancelled)
    peer.take(peer.headers(cancelled, [*OK_HEADERS, ("x-note", "once")]))
    assert cancelled.headers is None
    peer.take(peer.headers(other, [*OK_HEADERS, ("x-note", "once")]))
    assert other.headers == {**dict(OK_HEADERS), "x-note": "once"}
