"""Those whose streams do not flow, or not many at once, and those that take garbage for a call."""

from math import inf

from google.protobuf.message import DecodeError
from hyperframe.frame import HeadersFrame

from arena.contract.asks import INT32_MAX
from arena.contract.messages import PREFIX, is_grpc
from arena.what.benchmark_pb2 import SumRequest
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.lies import (
    CONNECTIONS,
    LONG,
    MANY_BYTES,
    NUMBER,
    SOON_S,
    Liar,
    at,
    at_call,
    endlessly,
    on_stream,
    streaming,
)
from tests.lib.arena.contract.talk import (
    Manner,
    Steps,
    Talk,
    answer,
    changed,
    honest,
    manner,
)

_LONG = f"stream-{LONG}"
_BACK = "backpressure"
_CANCEL = "cancel"
_FOUR = "four-streams"
_MANY = f"connections-{CONNECTIONS}"
_WRONG = f"is {NUMBER}, not {NUMBER}"
_CLOSED = "the server closed the connection in the middle of the call"
_LOST = f"afterwards, GetSum: ({_CLOSED}|.*broke.*)"
_MIB = 1 << 20

_LONG_HANG = {"flow_control._LONG_TIMEOUT_S": SOON_S}
_FLOW_HANG = {"flow_control.TIMEOUT_S": SOON_S}
# For what has to be seen before the contract goes on.
_QUIET = {"flow_control._QUIET_S": SOON_S}
_CROWD_HANG = {"connections.TIMEOUT_S": SOON_S}

LONG_STREAM = [
    Liar(_LONG, "the window is ignored", streaming(lies.ignoring_the_window),
         r"the server sent \d+ bytes more than the window allows", MANY_BYTES, alone=False,
         short=_QUIET),
    Liar(_LONG, "nothing before all is made", streaming(lies.hanging, LONG),
         "no first reply: no answer within 0.3 s; is all of it made before any is sent\\?",
         short=_LONG_HANG),
    Liar(_LONG, "all is made and kept before any is sent",
         streaming(lies.buffering(40 * _MIB), LONG),
         "no first reply while its memory grows by 80 MiB: all is made before"),
    Liar(_LONG, "an end at the closed window", streaming(lies.until_closed(lies.failing(0)), LONG),
         rf"the stream ended after \d+ replies, not {LONG}", short=_QUIET),
    Liar(_LONG, "an end after a few", streaming(changed(lies.at_most(100)), LONG),
         f"the stream ended after 100 replies, not {LONG}", short=_QUIET),
    Liar(_LONG, "an error", streaming(lies.until_closed(lies.failing(8, "no memory")), LONG),
         r"grpc-status is 8, not 0 \(no memory\)", short=_QUIET),
    Liar(_LONG, "nothing more once it is open again",
         streaming(lies.until_closed(lies.hanging), LONG), "no answer within 0.3 s",
         short=_LONG_HANG),
    Liar(_LONG, "RST_STREAM at the closed window",
         streaming(lies.until_closed(lies.resetting_now(3)), LONG),
         r"the server reset the stream \(FLOW_CONTROL_ERROR\)"),
    Liar(_LONG, "the last is missing", streaming(changed(lies.without_last), LONG),
         f"{LONG - 1} replies, not {LONG}"),
    Liar(_LONG, "one too many", streaming(changed(lies.with_one_more), LONG),
         f"({LONG + 1} replies, not {LONG}|there are more than {LONG} replies)"),
    Liar(_LONG, "no end", streaming(changed(lies.without_end), LONG),
         f"there are more than {LONG} replies"),
    Liar(_LONG, "two have changed places", streaming(changed(lies.swapped), LONG),
         f"reply 3 {_WRONG}"),
    Liar(_LONG, "the last is one too large", streaming(changed(lies.last_off_by_one), LONG),
         f"reply {LONG - 1} {_WRONG}"),
]  # fmt: skip

BACKPRESSURE = [
    Liar(_BACK, "the window is ignored", endlessly(lies.ignoring_the_window, narrow=True),
         r"the server sent \d+ bytes more than the window allows", MANY_BYTES, short=_QUIET),
    Liar(_BACK, "all is made before any is sent", endlessly(lies.buffering(40 * _MIB), narrow=True),
         "no first reply while its memory grows by 80 MiB: all is made before"),
    Liar(_BACK, "all is made before any is sent, unseen", endlessly(lies.hanging, narrow=True),
         "no first reply: no answer within 0.3 s; is all of it made before any is sent\\?",
         short=_FLOW_HANG, watched=False),
    Liar(_BACK, "busy at the closed window", endlessly(lies.working(honest), narrow=True),
         "the server goes on making replies with the window closed: "
         "it uses 10.0 s of CPU and 0 MiB more memory in 10.0 s"),
    Liar(_BACK, "busy and growing", endlessly(lies.working(honest, growth=_MIB // 4), narrow=True),
         "the server goes on making replies with the window closed: "
         r"it uses \d+.\d s of CPU and \d\d MiB more memory in 10.\d s"),
    Liar(_BACK, "growing at the closed window",
         endlessly(lies.working(honest, growth=30 * _MIB), narrow=True),
         "its memory grows with the window closed: by 90 MiB, replies that nobody takes"),
    Liar(_BACK, "a wrong value", endlessly(changed(lies.off_by_one), narrow=True),
         f"reply 0 {_WRONG}"),
    Liar(_BACK, "an end at the closed window",
         endlessly(lies.until_closed(lies.failing(0)), narrow=True),
         r"the stream ended after \d+ replies", short=_QUIET),
    Liar(_BACK, "an end after a few", endlessly(changed(lies.at_most(100)), narrow=True),
         "the stream ended after 100 replies", short=_QUIET),
    Liar(_BACK, "an error", endlessly(lies.until_closed(lies.failing(8)), narrow=True),
         "grpc-status is 8, not 0", short=_QUIET),
    Liar(_BACK, "the connection dies with the cancel",
         endlessly(lies.after_cancel(lies.losing_the_connection), narrow=True), _LOST),
    Liar(_BACK, "it dies at the closed window",
         endlessly(lies.until_closed(lies.dying), narrow=True),
         r"the server ended with the window closed; then the server ended \(signal 11\)",
         alone=False, short={"flow_control._QUIET_S": 30.0}),
]  # fmt: skip

CANCEL = [
    Liar(_CANCEL, "it never stops", endlessly(lies.after_cancel(lies.sending_on), narrow=False),
         "the server still sends 1 s after RST_STREAM",
         short={"flow_control.TIMEOUT_S": 1, "flow_control._SILENT_S": 0.5}),
    Liar(_CANCEL, "the connection dies with it",
         endlessly(lies.after_cancel(lies.losing_the_connection), narrow=False), _LOST),
    Liar(_CANCEL, "an end before it", endlessly(changed(lies.at_most(100)), narrow=False),
         "the stream ended after 100 replies"),
    Liar(_CANCEL, "an error before it", endlessly(lies.refusing(8), narrow=False),
         "grpc-status is 8, not 0"),
    Liar(_CANCEL, "no replies", endlessly(lies.hanging, narrow=False), "no answer within 0.3 s",
         short=_FLOW_HANG),
    Liar(_CANCEL, "busy ever after",
         endlessly(lies.after_cancel(lies.working(lies.hanging)), narrow=False),
         "the server goes on making replies after its stream was cancelled: "
         "it uses 10.0 s of CPU and 0 MiB more memory in 10.0 s"),
    Liar(_CANCEL, "growing ever after",
         endlessly(lies.after_cancel(lies.working(lies.hanging, growth=40 * _MIB)), narrow=False),
         "its memory grows after its stream was cancelled: by 80 MiB, replies that nobody takes"),
]  # fmt: skip

CROWD = [
    Liar(_FOUR, "three of four", streaming(on_stream(4, changed(lies.without_last)), 1000),
         "stream 4 of 4: 999 replies, not 1000"),
    Liar(_FOUR, "each has the first one's replies", streaming(lies.prepared(), 1000),
         f"stream 2 of 4: reply 0 {_WRONG}"),
    Liar(_FOUR, "one is refused", streaming(on_stream(3, lies.resetting(7)), 1000),
         r"the server reset the stream \(REFUSED_STREAM\)"),
    Liar(_FOUR, "one is never answered", streaming(on_stream(2, lies.hanging), 1000),
         "no answer within 0.3 s", short=_CROWD_HANG),
    Liar(_MANY, "one is wrong", streaming(at_call(5, changed(lies.swapped)), 50),
         rf"connection \d of {CONNECTIONS}: reply 3 {_WRONG}"),
    Liar(_MANY, "one is closed", streaming(at_call(5, lies.hanging_up), 50),
         rf"connection \d of {CONNECTIONS}: {_CLOSED}"),
    Liar(_MANY, "one is never answered", streaming(at_call(5, lies.hanging), 50),
         rf"connection \d of {CONNECTIONS}: no answer within 0.3 s", short=_CROWD_HANG),
    Liar(_MANY, "all have the same replies", streaming(lies.constant(3, 4, 5), 50),
         f"connection 1 of {CONNECTIONS}: reply 0 {_WRONG}"),
]  # fmt: skip

FLOW = [*LONG_STREAM, *BACKPRESSURE, *CANCEL, *CROWD]


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
