"""When a server listens, and when its first right reply comes, seen by a thread of its own."""

import socket
import time
from contextlib import closing

import pytest

from arena.base.errors import FrameworkError
from arena.contract import Lookout, Scope, starting
from arena.contract.client import connected
from tests.lib.arena.contract.lies import constant, hanging
from tests.lib.arena.contract.lying_server import serving
from tests.lib.arena.contract.talk import Manner, honest

PATIENCE_S = 60.0


def failure(scope: Scope, timeout_s: float, how: str | None = None) -> str:
    with Lookout(scope) as lookout, pytest.raises(FrameworkError) as caught:
        lookout.wait(timeout_s, lambda: how)
    assert caught.value.stage == "start"
    return caught.value.reason


def test_both_moments_are_seen_in_their_order() -> None:
    began = time.monotonic()
    with serving(honest) as server, Lookout(server.scope) as lookout:
        listens_s, replies_s = lookout.wait(PATIENCE_S, lambda: None)
    assert began < listens_s < replies_s < time.monotonic()


def test_a_server_that_is_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = list[float]()

    def refused(port: int, timeout_s: float) -> socket.socket:
        tries.append(time.monotonic())
        if len(tries) < 20:
            raise ConnectionRefusedError(111, "Connection refused")
        return connected(port, timeout_s)

    monkeypatch.setattr(starting, "connected", refused)
    with serving(honest) as server, Lookout(server.scope) as lookout:
        listens_s, _ = lookout.wait(PATIENCE_S, lambda: None)
    assert listens_s > tries[-1] > tries[0]
    assert len(tries) == 20


@pytest.mark.parametrize(
    ("manner", "said"),
    [(constant(7), "reply 0 is 7, not "), (hanging, "no answer within 0.05 s")],
)
def test_a_reply_that_is_wrong_is_not_the_first_good_one(
    manner: Manner, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_ANSWERS_WITHIN_S", 5.0 if said.startswith("reply") else 0.05)
    with serving(manner) as server:
        # Long enough for a first call.
        assert f"within 2 s ({said}" in failure(server.scope, 2.0)


def test_a_server_that_ends_or_never_listens_is_a_failure() -> None:
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        scope = Scope(bound.getsockname()[1], tls=False)
        assert failure(scope, 60, "exit code 3").endswith("ended before it was ready (exit code 3)")
        said = f"was not ready on port {scope.port} within 0.01 s (nothing listens there)"
        assert failure(scope, 0.01).endswith(said)


def test_what_this_host_cannot_do_is_raised_where_it_is_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> socket.socket:
        raise LookupError("no such thing")

    monkeypatch.setattr(starting, "connected", broken)
    with Lookout(Scope(1, tls=False)) as lookout, pytest.raises(LookupError, match="no such thing"):
        lookout.wait(PATIENCE_S, lambda: None)
