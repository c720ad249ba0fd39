"""Those that answer GetSum wrongly, in value or in form."""

from typing import Any

from hyperframe.frame import HeadersFrame, PushPromiseFrame

from arena.measure.contract.expected import INT32_MAX, INT32_MIN
from arena.measure.contract.messages import frame
from arena.what.benchmark_pb2 import SumRequest
from tests.lib.arena.measure.contract import lies
from tests.lib.arena.measure.contract.honest import changed
from tests.lib.arena.measure.contract.liar import NUMBER, Liar
from tests.lib.arena.measure.contract.short import SOON_S
from tests.lib.arena.measure.contract.talk import Manner, Talk
from tests.lib.arena.measure.contract.when import lying, unary

_SUM = "unary-sum"
_EXTREMES = "unary-extremes"
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
    _wrong("one is added to each sum", changed(lies.off_by_one),
           f"reply 0 is {NUMBER}, not {NUMBER}"),
    Liar(_SUM, "a negative sum loses its sign", unary(lies.constant(1), -3, 2),
         "reply 0 is 1, not -1", "00 00 00 00 02 08 01"),
    Liar(_SUM, "a sum of zero is no reply", unary(changed(lies.nothing), 0, 0), "0 replies, not 1",
         alone=False),
    _wrong("OK with an empty body", changed(lies.nothing), "0 replies, not 1"),
    _wrong("one reply too many", changed(lies.with_one_more), "2 replies, not 1"),
    _wrong("the answer to an earlier request", lies.prepared(),
           f"reply 0 is {NUMBER}, not {NUMBER}"),
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
           "a reply is compressed, unasked", f"01 {_A_REPLY}"),
    _wrong("a flag that is not known", lies.payload(lambda data: b"\7" + data[1:]),
           "a reply's flag is 7", f"07 {_A_REPLY}"),
    _wrong("grpc-encoding says gzip", lies.formed(("grpc-encoding", "gzip")),
           r"the replies are compressed, unasked \(grpc-encoding: gzip\)"),
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
