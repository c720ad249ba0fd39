"""gRPC's length-prefixed messages, and the bytes that show what is wrong."""

import pytest

from arena.measure.contract.messages import WrongError, frame, hexadecimal, split

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
    ("flag", "said"),
    [
        (1, "a reply is compressed, unasked"),
        (2, "a reply's flag is 2"),
        (255, "a reply's flag is 255"),
    ],
)
def test_a_flag_is_wrong_as_soon_as_the_prefix_is_there(flag: int, said: str) -> None:
    wrong = bytes([flag]) + b"\0\0\0\x09"
    assert split(bytearray(wrong[:4])) == []
    with pytest.raises(WrongError) as caught:
        split(bytearray(frame(b"ab") + wrong))
    assert (caught.value.detail, caught.value.wire) == (said, hexadecimal(wrong))


def test_four_megabytes_are_the_most() -> None:
    assert split(bytearray(b"\0\0\x40\0\0")) == []
    with pytest.raises(WrongError) as caught:
        split(bytearray(b"\0\0\x40\0\1"))
    assert caught.value.detail == "a reply announces 4194305 bytes"
    assert caught.value.wire == "00 00 40 00 01"


def test_a_message_of_that_size_is_taken() -> None:
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
