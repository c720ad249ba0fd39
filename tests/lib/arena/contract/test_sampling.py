"""Replies that are checked during a load."""

import time

import pytest

from arena.contract.client import Client, LostConnectionError
from arena.contract.sampling import _CONNECTIONS, CALLS, Sampler
from arena.contract.scope import Scope
from arena.record.measurement import Sampled
from arena.what.profile import MeasuredProfile
from tests.fakes import a_profile
from tests.lib.arena.contract.lies import (
    choosing,
    failing,
    going_away,
    hanging_up,
    off_by_one,
    payload,
    resetting,
    unary,
    without_last,
)
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.talk import Manner, changed, honest

WINDOW_S = 0.05


def profile_of(method: str) -> MeasuredProfile:
    requests = {
        "GetSum": {"request": {"a": 1, "b": 2}, "messages_per_call": 1},
        "StreamSum": {},
        "CollectSum": {
            "request": {"a": 1, "b": 2},
            "requests_per_call": 50,
            "messages_per_call": 51,
        },
        "EchoSum": {"request": {"a": 1, "b": 2}, "requests_per_call": 50, "messages_per_call": 100},
    }[method]
    call = f"benchmark.BenchmarkService/{method}"
    return a_profile(call=call, duration_s=WINDOW_S, **requests)


def sampled(scope: Scope, method: str = "GetSum", runs: int = 4) -> Sampled:
    sampler = Sampler(scope, profile_of(method), runs, None)
    sampler.start()
    deadline = time.monotonic() + 60
    while sampler.is_busy:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return sampler.stop()


@pytest.mark.parametrize(
    ("method", "calls"), [("GetSum", 60), ("StreamSum", 1), ("CollectSum", 2), ("EchoSum", 2)]
)
def test_right_replies_of_every_kind_of_call_are_right(method: str, calls: int) -> None:
    with serving(honest) as server:
        found = sampled(server.scope, method)
    assert (found.calls, found.failed, found.wrong) == (calls, 0, 0)
    assert found.cpu_s > 0


@pytest.mark.parametrize("lie", [changed(change=off_by_one), payload(lambda _: b"\0\0\0\0\1\xff")])
def test_one_wrong_reply_is_found(lie: Manner) -> None:
    once = iter([False] * 7 + [True])
    sometimes = choosing(about=lambda _: next(once, False), lie=lie)
    with serving(unary(sometimes)) as server:
        found = sampled(server.scope)
    assert (found.calls, found.failed, found.wrong) == (CALLS // 4, 0, 1)
    assert "reply 0 is" in found.sample


def test_a_stream_without_its_last_reply_is_wrong() -> None:
    with serving(changed(change=without_last)) as server:
        assert sampled(server.scope, "StreamSum").sample == "4999 replies, not 5000"


@pytest.mark.parametrize(
    "lie", [failing(status=8), resetting(code=2), going_away(code=0), hanging_up]
)
def test_a_call_that_fails_is_counted_and_is_no_wrong_reply(lie: Manner) -> None:
    once = iter([True])
    with serving(unary(choosing(about=lambda _: next(once, False), lie=lie))) as server:
        # One call on each connection: none is lost with another one's.
        found = sampled(server.scope, runs=CALLS // _CONNECTIONS)
    assert (found.failed, found.wrong) == (1, 0)


def test_a_server_that_is_not_there_has_no_wrong_reply(closed_port: int) -> None:
    found = sampled(Scope(closed_port, tls=False))
    assert found.calls == found.failed > 0
    assert found.wrong == 0


def test_a_fault_of_our_own_is_no_silent_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "ask", lambda *_: 1 / 0)
    with serving(honest) as server, pytest.raises(ZeroDivisionError):
        sampled(server.scope)


def test_a_call_whose_connection_breaks_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Client) -> None:
        raise LostConnectionError("it broke")

    monkeypatch.setattr(Client, "flush", broken)
    with serving(honest) as server:
        found = sampled(server.scope)
    assert found.calls == found.failed == CALLS // 4


def test_a_connection_is_replaced_before_its_calls_are_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.contract.sampling._TIMEOUT_S", 0.04)
    monkeypatch.setattr("arena.contract.sampling._CONNECTIONS", 1)
    with serving(honest) as server:
        found = sampled(server.scope, runs=12)
    assert found.calls == CALLS // 12
    assert found.failed < found.calls


def test_a_session_makes_its_calls_in_all_of_its_runs() -> None:
    with serving(honest) as server:
        assert sampled(server.scope, runs=3).calls == CALLS // 3
