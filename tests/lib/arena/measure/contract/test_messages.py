"""gRPC's length-prefixed messages, and the bytes that show what is wrong."""

import pytest

from arena.measure.contract.messages import WrongError, frame, hexadecimal, split
from tests.lib.arena.measure.contract.peer import wrong

THREE = frame(b"ab") + frame(b"") + frame(b"c")


def test_a_frame_is_a_flag_a_length_and_the_message() -> None:
    assert frame(b"abc") == b"\0\0\0\0\3abc"
    assert frame(bytes(300))[:5] == b"\0\0\0\1\x2c"


@pytest.mark.parametrize("cut", range(len(THREE) + 1))
def test_messages_are_split_wherever_the_bytes_were_cut(cut: int) -> None:
    pending = bytearray(THREE[:cut])
    found = split(pending)
    assert THREE[:cut].endswith(bytes(pending))
    pending += THREE[cut:]
    assert found + split(pending) == [b"ab", b"", b"c"]
    assert not pending


def test_what_is_not_complete_is_left() -> None:
    pending = bytearray(frame(b"ab") + frame(b"cd")[:-1])
    assert split(pending) == [b"ab"]
    assert pending == frame(b"cd")[:-1]


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        (b"\1\0\0\0\x09", "a reply is compressed, unasked"),
        (b"\2\0\0\0\x09", "a reply's flag is 2"),
        (b"\xff\0\0\0\x09", "a reply's flag is 255"),
        (b"\0\0\x40\0\1", "a reply announces 4194305 bytes"),
    ],
)
def test_a_prefix_is_wrong_as_soon_as_it_is_complete(prefix: bytes, said: str) -> None:
    assert split(bytearray(prefix[:4])) == []
    error = wrong(split, bytearray(frame(b"ab") + prefix))
    assert (error.detail, error.wire) == (said, hexadecimal(prefix))


def test_four_megabytes_are_the_largest_message() -> None:
    assert split(bytearray(b"\0\0\x40\0\0")) == []
    assert split(bytearray(frame(bytes(4 << 20)))) == [bytes(4 << 20)]


def test_bytes_are_shown_as_pairs_of_digits_32_of_them() -> None:
    assert hexadecimal(b"") == ""
    assert hexadecimal(b"\x00\xff\x1a") == "00 ff 1a"
    assert hexadecimal(bytes(32)) == " ".join(["00"] * 32)
    assert hexadecimal(bytearray(33)) == " ".join(["00"] * 32) + " …"


def test_an_error_is_its_sentence_and_its_bytes() -> None:
    error = WrongError("it is wrong", b"\1\2")
    assert (str(error), error.detail, error.wire) == ("it is wrong", "it is wrong", "01 02")
    assert WrongError("it is wrong").wire == ""
