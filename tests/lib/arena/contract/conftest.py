"""What the tests of the contract share: short counts and waits, a certificate, a clock."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.contract import checks, connections, flow_control, values
from arena.contract.wire import Answer
from arena.machine import certs
from tests.lib.arena.contract.lies import CONNECTIONS, LONG
from tests.lib.arena.contract.lying_server import Clock
from tests.lib.arena.contract.peer import Peer


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the contract small, and let its thread and the server's take turns quickly."""
    monkeypatch.setattr(flow_control, "LONG", LONG)
    monkeypatch.setattr(connections, "CONNECTIONS", CONNECTIONS)
    monkeypatch.setattr(flow_control, "_QUIET_S", 0.02)
    monkeypatch.setattr(flow_control, "_SILENT_S", 0.02)
    monkeypatch.setattr(values, "_QUIET_S", 0.02)
    monkeypatch.setattr(checks, "_LAST_BREATH_S", 0.05)
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop the time for whoever watches a server."""
    clock = Clock()
    monkeypatch.setattr(flow_control, "time", clock)
    return clock


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Keep a port at which nobody listens, and which nobody else gets."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the certificate of the servers with TLS."""
    folder = tmp_path_factory.mktemp("certificates")
    certs.ensure_certificate(folder)
    return folder


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.fixture
def answer(peer: Peer) -> Answer:
    """Open a call of the peer."""
    return peer.call()
