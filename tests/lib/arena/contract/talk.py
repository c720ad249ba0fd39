"""What a manner has to do with: one call, and the means to answer it in any way.

A manner is a generator that answers one call of a connection, while others go on. It yields NEWS
to wait until the client has sent something, and TURN to let the others, and the client, have
their say first. h2 speaks for it, and keeps the rules; `raw` is the way around h2.
"""

import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

from google.protobuf.message import DecodeError, Message
from hyperframe.frame import Frame

from arena.contract.messages import PREFIX, frame, is_grpc
from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest

if TYPE_CHECKING:
    from tests.lib.arena.contract.lying_server import Connection

_LARGEST_REQUEST = 4 << 20

_METHODS = ("GetSum", "StreamSum", "CollectSum", "EchoSum")

Change: TypeAlias = Callable[[Iterable[int]], Iterable[int]]
Asked = TypeVar("Asked", bound=Message)
Value = TypeVar("Value")
Field: TypeAlias = tuple[str, str]


class Pause(Enum):
    NEWS = auto()
    TURN = auto()


NEWS, TURN = Pause.NEWS, Pause.TURN
Steps: TypeAlias = Generator[Pause, None, Value]
Manner: TypeAlias = Callable[["Talk"], Steps[None]]
Parameters = ParamSpec("Parameters")


def manner(
    steps: Callable[Concatenate["Talk", Parameters], Steps[None]],
) -> Callable[Parameters, Manner]:
    """Let a function return manners: generators that have these parameters, beside their call."""
    return lambda *args, **options: lambda talk: steps(talk, *args, **options)


class HangupError(Exception):
    """The connection is to be closed now."""


class RefusedError(Exception):
    """The call ends with a gRPC status that is not OK."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Talk:
    """One call: what the client has said in it, and the means to answer it in any way.

    A manner ends with a cancel, unless its call is `deaf`.
    """

    def __init__(self, connection: "Connection", stream: int, fields: dict[str, str]) -> None:
        self.connection = connection
        self.server = connection.server
        self.stream = stream
        self.path = fields.get(":path", "")
        self.content_type = fields.get("content-type", "")
        self.inbox = bytearray()
        self.half_closed = False
        self.cancelled = False
        self.deaf = False

    @property
    def method(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def room(self) -> int:
        """How many bytes the client's windows allow now."""
        return self.connection.h2.local_flow_control_window(self.stream)

    @property
    def first_window(self) -> int:
        """How many bytes a stream may have before the client opens its window further."""
        return self.connection.h2.remote_settings.initial_window_size

    # What the client says.

    def peek(self) -> Steps[bytes | None]:
        """Return the next message, and leave it there; None if the client has said all."""
        while len(self.inbox) < PREFIX.size:
            if self.half_closed:
                if self.inbox:
                    raise RefusedError(13, "the message's prefix is cut off")
                return None
            yield NEWS
        flag, length = PREFIX.unpack_from(self.inbox)
        if flag:
            raise RefusedError(12, "nothing is said about compression")
        if length > _LARGEST_REQUEST:
            raise RefusedError(8, f"a message of {length} bytes is too large")
        while len(self.inbox) < PREFIX.size + length:
            if self.half_closed:
                raise RefusedError(13, "the message is cut off")
            yield NEWS
        return bytes(self.inbox[PREFIX.size : PREFIX.size + length])

    def message(self) -> Steps[bytes | None]:
        message = yield from self.peek()
        if message is not None:
            del self.inbox[: PREFIX.size + len(message)]
        return message

    def half_close(self) -> Steps[None]:
        """Wait until the client has said all."""
        while not self.half_closed:
            yield NEWS

    # What it is answered.

    def headers(
        self,
        *extra: Field,
        status: str = "200",
        content_type: str = "application/grpc",
        end: bool = False,
    ) -> None:
        fields = [(":status", status), ("content-type", content_type), *extra]
        self.connection.h2.send_headers(self.stream, fields, end_stream=end)

    def data(self, payload: bytes) -> Steps[None]:
        """Send as much at a time as the windows and the frames hold."""
        at = 0
        while at < len(payload):
            size = min(self.room, self.connection.h2.max_outbound_frame_size, len(payload) - at)
            if size > 0:
                self.connection.h2.send_data(self.stream, payload[at : at + size])
                at += size
                yield TURN
            else:
                yield NEWS

    def trailers(self, status: int = 0, message: str = "", *extra: Field) -> None:
        """Send the trailers, and end the stream."""
        fields = [("grpc-status", str(status)), ("grpc-message", message), *extra]
        self.connection.h2.send_headers(self.stream, fields, end_stream=True)

    def trailers_only(self, status: int, message: str = "") -> None:
        """Send headers that are the trailers as well."""
        self.headers(("grpc-status", str(status)), ("grpc-message", message), end=True)

    def end(self) -> None:
        """End the stream with an empty DATA frame."""
        self.connection.h2.end_stream(self.stream)

    def reset(self, code: int) -> None:
        self.connection.h2.reset_stream(self.stream, code)

    def goaway(self, code: int) -> None:
        """Send GOAWAY: h2 sends nothing after it."""
        self.connection.h2.close_connection(code)

    def block(self, fields: Sequence[Field]) -> bytes:
        """Return a header block for a raw frame."""
        return self.connection.h2.encoder.encode(fields)

    def raw(self, *sent: Frame | bytes) -> None:
        """Send past h2, in one write: it neither checks nor counts it."""
        parts = [each if isinstance(each, bytes) else each.serialize() for each in sent]
        self.connection.send(self.connection.h2.data_to_send() + b"".join(parts))

    def hang_up(self) -> Steps[None]:
        """Close the server's half of the connection; a close with unread bytes would be a reset."""
        self.connection.flush()
        self.connection.transport.shutdown(socket.SHUT_WR)
        while True:
            yield NEWS


# The manner of a right server, and what its answers are made of.


def path_of(method: str) -> str:
    return f"/benchmark.BenchmarkService/{method}"


def wrapped(value: int) -> int:
    return (value & 0xFFFF_FFFF) - ((value & 0x8000_0000) << 1)


def reply(value: int) -> bytes:
    return frame(SumReply(result=value).SerializeToString())


def parsed(kind: type[Asked], message: bytes | None) -> Asked:
    """Return a request; refused if it is none, or missing."""
    if message is None:
        raise RefusedError(13, "there is no request")
    try:
        return kind.FromString(message)
    except DecodeError as error:
        raise RefusedError(13, "the request is no protobuf") from error


def asked(talk: Talk, kind: type[Asked]) -> Steps[Asked]:
    """Return the one request of a call, once the client has said that it is all."""
    request = parsed(kind, (yield from talk.message()))
    yield from talk.half_close()
    return request


def sums(request: StreamRequest) -> Iterator[int]:
    """Yield what answers a StreamRequest."""
    return (wrapped(request.a + request.b + i) for i in range(max(request.count, 1)))


def replies(talk: Talk, values: Iterable[int], per_write: int = 500) -> Steps[None]:
    """Send replies, made only as the window opens; a DATA frame holds so many of them."""
    rest = iter(values)
    while some := list(islice(rest, per_write)):
        yield from talk.data(b"".join(map(reply, some)))


def answer(talk: Talk, values: Iterable[int]) -> Steps[None]:
    """Send a whole answer."""
    talk.headers()
    yield from replies(talk, values)
    talk.trailers()


def values_of(talk: Talk) -> Steps[Iterable[int]]:
    """Return what GetSum, StreamSum and CollectSum must answer."""
    if talk.method == "GetSum":
        one = yield from asked(talk, SumRequest)
        return [wrapped(one.a + one.b)]
    if talk.method == "StreamSum":
        return sums((yield from asked(talk, StreamRequest)))
    total = 0
    while (message := (yield from talk.message())) is not None:
        each = parsed(SumRequest, message)
        total += each.a + each.b
    return [wrapped(total)]


def echoed(talk: Talk) -> Steps[int | None]:
    """Return what answers the next request of EchoSum; None if there are no more."""
    message = yield from talk.message()
    if message is None:
        return None
    each = parsed(SumRequest, message)
    return wrapped(each.a + each.b)


def echoes(
    talk: Talk,
    each: Callable[[int], Iterable[int]],
    last: Iterable[int] = (),
    ends: Callable[[Talk], None] = Talk.trailers,
) -> Steps[None]:
    """Answer each request of EchoSum as it comes, and the end of the requests."""
    talk.headers()
    while (value := (yield from echoed(talk))) is not None:
        yield from replies(talk, each(value))
    yield from replies(talk, last)
    ends(talk)


def is_right(talk: Talk, *methods: str) -> bool:
    """Return whether a call is one of the service's, or one of these methods."""
    known = map(path_of, methods or _METHODS)
    return talk.path in known and is_grpc(talk.content_type)


@manner
def changed(talk: Talk, change: Change) -> Steps[None]:
    """Answer rightly but for the values of the replies."""
    if not is_grpc(talk.content_type):
        talk.headers(status="415", end=True)
        return
    if not is_right(talk):
        talk.trailers_only(12, "unknown method")
        return
    try:
        if talk.method == "EchoSum":
            yield from echoes(talk, lambda value: change([value]))
        else:
            yield from answer(talk, change((yield from values_of(talk))))
    except RefusedError as error:
        talk.trailers_only(error.status, error.message)


honest = changed(lambda values: values)
