"""The .proto files that profiles name, their messages, and rules for replies.

protoc compiles the files. A rule is such as `result = a + b + i`, with volley's meaning
(`--expect`). Names are `i`, the reply's index from 0; fields of the request; values of the reply's
enum; `true` and `false`; and `sum(a)` adds a field up over all requests of the call. Arithmetic is
modulo 2^64, and truncated to the width of the reply's field.
"""

import ast
import hashlib
import operator
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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
        there = (each.relative_to(root).as_posix() for each in (root / FOLDER).rglob("*.proto"))
        raise ProtoError("proto", f"there is no {file}{nearest(file, sorted(there))}")
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
        field = _field(of, key)
        if field is None:
            names = " and ".join(sorted(of.fields_by_name))
            has = f"only {names}" if names else "no fields"
            raise ProtoError(f"request.{key}", f"the request of {method.name} has {has}")
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


_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w*")
_MASK_64, _MASK_32 = (1 << 64) - 1, (1 << 32) - 1
_CONSTANTS = {"true": 1, "false": 0}

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip


def problems_of(rule: str, method: "MethodDescriptor") -> Iterator[str]:
    """Yield what is wrong with a rule of the form `field = expression`, as sentences."""
    name, _, expression = rule.partition(" = ")
    field = _field(method.output_type, name)
    if field is None or not is_number(field):
        what = "the reply has no" if field is None else "a rule cannot compare"
        known = " or ".join(f"`{each} = …`" for each in _numbers(method.output_type))
        yield f"{what} `{name}`: {f'write {known}' if known else 'it has no number'}"
        return
    try:
        tree = _tree(expression)
    except SyntaxError:
        yield f"`{expression}` is not a sum or a product of numbers and names"
        return
    has = " and ".join(_numbers(method.input_type)) or "no number"
    for used, is_summed in sorted(_names(tree)):
        found = _field(method.input_type, used)
        if (found and is_number(found)) or (not is_summed and used in _words(field)):
            continue
        yield f"there is no `{used}`: the request has {has}"


def wrong(rule: str, request: "Message", requests: int, reply: "Message", i: int) -> str:
    """Return how reply `i` breaks a valid rule, as text; empty if it does not.

    The call has sent the request `requests` times.
    """
    name, _, expression = rule.partition(" = ")
    field = _field(reply.DESCRIPTOR, name)
    if field is None:
        raise ValueError(f"the reply has no `{name}`")
    words = _words(field) | {"i": i}

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](value(left), value(right)) & _MASK_64
            case ast.Call(args=[ast.Name(id=summed)]):
                return requests * _number(request, summed[1:])
            case ast.Name(id="_i"):
                return i
            case ast.Name(id=used):
                known = _field(request.DESCRIPTOR, used[1:])
                return words[used[1:]] if known is None else _number(request, used[1:])
        raise ValueError(f"`{expression}` is not a rule")

    wanted, found = value(_tree(expression)), _number(reply, name)
    if field.cpp_type == field.CPPTYPE_BOOL:
        is_right = bool(found) == bool(wanted & _MASK_64)
    else:
        wide = {field.CPPTYPE_INT64, field.CPPTYPE_UINT64}
        mask = _MASK_64 if field.cpp_type in wide else _MASK_32
        is_right = (found & mask) == (wanted & mask)
    return "" if is_right else f"its {name} is {found}, and the rule is `{rule}`"


def _tree(expression: str) -> ast.expr:
    """Return an expression's tree, with `_` before each name; SyntaxError for any other text."""
    # Python's keywords are good names of fields.
    tree = ast.parse(_NAME.sub(r"_\g<0>", expression), mode="eval").body
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=int()) | ast.Name() | ast.Load() | ast.USub() | ast.BinOp():
                continue
            case ast.Add() | ast.Sub() | ast.Mult() | ast.UnaryOp(op=ast.USub()):
                continue
            case ast.Call(func=ast.Name(id="_sum"), args=[ast.Name()], keywords=[]):
                continue
        raise SyntaxError(expression)
    return tree


def _names(tree: ast.expr) -> set[tuple[str, bool]]:
    """Return the names in an expression, and whether each is summed."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    summed = {id(each) for call in calls for each in call.args}
    functions = {id(call.func) for call in calls}
    return {
        (node.id[1:], id(node) in summed)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in functions
    }


def _words(field: "FieldDescriptor") -> dict[str, int]:
    """Return the names that mean a number beside the fields of the request."""
    values = field.enum_type.values_by_name if field.enum_type else {}
    return {"i": 0, **_CONSTANTS, **{name: each.number for name, each in values.items()}}


def _field(message: Any, name: str) -> "FieldDescriptor | None":
    found: FieldDescriptor | None = message.fields_by_name.get(name)
    return found or message.fields_by_camelcase_name.get(name)


def _numbers(message: Any) -> list[str]:
    return sorted(name for name, field in message.fields_by_name.items() if is_number(field))


def _number(message: "Message", name: str) -> int:
    field = _field(message.DESCRIPTOR, name)
    return int(getattr(message, field.name)) if field else 0
