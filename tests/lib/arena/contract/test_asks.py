"""What a right answer is, and the messages that it consists of."""

from collections.abc import Mapping, Sequence

import pytest

from arena.contract import asks
from arena.contract.asks import INT32_MAX, INT32_MIN, require, require_form, require_value
from arena.contract.messages import WrongError, frame, hexadecimal, split
from arena.contract.wire import Answer
from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from tests.lib.arena.contract.peer import wrong

HEADERS = {":status": "200", "content-type": "application/grpc"}
OK = {"grpc-status": "0"}


def message(value: int) -> bytes:
    return SumReply(result=value).SerializeToString()


def an_answer(
    values: Sequence[int] = (),
    headers: Mapping[str, str] = HEADERS,
    trailers: Mapping[str, str] | None = OK,
    pending: bytes = b"",
) -> Answer:
    """Return an answer that is over; without trailers, its headers were all."""
    answer = Answer(1, 0, headers=dict(headers), ended=True, bare=trailers is None)
    answer.trailers = None if trailers is None else dict(trailers)
    answer.messages = [message(value) for value in values]
    answer.pending = bytearray(pending)
    return answer


ALONE = an_answer(headers={**HEADERS, **OK}, trailers=None)


# Sums.


@pytest.mark.parametrize(
    ("value", "held"),
    [(0, 0), (-1, -1), (INT32_MAX, INT32_MAX), (INT32_MAX + 1, INT32_MIN), (INT32_MIN, INT32_MIN),
     (INT32_MIN - 1, INT32_MAX), (2 * INT32_MAX, -2), (2 * INT32_MIN, 0), (2**32 * 7 + 5, 5)],
)  # fmt: skip
def test_a_sum_wraps_around(value: int, held: int) -> None:
    assert asks.int32(value) == held


def test_operands_are_random_and_their_sums_do_not_overflow() -> None:
    drawn = [tuple(asks.operands().values()) for _ in range(500)]
    assert len(set(drawn)) == 500
    for numbers in zip(*drawn, strict=True):
        assert min(numbers) < -(1 << 28) < 1 << 28 < max(numbers)
        assert max(map(abs, numbers)) <= 1 << 29
    assert INT32_MAX > 2 * (1 << 29) + 100_000


def test_requests_hold_random_operands() -> None:
    assert len({(each.a, each.b) for each in (asks.sum_request() for _ in range(50))}) == 50
    streams = [asks.stream_request(-3) for _ in range(50)]
    assert len({(each.a, each.b) for each in streams}) == 50
    assert {each.count for each in streams} == {-3}


def test_the_answer_to_a_sum_is_a_plus_b() -> None:
    requests = SumRequest(a=-5, b=3), SumRequest(a=INT32_MAX, b=2)
    assert asks.sums_of(*requests) == [-2, INT32_MIN + 1]


@pytest.mark.parametrize(
    ("a", "b", "count", "sums"),
    [(7, -2, 3, [5, 6, 7]), (7, -2, 1, [5]), (7, -2, 0, [5]), (7, -2, -3, [5]),
     (7, -2, INT32_MIN, [5]), (INT32_MAX, 0, 2, [INT32_MAX, INT32_MIN])],
)  # fmt: skip
def test_the_answer_to_a_stream_is_a_plus_b_plus_i(
    a: int, b: int, count: int, sums: list[int]
) -> None:
    assert asks.sums_of(StreamRequest(a=a, b=b, count=count)) == sums


# Answers.


@pytest.mark.parametrize("values", [[], [7], [0], [1, 2, 3], [INT32_MIN, INT32_MAX]])
def test_a_right_answer_is_right(values: list[int]) -> None:
    require(an_answer(values), values)


def test_trailers_alone_answer_what_has_no_replies() -> None:
    require(ALONE, [])


# Wrong answers.


def status(code: str, message: str = "") -> dict[str, str]:
    return {"grpc-status": code, "grpc-message": message}


def content(kind: str) -> Answer:
    return an_answer([1], {**HEADERS, "content-type": kind})


def encoded(encoding: str, accepts: str = "") -> Answer:
    answer = an_answer([1], {**HEADERS, "grpc-encoding": encoding})
    answer.accepts = accepts
    return answer


WITHOUT_HEADERS = an_answer()
WITHOUT_HEADERS.headers = None
ONLY = "there are only trailers (grpc-status 0), not"
NOT_OK = "grpc-status is"
CONTENT = "the content-type is"
HTTP = "the server answered with HTTP status"
NO_STATUS = "the call ended without grpc-status in its trailers"


@pytest.mark.parametrize(
    ("answer", "expected", "said", "shown"),
    [
        (ALONE, [7], f"{ONLY} 1 reply", ""),
        (ALONE, [7, 8], f"{ONLY} 2 replies", ""),
        (an_answer([]), [7], "0 replies, not 1", ""),
        (an_answer([7]), [7, 8], "1 reply, not 2", ""),
        (an_answer([7, 8]), [7], "2 replies, not 1", ""),
        (an_answer([7]), [], "1 reply, not 0", ""),
        # The first wrong reply comes before the wrong number of them, and the status before both.
        (an_answer([1, 3, 2]), [1, 2, 3], "reply 1 is 3, not 2", "00 00 00 00 02 08 03"),
        (an_answer([1, 3]), [1, 2, 3], "reply 1 is 3, not 2", "00 00 00 00 02 08 03"),
        (an_answer([1], trailers=status("13", "it broke")), [2], f"{NOT_OK} 13, not 0 (it broke)",
         ""),
        (an_answer([1], trailers=status("4")), [1], f"{NOT_OK} 4, not 0", ""),
        (an_answer(trailers=status("2", "100 %25 %E2%9C%97")), [1], f"{NOT_OK} 2, not 0 (100 % ✗)",
         ""),
        (an_answer(headers={**HEADERS, **status("12", "no such method")}, trailers=None), [1],
         f"{NOT_OK} 12, not 0 (no such method)", ""),
        # What is long is cut.
        (an_answer([1], trailers=status("9" * 4000, "x" * 4000)), [1],
         f"{NOT_OK} {'9' * 20}, not 0 ({'x' * 100})", ""),
        (content(""), [1], f"{CONTENT} ''", ""),
        (content("text/html"), [1], f"{CONTENT} 'text/html'", ""),
        (content("application/grpc-web"), [1], f"{CONTENT} 'application/grpc-web'", ""),
        (content("application/grpcx"), [1], f"{CONTENT} 'application/grpcx'", ""),
        (content("x" * 400), [1], f"{CONTENT} '{'x' * 59}", ""),
        (an_answer([1], {":status": "200"}), [1], f"{CONTENT} ''", ""),
        # The HTTP status comes first.
        (an_answer(headers={":status": "503"}), [1], f"{HTTP} 503", ""),
        (an_answer(headers={}), [1], f"{HTTP} None", ""),
        (an_answer(headers={":status": "2" * 400}), [1], f"{HTTP} {'2' * 10}", ""),
        (WITHOUT_HEADERS, [], f"{HTTP} None", ""),
        (encoded("z" * 90), [1],
         f"the replies are compressed, unasked (grpc-encoding: {'z' * 20})", ""),
        (encoded("gzip"), [1], "the replies are compressed, unasked (grpc-encoding: gzip)", ""),
        (an_answer([1], pending=b"\0\0\0\0\2\x08"), [1], "the last reply is cut off",
         "00 00 00 00 02 08"),
        (an_answer([1], trailers={}), [1], NO_STATUS, ""),
        (an_answer([1], {**HEADERS, **OK}, {}), [1],
         f"{NO_STATUS} (it is in the headers, before the replies)", ""),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_reported(
    answer: Answer, expected: list[int], said: str, shown: str
) -> None:
    error = wrong(require, answer, expected)
    assert (error.detail, error.wire) == (said, shown)


# Messages and their form.


def test_a_value_is_that_of_its_message() -> None:
    require_value(message(7), 7, 0)
    require_value(b"", 0, 0)
    error = wrong(require_value, message(-1), 1, 41)
    assert (error.detail, error.wire) == ("reply 41 is -1, not 1", hexadecimal(frame(message(-1))))


def test_what_is_no_protobuf_is_shown() -> None:
    error = wrong(require_value, b"\x08", 0, 3)
    assert (error.detail, error.wire) == ("reply 3 is not a SumReply", "00 00 00 00 01 08")


@pytest.mark.parametrize(
    "answer",
    [content("application/grpc"), content("application/grpc+proto"),
     content("application/grpc; charset=utf-8"), encoded("identity"),
     encoded("gzip", accepts="gzip")],
)  # fmt: skip
def test_the_content_type_of_grpc_without_compression_is_right(answer: Answer) -> None:
    require_form(answer)


# gRPC's length-prefixed messages, and the bytes that show what is wrong.

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
        (b"\1\0\0\0\x09", "a reply is compressed: none may be"),
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
