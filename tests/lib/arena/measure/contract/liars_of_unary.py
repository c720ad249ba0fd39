"""Those that answer GetSum wrongly, in value or in form."""

from hyperframe.frame import HeadersFrame, PushPromiseFrame

from arena.measure.contract.expected import INT32_MAX, INT32_MIN
from arena.measure.contract.messages import frame
from arena.what.benchmark_pb2 import SumRequest
from tests.lib.arena.measure.contract import lies
from tests.lib.arena.measure.contract.honest import changed
from tests.lib.arena.measure.contract.liar import NUMBER, Liar
from tests.lib.arena.measure.contract.short import SOON_S
from tests.lib.arena.measure.contract.talk import Talk
from tests.lib.arena.measure.contract.when import lying, unary

_SUM = "unary-sum"
_EXTREMES = "unary-extremes"
_HANG = {"values.TIMEOUT_S": SOON_S, "checks._PROBE_TIMEOUT_S": SOON_S}
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


VALUES = [
    Liar(_SUM, "one is added to each sum", unary(changed(lies.off_by_one)),
         f"reply 0 is {NUMBER}, not {NUMBER}", alone=False),
    Liar(_SUM, "a negative sum loses its sign", unary(lies.constant(1), -3, 2),
         "reply 0 is 1, not -1", "00 00 00 00 02 08 01"),
    Liar(_SUM, "a sum of zero is no reply", unary(changed(lies.nothing), 0, 0), "0 replies, not 1",
         alone=False),
    Liar(_SUM, "OK with an empty body", unary(changed(lies.nothing)), "0 replies, not 1",
         alone=False),
    Liar(_SUM, "one reply too many", unary(changed(lies.with_one_more)), "2 replies, not 1",
         alone=False),
    Liar(_SUM, "the answer to an earlier request", unary(lies.prepared()),
         f"reply 0 is {NUMBER}, not {NUMBER}", alone=False),
    Liar(_SUM, "no end of replies", unary(changed(lies.without_end)),
         "there are more than 10000 replies", alone=False),
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
    Liar(_SUM, "trailers only, and OK", unary(lies.only_trailers(0)),
         r"there are only trailers \(grpc-status 0\), not 1 reply", alone=False),
    Liar(_SUM, "trailers only, and an error", unary(lies.only_trailers(13, "it broke")),
         r"grpc-status is 13, not 0 \(it broke\)", alone=False),
    Liar(_SUM, "right replies, and an error", unary(lies.trailers_with(2)),
         "grpc-status is 2, not 0", alone=False),
    Liar(_SUM, "no trailers", unary(lies.formed(ends=Talk.end)),
         r"the call ended without grpc-status in its trailers; "
         r"then GetSum is not answered \(the answer has no grpc-status\)", alone=False),
    Liar(_SUM, "grpc-status in the headers instead",
         unary(lies.formed(("grpc-status", "0"), ends=Talk.end)),
         r"the call ended without grpc-status in its trailers "
         r"\(it is in the headers, before the replies\); "
         r"then GetSum is not answered \(the answer has no grpc-status\)", alone=False),
    Liar(_SUM, "a flag says compressed", unary(lies.payload(lambda data: b"\1" + data[1:])),
         "a reply is compressed, unasked", f"01 {_A_REPLY}", alone=False),
    Liar(_SUM, "a flag that is not known", unary(lies.payload(lambda data: b"\7" + data[1:])),
         "a reply's flag is 7", f"07 {_A_REPLY}", alone=False),
    Liar(_SUM, "grpc-encoding says gzip", unary(lies.formed(("grpc-encoding", "gzip"))),
         r"the replies are compressed, unasked \(grpc-encoding: gzip\)", alone=False),
    Liar(_SUM, "a reply that is cut off", unary(lies.payload(lambda data: data[:-1])),
         "the last reply is cut off", f"00 {_A_REPLY}", alone=False),
    Liar(_SUM, "a prefix of four gigabytes", unary(lies.payload(lambda _: b"\0\xff\xff\xff\xff")),
         "a reply announces 4294967295 bytes", "00 ff ff ff ff", alone=False),
    Liar(_SUM, "no protobuf", unary(lies.payload(lambda _: frame(b"\x08"))),
         "reply 0 is not a SumReply", "00 00 00 00 01 08", alone=False),
    Liar(_SUM, "HTTP status 500", unary(lies.bare("500")),
         r"the server answered with HTTP status 500; "
         r"then GetSum is not answered \(the answer has no grpc-status\)", alone=False),
    Liar(_SUM, "a page with HTTP status 500", unary(lies.page("500")),
         r"the server answered with HTTP status 500; "
         r"then GetSum is not answered \(the answer has no grpc-status\)", alone=False),
    Liar(_SUM, "a page", unary(lies.page("200")), r"the content-type is 'text/html'; "
         r"then GetSum is not answered \(the answer has no grpc-status\)", alone=False),
    Liar(_SUM, "right replies as a page", unary(lies.formed(content_type="text/html")),
         "the content-type is 'text/html'", alone=False),
    Liar(_SUM, "gRPC-Web", unary(lies.formed(content_type="application/grpc-web+proto")),
         "the content-type is 'application/grpc-web[+]proto'", alone=False),
    Liar(_SUM, "DATA before the headers", unary(lies.formed(early=True)),
         gone("DATA comes before the headers"), f"00 {_A_REPLY}", alone=False),
    Liar(_SUM, "DATA after the trailers", unary(lies.formed(ends=lies.data_after_trailers)),
         "DATA follows the end of its stream", "00 00 00 00 02 08 07", alone=False),
    Liar(_SUM, "headers twice", unary(lies.formed(intruder=more_headers)),
         gone("headers come in the middle of a stream"), alone=False),
    Liar(_SUM, "a push", unary(lies.formed(intruder=push)),
         gone("the server pushes, though that was turned off"), alone=False),
    Liar(_SUM, "what is no HTTP/2", unary(lies.talking(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
         gone("a frame of 4740180 bytes is larger than allowed"), "48 54 54 50 2f 31 2e 31 20",
         alone=False),
]  # fmt: skip

BREAKS = [
    Liar(_SUM, "never an answer", unary(lies.hanging), gone("no answer within 0.3 s"), alone=False,
         short=_HANG),
    Liar(_SUM, "RST_STREAM", unary(lies.resetting(2)),
         gone(r"the server reset the stream \(INTERNAL_ERROR\)"), alone=False),
    Liar(_SUM, "GOAWAY", unary(lies.going_away(11)),
         gone("the server closed the connection in the middle of the call, "
         r"with GOAWAY \(ENHANCE_YOUR_CALM\)"), alone=False),
    Liar(_SUM, "the connection is closed", unary(lies.hanging_up),
         gone("the server closed the connection in the middle of the call"), alone=False),
    Liar(_SUM, "it dies", unary(lies.dying), r".*; then the server ended \(signal 11\)",
         alone=False),
    Liar(_EXTREMES, "it dies beyond the edge", lying("GetSum", lies.dying, overflows),
         r".*; then the server ended \(signal 11\)", alone=False),
    Liar(_EXTREMES, "it hangs up beyond the edge", lying("GetSum", lies.hanging_up, overflows),
         "the server closed the connection in the middle of the call"),
    Liar(_EXTREMES, "it dies at an edge", unary(lies.dying, INT32_MIN, 0),
         r"-2147483648 \+ 0 = -2147483648: .*; then the server ended \(signal 11\)", alone=False),
]  # fmt: skip

UNARY = [*VALUES, *FORMS, *BREAKS]
