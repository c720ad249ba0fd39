"""The manner of a right server, and what its answers are made of."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from arena.measure.contract.messages import frame, is_grpc
from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from tests.lib.arena.measure.contract.talk import RefusedError, Steps, Talk, manner

_METHODS = ("GetSum", "StreamSum", "CollectSum", "EchoSum")

Change = Callable[[Iterable[int]], Iterable[int]]
Asked = TypeVar("Asked", bound=Message)


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
