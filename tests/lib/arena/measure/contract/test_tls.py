"""What a failed handshake means: most checks fail, and that of the old versions passes."""

import socket
from collections.abc import Callable

import pytest

from arena.measure.contract import Scope, tls
from tests.lib.arena.measure.contract.clients import (
    Converse,
    answering,
    hearing,
    speaking_http1,
    until_end,
)
from tests.lib.arena.measure.contract.peer import wrong

Check = Callable[[Scope], object]
each_check = pytest.mark.parametrize("check", [tls.alpn, tls.version, tls.downgrade])


@each_check
def test_a_server_that_never_shakes_hands_is_given_up(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_TIMEOUT_S", 0.1)
    with answering(until_end, tls=True) as scope:
        assert wrong(check, scope).detail == "no TLS handshake within 0.1 s"


@each_check
def test_a_server_that_is_gone_is_reported(check: Check, closed_port: int) -> None:
    error = wrong(check, Scope(closed_port, tls=True))
    assert error.detail == "the TLS handshake fails (Connection refused)"


@pytest.mark.parametrize("converse", [hearing, speaking_http1])
def test_a_server_that_breaks_off_fails_but_where_it_is_offered_old_versions(
    converse: Converse,
) -> None:
    with answering(converse, tls=True) as scope:
        tls.version(scope)
        for check in (tls.alpn, tls.downgrade):
            assert wrong(check, scope).detail.startswith(
                ("the TLS handshake fails (", "the server hangs up on the TLS handshake")
            )


def test_a_reset_is_reported_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(plain: socket.socket, _: object) -> None:
        plain.close()
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(tls, "tls_over", reset)
    with answering(until_end, tls=True) as scope:
        assert wrong(tls.alpn, scope).detail == "the server hangs up on the TLS handshake"
        tls.version(scope)
