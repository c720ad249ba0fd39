"""The checks of each scope, their order, and when there are no more."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from arena.contract import Call, Report, Scope, check, connections, flow_control, values
from arena.contract.asks import stream_request
from arena.contract.flow_control import Watched
from arena.contract.wire import Answer, Wire
from arena.record.measurement import Cost
from arena.record.record import Check
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.liars_of_flow import given
from tests.lib.arena.contract.lies import (
    CONNECTIONS,
    EARNEST,
    LONG,
    PROFILE,
    endlessly,
    lying,
    streaming,
    unary,
)
from tests.lib.arena.contract.lying_server import Clock, Outside, Tls, context_of, serving
from tests.lib.arena.contract.peer import wrong
from tests.lib.arena.contract.talk import Manner, Steps, Talk, changed, honest

ALL: tuple[Call, ...] = ("StreamSum", "CollectSum", "EchoSum")

UNARY = ["unary-sum", "unary-extremes"]
STREAMS = ["stream-10", "stream-5000", "stream-zero", "stream-negative"]
FLOW = [f"stream-{LONG}", "backpressure", "cancel"]
CROWD = ["four-streams", f"connections-{CONNECTIONS}"]
MESSAGES = ["malformed-message", "truncated-message", "oversized-prefix"]
GARBAGE = ["unknown-method", *MESSAGES, "content-type"]
ALONE = [*UNARY, "framing", *CROWD, *GARBAGE]
REQUESTS = ["collect-sum", "echo-sum", "half-close"]
TLS = ["tls-alpn", "tls-version", "tls-downgrade"]


def names(report: Report) -> list[str]:
    return [each.check for each in report.checks]


def failed(report: Report) -> list[str]:
    return [each.check for each in report.checks if each.status == "fail"]


def assert_honest(report: Report, expected: list[str]) -> None:
    """Each check passed, and has nothing to report."""
    assert report.checks == tuple(Check(check=name, status="pass") for name in expected)
    assert report.verdict == "pass"


def report_on(
    manner: Manner,
    *calls: Call,
    certificates: Path | None = None,
    clock: Clock | None = None,
    watched: Watched | None = None,
    busy: bool = False,
    **more: Any,
) -> Report:
    """Check a server: over TLS if it has certificates, and watched if there is a clock."""
    tls = context_of(Tls(), certificates) if certificates else None
    with serving(manner, tls) as server:
        server.busy = busy
        asked = frozenset[Call]({"GetSum", *calls})
        scope = Scope(server.port, tls=tls is not None, calls=asked, **more)
        return check(scope, Outside(server, clock) if clock else watched)


# Honest servers.


def test_an_honest_server_passes_everything(clock: Clock) -> None:
    report = report_on(honest, *ALL, clock=clock, requests=(PROFILE,))
    streams = [*STREAMS[:2], "stream-profile", *STREAMS[2:]]
    assert_honest(report, [*UNARY, *streams, "framing", *FLOW, *CROWD, *GARBAGE, *REQUESTS])
    assert report.messages_per_data_frame == 500


@pytest.mark.parametrize(
    ("light", "heavy"), [(False, [*FLOW, *CROWD, *GARBAGE]), (True, [])], ids=["full", "light"]
)
def test_it_also_passes_unwatched_over_tls_and_a_light_scope_is_only_the_values_and_tls(
    light: bool, heavy: list[str], certificates: Path
) -> None:
    report = report_on(honest, *ALL, certificates=certificates, light=light)
    assert_honest(report, [*UNARY, *STREAMS, "framing", *heavy, *REQUESTS, *TLS])


@pytest.mark.parametrize(
    ("manner", "calls", "own"),
    [
        (honest, (), []),
        (given("content-type", lies.page("415")), (), []),
        (honest, ("CollectSum",), ["collect-sum", "half-close"]),
        (honest, ("EchoSum",), ["echo-sum", "half-close"]),
    ],
    ids=["GetSum alone", "a page refuses what is not gRPC", "CollectSum", "EchoSum"],
)
def test_a_call_brings_its_own_checks(
    manner: Manner, calls: tuple[Call, ...], own: list[str]
) -> None:
    report = report_on(manner, *calls)
    assert_honest(report, [*ALONE, *own])
    assert report.messages_per_data_frame is None


def test_a_call_that_is_not_subscribed_to_may_be_anything() -> None:
    liar = streaming(changed(lies.off_by_one))
    assert report_on(liar).verdict == "pass"
    assert report_on(liar, "StreamSum").verdict == "fail"


@pytest.mark.parametrize(
    ("streams", "odd"),
    [(100, ""), (101, "no more than 100 of 101 calls are allowed at a time on a connection")],
)
def test_no_more_calls_at_a_time_are_opened_than_the_100_that_h2_allows(
    streams: int, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_STREAMS", streams)
    with serving(honest) as server:
        assert connections.streams(server.scope) == odd


def test_64_connections_are_open_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is answered once the last has asked."""
    monkeypatch.setattr(connections, "CONNECTIONS", 64)
    everybody = threading.Barrier(64)

    def together(talk: Talk) -> Steps[None]:
        everybody.wait(60)
        yield from honest(talk)

    with serving(streaming(together, 50)) as server:
        connections.connections(Scope(server.port, tls=False, calls=frozenset(ALL)))


# What is measured.


def pairs_and_threes(messages: list[bytes]) -> Iterable[bytes]:
    for at in range(0, len(messages), 5):
        yield b"".join(messages[at : at + 2])
        yield b"".join(messages[at + 2 : at + 5])


def hundreds(messages: list[bytes]) -> Iterable[bytes]:
    return (b"".join(messages[at : at + 100]) for at in range(0, len(messages), 100))


@pytest.mark.parametrize(
    ("cut", "measured"), [(list, 1.0), (pairs_and_threes, 2.5), (hundreds, 100.0)]
)
def test_messages_per_data_frame_are_measured(
    cut: Callable[[list[bytes]], Iterable[bytes]], measured: float
) -> None:
    report = report_on(streaming(lies.formed(cut=cut), 5000), "StreamSum", light=True)
    assert report.verdict == "pass"
    assert report.messages_per_data_frame == measured


def test_messages_may_be_cut_across_frames_anywhere() -> None:
    def sevens(messages: list[bytes]) -> Iterable[bytes]:
        whole = b"".join(messages)
        return (whole[at : at + 7] for at in range(0, len(whole), 7))

    liar = streaming(lies.formed(cut=sevens), 10, 0, -3, 50)
    assert report_on(liar, "StreamSum").verdict == "pass"


def test_a_stream_that_is_wrong_is_not_measured() -> None:
    report = report_on(streaming(changed(lies.nothing), 5000), "StreamSum")
    assert report.messages_per_data_frame is None


# The end.


def test_each_check_is_announced_once_it_is_made_and_before_the_next() -> None:
    announced: list[Check] = []
    announced_at: list[int] = []

    def note(talk: Talk) -> Steps[None]:
        announced_at.append(len(announced))
        yield from honest(talk)

    with serving(note) as server:
        report = check(server.scope, None, announced.append)
    assert tuple(announced) == report.checks
    assert announced_at == sorted(announced_at)
    assert set(announced_at) == set(range(len(announced)))


def test_a_failure_does_not_keep_the_rest_from_being_made() -> None:
    report = report_on(unary(changed(lies.off_by_one), -3, 2))
    assert (names(report), failed(report)) == (ALONE, ["unary-sum"])
    assert report.first_failure == report.checks[0]


def jamming(talk: Talk) -> Steps[None]:
    talk.server.manner = lies.hanging
    yield from lies.bare("500")(talk)


@pytest.mark.parametrize(
    ("lie", "count", "watched", "said"),
    [
        (lies.dying, 5000, True, "then the server ended (signal 11)"),
        (lies.dying, 5000, False, "then GetSum is not answered (nothing listens there)"),
        (jamming, 10, True, "then GetSum is not answered (no answer within 0.1 s)"),
    ],
    ids=["it ends", "its end is not seen", "it lives but does not answer"],
)
def test_once_the_server_is_gone_nothing_more_is_made(
    lie: Manner, count: int, watched: bool, said: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.contract.checks._PROBE_TIMEOUT_S", 0.1)
    report = report_on(streaming(lie, count), "StreamSum", clock=clock if watched else None)
    assert names(report) == [*UNARY, "stream-10", *(["stream-5000"] if count == 5000 else [])]
    assert report.checks[-1].detail.endswith(f"; {said}")


def test_a_server_that_was_never_there_fails_the_first_check(clock: Clock) -> None:
    with serving(honest) as server:
        server.die("exit code 3")
        report = check(server.scope, Outside(server, clock))
    said = "nothing listens there; then the server ended (exit code 3)"
    assert report.checks == (Check(check="unary-sum", status="fail", detail=said),)


# Watching.


def test_a_server_that_is_never_idle_is_not_judged_by_its_cpu(clock: Clock) -> None:
    assert report_on(honest, "StreamSum", clock=clock, busy=True).verdict == "pass"


@pytest.mark.parametrize(("calls", "light"), [(("StreamSum",), True), ((), False)])
def test_a_server_that_need_not_rest_is_not_watched(calls: tuple[Call, ...], light: bool) -> None:
    class Unseen:
        def ended(self) -> str | None:
            return None

        def cost(self) -> Cost:
            pytest.fail("it was watched")

    assert report_on(honest, *calls, watched=Unseen(), light=light).verdict == "pass"


@pytest.mark.parametrize("busy", [True, False])
def test_a_server_that_hoards_an_endless_stream_fails_and_is_not_given_another(
    busy: bool, clock: Clock
) -> None:
    hoarding = endlessly(lies.working(honest, 40 << 20), narrow=True)
    report = report_on(hoarding, "StreamSum", clock=clock, busy=busy)
    assert report.first_failure
    assert failed(report) == ["backpressure"]
    assert report.first_failure.detail.startswith("its memory grows with the window closed")
    assert "cancel" not in names(report)
    assert "four-streams" in names(report)


# Streams without an end.


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """Collect what the contract is answered."""
    found = []
    call = Wire.request

    def noting(*arguments: object, **options: object) -> Answer:
        found.append(call(*arguments, **options))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(Wire, "request", noting)
    return found


@pytest.mark.parametrize(
    ("ask", "count"),
    [
        (flow_control.long_stream, LONG),
        (lambda scope: values.stream(scope, stream_request(10)), 10),
    ],
)
def test_a_stream_without_an_end_is_given_up_soon_after_its_time(
    ask: Callable[[Scope], object], count: int, answers: list[Answer]
) -> None:
    with serving(streaming(changed(lies.without_end))) as server:
        error = wrong(ask, replace(server.scope, calls=frozenset({"GetSum", "StreamSum"})))
    assert error.detail == f"there are more than {count} replies"
    assert count < len(answers[0].messages) < 4 * LONG


# What is asked.


def test_the_profiles_own_request_is_asked_to_the_letter_and_once() -> None:
    asked: list[StreamRequest] = []
    noting = lying("StreamSum", honest, asked.append)
    report_on(noting, "StreamSum", requests=(PROFILE,))
    own = StreamRequest(**PROFILE)
    assert asked.count(own) == 1
    assert [each.count for each in asked[:6]] == [10, 5000, PROFILE["count"], 0, -3, 10]


def test_the_edges_of_int32_are_asked_and_what_is_beyond() -> None:
    requests: list[SumRequest] = []
    with serving(lying("GetSum", honest, requests.append)) as server:
        assert values.unary_extremes(server.scope) == ""
    asked = {(each.a, each.b) for each in requests}
    most, least = 2**31 - 1, -(2**31)
    assert {(most, 0), (least, 0), (most - 1, 1), (least + 1, -1)} <= asked
    assert {(most, least), (least, most), (0, 0), (1, -1), (-1, -1)} <= asked
    assert {(most, 1), (most, most), (least, -1), (least, least)} <= asked


def test_no_two_calls_are_the_same_but_at_the_edges() -> None:
    requests: list[SumRequest] = []
    for _ in range(2):
        report_on(lying("GetSum", honest, requests.append))
    asked = [(each.a, each.b) for each in requests]
    edges = {*values._EXTREMES, *values._OVERFLOWS, (-3, 2), (0, 0)}
    random = [each for each in asked if each not in edges]
    assert edges <= set(asked)
    assert len(random) > 40
    assert len(set(random)) == len(random)


def test_in_earnest_a_stream_is_long_and_connections_are_many() -> None:
    assert EARNEST == (100_000, 64)


@pytest.mark.parametrize("absent", ["a", "b"])
def test_operands_that_are_left_out_are_asked_for_too(absent: str) -> None:
    """A decoder written by hand may take the first field for granted."""

    def half(asked: SumRequest) -> bool:
        return getattr(asked, absent) == 0 and (asked.a, asked.b) != (0, 0)

    report = report_on(lying("GetSum", lies.constant(1), half))
    assert failed(report)[0] == "unary-sum"


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
