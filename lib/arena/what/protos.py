"""The .proto files that profiles name: protoc compiles them, and their messages are made here."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from arena.base.model import Frozen
from arena.base.text import nearest

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor, FileDescriptor, MethodDescriptor
    from google.protobuf.message import Message

MethodType = Literal["unary", "server-streaming", "client-streaming", "bidirectional-streaming"]

# The contract of every profile that names no other. Containers of generators see this folder only.
BENCHMARK = "requests/benchmark.proto"
FOLDER = "requests"
# A path as protoc, ghz and volley write it, relative to the project's root.
_PATH = re.compile(r"[\w./-]{1,200}\.proto", re.ASCII)

# What stands for the hash of a .proto that nobody knows any more.
UNKNOWN = "unknown"

_TIMEOUT_S = 60.0
# Lines of protoc that are no errors.
_WARNING = re.compile(r"^WARNING: |^[IW]\d{4} |: warning: ")
_LONGEST_ERROR = 300

# Some kernels and some generators take no longer argument.
_LARGEST_REQUEST = 64 << 10


class ProtoError(Exception):
    """A profile does not fit its .proto: the key that is wrong, and a sentence."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class Proto(Frozen):
    """The .proto that a profile names: its path below the project's root, and its call's type.

    `sha256` is that of all it says, imports included and comments not. Older records do not have
    it: they were made with an unknown one, unless their commit says which. `compiled` is a
    FileDescriptorSet. Records do not have it: it is empty once they are read.
    """

    file: str
    method_type: MethodType
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64}|unknown)$")] = UNKNOWN
    compiled: SkipJsonSchema[bytes] = Field(default=b"", exclude=True, repr=False)


def proto_of(root: Path, file: object, call: str) -> Proto | None:
    """Compile a .proto and find a call in it; None for that of the benchmark. ProtoError if wrong.

    Imports are looked up in the file's own folder, and below the root, as generators do it.
    """
    if file == BENCHMARK:
        return None
    example = f"write a path such as {FOLDER}/health.proto"
    if not isinstance(file, str) or not _PATH.fullmatch(file):
        raise ProtoError("proto", f"names no .proto file: {example}")
    # Links count as what they lead to.
    within = (root / file).resolve().is_relative_to((root / FOLDER).resolve())
    if not within or not file.startswith(f"{FOLDER}/") or ".." in Path(file).parts:
        raise ProtoError("proto", f"`{file}` is not below {FOLDER}/: {example}")
    if not (root / file).is_file():
        there = sorted(each.relative_to(root).as_posix() for each in _protos(root))
        raise ProtoError("proto", f"there is no {file}{nearest(file, there)}")
    compiled = _compiled(root.resolve(), file)
    return Proto(
        file=file,
        method_type=_type_of(_found(compiled, call)),
        sha256=hashlib.sha256(compiled).hexdigest(),
        compiled=compiled,
    )


def method_of(proto: Proto | None, call: str) -> "MethodDescriptor":
    """Return the descriptor of a call; ProtoError if its .proto does not have it."""
    return _found(proto.compiled if proto else b"", call)


def type_of(proto: Proto | None, call: str) -> MethodType:
    """Return the type of a call, which a record knows of every .proto; `unary` if it does not."""
    return proto.method_type if proto else _type_in_benchmark(call)


@cache
def _type_in_benchmark(call: str) -> MethodType:
    try:
        return _type_of(_found(b"", call))
    except ProtoError:
        return "unary"


def request_of(method: "MethodDescriptor", data: Mapping[str, Any]) -> "Message":
    """Return a call's request, given as JSON; ProtoError names the field that does not fit."""
    from google.protobuf import json_format
    from google.protobuf.message_factory import GetMessageClass

    made, of = GetMessageClass(method.input_type), method.input_type
    for key, value in data.items():
        field = of.fields_by_name.get(key) or of.fields_by_camelcase_name.get(key)
        if field is None:
            has = _and(of.fields_by_name) or "no fields"
            only = has if has == "no fields" else f"only {has}"
            raise ProtoError(f"request.{key}", f"the request of {method.name} has {only}")
        if _is_integer(field) and (not isinstance(value, int) or isinstance(value, bool)):
            raise ProtoError(f"request.{key}", f"must be a whole number, not {value!r:.60}")
        if _has_template(value):
            raise ProtoError(f"request.{key}", "is a template: each call must have this request")
        try:
            json_format.ParseDict({key: value}, made(), descriptor_pool=of.file.pool)
        except json_format.ParseError as error:
            raise ProtoError(f"request.{key}", f"does not fit: {_line(str(error))}") from error
    message = made()
    try:
        json_format.ParseDict(dict(data), message, descriptor_pool=of.file.pool)
    except json_format.ParseError as error:
        raise ProtoError("request", f"does not fit: {_line(str(error))}") from error
    if not message.IsInitialized():
        raise ProtoError("request", f"lacks a field that {of.name} requires")
    if (size := message.ByteSize()) > _LARGEST_REQUEST:
        raise ProtoError("request", f"has {size} bytes: more than {_LARGEST_REQUEST}")
    return message


def is_number(field: "FieldDescriptor") -> bool:
    """Return whether a rule may name a field: a single integer, bool or enum."""
    kinds = {field.CPPTYPE_BOOL, field.CPPTYPE_ENUM}
    return not field.is_repeated and (field.cpp_type in kinds or _is_integer(field))


def _is_integer(field: "FieldDescriptor") -> bool:
    kinds = {
        field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT32, field.CPPTYPE_UINT64,
    }  # fmt: skip
    return not field.is_repeated and field.cpp_type in kinds


def _has_template(value: object) -> bool:
    """Return whether ghz and volley would fill something in."""
    if isinstance(value, str):
        return "{{" in value
    if isinstance(value, dict):
        return any(map(_has_template, value.values()))
    return isinstance(value, list) and any(map(_has_template, value))


def _and(names: "Mapping[str, object]") -> str:
    return " and ".join(sorted(names))


def _protos(root: Path) -> Iterator[Path]:
    return (root / FOLDER).rglob("*.proto")


@cache
def _compiled(root: Path, file: str) -> bytes:
    """Return the FileDescriptorSet of a .proto; the file itself is the last in it."""
    argv = [
        sys.executable, "-P", "-m", "grpc_tools.protoc", f"-I{Path(file).parent}", "-I.",
        "--include_imports", "--descriptor_set_out=/dev/stdout", file,
    ]  # fmt: skip
    try:
        done = subprocess.run(argv, cwd=root, capture_output=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProtoError("proto", f"{file} cannot be compiled: {error}") from error
    if done.returncode:
        problems = done.stderr.decode(errors="replace").strip().splitlines()
        first = next((each for each in problems if not _WARNING.search(each)), "protoc failed")
        raise ProtoError("proto", f"{file} cannot be compiled: {_line(first)}")
    return done.stdout


@cache
def _file(compiled: bytes) -> "FileDescriptor":
    """Return the descriptor of a compiled .proto, in a pool of its own; b"" is the benchmark's."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    if not compiled:
        from arena.what import benchmark_pb2

        return benchmark_pb2.DESCRIPTOR
    pool, files = DescriptorPool(), FileDescriptorSet.FromString(compiled).file
    for each in files:
        pool.Add(each)
    return pool.FindFileByName(files[-1].name)


def _found(compiled: bytes, call: str) -> "MethodDescriptor":
    services = _file(compiled).services_by_name.values()
    methods = {f"{it.full_name}/{each.name}": each for it in services for each in it.methods}
    if call not in methods:
        raise ProtoError("call", f"there is no {call}{nearest(call, list(methods))}")
    return methods[call]


def _type_of(method: "MethodDescriptor") -> MethodType:
    if method.client_streaming:
        return "bidirectional-streaming" if method.server_streaming else "client-streaming"
    return "server-streaming" if method.server_streaming else "unary"


def _line(text: str) -> str:
    """Return an error of a library as one line of limited length."""
    return " ".join(text.split())[:_LONGEST_ERROR]
