"""Whether a server answers many calls at once, and whether its TLS is up to date.

Checks return what is odd.
"""

import ssl
import warnings
from contextlib import ExitStack, closing

from arena.contract.asks import Ask, many
from arena.contract.client import Client, connected, tls_context, tls_over
from arena.contract.messages import WrongError, named
from arena.contract.scope import AnyScope, Scope
from arena.contract.values import TIMEOUT_S
from arena.contract.wire import Answer

_STREAMS = 4
_REPLIES = 1000
CONNECTIONS = 64
_FEW_REPLIES = 50
_HANDSHAKE_S = 5.0


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


def alpn(scope: AnyScope) -> str:
    """Offer h2: the server chooses it, and prefers it to HTTP/1.1."""
    if (chosen := _handshake(scope)[0]) != "h2":
        raise WrongError(f"offered h2, the server chooses {chosen or 'nothing'}")
    for offer in (("h2", "http/1.1"), ("http/1.1", "h2")):
        if (chosen := _handshake(scope, offer)[0]) != "h2":
            return f"offered {' and '.join(offer)}, the server chooses {chosen or 'nothing'}"
    return ""


def version(scope: AnyScope) -> None:
    """Offer only TLS 1.0 and 1.1: the server refuses both."""
    for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        try:
            _, spoken = _handshake(scope, only=old)
        except _RefusedError:
            continue
        raise WrongError(f"the server speaks {spoken}")


def downgrade(scope: AnyScope) -> str:
    """Offer all versions: the server chooses the newest."""
    _, spoken = _handshake(scope)
    odd = f"the server chooses {spoken}, though TLSv1.3 is offered"
    return "" if spoken == "TLSv1.3" else odd


class _RefusedError(WrongError):
    """The server ended the handshake."""


def _handshake(
    scope: AnyScope, protocols: tuple[str, ...] = ("h2",), only: ssl.TLSVersion | None = None
) -> tuple[str | None, str | None]:
    """Return the protocol and the TLS version that a handshake agreed on."""
    with warnings.catch_warnings():
        # These versions are tried because they are deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        context = tls_context(protocols)
        if only is not None:
            context.minimum_version = context.maximum_version = only
            context.set_ciphers("ALL:@SECLEVEL=0")
    try:
        plain = connected(scope.port, _HANDSHAKE_S)
        with closing(tls_over(plain, context)) as secure:
            return secure.selected_alpn_protocol(), secure.version()
    except ssl.SSLError as error:
        raise _RefusedError(f"the TLS handshake fails ({error.reason or error})") from error
    except TimeoutError as error:
        raise WrongError(f"no TLS handshake within {_HANDSHAKE_S:g} s") from error
    except ConnectionResetError as error:
        raise _RefusedError("the server hangs up on the TLS handshake") from error
    except OSError as error:
        raise WrongError(f"the TLS handshake fails ({error.strerror or error})") from error
