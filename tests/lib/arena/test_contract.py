"""The contract check and its gRPC client, against a server that can lie."""

import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes import a_profile
from tests.lib.arena.lying_server import HangupError, Manner, Talk, honest, serving

from arena import certs, contract
from arena.benchmark_pb2 import StreamRequest
from arena.errors import ContractError, FrameworkError
from arena.grpc_client import CallError, call, frame, split
from arena.profiles import Profile


def profile_on(port: int, *, tls: bool = False, call: str = "StreamSum") -> Profile:
    return a_profile(port=port, tls=tls, call=f"benchmark.BenchmarkService/{call}")


def problem_with(manner: Manner, *, method: str = "StreamSum") -> ContractError:
    """Return what the contract says of a server."""
    with serving(manner) as port, pytest.raises(ContractError) as caught:
        contract.check(profile_on(port, call=method))
    return caught.value


def altered(change: Callable[[list[int]], list[int]]) -> Manner:
    return lambda talk: talk.answer(change(talk.values()))


def test_an_honest_server_passes_every_check() -> None:
    with serving(honest) as port:
        checks = contract.check(profile_on(port))
    assert [(each.check, each.status, each.detail) for each in checks] == [
        ("GetSum", "pass", ""),
        ("StreamSum(10)", "pass", ""),
        ("StreamSum(5000)", "pass", ""),
        ("StreamSum(0)", "pass", ""),
        ("StreamSum(a=1, b=2, count=5000)", "pass", ""),
    ]


def own(message: bytes) -> bool:
    return StreamRequest.FromString(message) == StreamRequest(a=1, b=2, count=5000)


def test_the_profiles_own_request_is_asked_to_the_letter_and_once() -> None:
    asked = []

    def note(talk: Talk) -> None:
        if talk.path.endswith("/StreamSum"):
            asked.append(own(talk.body[5:]))
        honest(talk)

    with serving(note) as port:
        contract.check(profile_on(port))
    assert asked == [False, False, False, True]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda values: values[:-1], "StreamSum(a=1, b=2, count=5000): 4999 replies, not 5000"),
        (lambda values: values[:1], "StreamSum(a=1, b=2, count=5000): 1 replies, not 5000"),
        (lambda values: [*values, 1], "StreamSum(a=1, b=2, count=5000): 5001 replies, not 5000"),
        (
            lambda values: [*values[:-1], 0],
            "StreamSum(a=1, b=2, count=5000): reply 4999 is 0, not 5002",
        ),
    ],
)
def test_a_server_that_is_wrong_only_under_the_load_is_caught(
    change: Callable[[list[int]], list[int]], said: str
) -> None:
    def prepared(talk: Talk) -> None:
        values = talk.values()
        under_load = talk.path.endswith("/StreamSum") and own(talk.body[5:])
        talk.answer(change(values) if under_load else values)

    error = problem_with(prepared)
    assert error.reason == said
    assert [each.status for each in error.checks] == ["pass"] * 4 + ["fail"]


def test_a_unary_profile_asks_for_no_streams() -> None:
    with serving(honest) as port:
        checks = contract.check(profile_on(port, call="GetSum"))
    assert [each.check for each in checks] == ["GetSum"]


def test_two_checks_never_ask_the_same() -> None:
    seen = set()

    def note(talk: Talk) -> None:
        seen.add(talk.body)
        honest(talk)

    with serving(note) as port:
        for _ in range(3):
            contract.check(profile_on(port, call="GetSum"))
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda values: [*values[:-1], values[-1] + 1], "GetSum: reply 0 is "),
        (lambda values: [], "GetSum: 0 replies, not 1"),
        (lambda values: [*values, 7], "GetSum: 2 replies, not 1"),
        (lambda values: values[:3] + values[3:5][::-1] + values[5:], "StreamSum(10): reply 3 is "),
        (lambda values: values[:1] + values[2:], "StreamSum(10): 9 replies, not 10"),
        (lambda values: [*values, 7] if len(values) > 1 else values, "11 replies, not 10"),
        (lambda values: values[:4096], "StreamSum(5000): 4096 replies, not 5000"),
        (lambda values: values[:1] * len(values), "StreamSum(10): reply 1 is "),
    ],
)
def test_a_wrong_answer_is_told_exactly(
    change: Callable[[list[int]], list[int]], said: str
) -> None:
    error = problem_with(altered(change))
    assert said in error.reason
    assert error.stage == "contract"
    assert [each.status for each in error.checks[:-1]] == ["pass"] * (len(error.checks) - 1)
    assert error.checks[-1].status == "fail"
    assert error.reason.endswith(error.checks[-1].detail)


def test_a_count_of_zero_is_still_one_reply() -> None:
    def literal(talk: Talk) -> None:
        values = talk.values()
        talk.answer([] if len(values) == 1 and talk.path.endswith("/StreamSum") else values)

    assert problem_with(literal).reason == "StreamSum(0): 0 replies, not 1"


def refused(talk: Talk) -> None:
    talk.headers(("grpc-status", "12"), ("grpc-message", "unknown method"), end=True)


def failing(talk: Talk) -> None:
    talk.headers()
    talk.replies(talk.values())
    talk.trailers("13", "it\x7f broke")


def without_trailers(talk: Talk) -> None:
    talk.headers()
    talk.replies(talk.values())
    talk.connection.end_stream(talk.stream)
    talk.flush()


def status_before_the_replies(talk: Talk) -> None:
    talk.headers(("grpc-status", "0"))
    talk.replies(talk.values())
    talk.connection.end_stream(talk.stream)
    talk.flush()


def raw(payload: bytes) -> Manner:
    def answer(talk: Talk) -> None:
        talk.headers()
        talk.data(payload)
        talk.trailers()

    return answer


def goaway(talk: Talk) -> None:
    talk.connection.close_connection(error_code=11)
    talk.flush()


def reset(talk: Talk) -> None:
    talk.headers()
    talk.connection.reset_stream(talk.stream, 2)
    talk.flush()


def web_page(talk: Talk) -> None:
    fields = [(":status", "200"), ("content-type", "text/html"), ("grpc-status", "0")]
    talk.connection.send_headers(talk.stream, fields, end_stream=True)
    talk.flush()


def hang_up(talk: Talk) -> None:
    talk.headers()
    talk.transport.shutdown(socket.SHUT_WR)
    while True:  # A close with unread bytes would be a reset instead.
        talk.receive()


def garbage(talk: Talk) -> None:
    talk.transport.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9)
    raise HangupError


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        (refused, "GetSum: grpc-status is 12, not 0 (unknown method)"),
        (failing, "GetSum: grpc-status is 13, not 0"),
        (without_trailers, "GetSum: the call ended without grpc-status"),
        (status_before_the_replies, "GetSum: the call ended without grpc-status"),
        (raw(b"\x01\0\0\0\0"), "GetSum: a reply is compressed, unasked"),
        (raw(frame(b"\x08\x03")[:-1]), "GetSum: the last reply is cut off"),
        (raw(b"\0\xff\xff\xff\xff"), "GetSum: a reply announces 4294967295 bytes"),
        (raw(frame(b"\x08")), "GetSum: a reply is not a SumReply"),
        (lambda talk: talk.headers(status="404", end=True), "HTTP status 404"),
        (web_page, "GetSum: the content-type is 'text/html'"),
        (goaway, "GetSum: the server sent GOAWAY (ENHANCE_YOUR_CALM)"),
        (reset, "GetSum: the server reset the stream (INTERNAL_ERROR)"),
        (hang_up, "GetSum: the server closed the connection in the middle of the call"),
        (garbage, "GetSum: "),
    ],
)
def test_what_is_no_good_grpc_answer_is_told_in_a_line(manner: Manner, said: str) -> None:
    error = problem_with(manner, method="GetSum")
    assert said in error.reason
    assert "\n" not in error.reason
    assert error.status == "invalid"


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("GetSum", "GetSum: there are more than 2 replies"),
        ("StreamSum", "StreamSum(10): there are more than 11 replies"),
    ],
)
def test_an_answer_without_an_end_is_given_up_at_once(method: str, said: str) -> None:
    def endless(talk: Talk) -> None:
        if method not in talk.path:
            return honest(talk)
        talk.headers()
        while True:
            talk.replies([3] * 100)

    began = time.monotonic()
    assert problem_with(endless, method=method).reason == said
    assert time.monotonic() - began < 5


def test_a_long_status_is_cut() -> None:
    def long(talk: Talk) -> None:
        talk.headers(("grpc-status", "9" * 4000), ("grpc-message", "x" * 4000), end=True)

    error = problem_with(long, method="GetSum")
    said = f"grpc-status is {'9' * 20}, not 0 ({'x' * 100})"
    assert error.reason == f"GetSum: {said}"
    assert error.checks[-1].detail == said


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "_CHECK_TIMEOUT_S", 0.05)
    error = problem_with(lambda _: None, method="GetSum")
    assert error.reason == "GetSum: no answer within 0.05 s"


def test_an_answer_larger_than_every_window_arrives_whole() -> None:
    message = bytes(range(256)) * 1200
    count = 8

    def large(talk: Talk) -> None:
        talk.headers()
        talk.data(frame(message) * count)
        talk.trailers()

    with serving(large) as port:
        reply = call(port, "x.Y/Z", [b""], tls=False, timeout_s=20, most_replies=count)
    assert len(message) * count > 2 << 20
    assert reply.messages == [message] * count
    assert reply.status == "0"


def test_a_goaway_after_the_whole_answer_does_no_harm() -> None:
    def last_words(talk: Talk) -> None:
        talk.headers()
        talk.connection.send_headers(talk.stream, [("grpc-status", "0")], end_stream=True)
        talk.connection.close_connection(error_code=2)
        talk.flush()

    with serving(last_words) as port:
        reply = call(port, "x.Y/Z", [b""], tls=False, timeout_s=20, most_replies=1)
    assert reply.status == "0"


@pytest.mark.parametrize("cut", range(1, 12))
def test_messages_are_split_wherever_the_bytes_were_cut(cut: int) -> None:
    data = frame(b"ab") + frame(b"") + frame(b"c")
    pending = bytearray(data[:cut])
    found = split(pending)
    pending += data[cut:]
    assert found + split(pending) == [b"ab", b"", b"c"]
    assert not pending


@pytest.fixture
def context(tmp_path: Path) -> ssl.SSLContext:
    certs.ensure_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    return context


def test_over_tls_the_same_contract_holds(context: ssl.SSLContext) -> None:
    context.set_alpn_protocols(["h2"])
    with serving(honest, context) as port:
        assert len(contract.check(profile_on(port, tls=True))) == 5


@pytest.mark.parametrize("protocols", [[], ["http/1.1"]])
def test_over_tls_h2_must_be_chosen(context: ssl.SSLContext, protocols: list[str]) -> None:
    context.set_alpn_protocols(protocols)
    with serving(honest, context) as port, pytest.raises(CallError, match="choose h2 by ALPN"):
        call(port, "x.Y/Z", [b""], tls=True, timeout_s=20, most_replies=1)


def test_tls_with_a_server_that_speaks_none_is_told() -> None:
    with serving(garbage) as port, pytest.raises(CallError, match=r"(?i)ssl|closed|eof|reset"):
        call(port, "x.Y/Z", [b""], tls=True, timeout_s=5, most_replies=1)


def test_a_refused_connection_is_told_in_plain_words() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # Nobody else gets the port, and nobody listens at it.
        port = bound.getsockname()[1]
        with pytest.raises(CallError, match=r"^nothing listens there$"):
            call(port, "x.Y/Z", [b""], tls=False, timeout_s=5, most_replies=1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_a_server_is_ready_when_it_answers_even_with_an_error() -> None:
    with serving(refused) as port:
        contract.wait_ready(profile_on(port), 5, lambda: None)


def test_a_server_may_take_its_time_to_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    port, asked = free_port(), []
    with serving(honest) as later:
        profiles = iter([profile_on(port), profile_on(port)])
        real = contract._get_sum

        def probe(_: Profile, a: int, b: int, timeout_s: float) -> object:
            asked.append(a)
            return real(next(profiles, profile_on(later)), a, b, timeout_s)

        monkeypatch.setattr(contract, "_get_sum", probe)
        monkeypatch.setattr(contract, "_POLL_S", 0)
        contract.wait_ready(profile_on(port), 20, lambda: None)
    assert len(asked) == 3


def test_a_server_that_is_not_ready_in_time_is_a_failure_with_its_port() -> None:
    port = free_port()
    said = rf"not ready on port {port} within 0.01 s \(nothing listens"
    with pytest.raises(FrameworkError, match=said):
        contract.wait_ready(profile_on(port), 0.01, lambda: None)


def test_a_server_that_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(FrameworkError, match=r"ended before it was ready \(exit code 3\)"):
        contract.wait_ready(profile_on(free_port()), 60, lambda: "exit code 3")
