"""The checks of each scope, their order, and when there are no more."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import pytest

from arena.measure.contract import Call, Report, Scope, check, concurrency, values
from arena.record.measurement import Cost
from arena.record.record import Check
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from tests.lib.arena.measure.contract.breaks import dying, hanging, working
from tests.lib.arena.measure.contract.honest import changed, honest
from tests.lib.arena.measure.contract.liar import Tls
from tests.lib.arena.measure.contract.liars_of_garbage import given
from tests.lib.arena.measure.contract.lies import (
    bare,
    constant,
    in_frames,
    nothing,
    off_by_one,
    page,
)
from tests.lib.arena.measure.contract.lying_server import serving
from tests.lib.arena.measure.contract.outside import Clock, Outside, context_of
from tests.lib.arena.measure.contract.short import CONNECTIONS, EARNEST, LONG, PROFILE
from tests.lib.arena.measure.contract.talk import Manner, Steps, Talk
from tests.lib.arena.measure.contract.when import endlessly, lying, streaming, unary

ALL = frozenset[Call]({"GetSum", "StreamSum", "CollectSum", "EchoSum"})

UNARY = ["unary-sum", "unary-extremes"]
STREAMS = ["stream-10", "stream-5000", "stream-zero", "stream-negative"]
FLOW = [f"stream-{LONG}", "backpressure", "cancel"]
CROWD = ["four-streams", f"connections-{CONNECTIONS}"]
GARBAGE = [
    "unknown-method",
    "malformed-message",
    "truncated-message",
    "oversized-prefix",
    "content-type",
]
REQUESTS = ["collect-sum", "echo-sum", "half-close"]
TLS = ["tls-alpn", "tls-version", "tls-downgrade"]


def names(report: Report) -> list[str]:
    return [each.check for each in report.checks]


def assert_honest(report: Report, expected: list[str]) -> None:
    """Each check passed, and has nothing to say."""
    assert report.checks == tuple(Check(check=name, status="pass") for name in expected)
    assert report.verdict == "pass"


def report_on(manner: Manner, *calls: Call) -> Report:
    with serving(manner) as server:
        return check(Scope(server.port, tls=False, calls=frozenset({"GetSum", *calls})), None)


# Honest servers.


def test_an_honest_server_passes_everything(clock: Clock) -> None:
    with serving(honest) as server:
        scope = Scope(server.port, tls=False, calls=ALL, requests=(PROFILE,))
        report = check(scope, Outside(server, clock))
    streams = [*STREAMS[:2], "stream-profile", *STREAMS[2:]]
    assert_honest(report, [*UNARY, *streams, "framing", *FLOW, *CROWD, *GARBAGE, *REQUESTS])
    assert report.messages_per_data_frame == 500


def test_so_it_does_without_being_watched_and_over_tls(certificates: Path) -> None:
    with serving(honest, context_of(Tls(), certificates)) as server:
        report = check(Scope(server.port, tls=True, calls=ALL), None)
    everything = [*UNARY, *STREAMS, "framing", *FLOW, *CROWD, *GARBAGE, *REQUESTS, *TLS]
    assert_honest(report, everything)


def test_a_light_scope_is_only_the_values_and_tls(certificates: Path) -> None:
    with serving(honest, context_of(Tls(), certificates)) as server:
        report = check(Scope(server.port, tls=True, calls=ALL, light=True), None)
    assert_honest(report, [*UNARY, *STREAMS, "framing", *REQUESTS, *TLS])


def test_get_sum_alone_is_checked_in_all_that_is_not_streaming() -> None:
    report = report_on(honest)
    assert_honest(report, [*UNARY, "framing", *CROWD, *GARBAGE])
    assert report.messages_per_data_frame is None


def test_a_page_may_refuse_what_is_no_grpc() -> None:
    report = report_on(given("content-type", page("415")))
    assert_honest(report, [*UNARY, "framing", *CROWD, *GARBAGE])


@pytest.mark.parametrize(("call", "own"), [("CollectSum", "collect-sum"), ("EchoSum", "echo-sum")])
def test_a_call_brings_its_own_checks(call: Call, own: str) -> None:
    expected = [*UNARY, "framing", *CROWD, *GARBAGE, own, "half-close"]
    assert_honest(report_on(honest, call), expected)


def test_a_call_that_is_not_subscribed_to_may_be_anything() -> None:
    liar = streaming(changed(off_by_one))
    assert report_on(liar).verdict == "pass"
    assert report_on(liar, "StreamSum").verdict == "fail"


def test_as_many_calls_at_a_time_as_are_allowed_are_not_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Servers on h2 allow 100 streams.
    monkeypatch.setattr(concurrency, "_STREAMS", 100)
    with serving(honest) as server:
        assert concurrency.streams(Scope(server.port, tls=False)) == ""


def test_64_connections_are_open_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is answered once the last has asked."""
    monkeypatch.setattr(concurrency, "CONNECTIONS", 64)
    everybody = threading.Barrier(64)

    def together(talk: Talk) -> Steps[None]:
        everybody.wait(20)
        yield from honest(talk)

    with serving(streaming(together, 50)) as server:
        concurrency.connections(Scope(server.port, tls=False, calls=ALL))


# What is measured.


def pairs_and_threes(messages: list[bytes]) -> Iterable[bytes]:
    for at in range(0, len(messages), 5):
        yield b"".join(messages[at : at + 2])
        yield b"".join(messages[at + 2 : at + 5])


def hundreds(messages: list[bytes]) -> Iterable[bytes]:
    return (b"".join(messages[at : at + 100]) for at in range(0, len(messages), 100))


@pytest.mark.parametrize(
    ("cut", "measured"),
    [(list, 1.0), (pairs_and_threes, 2.5), (hundreds, 100.0)],
)
def test_messages_per_data_frame_are_measured(
    cut: Callable[[list[bytes]], Iterable[bytes]], measured: float
) -> None:
    with serving(streaming(in_frames(cut), 5000)) as server:
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls, light=True), None)
    assert report.verdict == "pass"
    assert report.messages_per_data_frame == measured


def test_messages_may_be_cut_across_frames_anywhere() -> None:
    def sevens(messages: list[bytes]) -> Iterable[bytes]:
        whole = b"".join(messages)
        return (whole[at : at + 7] for at in range(0, len(whole), 7))

    liar = streaming(in_frames(sevens), 10, 0, -3, 50)
    assert report_on(liar, "StreamSum").verdict == "pass"


def test_a_stream_that_is_wrong_is_not_measured() -> None:
    assert report_on(streaming(changed(nothing), 5000), "StreamSum").messages_per_data_frame is None


# The end.


def test_each_check_is_told_once_it_is_made_and_before_the_next() -> None:
    told: list[Check] = []
    told_at: list[int] = []

    def note(talk: Talk) -> Steps[None]:
        told_at.append(len(told))
        yield from honest(talk)

    with serving(note) as server:
        report = check(Scope(server.port, tls=False), None, told.append)
    assert tuple(told) == report.checks
    assert told_at == sorted(told_at)
    assert set(told_at) == set(range(len(told)))


def test_a_failure_does_not_keep_the_rest_from_being_made() -> None:
    report = report_on(unary(changed(off_by_one), -3, 2))
    assert names(report) == [*UNARY, "framing", *CROWD, *GARBAGE]
    assert [each.check for each in report.checks if each.status == "fail"] == ["unary-sum"]
    assert report.first_failure == report.checks[0]


def test_once_the_server_is_gone_nothing_more_is_made(clock: Clock) -> None:
    with serving(streaming(dying, 5000)) as server:
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls), Outside(server, clock))
    assert names(report) == [*UNARY, "stream-10", "stream-5000"]
    assert report.checks[-1].detail.endswith("; then the server ended (signal 11)")


def test_a_server_whose_end_is_not_seen_no_longer_answers() -> None:
    report = report_on(streaming(dying, 5000), "StreamSum")
    assert names(report) == [*UNARY, "stream-10", "stream-5000"]
    said = "; then GetSum is not answered (nothing listens there)"
    assert report.checks[-1].detail.endswith(said)


def test_a_server_that_lives_but_does_not_answer_is_left_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.measure.contract.checks._PROBE_TIMEOUT_S", 0.1)

    def jammed(talk: Talk) -> Steps[None]:
        talk.server.manner = hanging
        yield from bare("500")(talk)

    with serving(streaming(jammed, 10)) as server:
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls), Outside(server, clock))
    assert names(report) == [*UNARY, "stream-10"]
    said = "; then GetSum is not answered (no answer within 0.1 s)"
    assert report.checks[-1].detail.endswith(said)


def test_a_server_that_was_never_there_fails_the_first_check(clock: Clock) -> None:
    with serving(honest) as server:
        server.die("exit code 3")
        report = check(Scope(server.port, tls=False), Outside(server, clock))
    assert [(each.check, each.status, each.detail) for each in report.checks] == [
        ("unary-sum", "fail", "nothing listens there; then the server ended (exit code 3)")
    ]


# Watching.


def test_a_server_that_is_never_idle_is_not_judged_by_its_cpu(clock: Clock) -> None:
    with serving(honest) as server:
        server.busy = True
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls), Outside(server, clock))
    assert report.verdict == "pass"


def test_who_need_not_rest_is_not_watched() -> None:
    class Unseen:
        def ended(self) -> str | None:
            return None

        def cost(self) -> Cost:
            pytest.fail("it was watched")

    with serving(honest) as server:
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        for scope in (
            Scope(server.port, tls=False, calls=calls, light=True),
            Scope(server.port, tls=False),
        ):
            assert check(scope, Unseen()).verdict == "pass"


def test_but_by_its_memory_it_is(clock: Clock) -> None:
    with serving(endlessly(working(honest, 40 << 20), narrow=True)) as server:
        server.busy = True
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls), Outside(server, clock))
    assert report.first_failure
    assert report.first_failure.check == "backpressure"
    assert report.first_failure.detail.startswith("its memory grows with the window closed")


# What is asked.


def test_the_profiles_own_request_is_asked_to_the_letter_and_once() -> None:
    asked: list[StreamRequest] = []

    def note(request: StreamRequest) -> bool:
        asked.append(request)
        return False

    calls = frozenset[Call]({"GetSum", "StreamSum"})
    with serving(lying("StreamSum", honest, note)) as server:
        check(Scope(server.port, tls=False, calls=calls, requests=(PROFILE,)), None)
    own = StreamRequest(**PROFILE)
    assert asked.count(own) == 1
    assert [each.count for each in asked[:6]] == [10, 5000, PROFILE["count"], 0, -3, 10]


def test_the_edges_of_int32_are_asked_and_what_is_beyond() -> None:
    asked: set[tuple[int, int]] = set()

    def note(request: SumRequest) -> bool:
        asked.add((request.a, request.b))
        return False

    with serving(lying("GetSum", honest, note)) as server:
        assert values.unary_extremes(Scope(server.port, tls=False)) == ""
    most, least = 2**31 - 1, -(2**31)
    assert {(most, 0), (least, 0), (most - 1, 1), (least + 1, -1)} <= asked
    assert {(most, least), (least, most), (0, 0), (1, -1), (-1, -1)} <= asked
    assert {(most, 1), (most, most), (least, -1), (least, least)} <= asked


def test_no_two_calls_are_the_same_but_at_the_edges() -> None:
    asked: list[tuple[int, int]] = []

    def note(request: SumRequest) -> bool:
        asked.append((request.a, request.b))
        return False

    with serving(lying("GetSum", honest, note)) as server:
        for _ in range(2):
            check(Scope(server.port, tls=False), None)
    edges = {*values._EXTREMES, *values._OVERFLOWS, (-3, 2), (0, 0)}
    random = [each for each in asked if each not in edges]
    assert edges <= set(asked)
    assert len(random) > 40
    assert len(set(random)) == len(random)


def test_in_earnest_a_stream_is_long_and_connections_are_many() -> None:
    assert EARNEST == (100_000, 64)


def test_a_server_that_hoards_one_endless_stream_is_not_given_another(clock: Clock) -> None:
    with serving(endlessly(working(honest, 40 << 20), narrow=True)) as server:
        calls = frozenset[Call]({"GetSum", "StreamSum"})
        report = check(Scope(server.port, tls=False, calls=calls), Outside(server, clock))
    assert [each.check for each in report.checks if each.status == "fail"] == ["backpressure"]
    assert "cancel" not in names(report)
    assert "four-streams" in names(report)


def test_operands_that_are_left_out_are_asked_for_too() -> None:
    """A decoder by hand may take the first field for granted."""
    for lie in (lambda asked: asked.a == 0 != asked.b, lambda asked: asked.b == 0 != asked.a):
        with serving(lying("GetSum", constant(1), lie)) as server:
            report = check(Scope(server.port, tls=False), None)
        assert report.first_failure
        assert report.first_failure.check == "unary-sum"


# The report.

Status = Literal["pass", "warn", "fail"]


def reported(*statuses: Status) -> Report:
    return Report(tuple(Check(check=f"c{i}", status=each) for i, each in enumerate(statuses)))


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (("pass", "pass"), "pass"),
        (("pass", "warn", "pass"), "warn"),
        (("fail", "pass"), "fail"),
        (("warn", "fail", "warn"), "fail"),
    ],
)
def test_the_verdict_is_the_worst_of_all(statuses: tuple[Status, ...], verdict: str) -> None:
    assert reported(*statuses).verdict == verdict


def test_the_first_failure_is_the_first_that_failed() -> None:
    found = reported("pass", "warn", "fail", "fail").first_failure
    assert found
    assert found.check == "c2"
    assert reported("pass", "warn").first_failure is None
