"""Those that answer StreamSum wrongly, in value or in form."""

from tests.lib.arena.measure.contract import lies
from tests.lib.arena.measure.contract.honest import changed
from tests.lib.arena.measure.contract.liar import NUMBER, Liar
from tests.lib.arena.measure.contract.short import PROFILE
from tests.lib.arena.measure.contract.when import on_stream, streaming, unary

_FRAMING = "framing"
_WRONG = f"is {NUMBER}, not {NUMBER}"


VALUES = [
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
         "a reply is compressed, unasked", r"01 (?:[0-9a-f]{2} ){31}…"),
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
]  # fmt: skip

FORMS = [
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

STREAMS = [*VALUES, *FORMS]
