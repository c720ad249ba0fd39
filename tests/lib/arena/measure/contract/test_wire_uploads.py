"""The client keeps to the windows of the server: it sends what they allow, and no more."""

import pytest
from hyperframe.frame import DataFrame, Frame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

from tests.lib.arena.measure.contract.peer import Peer

INITIAL = SettingsFrame.INITIAL_WINDOW_SIZE


def peer_with(window: int) -> Peer:
    """Return a peer that gives each stream such a window."""
    peer = Peer()
    peer.take(settings(window))
    peer.sent()
    return peer


def settings(window: int) -> Frame:
    return SettingsFrame(0, settings={INITIAL: window})


def data_of(peer: Peer) -> list[tuple[int, bytes, bool]]:
    """Return the DATA that was sent: stream, bytes, and whether it is the last."""
    return [
        (each.stream_id, each.data, "END_STREAM" in each.flags)
        for each in peer.sent()
        if isinstance(each, DataFrame)
    ]


def test_what_does_not_fit_waits_for_the_window_of_its_stream() -> None:
    peer = peer_with(4)
    peer.wire.request("x", b"123456789")
    assert data_of(peer) == [(1, b"1234", False)]
    peer.take(WindowUpdateFrame(0, window_increment=99), WindowUpdateFrame(3, window_increment=9))
    assert data_of(peer) == []
    peer.take(WindowUpdateFrame(1, window_increment=3))
    assert data_of(peer) == [(1, b"567", False)]
    peer.take(WindowUpdateFrame(1, window_increment=50))
    assert data_of(peer) == [(1, b"89", True)]


def test_what_fits_exactly_ends_with_its_last_byte() -> None:
    peer = peer_with(4)
    peer.wire.request("x", b"1234")
    assert data_of(peer) == [(1, b"1234", True)]


def test_what_is_sent_later_comes_after_what_waits() -> None:
    peer = peer_with(2)
    answer = peer.wire.request("x", b"123", end=False)
    peer.wire.send(answer, b"45")
    peer.wire.send(answer, b"6", end=True)
    assert data_of(peer) == [(1, b"12", False)]
    peer.take(WindowUpdateFrame(1, window_increment=3))
    assert data_of(peer) == [(1, b"345", False)]
    peer.take(WindowUpdateFrame(1, window_increment=3))
    assert data_of(peer) == [(1, b"6", True)]


def test_an_open_request_is_not_ended_though_all_was_sent() -> None:
    peer = Peer()
    answer = peer.wire.request("x", b"123", end=False)
    assert data_of(peer) == [(1, b"123", False)]
    peer.take(WindowUpdateFrame(1, window_increment=3))
    assert data_of(peer) == []
    peer.wire.send(answer, b"", end=True)
    assert data_of(peer) == [(1, b"", True)]


def test_no_frame_is_larger_than_any_server_takes() -> None:
    peer = Peer()
    peer.wire.request("x", bytes(40_000))
    sizes = [(len(part), last) for _, part, last in data_of(peer)]
    assert sizes == [(16_384, False), (16_384, False), (7232, True)]


def test_new_settings_may_take_back_what_was_given() -> None:
    peer = peer_with(4)
    peer.wire.request("x", b"123456789")
    peer.sent()
    peer.take(settings(1), WindowUpdateFrame(1, window_increment=3))
    assert data_of(peer) == []
    peer.take(WindowUpdateFrame(1, window_increment=1))
    assert data_of(peer) == [(1, b"5", False)]


def test_new_settings_are_acknowledged_before_they_are_used() -> None:
    peer = peer_with(4)
    peer.wire.request("x", b"123456789")
    peer.sent()
    peer.take(settings(9))
    assert [type(each) for each in peer.sent()] == [SettingsFrame, DataFrame]


def test_settings_that_say_nothing_of_it_change_nothing() -> None:
    peer = peer_with(4)
    peer.take(SettingsFrame(0))
    peer.sent()
    peer.wire.request("x", b"12345")
    assert data_of(peer) == [(1, b"1234", False)]


@pytest.mark.parametrize("by_server", [True, False])
def test_nothing_more_is_sent_of_a_request_that_was_reset(by_server: bool) -> None:
    peer = peer_with(4)
    answer = peer.wire.request("x", b"123456789")
    if by_server:
        peer.take(RstStreamFrame(1, error_code=7))
    else:
        peer.wire.cancel(answer)
    peer.sent()
    peer.take(WindowUpdateFrame(1, window_increment=99), settings(99))
    assert data_of(peer) == []
