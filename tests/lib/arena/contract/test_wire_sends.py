"""What the client sends over HTTP/2, and flow control: both sides keep to each other's windows."""

import hpack
import pytest
from hyperframe.frame import (
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from arena.contract.messages import frame, hexadecimal
from arena.contract.scope import ALL, GHZ, Disguise
from arena.contract.wire import LARGEST_WINDOW, PREFACE, Answer, Wire, code_name
from tests.lib.arena.contract.peer import OK_HEADERS, Peer, data, frames, taking

END = ["END_STREAM"]


def decoded(block: bytes, decoder: hpack.Decoder | None = None) -> list[tuple[str, str]]:
    """Return the fields of a header block."""
    found = (decoder or hpack.Decoder()).decode(block)
    return [(str(name), str(value)) for name, value in found]


def limited_to(streams: int) -> SettingsFrame:
    return SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: streams})


@pytest.mark.parametrize("disguise", ALL, ids=lambda it: it.generator)
def test_it_greets_as_its_generator_does_but_for_a_window_of_its_own(disguise: Disguise) -> None:
    assert PREFACE.startswith(b"PRI * HTTP/2.0")
    settings = {**dict(disguise.settings), SettingsFrame.INITIAL_WINDOW_SIZE: 70_000}
    update = WindowUpdateFrame(0, window_increment=LARGEST_WINDOW - 65_535)
    greeting = PREFACE + SettingsFrame(0, settings=settings).serialize() + update.serialize()
    wire = Wire("localhost:1", tls=False, disguise=disguise, window=70_000)
    assert (bytes(wire.output), wire.greeted) == (greeting, False)


def test_a_connection_with_the_windows_of_a_generator_is_refilled() -> None:
    wire = Wire("localhost:1", tls=False, disguise=GHZ)
    wire.request("a.B/C", b"body")
    greeting = HeadersFrame(1, hpack.Encoder().encode(OK_HEADERS), flags=["END_HEADERS"])
    for each in (SettingsFrame(0), greeting):
        wire.take(each.serialize())
    wire.output.clear()
    for _ in range(3):
        wire.take(DataFrame(1, frame(b"x" * 12_000)).serialize())
    updates = [each.stream_id for each in frames(bytes(wire.output))]
    assert sorted(updates) == [0, 1]


@pytest.mark.parametrize("disguise", ALL, ids=lambda it: it.generator)
@pytest.mark.parametrize(("tls", "scheme"), [(False, "http"), (True, "https")])
def test_a_request_is_that_of_its_generator(tls: bool, scheme: str, disguise: Disguise) -> None:
    peer = Peer(tls=tls, disguise=disguise)
    headers = peer.request("a.B/C", b"body")
    values = {
        "scheme": scheme, "path": "/a.B/C", "authority": "localhost:8080",
        "type": "application/grpc", "timeout": "20000000u", "length": "4",
    }  # fmt: skip
    sent = dict(decoded(headers.data))
    if disguise is GHZ:
        # What is left of 20 s when the call is sent.
        assert 19_999_000 < int(sent["grpc-timeout"].removesuffix("u")) < 20_000_000
        values["timeout"] = sent["grpc-timeout"]
    looks = [(name, each.format_map(values)) for name, each in disguise.fields]
    assert decoded(headers.data) == looks
    assert (headers.stream_id, set(headers.flags)) == (1, {"END_HEADERS"})
    assert [(each, answer.stream) for each, answer in peer.wire.answers.items()] == [(1, 1)]


def test_a_content_type_may_be_another(peer: Peer) -> None:
    headers = peer.request(content_type="text/plain")
    assert ("content-type", "text/plain") in decoded(headers.data)


def test_streams_have_odd_numbers_one_after_the_other(peer: Peer) -> None:
    assert [peer.call().stream for _ in range(3)] == [1, 3, 5]
    assert list(peer.wire.answers) == [1, 3, 5]


@pytest.mark.parametrize("body", [b"", b"body"])
def test_a_request_ends_with_its_data(body: bytes, peer: Peer) -> None:
    peer.wire.request("a.B/C", body)
    assert peer.sent()[1].serialize() == DataFrame(1, body, flags=END).serialize()


@pytest.mark.parametrize("first", [b"", b"0"])
def test_a_request_may_be_open_and_continued(first: bytes, peer: Peer) -> None:
    answer = peer.wire.request("a.B/C", first, end=False)
    begun = [set(each.flags) for each in peer.sent()]
    assert begun == [{"END_HEADERS"}, *([set()] if first else [])]
    peer.wire.send(answer, b"1")
    peer.wire.send(answer, b"2", end=True)
    peer.assert_sent(DataFrame(1, b"1"), DataFrame(1, b"2", flags=END))


@pytest.mark.parametrize("largest", [0, 100, 4096, 65_536])
def test_its_header_table_is_no_larger_than_the_server_wants(largest: int, peer: Peer) -> None:
    peer.take(SettingsFrame(0, settings={SettingsFrame.HEADER_TABLE_SIZE: largest}))
    peer.sent()
    decoder = hpack.Decoder()
    decoder.max_allowed_table_size = decoder.header_table_size = min(largest, 4096)
    for path in ("a", "b", "a"):
        assert (":path", f"/{path}") in decoded(peer.request(path).data, decoder)


def test_settings_are_acknowledged_and_acknowledgements_are_not(peer: Peer) -> None:
    peer.take(limited_to(5))
    peer.assert_sent(SettingsFrame(0, flags=["ACK"]))
    peer.take(SettingsFrame(0, flags=["ACK"]))
    assert peer.sent() == []


def test_a_ping_is_answered_in_kind_and_its_answer_is_not(peer: Peer) -> None:
    peer.take(PingFrame(0, b"abcdefgh"))
    peer.assert_sent(PingFrame(0, b"abcdefgh", flags=["ACK"]))
    peer.take(PingFrame(0, b"abcdefgh", flags=["ACK"]))
    assert peer.sent() == []


def test_a_goaway_is_noted_and_calls_go_on(peer: Peer, answer: Answer) -> None:
    assert [peer.wire.goaway] == [None]
    peer.take(GoAwayFrame(0, last_stream_id=1, error_code=11, additional_data=b"calm"))
    assert peer.wire.goaway == 11
    peer.take(peer.headers(answer), peer.trailers(answer))
    assert answer.status == "0"


def test_a_goaway_that_leaves_out_what_is_over_refuses_nothing(peer: Peer, answer: Answer) -> None:
    peer.take(peer.headers(answer), peer.trailers(answer))
    peer.take(GoAwayFrame(0, last_stream_id=0, error_code=0))
    assert peer.wire.goaway == 0


def test_it_is_noted_how_many_streams_are_allowed(peer: Peer) -> None:
    assert (peer.wire.greeted, [peer.wire.most_streams]) == (True, [None])
    peer.take(limited_to(0))
    peer.take(SettingsFrame(0))
    assert peer.wire.most_streams == 0


def test_it_calls_itself_what_generators_do_and_accepts_what_they_accept() -> None:
    headers = [dict(decoded(Peer().request().data)) for _ in range(100)]
    found = {
        (each["user-agent"].partition("/")[0], each.get("grpc-accept-encoding")) for each in headers
    }
    assert found == {("grpc-go", "gzip"), ("h2load nghttp2", None), ("volley", "gzip")}


def test_codes_have_names_but_for_those_that_are_unknown() -> None:
    assert [code_name(number) for number in (0, 1, 8, 11, 13, 14, 2**32 - 1)] == [
        "NO_ERROR", "PROTOCOL_ERROR", "CANCEL", "ENHANCE_YOUR_CALM", "HTTP_1_1_REQUIRED",
        "14", "4294967295",
    ]  # fmt: skip


def test_the_header_blocks_of_a_cancelled_stream_still_count_for_compression(peer: Peer) -> None:
    cancelled, other = peer.call(), peer.call()
    peer.wire.cancel(cancelled)
    peer.take(peer.headers(cancelled, [*OK_HEADERS, ("x-note", "once")]))
    assert cancelled.headers is None
    peer.take(peer.headers(other, [*OK_HEADERS, ("x-note", "once")]))
    assert other.headers == {**dict(OK_HEADERS), "x-note": "once"}


BODY = bytes(range(100))
ONE_TOO_MANY = "the server sent 1 bytes more than the window allows"


def allowing(window: int) -> Frame:
    return SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: window})


def more(stream: int, increment: int) -> Frame:
    return WindowUpdateFrame(stream, window_increment=increment)


def peer_with(window: int) -> Peer:
    """Return a peer that gives each stream such a window."""
    peer = Peer()
    peer.take(allowing(window))
    peer.sent()
    return peer


def holding(window: int = 100, *, held: bool = True, tight: bool = False) -> tuple[Peer, Answer]:
    """Return a peer to which 100 bytes are given, and a call of which the headers have come."""
    peer = Peer(window, held=held, tight=tight)
    answer = peer.call()
    peer.take(peer.headers(answer))
    return peer, answer


# The server's windows.


@pytest.mark.parametrize(
    ("window", "body", "steps"),
    [
        (0, b"", [([], b"", True)]),
        (4, b"1234", [([], b"1234", True)]),
        # Windows of the connection, and of other streams, are not the stream's own.
        (4, b"123456789", [([], b"1234", False), ([more(0, 99), more(3, 9)], b"", False),
                           ([more(1, 3)], b"567", False), ([more(1, 50)], b"89", True)]),
        # New settings open the windows of open streams, or take back what was given.
        (30, BODY, [([], BODY[:30], False), ([more(1, 60)], BODY[30:90], False),
                    ([allowing(40)], BODY[90:], True)]),
        (4, b"123456789", [([], b"1234", False), ([allowing(1), more(1, 3)], b"", False),
                           ([more(1, 1)], b"5", False)]),
    ],
)  # fmt: skip
def test_a_body_is_sent_as_the_window_of_its_stream_allows(
    window: int, body: bytes, steps: list[tuple[list[Frame], bytes, bool]]
) -> None:
    peer = peer_with(window)
    peer.wire.request("x", body)
    for seen, sent, last in steps:
        peer.take(*seen)
        assert peer.uploads() == ([(1, sent, last)] if sent or last else [])


def test_new_settings_may_make_a_window_negative(peer: Peer) -> None:
    answer = peer.wire.request("a.B/C", BODY, end=False)
    assert peer.uploads() == [(1, BODY, False)]
    peer.take(allowing(50))
    peer.wire.send(answer, b"more", end=True)
    assert peer.uploads() == []
    peer.take(more(1, 50))
    assert peer.uploads() == []
    peer.take(more(1, 1))
    assert peer.uploads() == [(1, b"m", False)]
    peer.take(more(1, 3))
    assert peer.uploads() == [(1, b"ore", True)]


def test_new_settings_are_acknowledged_before_they_are_used() -> None:
    peer = peer_with(4)
    peer.request("x", b"123456789")
    peer.take(allowing(9))
    assert [type(each) for each in peer.sent()] == [SettingsFrame, DataFrame]


def test_settings_without_a_window_change_nothing() -> None:
    peer = peer_with(4)
    peer.take(SettingsFrame(0))
    peer.wire.request("x", b"12345")
    assert peer.uploads() == [(1, b"1234", False)]


def test_the_connections_window_holds_for_all_streams_together() -> None:
    peer = peer_with(1 << 20)
    peer.wire.request("a.B/C", bytes(65_530))
    assert sum(len(sent) for _, sent, _ in peer.uploads()) == 65_530
    peer.wire.request("a.B/C", BODY)
    assert peer.uploads() == [(3, BODY[:5], False)]
    peer.take(more(0, 95))
    assert peer.uploads() == [(3, BODY[5:], True)]


def test_what_is_sent_later_comes_after_what_waits() -> None:
    peer = peer_with(2)
    answer = peer.wire.request("x", b"123", end=False)
    peer.wire.send(answer, b"45")
    peer.wire.send(answer, b"6", end=True)
    assert peer.uploads() == [(1, b"12", False)]
    peer.take(more(1, 3))
    assert peer.uploads() == [(1, b"345", False)]
    peer.take(more(1, 3))
    assert peer.uploads() == [(1, b"6", True)]


def test_an_open_request_is_not_ended_though_all_was_sent(peer: Peer) -> None:
    answer = peer.wire.request("x", b"123", end=False)
    assert peer.uploads() == [(1, b"123", False)]
    peer.take(more(1, 3))
    assert peer.uploads() == []
    peer.wire.send(answer, b"", end=True)
    assert peer.uploads() == [(1, b"", True)]


def test_no_frame_is_larger_than_any_server_takes(peer: Peer) -> None:
    peer.wire.request("x", bytes(40_000))
    sizes = [(len(part), last) for _, part, last in peer.uploads()]
    assert sizes == [(16_384, False), (16_384, False), (7232, True)]


@pytest.mark.parametrize("by_server", [True, False])
def test_nothing_more_is_sent_of_a_request_that_was_reset(by_server: bool) -> None:
    peer = peer_with(4)
    answer = peer.wire.request("x", b"123456789")
    if by_server:
        peer.take(RstStreamFrame(1, error_code=7))
    else:
        peer.wire.cancel(answer)
    peer.sent()
    peer.take(more(1, 99), allowing(99))
    assert peer.uploads() == []


# The client's windows.


def test_exactly_the_window_is_allowed() -> None:
    peer, answer = holding()
    peer.take(data(answer, frame(bytes(95))))
    assert (answer.window, answer.messages) == (0, [bytes(95)])
    peer.take(data(answer, b""))
    assert peer.sent() == []


@pytest.mark.parametrize(("payload", "padding"), [(101, 0), (90, 10), (105, 0)])
def test_a_breach_of_the_window_is_counted_and_shown(payload: int, padding: int) -> None:
    peer, answer = holding()
    error = taking(peer, data(answer, frame(bytes(payload - 5)), padding=padding))
    breach = payload + (padding + 1 if padding else 0) - 100
    assert error.detail == f"the server sent {breach} bytes more than the window allows"
    assert error.wire == hexadecimal(frame(bytes(payload - 5)))


@pytest.mark.parametrize("given", [0, 1])
def test_a_tight_connection_takes_no_more_than_64_kb_until_it_is_opened(given: int) -> None:
    peer, answer = holding(window=1 << 20, tight=True)
    if given:
        peer.wire.open_connection(given)
    peer.take(*(data(answer, frame(bytes(13_102))) for _ in range(5)), data(answer, bytes(given)))
    assert answer.received == 65_535 + given
    beyond = taking(peer, data(answer, b"1"))
    assert (beyond.detail, beyond.wire) == (ONE_TOO_MANY, "31")


def test_what_is_cancelled_still_takes_from_the_connection() -> None:
    peer, answer = holding(window=LARGEST_WINDOW, tight=True)
    peer.wire.cancel(answer)
    peer.take(*[data(answer, bytes(16_384))] * 3, data(answer, bytes(16_383)))
    assert taking(peer, data(answer, b"1")).detail == ONE_TOO_MANY


def test_a_window_opens_by_as_much_as_it_is_told() -> None:
    peer, answer = holding()
    peer.take(data(answer, frame(bytes(95))))
    peer.wire.open_window(answer, 50)
    peer.assert_sent(more(answer.stream, 50))
    peer.take(data(answer, frame(bytes(45))))
    assert answer.window == 0
    assert taking(peer, data(answer, b"1")).detail == ONE_TOO_MANY


def test_what_arrived_is_given_back_once_half_of_it_is_used() -> None:
    peer, answer = holding(held=False)
    peer.take(data(answer, frame(bytes(45))))
    assert (answer.window, peer.sent()) == (50, [])
    peer.take(data(answer, frame(b"")))
    peer.assert_sent(more(answer.stream, 55))
    assert answer.window == 100


@pytest.mark.parametrize(("held", "end"), [(True, False), (False, True)])
def test_nothing_is_given_back_of_a_held_window_or_at_the_end(held: bool, end: bool) -> None:
    peer, answer = holding(held=held)
    peer.take(data(answer, frame(bytes(90)), end=end))
    assert (answer.window, peer.sent()) == (5, [])


def test_each_stream_has_a_window_of_its_own() -> None:
    peer, first = holding()
    second = peer.call()
    peer.take(peer.headers(second))
    peer.take(data(first, frame(bytes(95))), data(second, frame(bytes(95))))
    assert (first.window, second.window) == (0, 0)


def test_a_cancelled_stream_is_reset_and_what_comes_is_counted_and_dropped() -> None:
    peer, answer = holding()
    peer.take(data(answer, frame(b"1")))
    peer.wire.cancel(answer)
    peer.assert_sent(RstStreamFrame(answer.stream, error_code=8))
    peer.take(data(answer, frame(bytes(200))), data(answer, b"\7\7\7\7\7\7"))
    assert (answer.messages, answer.received) == ([b"1"], 6 + 205 + 6)
    assert peer.sent() == []
