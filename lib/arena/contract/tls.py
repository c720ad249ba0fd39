"""Whether a server's TLS is up to date and negotiates HTTP/2. Checks return what is odd."""

import ssl
import warnings
from contextlib import closing

from arena.contract.link import Place, connected, tls_context, tls_over
from arena.contract.messages import WrongError

_TIMEOUT_S = 5.0


def alpn(place: Place) -> str:
    """Offer h2: the server chooses it, and prefers it to HTTP/1.1."""
    if (chosen := _handshake(place)[0]) != "h2":
        raise WrongError(f"offered h2, the server chooses {chosen or 'nothing'}")
    for offer in (("h2", "http/1.1"), ("http/1.1", "h2")):
        if (chosen := _handshake(place, offer)[0]) != "h2":
            return f"offered {' and '.join(offer)}, the server chooses {chosen or 'nothing'}"
    return ""


def version(place: Place) -> None:
    """Offer only TLS 1.0 and 1.1: the server refuses both."""
    for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        try:
            _, spoken = _handshake(place, only=old)
        except _RefusedError:
            continue
        raise WrongError(f"the server speaks {spoken}")


def downgrade(place: Place) -> str:
    """Offer all versions: the server chooses the newest."""
    _, spoken = _handshake(place)
    odd = f"the server chooses {spoken}, though TLSv1.3 is offered"
    return "" if spoken == "TLSv1.3" else odd


class _RefusedError(WrongError):
    """The server ended the handshake."""


def _handshake(
    place: Place, protocols: tuple[str, ...] = ("h2",), only: ssl.TLSVersion | None = None
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
        plain = connected(place.port, _TIMEOUT_S)
        with closing(tls_over(plain, context)) as secure:
            return secure.selected_alpn_protocol(), secure.version()
    except ssl.SSLError as error:
        raise _RefusedError(f"the TLS handshake fails ({error.reason or error})") from error
    except TimeoutError as error:
        raise WrongError(f"no TLS handshake within {_TIMEOUT_S:g} s") from error
    except ConnectionResetError as error:
        raise _RefusedError("the server hangs up on the TLS handshake") from error
    except OSError as error:
        raise WrongError(f"the TLS handshake fails ({error.strerror or error})") from error
