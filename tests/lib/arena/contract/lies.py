"""Lies that fit any call, and the liars that tell them: what the contract must report of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, islice, repeat
from typing import Any, Literal

from hyperframe.frame import DataFrame, Frame, HeadersFrame

from arena.contract import Call, connections, flow_control
from arena.contract.asks import INT32_MAX
from arena.contract.messages import PREFIX
from arena.contract.wire import LARGEST_WINDOW
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from tests.lib.arena.contract.lying_server import Tls
from tests.lib.arena.contract.talk import (
    NEWS,
    TURN,
    Change,
    Field,
    HangupError,
    Manner,
    RefusedError,
    Steps,
    Talk,
    answer,
    changed,
    honest,
    is_right,
    manner,
    parsed,
    replies,
    reply,
    sums,
    values_of,
)

# When to lie: servers that are honest in all their other calls.


@manner
def lying(
    talk: Talk, method: str, lie: Manner, about: Callable[[Any], object] = lambda _: True
) -> Steps[None]:
    """Lie about a method: `about` is asked of the first request."""
    kind = StreamRequest if method == "StreamSum" else SumRequest
    try:
        meant = is_right(talk, method) and about(parsed(kind, (yield from talk.peek())))
    except RefusedError:
        meant = False
    yield from (lie if meant else honest)(talk)


@manner
def choosing(talk: Talk, about: Callable[[Talk], bool], lie: Manner) -> Steps[None]:
    """Lie in some calls."""
    yield from (lie if about(talk) else honest)(talk)


def unary(lie: Manner, a: int | None = None, b: int | None = None) -> Manner:
    """Lie about GetSum, or about that of these operands."""
    return lying("GetSum", lie, lambda asked: a is None or (asked.a, asked.b) == (a, b))


def streaming(lie: Manner, *counts: int) -> Manner:
    """Lie about StreamSum, or about that of these counts."""
    return lying("StreamSum", lie, lambda asked: not counts or asked.count in counts)


def endlessly(lie: Manner, *, narrow: bool) -> Manner:
    """Lie about a StreamSum without end: through a narrow window, or a wide one."""
    lie = choosing(lambda talk: (talk.first_window < LARGEST_WINDOW) == narrow, lie)
    return streaming(lie, flow_control.ENDLESS, INT32_MAX)


def on_stream(number: int, lie: Manner) -> Manner:
    """Lie on one stream of each connection, counted from 1."""
    return choosing(lambda talk: talk.stream == 2 * number - 1, lie)


def at_call(number: int, lie: Manner) -> Manner:
    """Lie in one call, counted from 1."""
    calls = count(1)
    return choosing(lambda _: next(calls) == number, lie)


def at(path: str, lie: Manner) -> Manner:
    """Lie only at that path."""
    return choosing(lambda talk: talk.path == path, lie)


# Wrong values.


def off_by_one(values: Iterable[int]) -> Iterator[int]:
    return (value + 1 for value in values)


def last_off_by_one(values: Iterable[int]) -> Iterable[int]:
    *most, last = values
    return [*most, last + 1]


def swapped(values: Iterable[int]) -> Iterable[int]:
    """Change the places of the fourth and the fifth."""
    listed = list(values)
    return [*listed[:3], *listed[3:5][::-1], *listed[5:]]


def without_last(values: Iterable[int]) -> Iterable[int]:
    return list(values)[:-1]


def with_one_more(values: Iterable[int]) -> Iterable[int]:
    return chain(values, [7])


def without_end(values: Iterable[int]) -> Iterable[int]:
    return chain(values, repeat(7))


def at_most(most: int) -> Change:
    return lambda values: islice(values, most)


nothing = at_most(0)


def constant(*values: int) -> Manner:
    """Answer with these, whatever is asked."""
    return changed(lambda _: values)


def prepared() -> Manner:
    """Answer every call of a method as the first was answered rightly."""
    first: dict[str, list[int]] = {}

    def prepared_manner(talk: Talk) -> Steps[None]:
        values = list((yield from values_of(talk)))
        yield from answer(talk, first.setdefault(talk.method, values))

    return prepared_manner


# Wrong forms: the values are right.

Cut = Callable[[list[bytes]], Iterable[bytes]]


def whole(messages: list[bytes]) -> list[bytes]:
    return [b"".join(messages)]


def glued(messages: list[bytes]) -> list[bytes]:
    """Put four messages into one: to protobuf, the last of them counts."""
    inner = b"".join(each[PREFIX.size :] * 4 for each in messages)
    return [PREFIX.pack(0, len(inner)) + inner]


@manner
def formed(
    talk: Talk,
    *headers: Field,
    content_type: str = "application/grpc",
    early: bool = False,
    intruder: Callable[[Talk], Frame] | None = None,
    cut: Cut = whole,
    ends: Callable[[Talk], None] = Talk.trailers,
) -> Steps[None]:
    """Answer with messages that are right, in a form that may be wrong.

    The first reply may come `early`, before the headers; an `intruder` comes after them. The DATA
    frames are `cut` in any way.
    """
    messages = [reply(value) for value in (yield from values_of(talk))]
    if early:
        talk.raw(DataFrame(talk.stream, messages[0]))
    talk.headers(*headers, content_type=content_type)
    if intruder:
        talk.raw(intruder(talk))
    for each in cut(messages):
        yield from talk.data(each)
    ends(talk)


def payload(change: Callable[[bytes], bytes]) -> Manner:
    """Change the bytes of the DATA."""
    return formed(cut=lambda messages: [change(b"".join(messages))])


def trailers_with(status: int, message: str = "", *extra: Field) -> Manner:
    return formed(ends=lambda talk: talk.trailers(status, message, *extra))


def data_after_trailers(talk: Talk) -> None:
    block = talk.block([("grpc-status", "0")])
    trailers = HeadersFrame(talk.stream, block, flags=["END_HEADERS", "END_STREAM"])
    talk.raw(trailers, DataFrame(talk.stream, reply(7)))


@manner
def only_trailers(talk: Talk, status: int, message: str = "") -> Steps[None]:
    """Send no replies at all."""
    yield from talk.half_close()
    talk.trailers_only(status, message)


@manner
def refusing(talk: Talk, status: int, message: str = "") -> Steps[None]:
    """Send an error, before the client has sent all."""
    yield TURN
    talk.trailers_only(status, message)


@manner
def bare(talk: Talk, status: str, *extra: Field) -> Steps[None]:
    """Answer with an HTTP status, and with nothing of gRPC's but these fields."""
    yield from talk.half_close()
    talk.headers(*extra, status=status, content_type="text/html", end=True)


@manner
def page(talk: Talk, status: str) -> Steps[None]:
    """Answer with a page that reports an error in words."""
    yield from talk.half_close()
    talk.headers(status=status, content_type="text/html")
    yield from talk.data(b"<!doctype html><h1>Something is wrong</h1>")
    talk.end()


# Answers that break off.


def hanging(_: Talk) -> Steps[None]:
    while True:
        yield NEWS


def some(talk: Talk, change: Change) -> Steps[None]:
    """Send the headers and some replies."""
    found = yield from values_of(talk)
    talk.headers()
    yield from replies(talk, change(found))


@manner
def hanging_after(talk: Talk, change: Change) -> Steps[None]:
    """Send some replies, and nothing more."""
    yield from some(talk, change)
    yield from hanging(talk)


@manner
def resetting(talk: Talk, code: int) -> Steps[None]:
    """Send the headers, then RST_STREAM."""
    yield from some(talk, nothing)
    talk.reset(code)


@manner
def resetting_now(talk: Talk, code: int) -> Steps[None]:
    """Send RST_STREAM, whatever was sent before."""
    yield TURN
    talk.reset(code)


@manner
def going_away(talk: Talk, code: int) -> Steps[None]:
    """Send GOAWAY, and close the connection."""
    yield from talk.half_close()
    talk.goaway(code)
    yield from talk.hang_up()


def hanging_up(talk: Talk) -> Steps[None]:
    """Close the connection in the middle of the call."""
    yield from talk.half_close()
    talk.headers()
    yield from talk.hang_up()


def dropping(talk: Talk) -> Steps[None]:
    """Close the connection without an answer."""
    yield from talk.half_close()
    raise HangupError


def losing_the_connection(_: Talk) -> Steps[None]:
    """Close the connection, whatever was sent before."""
    yield TURN
    raise HangupError


def dying(talk: Talk) -> Steps[None]:
    """End the whole server."""
    yield from talk.half_close()
    talk.server.die("signal 11")


@manner
def talking(talk: Talk, data: bytes) -> Steps[None]:
    """Send bytes that are no answer."""
    yield from talk.half_close()
    talk.raw(data)
    yield from hanging(talk)


# Streams that do not flow.


def ignoring_the_window(talk: Talk) -> Steps[None]:
    request = parsed(StreamRequest, (yield from talk.message()))
    talk.headers()
    yield TURN
    values = iter(sums(request))
    while part := list(map(reply, islice(values, 500))):
        talk.raw(DataFrame(talk.stream, b"".join(part)))
        yield TURN
    talk.trailers()


@manner
def until_closed(talk: Talk, lie: Manner) -> Steps[None]:
    """Answer a stream rightly until its window is closed."""
    request = parsed(StreamRequest, (yield from talk.message()))
    talk.headers()
    for pause in replies(talk, sums(request)):
        if pause is NEWS:
            break
        yield pause
    yield from lie(talk)


@manner
def failing(talk: Talk, status: int, message: str = "") -> Steps[None]:
    """Send trailers with a status, after the headers."""
    yield TURN
    talk.trailers(status, message)


@manner
def working(talk: Talk, lie: Manner, growth: int = 0, *, busy: bool = True) -> Steps[None]:
    """Use CPU, and more memory at each look, beside what is seen on the wire."""
    talk.server.busy, talk.server.growth = busy, growth
    try:
        yield from lie(talk)
    finally:
        talk.server.busy, talk.server.growth = False, 0


@manner
def buffering(talk: Talk, growth: int) -> Steps[None]:
    """Make all replies before the first is sent: memory grows, and the client waits."""
    yield from talk.half_close()
    yield from working(hanging, growth, busy=False)(talk)


@manner
def after_cancel(talk: Talk, lie: Manner) -> Steps[None]:
    """Answer rightly until the call is cancelled."""
    talk.deaf = True
    steps = honest(talk)
    while not talk.cancelled:
        yield next(steps)
    yield from lie(talk)


def sending_on(talk: Talk) -> Steps[None]:
    """Send without end what nobody wants."""
    while True:
        talk.raw(DataFrame(talk.stream, reply(7) * 500))
        yield TURN


# Patterns: a number; 32 bytes, and a sign that there are more.
NUMBER = r"-?\d+"
MANY_BYTES = r"(?:[0-9a-f]{2} ){32}…"

# The calls that checks are about, beside GetSum.
_CALLS: Mapping[str, frozenset[Call]] = {
    **dict.fromkeys(
        ("stream", "framing", "backpressure", "cancel", "four", "connections"),
        frozenset[Call]({"StreamSum"}),
    ),
    "collect": frozenset({"CollectSum"}),
    "echo": frozenset({"EchoSum"}),
    "half": frozenset({"CollectSum", "EchoSum"}),
}


# The contract in small: fewer replies and connections, and less waiting.
EARNEST = flow_control.LONG, connections.CONNECTIONS
LONG = 8000  # more than the 64 KB of a window hold, at eight bytes or more for a reply
CONNECTIONS = 8
PROFILE = {"a": 1, "b": 2, "count": 300}  # a profile's own request
SOON_S = 0.3  # for calls that are never answered


@dataclass(frozen=True)
class Liar:
    """A server whose `lie` is found by `check`, which reports `words` and `wire` (both patterns).

    The `wire` of a wrong value may be left out: it follows from the value. If `alone`, no other
    check reports anything; otherwise this one is the first to do so. `short` has the timeouts
    that the check waits for. A server with `tls` has it all the time, or, if `alone`, only during
    its check. Without `watched`, the server is not observed from the outside.
    """

    check: str
    lie: str
    manner: Manner
    words: str
    wire: str = ""
    status: Literal["fail", "warn"] = "fail"
    alone: bool = True
    short: Mapping[str, float] = field(default_factory=dict)
    tls: Tls | None = None
    watched: bool = True

    def __str__(self) -> str:
        return f"{self.check}: {self.lie}"

    @property
    def calls(self) -> frozenset[Call]:
        """The calls that its check is about; the others need not be checked."""
        return frozenset[Call]({"GetSum"}) | _CALLS.get(self.check.split("-")[0], frozenset())
