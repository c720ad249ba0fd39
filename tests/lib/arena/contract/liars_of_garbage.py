"""Those that mistake garbage for a call, or do not survive it."""

from math import inf

from google.protobuf.message import DecodeError
from hyperframe.frame import HeadersFrame

from arena.contract.expected import INT32_MAX
from arena.contract.messages import PREFIX, is_grpc
from arena.what.benchmark_pb2 import SumRequest
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.liar import NUMBER, SOON_S, Liar
from tests.lib.arena.contract.lies import at
from tests.lib.arena.contract.talk import Manner, Steps, Talk, answer, honest, manner

_UNKNOWN = "unknown-method"
_MALFORMED = "malformed-message"
_TRUNCATED = "truncated-message"
_OVERSIZED = "oversized-prefix"
_TYPE = "content-type"

_SHORT = {"garbage._TIMEOUT_S": SOON_S}
_METHOD = "/benchmark.BenchmarkService/GetDifference"
_SERVICE = "/benchmark.NoSuchService/GetSum"
_ENDED = r"the server ended \(signal 11\)"


def sort_of(talk: Talk) -> Steps[str]:
    """Return which check sends such a request; empty for those that are right."""
    if not is_grpc(talk.content_type):
        return _TYPE
    if not talk.path.startswith("/benchmark.BenchmarkService/") or talk.method == "GetDifference":
        return _UNKNOWN
    if talk.method != "GetSum":
        return ""
    yield from talk.half_close()
    return sort_of_body(bytes(talk.inbox))


def sort_of_body(body: bytes) -> str:
    """Return which check sends such a request to GetSum; empty for a right one."""
    length = PREFIX.unpack(body[: PREFIX.size])[1] if len(body) >= PREFIX.size else len(body)
    if length > INT32_MAX:
        return _OVERSIZED
    if len(body) < PREFIX.size + length:
        return _TRUNCATED
    try:
        SumRequest.FromString(body[PREFIX.size :])
    except DecodeError:
        return _MALFORMED
    return ""


@manner
def given(talk: Talk, sort: str, lie: Manner) -> Steps[None]:
    """Lie only about that garbage."""
    yield from (lie if (yield from sort_of(talk)) == sort else honest)(talk)


@manner
def sized(talk: Talk, lie: Manner, least: float = 0, below: float = inf) -> Steps[None]:
    """Lie only if a request has `least` bytes or more, and fewer than `below`."""
    yield from talk.half_close()
    yield from (lie if least <= len(talk.inbox) < below else honest)(talk)


def answering_anyway(talk: Talk) -> Steps[None]:
    """Say that all is well."""
    yield from answer(talk, [0])


def refusing_twice(talk: Talk) -> Steps[None]:
    """Refuse it, and once more after its end, in one write: no client waits for the second."""
    blocks = [
        talk.block([(":status", "200"), ("grpc-status", "13")]),
        talk.block([("grpc-status", "13")]),
    ]
    flags = ["END_HEADERS", "END_STREAM"]
    talk.raw(*(HeadersFrame(talk.stream, each, flags=flags) for each in blocks))
    yield from ()


def wrong_ever_after(talk: Talk) -> Steps[None]:
    """Refuse it, and never be right again."""
    talk.server.manner = lies.constant(7)
    yield from lies.only_trailers(13)(talk)


def refusing_ever_after(talk: Talk) -> Steps[None]:
    """Refuse it, and all that follows."""
    talk.server.manner = lies.only_trailers(14)
    yield from lies.only_trailers(13)(talk)


UNKNOWN_METHOD = [
    Liar(_UNKNOWN, "OK", given(_UNKNOWN, answering_anyway),
         rf"{_METHOD}: grpc-status 0, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "INTERNAL", given(_UNKNOWN, lies.only_trailers(13)),
         rf"{_METHOD}: grpc-status 13, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "any service's GetSum", at(_SERVICE, answering_anyway),
         rf"{_SERVICE}: grpc-status 0, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "HTTP 404", given(_UNKNOWN, lies.bare("404")),
         f"{_SERVICE}: HTTP status 404, and no grpc-status", status="warn"),
    Liar(_UNKNOWN, "a page with HTTP 404", given(_UNKNOWN, lies.page("404")),
         f"{_SERVICE}: HTTP status 404, and no grpc-status", status="warn"),
    Liar(_UNKNOWN, "a page with HTTP 200", given(_UNKNOWN, lies.page("200")),
         rf"{_METHOD}: HTTP status 200, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "HTTP 404, and INTERNAL",
         given(_UNKNOWN, lies.bare("404", ("grpc-status", "13"))),
         rf"{_METHOD}: grpc-status 13, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "HTTP 500", given(_UNKNOWN, lies.bare("500")),
         rf"{_METHOD}: HTTP status 500, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "RST_STREAM", given(_UNKNOWN, lies.resetting_now(7)),
         rf"{_METHOD}: RST_STREAM \(REFUSED_STREAM\), not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "the connection is closed", given(_UNKNOWN, lies.dropping),
         rf"{_METHOD}: the connection is closed, not UNIMPLEMENTED \(12\)"),
    Liar(_UNKNOWN, "refused twice", given(_UNKNOWN, refusing_twice),
         "trailers follow the end of their stream"),
    Liar(_UNKNOWN, "no answer", at(_SERVICE, lies.hanging), f"{_SERVICE}: no answer within 0.3 s",
         short={"garbage._AFTERWARDS_S": SOON_S}),
    Liar(_UNKNOWN, "it dies", given(_UNKNOWN, lies.dying), f"nothing listens there; then {_ENDED}",
         alone=False),
]  # fmt: skip

MALFORMED = [
    Liar(_MALFORMED, "OK to what never ends", given(_MALFORMED, sized(answering_anyway, least=9)),
         "it is answered with OK", "00 00 00 00 0c 08 ff ff ff ff ff ff ff ff ff ff ff"),
    Liar(_MALFORMED, "OK to what reaches beyond",
         given(_MALFORMED, sized(answering_anyway, below=9)), "it is answered with OK",
         "00 00 00 00 03 0a 7f 01"),
    Liar(_MALFORMED, "no answer", given(_MALFORMED, sized(lies.hanging, below=9)),
         "never answered: 00 00 00 00 03 0a 7f 01", status="warn", short=_SHORT),
    Liar(_MALFORMED, "the connection is closed", given(_MALFORMED, lies.dropping),
         "the whole connection is closed, with all its other calls", status="warn"),
    Liar(_MALFORMED, "it dies", given(_MALFORMED, lies.dying),
         f"nothing listens there; then {_ENDED}",
         "00 00 00 00 0c 08 ff ff ff ff ff ff ff ff ff ff ff", alone=False),
    Liar(_MALFORMED, "wrong ever after", given(_MALFORMED, wrong_ever_after),
         f"afterwards, GetSum: reply 0 is 7, not {NUMBER}", "00 00 00 00 02 08 07", alone=False),
    Liar(_MALFORMED, "refuses all ever after", given(_MALFORMED, refusing_ever_after),
         "afterwards, GetSum: grpc-status is 14, not 0",
         "00 00 00 00 0c 08 ff ff ff ff ff ff ff ff ff ff ff", alone=False),
    Liar(_MALFORMED, "what is no HTTP/2",
         given(_MALFORMED, lies.talking(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
         "a frame of 4740180 bytes is larger than allowed", "48 54 54 50 2f 31 2e 31 20"),
]  # fmt: skip

TRUNCATED = [
    Liar(_TRUNCATED, "OK to half a message", given(_TRUNCATED, sized(answering_anyway, least=5)),
         "it is answered with OK", "00 00 00 00 04 08 01"),
    Liar(_TRUNCATED, "OK to half a prefix", given(_TRUNCATED, sized(answering_anyway, below=5)),
         "it is answered with OK", "00 00 00"),
    Liar(_TRUNCATED, "no answer", given(_TRUNCATED, sized(lies.hanging, below=5)),
         "never answered: 00 00 00", status="warn", short=_SHORT),
    Liar(_TRUNCATED, "refused twice", given(_TRUNCATED, sized(refusing_twice, below=5)),
         "the stream is ended twice: 00 00 00", status="warn"),
    Liar(_TRUNCATED, "it dies", given(_TRUNCATED, sized(lies.dying, below=5)),
         f"nothing listens there; then {_ENDED}", "00 00 00", alone=False),
]  # fmt: skip

OVERSIZED = [
    Liar(_OVERSIZED, "OK", given(_OVERSIZED, answering_anyway), "it is answered with OK",
         "00 ff ff ff ff 08 01"),
    Liar(_OVERSIZED, "no answer", given(_OVERSIZED, lies.hanging),
         "never answered: 00 ff ff ff ff 08 01", status="warn", short=_SHORT),
    Liar(_OVERSIZED, "it dies of its memory", given(_OVERSIZED, lies.dying),
         f"nothing listens there; then {_ENDED}", "00 ff ff ff ff 08 01", alone=False),
]  # fmt: skip

CONTENT_TYPE = [
    Liar(_TYPE, "text/plain is answered", given(_TYPE, answering_anyway),
         "text/plain is taken for gRPC, and answered", status="warn"),
    Liar(_TYPE, "no answer", given(_TYPE, lies.hanging), "text/plain is never answered",
         status="warn", short=_SHORT),
    Liar(_TYPE, "it dies", given(_TYPE, lies.dying), f"nothing listens there; then {_ENDED}",
         alone=False),
]  # fmt: skip

GARBAGE = [*UNKNOWN_METHOD, *MALFORMED, *TRUNCATED, *OVERSIZED, *CONTENT_TYPE]
