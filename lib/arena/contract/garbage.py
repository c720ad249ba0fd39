"""Whether a server refuses malformed requests, and still answers correctly afterwards.

The checks return what is merely odd: a client could live with it.
"""

from arena.contract.asks import UNIMPLEMENTED, still_right, usual
from arena.contract.client import Client, HangError
from arena.contract.messages import PREFIX, WrongError, frame, hexadecimal, showing
from arena.contract.scope import Scope
from arena.contract.wire import Answer, code_name

_TIMEOUT_S = 2.0  # a server needs little time to refuse garbage
_AFTERWARDS_S = 10.0

_NOT_FOUND = "404"

# Field 1 with a varint that never ends; a length that reaches beyond the message.
_MALFORMED = (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0a\x7f\x01")
_HUGE = 0xFFFF_FFFF


def unknown_method(scope: Scope) -> str:
    """Call an unknown method and an unknown service: UNIMPLEMENTED."""
    odd, ask = "", usual(scope)
    package = ask.service.rpartition(".")[0]
    strange = f"{package}.NoSuchService" if package else "NoSuchService"
    for path in (f"{ask.service}/GetDifference", f"{strange}/{ask.method}"):
        answer = _answered(scope, path, frame(b""), timeout_s=_AFTERWARDS_S)
        if answer is None:
            raise WrongError(f"/{path}: no answer within {_AFTERWARDS_S:g} s")
        if answer.status == UNIMPLEMENTED:
            continue
        status = (answer.headers or {}).get(":status")
        if answer.status is None and status == _NOT_FOUND:
            # Clients must read it as UNIMPLEMENTED (gRPC: HTTP to gRPC status mapping).
            odd = f"/{path}: HTTP status 404, and no grpc-status"
            continue
        raise WrongError(f"/{path}: {_outcome(answer)}, not UNIMPLEMENTED (12)")
    return odd


def malformed_message(scope: Scope) -> str:
    """Send protobuf that cannot be parsed."""
    return _all_refused(scope, [frame(each) for each in _MALFORMED])


def truncated_message(scope: Scope) -> str:
    """Send a message, and a prefix, that END_STREAM cuts short."""
    whole = frame(b"\x08\x01\x10\x02")
    return _all_refused(scope, [whole[:-2], whole[:3]])


def oversized_prefix(scope: Scope) -> str:
    """Send a prefix that announces four gigabytes, then END_STREAM."""
    return _all_refused(scope, [PREFIX.pack(0, _HUGE) + b"\x08\x01"])


def content_type(scope: Scope) -> str:
    """Send a content-type that is not gRPC's: the answer must not be OK."""
    ask = usual(scope)
    answer = _answered(scope, ask.path, ask.body, kind="text/plain")
    if answer is not None and _is_ok(answer):
        return "text/plain is taken for gRPC, and answered"
    return "" if answer is not None else "text/plain is never answered"


def _all_refused(scope: Scope, bodies: list[bytes]) -> str:
    """Send each body to the usual call; return what is odd in how they were refused."""
    odd = ""
    for body in bodies:
        with showing(body):
            answer = _answered(scope, usual(scope).path, body, may_end_twice=True)
        if answer is None:
            odd = f"never answered: {hexadecimal(body)}"
        elif _is_ok(answer):
            raise WrongError("it is answered with OK", body)
        elif answer.ended_twice:
            odd = f"the stream is ended twice: {hexadecimal(body)}"
        elif not answer.over:
            odd = "the whole connection is closed, with all its other calls"
    return odd


def _answered(
    scope: Scope,
    path: str,
    body: bytes,
    kind: str = "application/grpc",
    timeout_s: float = 0,
    *,
    may_end_twice: bool = False,
) -> Answer | None:
    """Return the response, which may be a reset or a closed connection; None if nothing comes.

    WrongError if the server does not answer a correct call afterwards.
    """
    answer: Answer | None = None
    with Client(scope, timeout_s or _TIMEOUT_S) as client:
        try:
            answer = client.wire.request(path, body, content_type=kind)
            client.until_over(answer)
        except HangError:
            answer = None
        except WrongError:
            # Two threads of a server may refuse the same garbage.
            if not (may_end_twice and answer and answer.ended_twice):
                raise
    with Client(scope, _AFTERWARDS_S) as again:
        still_right(again, scope)
    return answer


def _is_ok(answer: Answer) -> bool:
    return answer.status == "0" and (answer.headers or {}).get(":status") == "200"


def _outcome(answer: Answer) -> str:
    """Return how a call ended, as text."""
    if answer.reset is not None:
        return f"RST_STREAM ({code_name(answer.reset)})"
    if answer.status is not None:
        return f"grpc-status {answer.status:.20}"
    status = (answer.headers or {}).get(":status")
    return f"HTTP status {status:.10}" if status else "the connection is closed"
