"""Flow control: the client keeps to the server's windows, and the server must to the client's."""

import pytest
from hyperframe.frame import DataFrame, Frame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

from arena.contract.messages import frame, hexadecimal
from arena.contract.wire import LARGEST_WINDOW, Answer
from tests.lib.arena.contract.peer import Peer, data, taking

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
    for frames, sent, last in steps:
        peer.take(*frames)
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
