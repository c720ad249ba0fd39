"""Waiting for a server that starts: it is ready once it answers a real call."""

import ssl
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from arena.base.errors import FrameworkError
from arena.contract import ItemScope, Scope, checks, wait_ready
from tests.lib.arena.contract.lies import bare, constant, hanging, only_trailers
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.talk import Manner, honest


@pytest.mark.parametrize("manner", [honest, constant(7), only_trailers(12)])
def test_a_server_is_ready_when_it_answers_even_wrongly(manner: Manner) -> None:
    with serving(manner) as server:
        wait_ready(server.scope, 5, lambda: None)


def not_ready(scope: Scope, timeout_s: float = 0.01) -> FrameworkError:
    with pytest.raises(FrameworkError) as caught:
        wait_ready(scope, timeout_s, lambda: None)
    assert caught.value.stage == "start"
    return caught.value


def test_a_server_may_take_its_time_to_listen(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(honest) as server:
        ports = [server.port, closed_port, closed_port]
        probed = []
        probe = checks._probe

        def later(_: Scope) -> str | None:
            probed.append(ports.pop())
            return probe(Scope(probed[-1], tls=False))

        monkeypatch.setattr(checks, "_probe", later)
        monkeypatch.setattr(checks, "_POLL_S", 0)
        wait_ready(server.scope, 20, lambda: None)
    assert probed == [closed_port, closed_port, server.port]


def test_a_server_that_is_not_ready_in_time_is_a_failure_with_its_port(closed_port: int) -> None:
    said = f"the server was not ready on port {closed_port} within 0.01 s (nothing listens there)"
    assert not_ready(Scope(closed_port, tls=False)).reason == said


@pytest.mark.parametrize(
    ("manner", "said"),
    [(bare("502"), "the answer has no grpc-status"), (hanging, "no answer within 0.05 s")],
)
def test_a_call_without_a_grpc_answer_is_made_again(
    manner: Manner, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_PROBE_TIMEOUT_S", 0.05 if manner is hanging else 5)
    with serving(manner) as server:
        assert not_ready(server.scope).reason.endswith(f"({said})")


def test_a_server_that_ended_is_not_waited_for(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(FrameworkError) as caught:
        wait_ready(Scope(closed_port, tls=False), 60, lambda: "exit code 3")
    assert caught.value.reason == "the server ended before it was ready (exit code 3)"


def test_it_is_polled_at_most_20_times_a_second(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    ways = iter([None, None, "exit code 1"])
    monkeypatch.setattr(time, "sleep", waits.append)
    with pytest.raises(FrameworkError):
        wait_ready(Scope(closed_port, tls=False), 60, lambda: next(ways))
    assert len(waits) == 2
    assert all(0 <= each <= 0.05 for each in waits)


class Refusing(BaseHTTPRequestHandler):
    """Answers every request with 404."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=[False, True], ids=["clear text", "TLS"])
def elsewhere(request: pytest.FixtureRequest, certificates: Path) -> Iterator[ItemScope]:
    """Return where a server over HTTP/1.1 is."""
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        if request.param:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield ItemScope(server.server_port, request.param, ("h1",), is_known=False)
        server.shutdown()
        thread.join()


def test_a_server_of_another_scenario_is_ready_when_it_answers_and_is_not_checked(
    elsewhere: ItemScope,
) -> None:
    wait_ready(elsewhere, 5, lambda: None)
    assert checks.check(elsewhere, None).checks == ()
