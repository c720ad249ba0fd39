"""Tells what differs between two descriptor sets, two JSON values, two messages."""

import ast
import struct
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet


def first_of_sets(theirs: bytes, ours: bytes, root: str, pool: DescriptorPool) -> str | None:
    """Return the path of the first difference between two descriptor sets, without places in lists.

    `pool` may know the custom options.
    """
    sort = _set_type(pool)
    try:
        mine = sort.FromString(ours)
    except DecodeError:
        return "no-descriptor-set"
    expected = {file.name: file for file in sort.FromString(theirs).file}
    found = {file.name: file for file in mine.file}
    if root not in found:
        # volley names the root by the folder in which it lies.
        for name in [name for name in found if root.endswith("/" + name)]:
            found[root] = found.pop(name)
            found[root].name = root
    if missing := expected.keys() - found.keys():
        return "missing-file" if root in missing else "missing-import"
    if found.keys() - expected.keys():
        return "more-files"
    for name, file in expected.items():
        if not name.startswith("google/protobuf/"):  # each has its own
            _drop_what_may_differ(file, found[name])
            if (path := _first(file, found[name])) is not None:
                return path
    return None


def _drop_what_may_differ(theirs: Any, ours: Any) -> None:
    ours.ClearField("source_code_info")
    if ours.syntax == "proto2":
        ours.ClearField("syntax")
    for extension in (*_extensions(theirs), *_extensions(ours)):
        # volley sets it for all: they have presence.
        extension.ClearField("proto3_optional")


def _extensions(scope: Any) -> Iterator[Any]:
    """Yield what is extended in a file or a message."""
    yield from scope.extension
    nested = scope.nested_type if hasattr(scope, "nested_type") else scope.message_type
    for message in nested:
        yield from _extensions(message)


def _set_type(pool: DescriptorPool) -> Any:
    try:
        return GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FileDescriptorSet"))
    except KeyError:
        return FileDescriptorSet


def _bytes(message: Message) -> bytes:
    return message.SerializePartialToString(deterministic=True)


def _first(theirs: Any, ours: Any) -> str | None:
    """Return the path of the first field that differs."""
    if _bytes(theirs) == _bytes(ours):
        return None
    mine, other = dict(ours.ListFields()), dict(theirs.ListFields())
    for field in [*other, *(field for field in mine if field not in other)]:
        name = "custom" if field.is_extension else field.name
        if field not in mine or field not in other:
            return f"{name}-{'missing' if field in other else 'surplus'}"
        if field.is_repeated and len(mine[field]) != len(other[field]):
            return f"{name}-count"
        repeated = field.is_repeated
        one, two = (other[field], mine[field]) if repeated else ([other[field]], [mine[field]])
        if field.message_type and not field.message_type.GetOptions().map_entry:
            for pair in zip(one, two, strict=True):
                if (path := _first(*pair)) is not None:
                    return f"{name}.{path}"
        elif str(other[field]) != str(mine[field]):
            return name
    return "unknown" if _unknown(theirs) != _unknown(ours) else "order"


def _unknown(message: Message) -> list[Any]:
    """Return the unknown fields by number; the order of a number's own stays."""
    return sorted(_data(UnknownFieldSet(message)), key=lambda each: each[0])


def _data(data: Any) -> Any:
    if isinstance(data, (int, bytes)):
        return data
    return [(each.field_number, each.wire_type, _data(each.data)) for each in data]


def first_of_json(theirs: Any, ours: Any, kind: Descriptor | None) -> str | None:
    """Return the kind of the first value that differs between two JSON values of a message."""
    if kind is None or (whole := _as_a_whole(kind)):
        return None if _same(theirs, ours) else (whole if kind else "value")
    if not isinstance(ours, dict):
        return "not-an-object"
    extensions = kind.file.pool.FindAllExtensions(kind)
    fields = {field.json_name: field for field in kind.fields}
    fields |= {f"[{field.full_name}]": field for field in extensions}
    for key in sorted(theirs.keys() | ours.keys()):
        field = fields.get(key)
        what = _what(field)
        if key not in ours:
            return f"missing-{what}"
        if key not in theirs:
            return f"surplus-{what}"
        for one, two, inner in _pairs(theirs[key], ours[key], field):
            if inner is not None and isinstance(one, dict):
                if (path := first_of_json(one, two, inner)) is not None:
                    return path
            elif not _same(one, two):
                return what
    return None


def _as_a_whole(kind: Descriptor) -> str | None:
    """Return what a difference is called if the fields of a type are not looked at one by one."""
    if kind.full_name.startswith("google.protobuf."):
        return str(kind.full_name)
    names = {field.json_name for field in kind.fields}
    return "same-names" if len(names) < len(kind.fields) else None


def _pairs(
    theirs: Any, ours: Any, field: FieldDescriptor | None
) -> Iterator[tuple[Any, Any, Descriptor | None]]:
    kind = field.message_type if field else None
    if kind is None or not kind.GetOptions().map_entry:
        if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
            for one, two in zip(theirs, ours, strict=True):
                yield one, two, kind
        else:
            yield theirs, ours, kind
    elif isinstance(ours, dict) and theirs.keys() == ours.keys():
        for key in theirs:
            yield theirs[key], ours[key], kind.fields_by_name["value"].message_type
    else:
        yield sorted(theirs), ours, None


_TYPES = {
    getattr(FieldDescriptor, name): name[5:].lower()
    for name in dir(FieldDescriptor) if name.startswith("TYPE_")
}  # fmt: skip


def _what(field: FieldDescriptor | None) -> str:
    if field is None:
        return "extension"
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        return f"map-of-{_what(kind.fields_by_name['value'])}"
    name = kind.full_name if kind and kind.full_name.startswith("google.") else _TYPES[field.type]
    return f"repeated-{name}" if field.is_repeated else name


def _same(theirs: Any, ours: Any) -> bool:
    """Whether JSON values are the same; the shortest text of an f32 is another f64."""
    if isinstance(theirs, dict):
        return (isinstance(ours, dict) and theirs.keys() == ours.keys()
                and all(_same(theirs[key], ours[key]) for key in theirs))  # fmt: skip
    if isinstance(theirs, list):
        return (isinstance(ours, list) and len(theirs) == len(ours)
                and all(_same(*pair) for pair in zip(theirs, ours, strict=True)))  # fmt: skip
    if _is_number(theirs) and _is_number(ours):
        return _bits(theirs) == _bits(ours) or _single(theirs) == _single(ours) is not None
    if isinstance(theirs, str) and theirs.startswith(("b'", 'b"')) and theirs != ours:
        return bool(_replaced(theirs) == ours)
    return type(theirs) is type(ours) and bool(theirs == ours)


def _replaced(theirs: str) -> str | None:
    """Return text that is not UTF-8, of which Python shows the bytes, as volley shows it."""
    try:
        return bytes(ast.literal_eval(theirs)).decode(errors="replace")
    except (SyntaxError, ValueError):
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _bits(value: float) -> bytes:
    return struct.pack("d", float(value))


def _single(value: float) -> bytes | None:
    try:
        return struct.pack("f", float(value))
    except OverflowError:
        return None


def settle(message: Message) -> None:
    """Encode what is in each Any again: the order of its maps makes no difference."""
    if message.DESCRIPTOR.full_name == "google.protobuf.Any":
        _settle_any(message)
    for field, value in message.ListFields():
        kind = field.message_type
        if kind is None:
            continue
        inside: Any = value if field.is_repeated else [value]
        if kind.GetOptions().map_entry:
            inside = value.values() if kind.fields_by_name["value"].message_type else []
        for each in inside:
            settle(each)


def _settle_any(message: Any) -> None:
    try:
        kind = message.DESCRIPTOR.file.pool.FindMessageTypeByName(
            message.type_url.rpartition("/")[2]
        )
        inside = GetMessageClass(kind).FromString(message.value)
    except (KeyError, DecodeError):
        return
    settle(inside)
    message.value = _bytes(inside)


def first_of_messages(theirs: Message, ours: Message) -> str | None:
    """Return the kind of the first field that differs between two messages of a type."""
    settle(theirs)
    settle(ours)
    return _first_of_messages(theirs, ours)


def _first_of_messages(theirs: Message, ours: Message) -> str | None:
    if _bytes(theirs) == _bytes(ours):
        return None
    mine, other = dict(ours.ListFields()), dict(theirs.ListFields())
    for field in [*other, *(field for field in mine if field not in other)]:
        if field not in mine or field not in other:
            return f"{'missing' if field in other else 'surplus'}-{_what(field)}"
        kind = field.message_type
        if kind and not field.is_repeated:
            if (path := _first_of_messages(other[field], mine[field])) is not None:
                return path if not kind.full_name.startswith("google.") else kind.full_name
        elif str(other[field]) != str(mine[field]):
            return _what(field)
    return "bytes"
