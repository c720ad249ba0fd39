"""Fills messages by lot: extremes, unset fields, and well-known types."""

import math
import struct
from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

DEEPEST = 4
_F = FieldDescriptor
_SIGNED = {_F.TYPE_INT32: 31, _F.TYPE_SINT32: 31, _F.TYPE_SFIXED32: 31, _F.TYPE_INT64: 63,
           _F.TYPE_SINT64: 63, _F.TYPE_SFIXED64: 63}  # fmt: skip
_UNSIGNED = {_F.TYPE_UINT32: 32, _F.TYPE_FIXED32: 32, _F.TYPE_UINT64: 64, _F.TYPE_FIXED64: 64}
_REALS = (0.0, -0.0, 1.5, -1.0, 0.1, 1e10, 1e-7, 5e-324, 1.7976931348623157e308, 1e21, 1e22,
          123456789.0, math.inf, -math.inf, math.nan, 2.0**53, 2.0**63)  # fmt: skip
_SINGLES = (0.0, -0.0, 1.5, 0.1, 3.4028234663852886e38, 1e-45, 16777216.0, 1e10, 1.17549435e-38,
            math.inf, -math.inf, math.nan, 0.3, -2.5e-6)  # fmt: skip
_TEXTS = ("", "a", "é", "😀", 'q"\\/', "\n\t\x00\x7f", "\u2028<&>", "true", "1", "NaN", "x" * 200)


class Filler:
    """Makes messages of the types of one pool."""

    def __init__(self, lot: Random, pool: DescriptorPool) -> None:
        self.lot = lot
        self.pool = pool

    def made(self, kind: Descriptor, depth: int = 0) -> Message:
        """Return a message of this type."""
        message: Message = GetMessageClass(kind)()
        well_known = getattr(self, f"_{kind.name.lower()}", None)
        if kind.full_name.startswith("google.protobuf.") and well_known:
            well_known(message, depth)
            return message
        density = self.lot.choice([0.2, 0.5, 0.9])
        for field in self._fields(kind):
            needed = field.is_required and depth < DEEPEST + 2
            if needed or (depth < DEEPEST and self.lot.random() < density):
                self._fill(message, field, depth)
        return message

    def _fields(self, kind: Descriptor) -> list[FieldDescriptor]:
        extensions = self.pool.FindAllExtensions(kind) if kind.is_extendable else []
        return [*kind.fields, *sorted(extensions, key=lambda each: each.number)]

    def _fill(self, message: Any, field: FieldDescriptor, depth: int) -> None:
        lot, entry = self.lot, field.message_type
        count = lot.choice([0, 1, 2, 3])
        if entry and entry.GetOptions().map_entry:
            key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
            entries = getattr(message, field.name)
            for _ in range(count):
                at = self._scalar(key)
                if value.message_type:
                    entries[at].CopyFrom(self.made(value.message_type, depth + 1))
                else:
                    entries[at] = self._scalar(value)
            return
        repeated = field.is_repeated
        place: Any = None
        if repeated or entry:
            extended = field.is_extension
            place = message.Extensions[field] if extended else getattr(message, field.name)
        if repeated:
            for _ in range(count):
                place.append(self.made(entry, depth + 1) if entry else self._scalar(field))
        elif entry:
            place.CopyFrom(self.made(entry, depth + 1))
            place.SetInParent()
        elif field.is_extension:
            message.Extensions[field] = self._scalar(field)
        else:
            setattr(message, field.name, self._scalar(field))

    def _scalar(self, field: FieldDescriptor) -> Any:
        lot, kind = self.lot, field.type
        if kind in _SIGNED:
            bits = _SIGNED[kind]
            return lot.choice([0, 1, -1, (1 << bits) - 1, -(1 << bits), lot.randint(-999, 999)])
        if kind in _UNSIGNED:
            return lot.choice([0, 1, (1 << _UNSIGNED[kind]) - 1, lot.randint(0, 999)])
        if kind == _F.TYPE_DOUBLE:
            return lot.choice([*_REALS, lot.gauss(0, 1e3), struct.unpack("d", lot.randbytes(8))[0]])
        if kind == _F.TYPE_FLOAT:
            return lot.choice([*_SINGLES, struct.unpack("f", lot.randbytes(4))[0]])
        if kind == _F.TYPE_BOOL:
            return lot.random() < 0.5
        if kind == _F.TYPE_STRING:
            return lot.choice(_TEXTS)
        if kind == _F.TYPE_BYTES:
            return lot.randbytes(lot.choice([0, 1, 2, 3, 40]))
        enum: Any = field.enum_type
        numbers = [each.number for each in enum.values]
        return lot.choice(numbers + ([] if enum.is_closed else [77, -7]))

    # ---- well-known types, mostly with values that JSON can have

    def _timestamp(self, message: Any, _: int) -> None:
        message.seconds = self.lot.choice([0, 1, -1, 1_700_000_000, -62135596800, 253402300799,
                                           self.lot.randint(-(10**10), 10**11)])  # fmt: skip
        message.nanos = self.lot.choice([0, 1, 1000, 500_000_000, 999_999_999, 120_000_000])
        if self.lot.random() < 0.03:
            message.seconds = self.lot.choice([-62135596801, 253402300800])

    def _duration(self, message: Any, _: int) -> None:
        sign = self.lot.choice([1, -1])
        message.seconds = sign * self.lot.choice([0, 1, 59, 315576000000, 12345])
        message.nanos = sign * self.lot.choice([0, 1, 1000, 500_000_000, 999_999_999])
        if self.lot.random() < 0.03:
            message.nanos = -message.nanos

    def _fieldmask(self, message: Any, _: int) -> None:
        words = ["a", "foo_bar", "a.b_c.d", "x1", "long_name_here"]
        message.paths.extend(self.lot.sample(words, self.lot.randint(0, 3)))
        if self.lot.random() < 0.03:
            message.paths.append(self.lot.choice(["fooBar", "a_1", "a__b", "A", ""]))

    def _any(self, message: Any, depth: int) -> None:
        if self.lot.random() < 0.2 or depth >= DEEPEST:
            return
        words = "Duration Timestamp Empty Int64Value Struct Any"
        names = [f"google.protobuf.{each}" for each in words.split()]
        known = [each for each in [*names, *self._named] if self._has(each)]
        kind = self.pool.FindMessageTypeByName(self.lot.choice(known))
        # A message that requires itself is never whole, and is not packed otherwise.
        message.type_url = f"type.googleapis.com/{kind.full_name}"
        message.value = self.made(kind, depth + 1).SerializePartialToString(deterministic=True)

    _named: tuple[str, ...] = ("google.protobuf.Any",)

    def name_types(self, names: list[str]) -> None:
        """Tell which types may be in an Any."""
        self._named = tuple(names)

    def _has(self, name: str) -> bool:
        try:
            self.pool.FindMessageTypeByName(name)
        except KeyError:
            return False
        return True

    def _value(self, message: Any, depth: int) -> None:
        kind = self.lot.randrange(6 if depth < DEEPEST else 4)
        if kind == 0:
            message.null_value = 0
        elif kind == 1:
            message.number_value = self.lot.choice([0.0, -0.0, 1.5, 1e21, -7.0, 0.1])
        elif kind == 2:
            message.string_value = self.lot.choice(_TEXTS)
        elif kind == 3:
            message.bool_value = self.lot.random() < 0.5
        elif kind == 4:
            self._struct(message.struct_value, depth + 1)
            message.struct_value.SetInParent()
        else:
            self._listvalue(message.list_value, depth + 1)
            message.list_value.SetInParent()

    def _struct(self, message: Any, depth: int) -> None:
        for key in self.lot.sample(["a", "b c", "é", ""], self.lot.randint(0, 2)):
            self._value(message.fields[key], depth + 1)

    def _listvalue(self, message: Any, depth: int) -> None:
        for _ in range(self.lot.randint(0, 3)):
            self._value(message.values.add(), depth + 1)
