"""Calls and their right answers: their values, their status, and their form on the wire.

The calls are of sums, and of profiles with their own .proto.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from arena.contract.client import SERVICE, Client, framed
from arena.contract.messages import WrongError, frame, is_grpc, named
from arena.contract.scope import Scope
from arena.contract.wire import Answer
from arena.what import protos
from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from arena.what.profile import Profile

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)
UNIMPLEMENTED = "12"

# Small enough that both operands plus a reply's number do not overflow.
_LARGEST = 1 << 29


def int32(value: int) -> int:
    """Wrap a sum around as the .proto demands."""
    return (value + 2**31) % 2**32 - 2**31


def operands() -> dict[str, int]:
    """Return random values for `a` and `b`, so that no answer can be prepared in advance."""
    return {name: random.randint(-_LARGEST, _LARGEST) for name in ("a", "b")}  # noqa: S311


def sum_request() -> SumRequest:
    """Return a request with random operands."""
    return SumRequest(**operands())


def stream_request(count: int) -> StreamRequest:
    """Return a request for `count` replies, with random operands."""
    return StreamRequest(**operands(), count=count)


def sums_of(*requests: SumRequest | StreamRequest) -> list[int]:
    """Return the expected replies to these requests, in order: at least one value for each."""
    return [
        int32(each.a + each.b + i)
        for each in requests
        for i in range(max(each.count, 1) if isinstance(each, StreamRequest) else 1)
    ]


def require(answer: Answer, expected: Sequence[int]) -> None:
    """Raise WrongError unless a finished answer is exactly this, and its status is OK."""
    require_form(answer)
    require_ok(answer)
    if answer.trailers is None and expected:
        raise WrongError(f"there are only trailers (grpc-status 0), not {_replies(len(expected))}")
    for number, value in enumerate(expected[: len(answer.messages)]):
        require_value(answer.messages[number], value, number)
    require_count(answer, len(expected))


def require_count(answer: Answer, count: int) -> None:
    """Raise WrongError unless a finished answer has so many replies."""
    if len(answer.messages) != count:
        raise WrongError(f"{_replies(len(answer.messages))}, not {count}")


def require_ok(answer: Answer) -> None:
    """Raise WrongError if an answer has ended with a status that is not OK."""
    if answer.status not in {None, "0"}:
        # Servers send it percent-encoded (gRPC over HTTP2, Status-Message).
        message = unquote((answer.trailers or answer.headers or {}).get("grpc-message", ""))
        said = f" ({message:.100})" if message else ""
        raise WrongError(f"grpc-status is {answer.status:.20}, not 0{said}")


def require_value(message: bytes, value: int, number: int) -> None:
    """Raise WrongError unless a message is the SumReply that holds this value."""
    try:
        result = SumReply.FromString(message).result
    except DecodeError as error:
        raise WrongError(f"reply {number} is not a SumReply", frame(message)) from error
    if result != value:
        raise WrongError(f"reply {number} is {result}, not {value}", frame(message))


def require_form(answer: Answer) -> None:
    """Raise WrongError unless a finished answer ended as a gRPC call ends."""
    headers = answer.headers or {}
    http = headers.get(":status")
    if http != "200":
        raise WrongError(f"the server answered with HTTP status {http!s:.10}")
    content = headers.get("content-type", "")
    if not is_grpc(content):
        raise WrongError(f"the content-type is {content!r:.60}")
    # It is about messages with flag 1 only, and no message may have that flag.
    encoding = headers.get("grpc-encoding", "identity")
    if encoding not in {"identity", answer.accepts}:
        raise WrongError(f"the replies are compressed, unasked (grpc-encoding: {encoding:.20})")
    if answer.pending:
        raise WrongError("the last reply is cut off", bytes(answer.pending))
    if answer.status is None:
        early = " (it is in the headers, before the replies)" if "grpc-status" in headers else ""
        raise WrongError(f"the call ended without grpc-status in its trailers{early}")


def _replies(count: int) -> str:
    return f"{count} reply" if count == 1 else f"{count} replies"


@dataclass(frozen=True)
class Ask:
    """One call: its path, all its requests as they are sent, and the check of a finished answer."""

    path: str
    body: bytes
    replies: int
    require: Callable[[Answer], None]

    @property
    def service(self) -> str:
        """The full name of its service."""
        return self.path.rpartition("/")[0]

    @property
    def method(self) -> str:
        """Its method, without the service."""
        return self.path.rpartition("/")[2]


def usual(scope: Scope) -> Ask:
    """Return the call by which a server shows that it works: random sums, where GetSum is checked.

    Where it is not, it is the call of the profile.
    """
    return sum_of("GetSum", sum_request()) if "GetSum" in scope.calls else own(scope.own[0])


def many(scope: Scope, replies: int) -> Ask:
    """Return a stream of so many replies, where StreamSum is checked; else the usual call."""
    if "StreamSum" not in scope.calls:
        return usual(scope)
    return sum_of("StreamSum", stream_request(replies))


def sum_of(call: str, *requests: SumRequest | StreamRequest) -> Ask:
    """Return a call of the service with these requests, all that it has."""
    expected = sums_of(*requests)
    if call == "CollectSum":
        expected = [int32(sum(expected))]
    body, check = framed(*requests), partial(require, expected=expected)
    return Ask(f"{SERVICE}/{call}", body, len(expected), check)


def own(profile: Profile) -> Ask:
    """Return the call of a profile, exactly as a load makes it."""
    method = protos.method_of(profile.proto, profile.call)
    message = protos.request_of(method, profile.request)
    reply_of = GetMessageClass(method.output_type)

    def require_own(answer: Answer) -> None:
        if answer.status == UNIMPLEMENTED:
            raise WrongError(f"the server does not offer {profile.call} (UNIMPLEMENTED)")
        require_form(answer)
        require_ok(answer)
        require_count(answer, profile.replies)
        for i, each in enumerate(answer.messages):
            try:
                reply = reply_of.FromString(each)
            except DecodeError as error:
                name = method.output_type.name
                raise WrongError(f"reply {i} is not a {name}", frame(each)) from error
            for rule in profile.expect:
                if why := protos.wrong(rule, message, profile.requests_per_call, reply, i):
                    raise WrongError(f"reply {i}: {why}", frame(each))

    body = frame(message.SerializeToString(deterministic=True)) * profile.requests_per_call
    return Ask(profile.call, body, profile.replies, require_own)


def make(client: Client, ask: Ask) -> Answer:
    """Make a call; its answer must be right."""
    return complete(client, ask, client.ask(ask.path, ask.body))


def complete(client: Client, ask: Ask, answer: Answer) -> Answer:
    """Wait for the rest of an answer, or for one reply too many; all of it must be right."""
    client.wait(lambda: answer.over or len(answer.messages) > ask.replies)
    if not answer.over:
        raise WrongError(f"there are more than {ask.replies} replies")
    client.finish(answer)
    ask.require(answer)
    return answer


def still_right(client: Client, scope: Scope) -> None:
    """Require that the usual call still works after another call."""
    ask = usual(scope)
    with named(f"afterwards, {ask.method}"):
        make(client, ask)
