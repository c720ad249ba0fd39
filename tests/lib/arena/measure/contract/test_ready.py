"""Waiting for a server that starts: it is ready once it answers a real call."""

import socket
import time
from collections.abc import Iterator

import pytest

from arena.base.errors import FrameworkError
from arena.measure.contract import Scope, checks, wait_ready
from tests.lib.arena.measure.contract.honest import honest
from tests.lib.arena.measure.contract.lies import bare, constant, hanging, only_trailers
from tests.lib.arena.measure.contract.lying_server import serving
from tests.lib.arena.measure.contract.talk import Manner


@pytest.fixture
def refusing() -> Iterator[int]:
    """Keep a port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("manner", [honest, constant(7), only_trailers(12)])
def test_a_server_is_ready_when_it_answers_even_wrongly(manner: Manner) -> None:
    with serving(manner) as server:
        wait_ready(Scope(server.port, tls=False), 5, lambda: None)


def not_ready(scope: Scope, timeout_s: float = 0.01) -> FrameworkError:
    with pytest.raises(FrameworkError) as caught:
        wait_ready(scope, timeout_s, lambda: None)
    assert caught.value.stage == "start"
    return caught.value


def test_a_server_may_take_its_time_to_listen(
    refusing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(honest) as server:
        ports = [server.port, refusing, refusing]
        probed = []
        probe = checks._probe

        def later(_: Scope) -> str | None:
            probed.append(ports.pop())
            return probe(Scope(probed[-1], tls=False))

        monkeypatch.setattr(checks, "_probe", later)
        monkeypatch.setattr(checks, "_POLL_S", 0)
        wait_ready(Scope(server.port, tls=False), 20, lambda: None)
    assert probed == [refusing, refusing, server.port]


def test_a_server_that_is_not_ready_in_time_is_a_failure_with_its_port(refusing: int) -> None:
    said = f"the server was not ready on port {refusing} within 0.01 s (nothing listens there)"
    assert not_ready(Scope(refusing, tls=False)).reason == said


def test_an_answer_without_a_grpc_status_is_none() -> None:
    with serving(bare("502")) as server:
        said = not_ready(Scope(server.port, tls=False)).reason
    assert said.endswith("(the answer has no grpc-status)")


def test_a_call_that_hangs_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_PROBE_TIMEOUT_S", 0.05)
    with serving(hanging) as server:
        said = not_ready(Scope(server.port, tls=False)).reason
    assert said.endswith("(no answer within 0.05 s)")


def test_a_server_that_ended_is_not_waited_for(
    refusing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(FrameworkError) as caught:
        wait_ready(Scope(refusing, tls=False), 60, lambda: "exit code 3")
    assert caught.value.reason == "the server ended before it was ready (exit code 3)"


def test_it_is_polled_no_faster_than_told(refusing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    ways = iter([None, None, "exit code 1"])
    monkeypatch.setattr(time, "sleep", waits.append)
    with pytest.raises(FrameworkError):
        wait_ready(Scope(refusing, tls=False), 60, lambda: next(ways))
    assert len(waits) == 2
    assert all(0 <= each <= 0.05 for each in waits)
