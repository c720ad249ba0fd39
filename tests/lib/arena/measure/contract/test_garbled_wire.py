"""Whatever a server sends, the client says what is wrong: it never breaks."""

import random

from hyperframe.frame import ContinuationFrame, HeadersFrame, PingFrame, SettingsFrame

from arena.measure.contract.messages import WrongError, frame
from tests.lib.arena.measure.contract.peer import OK_HEADERS, OK_TRAILERS, Peer, data

_ROUNDS = 1500


def conversation(peer: Peer) -> bytes:
    """Return a right answer to a call, with all that belongs to it."""
    answer = peer.call()
    block = peer.block([*OK_HEADERS, ("x-note", "a long one, to be continued")])
    frames = (
        SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 5}),
        HeadersFrame(answer.stream, block[:9]),
        ContinuationFrame(answer.stream, block[9:], flags=["END_HEADERS"]),
        PingFrame(0, b"12345678"),
        data(answer, frame(b"\x08\x07") * 3, padding=3),
        peer.headers(answer, OK_TRAILERS, end=True),
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


def test_garbled_bytes_are_taken_or_told_wrong() -> None:
    chance = random.Random(4)
    told = set()
    for _ in range(_ROUNDS):
        peer = Peer()
        whole = garbled(conversation(peer), chance)
        try:
            peer.take(whole)
        except WrongError as error:
            told.add(error.detail.partition(":")[0])
    # All kinds of it were there, not only broken frames.
    assert len(told) > 10
