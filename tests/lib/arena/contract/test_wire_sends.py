"""What the client sends over HTTP/2: requests, acknowledgements and its name."""

import hpack
import pytest
from hyperframe.frame import (
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from arena.contract.disguise import ALL, GHZ, Disguise
from arena.contract.messages import frame
from arena.contract.wire import LARGEST_WINDOW, PREFACE, Answer, Wire, code_name
from tests.lib.arena.contract.peer import OK_HEADERS, Peer, frames

END = ["END_STREAM"]


def decoded(block: bytes, decoder: hpack.Decoder | None = None) -> list[tuple[str, str]]:
    """Return the fields of a header block."""
    found = (decoder or hpack.Decoder()).decode(block)
    return [(str(name), str(value)) for name, value in found]


def allowing(streams: int) -> SettingsFrame:
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
    peer.take(allowing(5))
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
    peer.take(allowing(0))
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
