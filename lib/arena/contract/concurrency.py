"""Whether a server answers many calls at once."""

from contextlib import ExitStack

from arena.contract.asks import Ask, many
from arena.contract.client import Client
from arena.contract.messages import named
from arena.contract.scope import Scope
from arena.contract.values import TIMEOUT_S
from arena.contract.wire import Answer

_STREAMS = 4
_REPLIES = 1000
CONNECTIONS = 64
_FEW_REPLIES = 50


def streams(scope: Scope) -> str:
    """Make four calls at a time on one connection; return what is odd if four are too many."""
    with Client(scope, TIMEOUT_S) as client:
        client.wait(lambda: client.wire.greeted)
        most = client.wire.most_streams
        if most is not None and most < _STREAMS:
            return f"no more than {most} of {_STREAMS} calls are allowed at a time on a connection"
        asked = [_ask(scope, client, _REPLIES) for _ in range(_STREAMS)]
        client.finish(*(answer for _, answer in asked))
        for number, (ask, answer) in enumerate(asked, 1):
            with named(f"stream {number} of {_STREAMS}"):
                ask.require(answer)
    return ""


def connections(scope: Scope) -> None:
    """Make a call on each of 64 connections, all open before the first answer is read."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(scope, TIMEOUT_S)) for _ in range(CONNECTIONS)]
        asked = []
        for client in clients:
            asked.append((client, *_ask(scope, client, _FEW_REPLIES)))
            client.flush()
        for number, (client, ask, answer) in enumerate(asked, 1):
            with named(f"connection {number} of {CONNECTIONS}"):
                client.finish(answer)
                ask.require(answer)


def _ask(scope: Scope, client: Client, replies: int) -> tuple[Ask, Answer]:
    ask = many(scope, replies)
    return ask, client.ask(ask.path, ask.body)
