"""Whether a server offers gRPC's standard services: reflection and health. It need not.

Sources: https://github.com/grpc/grpc/blob/master/doc/server-reflection.md and health-checking.md
there. Each question has a time limit, and a window that is never reopened limits its answer.
"""

from functools import cache
from typing import Any, Literal

from google.protobuf import descriptor_pb2, text_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from arena.contract.asks import UNIMPLEMENTED, usual
from arena.contract.client import Client
from arena.contract.messages import WrongError, frame
from arena.contract.scope import Scope
from arena.record.record import Offers

_TIMEOUT_S = 2.0
_WINDOW = 1 << 20  # more than any answer has

_HEALTH = "grpc.health.v1.Health/Check"
_REFLECTION = "grpc.reflection.{}.ServerReflection/ServerReflectionInfo"
_VERSIONS: tuple[Literal["v1", "v1alpha"], ...] = ("v1", "v1alpha")

# A ServerReflectionRequest with only `list_services` (field 7), whose content servers ignore.
_LIST = b"\x3a\x01*"

_OK, _NOT_FOUND = "0", "404"

_STATUSES: dict[int, Literal["unknown", "serving", "not-serving"]] = {
    0: "unknown",
    1: "serving",
    2: "not-serving",
}

# What is read of the answers. Unknown fields, such as errors, are skipped.
_ANSWERS = """
name: "offers.proto" syntax: "proto3"
message_type { name: "Health" field { name: "status" number: 1 type: TYPE_INT32 } }
message_type {
  name: "Listed"
  field { name: "services" number: 6 type: TYPE_MESSAGE type_name: ".Services" }
}
message_type {
  name: "Services"
  field { name: "service" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".Service" }
}
message_type { name: "Service" field { name: "name" number: 1 type: TYPE_STRING } }
"""


class _AbsentError(Exception):
    """The server does not have the service."""


def offers(scope: Scope) -> Offers:
    """Ask a server for its reflection and its health; nothing that it answers is an error."""
    reflection: Literal["v1", "v1alpha", "none", "unclear"] = "none"
    lists_service = False
    for version in _VERSIONS:
        try:
            listed = _answer(scope, _REFLECTION.format(version), _LIST, "Listed")
        except _AbsentError:
            continue
        except WrongError:
            reflection = "unclear"
            break
        if listed.HasField("services"):
            names = {each.name for each in listed.services.service}
            reflection, lists_service = version, _services(scope) <= names
        else:
            reflection = "unclear"
        break
    try:
        status = _answer(scope, _HEALTH, b"", "Health").status
        health = _STATUSES.get(status, "unclear")
    except _AbsentError:
        health = "none"
    except WrongError:
        health = "unclear"
    return Offers(reflection=reflection, lists_service=lists_service, health=health)


def _services(scope: Scope) -> set[str]:
    """Return the services that are checked."""
    return {usual(scope).service, *(each.service for each in scope.own)}


def _answer(scope: Scope, path: str, request: bytes, kind: str) -> Any:
    """Return the first reply to one request; WrongError without a readable one in time."""
    with Client(scope, _TIMEOUT_S, window=_WINDOW, held=True) as client:
        answer = client.ask(path, frame(request))
        client.wait(lambda: answer.over or answer.messages)
        # A status of OK may still be on its way after a reply.
        if answer.status == UNIMPLEMENTED or _is_not_found(answer.headers or {}, answer.status):
            raise _AbsentError
        if answer.status not in {None, _OK} or not answer.messages:
            raise WrongError("there is no reply")
        try:
            return _messages(kind).FromString(answer.messages[0])
        except DecodeError as error:
            raise WrongError("the reply is not protobuf") from error


def _is_not_found(headers: dict[str, str], status: str | None) -> bool:
    """Return whether HTTP says it: clients read 404 as UNIMPLEMENTED."""
    return status is None and headers.get(":status") == _NOT_FOUND


@cache
def _messages(kind: str) -> Any:
    # A pool of its own: a program may have the real messages in the default one.
    pool = DescriptorPool()
    pool.Add(text_format.Parse(_ANSWERS, descriptor_pb2.FileDescriptorProto()))
    return GetMessageClass(pool.FindMessageTypeByName(kind))
