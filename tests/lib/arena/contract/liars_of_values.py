"""Those whose replies are wrong, to one request or to many."""

import ssl
from collections.abc import Callable
from typing import Any

from hyperframe.frame import HeadersFrame, PushPromiseFrame

from arena.contract.asks import INT32_MAX, INT32_MIN
from arena.contract.messages import frame
from arena.what.benchmark_pb2 import SumRequest
from tests.lib.arena.contract import lies
from tests.lib.arena.contract.lies import (
    NUMBER,
    PROFILE,
    SOON_S,
    Liar,
    choosing,
    lying,
    on_stream,
    streaming,
    unary,
)
from tests.lib.arena.contract.lying_server import Tls
from tests.lib.arena.contract.talk import (
    Manner,
    Steps,
    Talk,
    answer,
    changed,
    echoed,
    echoes,
    honest,
    manner,
    replies,
    reply,
)

_SUM = "unary-sum"
_EXTREMES = "unary-extremes"
_FRAMING = "framing"
_WRONG = f"is {NUMBER}, not {NUMBER}"
_HANG = {"values.TIMEOUT_S": SOON_S, "checks._PROBE_TIMEOUT_S": SOON_S}
_GONE = r"; then GetSum is not answered \(the answer has no grpc-status\)"
# All but its flag.
_A_REPLY = r"00 00 00 \w\w 08 [0-9a-f ]+"


def gone(problem: str) -> str:
    """Return the pattern of a detail that ends the contract."""
    return rf"{problem}; then GetSum is not answered \({problem}\)"


def more_headers(talk: Talk) -> HeadersFrame:
    return HeadersFrame(talk.stream, talk.block([("x-more", "yes")]), flags=["END_HEADERS"])


def push(talk: Talk) -> PushPromiseFrame:
    return PushPromiseFrame(talk.stream, 2, talk.block([(":path", "/")]), flags=["END_HEADERS"])


def overflows(asked: SumRequest) -> bool:
    return not INT32_MIN <= asked.a + asked.b <= INT32_MAX


def _wrong(lie: str, manner: Manner, words: str, wire: str = "", **more: Any) -> Liar:
    """Return a liar that answers every GetSum wrongly."""
    return Liar(_SUM, lie, unary(manner), words, wire, alone=False, **more)


VALUES = [
    _wrong("one is added to each sum", changed(lies.off_by_one), f"reply 0 {_WRONG}"),
    Liar(_SUM, "a negative sum loses its sign", unary(lies.constant(1), -3, 2),
         "reply 0 is 1, not -1", "00 00 00 00 02 08 01"),
    Liar(_SUM, "a sum of zero is no reply", unary(changed(lies.nothing), 0, 0), "0 replies, not 1",
         alone=False),
    _wrong("OK with an empty body", changed(lies.nothing), "0 replies, not 1"),
    _wrong("one reply too many", changed(lies.with_one_more), "2 replies, not 1"),
    _wrong("the answer to an earlier request", lies.prepared(), f"reply 0 {_WRONG}"),
    _wrong("no end of replies", changed(lies.without_end), "there are more than 10000 replies"),
    Liar(_EXTREMES, "wrong at one edge of int32", unary(lies.constant(0), INT32_MIN, 0),
         r"-2147483648 \+ 0 = -2147483648: reply 0 is 0, not -2147483648", "00 00 00 00 00"),
    Liar(_EXTREMES, "wrong where both edges meet", unary(lies.constant(1), INT32_MIN, INT32_MAX),
         r"-2147483648 \+ 2147483647 = -1: reply 0 is 1, not -1"),
    Liar(_EXTREMES, "sums that stay at the edge",
         lying("GetSum", lies.constant(INT32_MAX), overflows),
         r"sums do not wrap around: 2147483647 \+ 1 = -2147483648: "
         "reply 0 is 2147483647, not -2147483648", status="warn"),
    Liar(_EXTREMES, "an error beyond the edge", lying("GetSum", lies.only_trailers(11), overflows),
         r"sums do not wrap around: 2147483647 \+ 1 = -2147483648: grpc-status is 11, not 0",
         status="warn"),
]  # fmt: skip

FORMS = [
    _wrong("trailers only, and OK", lies.only_trailers(0),
           r"there are only trailers \(grpc-status 0\), not 1 reply"),
    _wrong("trailers only, and an error", lies.only_trailers(13, "it broke"),
           r"grpc-status is 13, not 0 \(it broke\)"),
    _wrong("right replies, and an error", lies.trailers_with(2), "grpc-status is 2, not 0"),
    _wrong("no trailers", lies.formed(ends=Talk.end),
           r"the call ended without grpc-status in its trailers" + _GONE),
    _wrong("grpc-status in the headers instead", lies.formed(("grpc-status", "0"), ends=Talk.end),
           r"the call ended without grpc-status in its trailers "
           r"\(it is in the headers, before the replies\)" + _GONE),
    _wrong("a flag says compressed", lies.payload(lambda data: b"\1" + data[1:]),
           "a reply is compressed: none may be", f"01 {_A_REPLY}"),
    _wrong("a flag that is not known", lies.payload(lambda data: b"\7" + data[1:]),
           "a reply's flag is 7", f"07 {_A_REPLY}"),
    _wrong("grpc-encoding says deflate", lies.formed(("grpc-encoding", "deflate")),
           r"the replies are compressed, unasked \(grpc-encoding: deflate\)"),
    _wrong("a reply that is cut off", lies.payload(lambda data: data[:-1]),
           "the last reply is cut off", f"00 {_A_REPLY}"),
    _wrong("a prefix of four gigabytes", lies.payload(lambda _: b"\0\xff\xff\xff\xff"),
           "a reply announces 4294967295 bytes", "00 ff ff ff ff"),
    _wrong("no protobuf", lies.payload(lambda _: frame(b"\x08")), "reply 0 is not a SumReply",
           "00 00 00 00 01 08"),
    _wrong("HTTP status 500", lies.bare("500"),
           r"the server answered with HTTP status 500" + _GONE),
    _wrong("a page with HTTP status 500", lies.page("500"),
           r"the server answered with HTTP status 500" + _GONE),
    _wrong("a page", lies.page("200"), r"the content-type is 'text/html'" + _GONE),
    _wrong("right replies as a page", lies.formed(content_type="text/html"),
           "the content-type is 'text/html'"),
    _wrong("gRPC-Web", lies.formed(content_type="application/grpc-web+proto"),
           "the content-type is 'application/grpc-web[+]proto'"),
    _wrong("DATA before the headers", lies.formed(early=True),
           gone("DATA comes before the headers"), f"00 {_A_REPLY}"),
    _wrong("DATA after the trailers", lies.formed(ends=lies.data_after_trailers),
           "DATA follows the end of its stream", "00 00 00 00 02 08 07"),
    _wrong("headers twice", lies.formed(intruder=more_headers),
           gone("headers come in the middle of a stream")),
    _wrong("a push", lies.formed(intruder=push),
           gone("the server pushes, though that was turned off")),
    _wrong("what is no HTTP/2", lies.talking(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
           gone("a frame of 4740180 bytes is larger than allowed"), "48 54 54 50 2f 31 2e 31 20"),
]  # fmt: skip

BREAKS = [
    _wrong("never an answer", lies.hanging, gone("no answer within 0.3 s"), short=_HANG),
    _wrong("RST_STREAM", lies.resetting(2),
           gone(r"the server reset the stream \(INTERNAL_ERROR\)")),
    _wrong("GOAWAY", lies.going_away(11),
           gone("the server closed the connection in the middle of the call, "
           r"with GOAWAY \(ENHANCE_YOUR_CALM\)")),
    _wrong("the connection is closed", lies.hanging_up,
           gone("the server closed the connection in the middle of the call")),
    _wrong("it dies", lies.dying, r".*; then the server ended \(signal 11\)"),
    Liar(_EXTREMES, "it dies beyond the edge", lying("GetSum", lies.dying, overflows),
         r".*; then the server ended \(signal 11\)", alone=False),
    Liar(_EXTREMES, "it hangs up beyond the edge", lying("GetSum", lies.hanging_up, overflows),
         "the server closed the connection in the middle of the call"),
    Liar(_EXTREMES, "it dies at an edge", unary(lies.dying, INT32_MIN, 0),
         r"-2147483648 \+ 0 = -2147483648: .*; then the server ended \(signal 11\)", alone=False),
]  # fmt: skip

UNARY = [*VALUES, *FORMS, *BREAKS]

STREAMS = [
    Liar("stream-10", "the fourth and the fifth in each other's place",
         streaming(on_stream(1, changed(lies.swapped)), 10), f"reply 3 {_WRONG}"),
    Liar("stream-10", "the first only", streaming(on_stream(1, changed(lies.at_most(1))), 10),
         "1 reply, not 10"),
    Liar("stream-10", "OK with an empty body", streaming(on_stream(1, changed(lies.nothing)), 10),
         "0 replies, not 10"),
    Liar("stream-10", "the first again and again",
         streaming(changed(lambda values: [next(iter(values))] * 10), 10), f"reply 1 {_WRONG}",
         alone=False),
    Liar("stream-10", "trailers only", streaming(lies.only_trailers(0)),
         r"there are only trailers \(grpc-status 0\), not 10 replies", alone=False),
    Liar("stream-10", "one is added to each", streaming(changed(lies.off_by_one)),
         f"reply 0 {_WRONG}", alone=False),
    Liar("stream-10", "no StreamSum at all", streaming(lies.only_trailers(12, "unknown method")),
         r"grpc-status is 12, not 0 \(unknown method\)", alone=False),
    Liar("stream-5000", "the answer to an earlier request", streaming(lies.prepared()),
         f"reply 0 {_WRONG}", alone=False),
    Liar("stream-5000", "the last is missing", streaming(changed(lies.without_last), 5000),
         "4999 replies, not 5000"),
    Liar("stream-5000", "one too many", streaming(changed(lies.with_one_more), 5000),
         "(5001 replies, not 5000|there are more than 5000 replies)"),
    Liar("stream-5000", "the last is one too large", streaming(changed(lies.last_off_by_one), 5000),
         f"reply 4999 {_WRONG}"),
    Liar("stream-5000", "what a buffer holds", streaming(changed(lies.at_most(4096)), 5000),
         "4096 replies, not 5000"),
    Liar("stream-5000", "no end", streaming(changed(lies.without_end), 5000),
         "there are more than 5000 replies"),
    Liar("stream-5000", "compressed, as there are many",
         streaming(lies.payload(lambda data: b"\1" + data[1:]), 5000),
         "a reply is compressed: none may be", r"01 (?:[0-9a-f]{2} ){31}…"),
    Liar("stream-5000", "the last is cut off",
         streaming(lies.payload(lambda data: data[:-1]), 5000), "the last reply is cut off",
         r"00 00 00 00 \w\w 08 [0-9a-f ]+"),
    Liar("stream-5000", "all right, but not OK", streaming(lies.trailers_with(8, "too much"), 5000),
         r"grpc-status is 8, not 0 \(too much\)"),
    Liar("stream-profile", "wrong only under the load",
         streaming(changed(lies.last_off_by_one), PROFILE["count"]), "reply 299 is 303, not 302",
         "00 00 00 00 03 08 af 02"),
    Liar("stream-zero", "none asked, none sent", streaming(changed(lies.nothing), 0),
         "0 replies, not 1"),
    Liar("stream-zero", "none asked, an error", streaming(lies.only_trailers(3), 0),
         "grpc-status is 3, not 0"),
    Liar("stream-negative", "fewer than none", streaming(changed(lies.nothing), -3),
         "0 replies, not 1"),
    Liar("stream-negative", "the sign is lost",
         streaming(changed(lambda values: [*values] * 3), -3),
         "(3 replies, not 1|there are more than 1 replies)"),
    Liar(_FRAMING, "trailers with a pseudo-header",
         unary(lies.trailers_with(0, "", (":status", "200"))),
         "the trailers have a pseudo-header, :status"),
    Liar(_FRAMING, "grpc-status before the replies, and after",
         unary(lies.formed(("grpc-status", "0"))),
         "grpc-status is in the headers, before the replies"),
    Liar(_FRAMING, "grpc-status before the replies of a stream",
         streaming(lies.formed(("grpc-status", "0")), 10),
         "grpc-status is in the headers, before the replies"),
    Liar(_FRAMING, "trailers only, in the second call of a connection",
         streaming(on_stream(2, lies.only_trailers(0)), 10),
         "the answer has no trailers of its own"),
    Liar(_FRAMING, "messages glued into one", unary(lies.formed(cut=lies.glued)),
         r"\d\d bytes are too long for a SumReply", r"08 [0-9a-f ]+…?"),
]  # fmt: skip

_NO_ALPN = (
    r"the server does not choose h2 by ALPN; "
    r"then GetSum is not answered \(the server does not choose h2 by ALPN\)"
)

TLS = [
    Liar("unary-sum", "no ALPN", honest, _NO_ALPN, tls=Tls(()), alone=False),
    Liar("unary-sum", "HTTP/1.1 by ALPN", honest, _NO_ALPN, tls=Tls(("http/1.1",)), alone=False),
    Liar("tls-alpn", "no ALPN of the second server behind the port", honest,
         r"offered h2, the server chooses nothing; "
         r"then GetSum is not answered \(the server does not choose h2 by ALPN\)", tls=Tls(())),
    Liar("tls-alpn", "HTTP/1.1 rather than h2", honest,
         "offered h2 and http/1.1, the server chooses http/1.1", status="warn",
         tls=Tls(("http/1.1", "h2"))),
    Liar("tls-alpn", "HTTP/1.1 where the client names it first", honest,
         "offered http/1.1 and h2, the server chooses http/1.1", status="warn",
         tls=Tls(("http/1.1", "h2"), honest=2)),
    Liar("tls-version", "TLS 1.1 is spoken", honest, "the server speaks TLSv1.1",
         tls=Tls(least=ssl.TLSVersion.TLSv1_1)),
    Liar("tls-version", "TLS 1.0 is spoken", honest, "the server speaks TLSv1",
         tls=Tls(least=ssl.TLSVersion.TLSv1)),
    Liar("tls-downgrade", "nothing newer than TLS 1.2", honest,
         "the server chooses TLSv1.2, though TLSv1.3 is offered", status="warn",
         tls=Tls(most=ssl.TLSVersion.TLSv1_2)),
]  # fmt: skip


_COLLECT = "collect-sum"
_ECHO = "echo-sum"
_HALF = "half-close"
# For what has to be seen before the contract goes on.
_QUIET = {"values._QUIET_S": SOON_S}
_SHORT = {"values.TIMEOUT_S": SOON_S}


@manner
def _either(talk: Talk, method: str, lie: Manner, *, some: bool) -> Steps[None]:
    if talk.method != method:
        yield from honest(talk)
        return
    has_some = (yield from talk.peek()) is not None
    yield from (lie if has_some == some else honest)(talk)


def collecting(lie: Manner, *, some: bool = True) -> Manner:
    """Lie about CollectSum with some requests, or about that with none."""
    return _either("CollectSum", lie, some=some)


def echoing(lie: Manner, *, some: bool = True) -> Manner:
    """Lie about EchoSum with some requests, or about that with none."""
    return _either("EchoSum", lie, some=some)


def one_by_one(lie: Manner) -> Manner:
    """Lie about EchoSum if its requests come one after the other."""
    return echoing(choosing(lambda talk: not talk.half_closed, lie))


def all_at_once(lie: Manner) -> Manner:
    """Lie about EchoSum if all its requests have come at once."""
    return echoing(choosing(lambda talk: talk.half_closed, lie))


def early(talk: Talk) -> Steps[None]:
    """Answer the first request, before there are all."""
    yield from answer(talk, [7])


def early_reply(talk: Talk) -> Steps[None]:
    """Send one reply before there are all requests, and end with them."""
    talk.headers()
    yield from talk.data(reply(7))
    yield from talk.half_close()
    talk.trailers()


@manner
def at_the_end(talk: Talk, change: Callable[[list[int]], list[int]]) -> Steps[None]:
    """Answer all requests once there are no more."""
    values = []
    while (value := (yield from echoed(talk))) is not None:
        values.append(value)
    yield from answer(talk, change(values))


def first_at_last(values: list[int]) -> list[int]:
    """Move the first value to the end."""
    return values[1:] + values[:1]


@manner
def the_first(talk: Talk, count: int, error: int = 0) -> Steps[None]:
    """Answer so many requests, each with this error."""
    talk.headers()
    for _ in range(count):
        value = yield from echoed(talk)
        assert value is not None
        yield from replies(talk, [value + error])


def a_few(talk: Talk) -> Steps[None]:
    """Answer three requests, and end the call."""
    yield from the_first(3)(talk)
    talk.trailers()


def wrong_once(talk: Talk) -> Steps[None]:
    """Answer the first request wrongly, and no other."""
    yield from the_first(1, error=1)(talk)
    yield from lies.hanging(talk)


def twice(talk: Talk) -> Steps[None]:
    """Answer each request twice."""
    yield from echoes(talk, lambda value: [value, value])


def one_behind(talk: Talk) -> Steps[None]:
    """Answer each request once the next has come."""
    talk.headers()
    before: list[int] = []
    while (value := (yield from echoed(talk))) is not None:
        yield from replies(talk, before)
        before = [value]
    yield from replies(talk, before)
    talk.trailers()


def one_more_at_the_end(talk: Talk) -> Steps[None]:
    """Answer the end of the requests as well."""
    yield from echoes(talk, lambda value: [value], [7])


def without_an_end(talk: Talk) -> Steps[None]:
    """Answer every request, and wait for more."""
    yield from echoes(talk, lambda value: [value], ends=lambda _: None)
    yield from lies.hanging(talk)


REQUESTS = [
    Liar(_COLLECT, "an answer to the first request", collecting(early),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "a reply to the first request", collecting(early_reply),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "a wrong sum", collecting(changed(lies.off_by_one)), f"reply 0 {_WRONG}"),
    Liar(_COLLECT, "the sum, and one more", collecting(changed(lies.with_one_more)),
         "2 replies, not 1"),
    Liar(_COLLECT, "OK with an empty body", collecting(changed(lies.nothing)), "0 replies, not 1"),
    Liar(_COLLECT, "a stub", collecting(lies.only_trailers(12)), "grpc-status is 12, not 0"),
    Liar(_COLLECT, "no CollectSum", collecting(lies.refusing(12, "unknown method")),
         r"grpc-status is 12, not 0 \(unknown method\)", short=_QUIET),
    Liar(_COLLECT, "OK at once", collecting(lies.refusing(0)),
         "the answer comes before the client has ended its requests", short=_QUIET),
    Liar(_COLLECT, "no answer after the last", collecting(lies.hanging), "no answer within 0.3 s",
         short=_SHORT),
    Liar(_ECHO, "no EchoSum", one_by_one(lies.refusing(12, "unknown method")),
         r"grpc-status is 12, not 0 \(unknown method\)"),
    Liar(_ECHO, "OK at once", one_by_one(lies.refusing(0)), "the call ends after 0 of 10 requests"),
    Liar(_ECHO, "no answer before the last", one_by_one(at_the_end(list)),
         "request 0 is not answered before the next: no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "one behind", one_by_one(one_behind),
         "request 0 is not answered before the next: no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "a wrong value", one_by_one(changed(lies.off_by_one)), f"reply 0 {_WRONG}"),
    Liar(_ECHO, "a wrong value, and no other", one_by_one(wrong_once), f"reply 0 {_WRONG}",
         short=_SHORT),
    Liar(_ECHO, "each is answered twice", one_by_one(twice), f"reply 1 {_WRONG}"),
    Liar(_ECHO, "an end after three", one_by_one(a_few), "the call ends after 3 of 10 requests"),
    Liar(_ECHO, "no end", one_by_one(without_an_end), "no answer within 0.3 s", short=_SHORT),
    Liar(_ECHO, "one reply more, at the end", one_by_one(one_more_at_the_end),
         "11 replies, not 10"),
    Liar(_HALF, "a sum of nothing is no reply", collecting(changed(lies.nothing), some=False),
         "0 replies, not 1"),
    Liar(_HALF, "a sum of nothing is one", collecting(lies.constant(1), some=False),
         "reply 0 is 1, not 0"),
    Liar(_HALF, "CollectSum without a request is not ended", collecting(lies.hanging, some=False),
         "no answer within 0.3 s", short=_SHORT),
    Liar(_HALF, "EchoSum without a request is not ended", echoing(lies.hanging, some=False),
         "no answer within 0.3 s", short=_SHORT),
    Liar(_HALF, "EchoSum without a request has a reply", echoing(one_more_at_the_end, some=False),
         "1 reply, not 0"),
    Liar(_HALF, "EchoSum without a request is an error", echoing(lies.only_trailers(3), some=False),
         "grpc-status is 3, not 0"),
    Liar(_HALF, "EchoSum is not ended", all_at_once(without_an_end), "no answer within 0.3 s",
         short=_SHORT),
    Liar(_HALF, "EchoSum out of order", all_at_once(at_the_end(first_at_last)),
         f"reply 0 {_WRONG}"),
    Liar(_HALF, "EchoSum backwards", all_at_once(at_the_end(lambda values: values[::-1])),
         f"reply 0 {_WRONG}"),
    Liar(_HALF, "EchoSum drops the rest", all_at_once(a_few), "3 replies, not 100"),
]  # fmt: skip
