"""Calls with the check of their answers: sums, and those of profiles with their own .proto."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from arena.contract.client import SERVICE, Client
from arena.contract.expected import (
    require,
    require_count,
    require_form,
    require_ok,
    stream_request,
    sum_request,
    sums_of,
)
from arena.contract.messages import WrongError, frame, named
from arena.contract.scope import Scope
from arena.contract.wire import Answer
from arena.what import protos, rules
from arena.what.benchmark_pb2 import StreamRequest, SumRequest
from arena.what.profile import Profile

_UNIMPLEMENTED = "12"


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
    return sum_of(sum_request()) if "GetSum" in scope.calls else own(scope.own[0])


def many(scope: Scope, replies: int) -> Ask:
    """Return a stream of so many replies, where StreamSum is checked; else the usual call."""
    return sum_of(stream_request(replies)) if "StreamSum" in scope.calls else usual(scope)


def sum_of(request: SumRequest | StreamRequest) -> Ask:
    """Return the call of GetSum or StreamSum with this request."""
    method = "GetSum" if isinstance(request, SumRequest) else "StreamSum"
    expected = sums_of(request)
    return Ask(
        f"{SERVICE}/{method}",
        frame(request.SerializeToString()),
        len(expected),
        partial(require, expected=expected),
    )


def own(profile: Profile) -> Ask:
    """Return the call of a profile, exactly as a load makes it."""
    method = protos.method_of(profile.proto, profile.call)
    message = protos.request_of(method, profile.request)
    reply_of = GetMessageClass(method.output_type)

    def require_own(answer: Answer) -> None:
        if answer.status == _UNIMPLEMENTED:
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
                if why := rules.wrong(rule, message, profile.requests_per_call, reply, i):
                    raise WrongError(f"reply {i}: {why}", frame(each))

    body = frame(message.SerializeToString(deterministic=True)) * profile.requests_per_call
    return Ask(profile.call, body, profile.replies, require_own)


def make(client: Client, ask: Ask) -> Answer:
    """Make a call; its answer must be right."""
    answer = client.ask(ask.path, ask.body)
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
