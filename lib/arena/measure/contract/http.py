"""Whether a server answers requests over HTTP/1.1."""

import http.client

from arena.measure.contract.client import tls_context
from arena.measure.contract.scope import Scope


def probe(scope: Scope, timeout_s: float) -> str | None:
    """Return why a request is not answered; None if any answer comes."""
    if scope.tls:
        context = tls_context(["http/1.1"])
        link: http.client.HTTPConnection = http.client.HTTPSConnection(
            "localhost", scope.port, timeout=timeout_s, context=context
        )
    else:
        link = http.client.HTTPConnection("localhost", scope.port, timeout=timeout_s)
    try:
        link.request("GET", "/")
        link.getresponse().read()
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        link.close()
    return None
