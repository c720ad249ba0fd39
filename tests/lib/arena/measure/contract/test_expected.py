"""What a right answer is."""

from collections.abc import Mapping, Sequence

import pytest

from arena.measure.contract import expected
from arena.measure.contract.expected import (
    INT32_MAX,
    INT32_MIN,
    require,
    require_form,
    require_value,
)
from arena.measure.contract.messages import WrongError, frame, hexadecimal
from arena.measure.contract.wire import Answer
from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest

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


def wrong(answer: Answer, expected: Sequence[int]) -> WrongError:
    with pytest.raises(WrongError) as caught:
        require(answer, expected)
    return caught.value


# Sums.


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (0, 0),
        (-1, -1),
        (INT32_MAX, INT32_MAX),
        (INT32_MAX + 1, INT32_MIN),
        (INT32_MIN, INT32_MIN),
        (INT32_MIN - 1, INT32_MAX),
        (2 * INT32_MAX, -2),
        (2 * INT32_MIN, 0),
        (2**32 * 7 + 5, 5),
    ],
)
def test_a_sum_wraps_around(value: int, held: int) -> None:
    assert expected.int32(value) == held


def test_operands_are_random_and_their_sums_do_not_overflow() -> None:
    drawn = [expected.operands() for _ in range(500)]
    assert len(set(drawn)) == 500
    for numbers in zip(*drawn, strict=True):
        assert min(numbers) < -(1 << 28) < 1 << 28 < max(numbers)
        assert max(map(abs, numbers)) <= 1 << 29
    assert INT32_MAX > 2 * (1 << 29) + 100_000


def test_requests_hold_random_operands() -> None:
    assert len({(each.a, each.b) for each in (expected.sum_request() for _ in range(50))}) == 50
    streams = [expected.stream_request(-3) for _ in range(50)]
    assert len({(each.a, each.b) for each in streams}) == 50
    assert {each.count for each in streams} == {-3}


def test_the_answer_to_a_sum_is_a_plus_b() -> None:
    assert expected.sum_of(SumRequest(a=-5, b=3)) == -2
    assert expected.sum_of(SumRequest(a=INT32_MAX, b=2)) == INT32_MIN + 1


@pytest.mark.parametrize(
    ("count", "sums"), [(3, [5, 6, 7]), (1, [5]), (0, [5]), (-3, [5]), (INT32_MIN, [5])]
)
def test_the_answer_to_a_stream_is_a_plus_b_plus_i(count: int, sums: list[int]) -> None:
    assert expected.sums_of(StreamRequest(a=7, b=-2, count=count)) == sums


def test_the_sums_of_a_stream_wrap_around() -> None:
    request = StreamRequest(a=INT32_MAX, b=0, count=2)
    assert expected.sums_of(request) == [INT32_MAX, INT32_MIN]


# Answers.


@pytest.mark.parametrize("values", [[], [7], [0], [1, 2, 3], [INT32_MIN, INT32_MAX]])
def test_a_right_answer_is_right(values: list[int]) -> None:
    require(an_answer(values), values)


def test_trailers_alone_answer_what_has_no_replies() -> None:
    require(an_answer(headers={**HEADERS, **OK}, trailers=None), [])


def test_trailers_alone_are_no_replies() -> None:
    answer = an_answer(headers={**HEADERS, **OK}, trailers=None)
    said = "there are only trailers (grpc-status 0), not "
    assert wrong(answer, [7]).detail == f"{said}1 reply"
    assert wrong(answer, [7, 8]).detail == f"{said}2 replies"


@pytest.mark.parametrize(
    ("values", "expected", "said"),
    [
        ([], [7], "0 replies, not 1"),
        ([7], [7, 8], "1 reply, not 2"),
        ([7, 8], [7], "2 replies, not 1"),
        ([7], [], "1 reply, not 0"),
    ],
)
def test_replies_are_counted(values: list[int], expected: list[int], said: str) -> None:
    error = wrong(an_answer(values), expected)
    assert (error.detail, error.wire) == (said, "")


def test_the_first_reply_that_is_wrong_is_told_with_its_bytes() -> None:
    error = wrong(an_answer([1, 3, 2]), [1, 2, 3])
    assert (error.detail, error.wire) == ("reply 1 is 3, not 2", "00 00 00 00 02 08 03")


def test_a_wrong_value_is_told_before_a_wrong_number() -> None:
    assert wrong(an_answer([1, 3]), [1, 2, 3]).detail == "reply 1 is 3, not 2"


def test_a_status_that_is_not_ok_is_told_before_its_replies() -> None:
    trailers = {"grpc-status": "13", "grpc-message": "it broke"}
    error = wrong(an_answer([1], trailers=trailers), [2])
    assert error.detail == "grpc-status is 13, not 0 (it broke)"


def test_a_status_without_a_message_says_no_more() -> None:
    trailers = {"grpc-status": "4", "grpc-message": ""}
    assert wrong(an_answer([1], trailers=trailers), [1]).detail == "grpc-status is 4, not 0"


def test_a_message_is_read_as_it_is_meant() -> None:
    trailers = {"grpc-status": "2", "grpc-message": "100 %25 %E2%9C%97"}
    assert wrong(an_answer(trailers=trailers), [1]).detail == "grpc-status is 2, not 0 (100 % ✗)"


def test_the_message_of_trailers_alone_is_told() -> None:
    headers = {**HEADERS, "grpc-status": "12", "grpc-message": "no such method"}
    said = "grpc-status is 12, not 0 (no such method)"
    assert wrong(an_answer(headers=headers, trailers=None), [1]).detail == said


def test_what_is_long_is_cut() -> None:
    trailers = {"grpc-status": "9" * 4000, "grpc-message": "x" * 4000}
    said = f"grpc-status is {'9' * 20}, not 0 ({'x' * 100})"
    assert wrong(an_answer([1], trailers=trailers), [1]).detail == said


def test_a_value_is_that_of_its_message() -> None:
    require_value(message(7), 7, 0)
    require_value(b"", 0, 0)
    with pytest.raises(WrongError) as caught:
        require_value(message(-1), 1, 41)
    assert caught.value.detail == "reply 41 is -1, not 1"
    assert caught.value.wire == hexadecimal(frame(message(-1)))


def test_what_is_no_protobuf_is_shown() -> None:
    with pytest.raises(WrongError) as caught:
        require_value(b"\x08", 0, 3)
    assert caught.value.detail == "reply 3 is not a SumReply"
    assert caught.value.wire == "00 00 00 00 01 08"


# Their form.


@pytest.mark.parametrize(
    "content_type",
    ["application/grpc", "application/grpc+proto", "application/grpc; charset=utf-8"],
)
def test_a_content_type_of_grpcs_is_right(content_type: str) -> None:
    require_form(an_answer(headers={**HEADERS, "content-type": content_type}))


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [
        ("", "''"),
        ("text/html", "'text/html'"),
        ("application/grpc-web", "'application/grpc-web'"),
        ("application/grpcx", "'application/grpcx'"),
        ("x" * 400, "'" + "x" * 59),
    ],
)
def test_another_content_type_is_wrong(content_type: str, shown: str) -> None:
    error = wrong(an_answer([1], headers={**HEADERS, "content-type": content_type}), [1])
    assert error.detail == f"the content-type is {shown}"


def test_no_content_type_is_wrong() -> None:
    error = wrong(an_answer([1], headers={":status": "200"}), [1])
    assert error.detail == "the content-type is ''"


@pytest.mark.parametrize(
    ("headers", "shown"),
    [({":status": "503"}, "503"), ({}, "None"), ({":status": "2" * 400}, "2" * 10)],
)
def test_an_http_status_that_is_not_200_comes_first(headers: dict[str, str], shown: str) -> None:
    error = wrong(an_answer(headers=headers), [1])
    assert error.detail == f"the server answered with HTTP status {shown}"


def test_an_answer_without_headers_has_no_http_status() -> None:
    answer = an_answer()
    answer.headers = None
    assert wrong(answer, []).detail == "the server answered with HTTP status None"


def test_identity_is_no_compression_and_all_else_is() -> None:
    require_form(an_answer(headers={**HEADERS, "grpc-encoding": "identity"}))
    error = wrong(an_answer([1], headers={**HEADERS, "grpc-encoding": "z" * 90}), [1])
    assert error.detail == f"the replies are compressed, unasked (grpc-encoding: {'z' * 20})"


def test_a_reply_that_is_cut_off_is_shown() -> None:
    error = wrong(an_answer([1], pending=b"\0\0\0\0\2\x08"), [1])
    assert (error.detail, error.wire) == ("the last reply is cut off", "00 00 00 00 02 08")


def test_a_status_is_needed_in_the_trailers() -> None:
    said = "the call ended without grpc-status in its trailers"
    assert wrong(an_answer([1], trailers={}), [1]).detail == said
    early = an_answer([1], headers={**HEADERS, **OK}, trailers={})
    assert wrong(early, [1]).detail == f"{said} (it is in the headers, before the replies)"
