"""Who holds a port."""

import os
from types import SimpleNamespace

import psutil
import pytest

from arena.base.errors import HostError
from arena.machine import ports


def listener(port: int, pid: int | None, status: str = psutil.CONN_LISTEN) -> SimpleNamespace:
    return SimpleNamespace(status=status, laddr=SimpleNamespace(port=port), pid=pid)


@pytest.mark.parametrize(
    ("pid", "said"),
    [
        (os.getpid(), rf"port 8080 is taken by process {os.getpid()}: .*py"),
        (None, "taken by a process of another user"),
        (2**22 + 1, rf"taken by process {2**22 + 1};"),
    ],
    ids=["known", "of another user", "gone"],
)
def test_a_taken_port_is_refused_with_its_holder(
    monkeypatch: pytest.MonkeyPatch, pid: int | None, said: str
) -> None:
    monkeypatch.setattr(psutil, "net_connections", lambda **_: [listener(8080, pid)])
    with pytest.raises(HostError, match=said):
        ports.require_free_port(8080)


def test_a_port_that_only_has_connections_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets = [listener(8081, 1), listener(8080, 1, psutil.CONN_TIME_WAIT)]
    monkeypatch.setattr(psutil, "net_connections", lambda **_: sockets)
    ports.require_free_port(8080)
