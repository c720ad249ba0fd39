"""What a server allows, the client keeps to; what the client allows, the server must."""

import pytest
from hyperframe.frame import DataFrame, GoAwayFrame, SettingsFrame, WindowUpdateFrame

from arena.measure.contract import Call, Scope, concurrency
from arena.measure.contract.messages import frame, hexadecimal
from tests.lib.arena.measure.contract.honest import honest
from tests.lib.arena.measure.contract.lying_server import serving
from tests.lib.arena.measure.contract.peer import Peer, data, taking

BODY = bytes(range(100))


def sent_data(peer: Peer) -> list[tuple[bytes, bool]]:
    """Return the DATA of the client since the last look, and whether each ends its stream."""
    return [
        (bytes(each.data), "END_STREAM" in each.flags)
        for each in peer.sent()
        if isinstance(each, DataFrame)
    ]


def allowing(window: int) -> SettingsFrame:
    return SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: window})


def test_a_body_waits_for_the_windows_of_the_server() -> None:
    peer = Peer()
    peer.take(allowing(30))
    answer = peer.wire.request("a.B/C", BODY)
    assert sent_data(peer) == [(BODY[:30], False)]
    peer.take(WindowUpdateFrame(answer.stream, window_increment=60))
    assert sent_data(peer) == [(BODY[30:90], False)]
    peer.take(allowing(40))
    assert sent_data(peer) == [(BODY[90:], True)]


def test_so_it_does_if_they_shrink_while_it_is_on_its_way() -> None:
    peer = Peer()
    answer = peer.wire.request("a.B/C", BODY, end=False)
    assert sent_data(peer) == [(BODY, False)]
    peer.take(allowing(50))
    peer.wire.send(answer, b"more", end=True)
    assert sent_data(peer) == []
    peer.take(WindowUpdateFrame(answer.stream, window_increment=50))
    assert sent_data(peer) == []
    peer.take(WindowUpdateFrame(answer.stream, window_increment=1))
    assert sent_data(peer) == [(b"m", False)]
    peer.take(WindowUpdateFrame(answer.stream, window_increment=3))
    assert sent_data(peer) == [(b"ore", True)]


def test_the_connections_window_holds_for_all_streams_together() -> None:
    peer = Peer()
    peer.take(allowing(1 << 20))
    peer.wire.request("a.B/C", bytes(65_530))
    assert sum(len(sent) for sent, _ in sent_data(peer)) == 65_530
    peer.wire.request("a.B/C", BODY)
    assert sent_data(peer) == [(BODY[:5], False)]
    peer.take(WindowUpdateFrame(0, window_increment=95))
    assert sent_data(peer) == [(BODY[5:], True)]


def test_an_end_alone_needs_no_window() -> None:
    peer = Peer()
    peer.take(allowing(0))
    peer.wire.request("a.B/C", b"")
    assert sent_data(peer) == [(b"", True)]


def test_a_goaway_that_leaves_out_a_call_ends_it_at_once() -> None:
    peer = Peer()
    peer.call()
    said = taking(peer, GoAwayFrame(0, last_stream_id=0, error_code=0)).detail
    assert said == "the server refuses the call: GOAWAY (NO_ERROR)"


def test_a_tight_connection_takes_no_more_than_64_kb_until_it_is_opened() -> None:
    peer = Peer(held=True, tight=True)
    answer = peer.call()
    peer.take(peer.headers(answer), *(data(answer, frame(bytes(13_102))) for _ in range(5)))
    assert answer.received == 65_535
    beyond = taking(peer, data(answer, b"1"))
    assert beyond.detail == "the server sent 1 bytes more than the window allows"
    assert beyond.wire == hexadecimal(b"1")
    wide = Peer(held=True, tight=True)
    answer = wide.call()
    wide.wire.open_connection(1)
    wide.take(wide.headers(answer), *(data(answer, frame(bytes(13_102))) for _ in range(5)))
    wide.take(data(answer, b"1"))
    assert answer.received == 65_536


def test_fewer_streams_than_four_are_a_warning_and_no_more_are_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Servers on h2 allow 100 streams.
    monkeypatch.setattr(concurrency, "_STREAMS", 101)
    with serving(honest) as server:
        scope = Scope(server.port, tls=False, calls=frozenset[Call]({"GetSum"}))
        odd = concurrency.streams(scope)
    assert odd == "no more than 100 of 101 calls are allowed at a time on a connection"
