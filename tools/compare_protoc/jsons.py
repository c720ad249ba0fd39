"""JSON as it may be sent: other forms of what a message is, and what is no message at all."""

import base64
import copy
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Letter:
    """A message as it is sent to volley: encoded, or as JSON text."""

    name: str
    wire: bytes | None = None
    json: str | None = None
    is_odd: bool = False
    """Its bytes are other than an encoder's."""

    def question(self) -> dict[str, str]:
        """Return it as the peer reads it."""
        if self.wire is not None:
            return {"name": self.name, "wire": base64.b64encode(self.wire).decode()}
        return {"name": self.name, "json": self.json or ""}


# The double after the least int64: what lies between counts as either, as in C++.
_BELOW = -(2**63) - 2048
_ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 1.0, 1.5, 1e2, 2**31, 2**32, 2**63, 2**64, -(2**31) - 1, _BELOW, 1e39, 1e-50,
    1e308, "", "0", "1", "-1", "1.0", "1.5", "1e2", "01", "+1", " 1", "0x1", "1_0", "NaN", "Infinity", "-Infinity",
    "inf", "nan", "true", "null", "a", "YQ==", "YQ", "_-8=", "_-8", "+/8=", "Y", "YR==", "a b", "é", [], [1], [[1]],
    [None], {}, {"a": 1}, {"1": 1}, {"true": 1}, "2147483647", "2147483648", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "1s", "-1.5s", "1.0000000001s", "1.s", ".5s", "1S",
    "315576000001s", "+1s", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.123456789Z", "1970-01-01T00:00:00+01:00",
    "1970-01-01t00:00:00z", "1970-01-01T00:00:00", "1970-01-01", "0001-01-01T00:00:00Z", "0000-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999999999Z", "1972-06-30T23:59:60Z", "1970-13-01T00:00:00Z", "1970-01-01T24:00:00Z",
    "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.1234567891Z", "1970-1-1T0:0:0Z", "foo,barBaz", "foo_bar", ",",
    {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"}, {"@type": ""}, {"value": "1s"},
    {"@type": "type.googleapis.com/no.Where"}, {"@type": "google.protobuf.Duration", "value": "1s"},
)  # fmt: skip
_ODD_TEXTS = (
    "", " ", "null", "true", "1", '"a"', "[]", "{}", "{", "}", "{}{}", "{} x", "{,}", '{"a"}', "{'a': 1}", '{"no": 1}',
    '{"": 1}', "{} ", "\ufeff{}", "/**/{}", "{}//", "nul", "{null:1}", '{"\\ud800": 1}', '{"a" 1}',
    "[" * 50 + "]" * 50, '{"no": ' * 200 + "1" + "}" * 200,
)  # fmt: skip
# Without -0, which Python reads as the whole number 0.
_ODD_TOKENS = ("NaN", "Infinity", "-Infinity", "01", "1.", ".5", "+1", "1e", "-", "0x1", "1e400", "-0.0",
               "1E+2", '"\\ud800"', '"\\ud83d\\ude00"', '"\\x"', '"\t"', "'a'", "tru", "1e2", "100e-2", "2147483647.0",
               "0.0", "-1e-400", "123456789012345678901234567890", "9007199254740993", "1.0000000000000001",
               '"\\u0000"', "[1,]", "[,1]", '{"a":1,}')  # fmt: skip
_MARK = "\U0010fffd mark"


def require_json(text: str) -> None:
    """Refuse what Python's parser takes and RFC 8259 does not, and numbers that are out of range."""

    def refuse(word: str) -> float:
        message = f"{word} is no number"
        raise ValueError(message)

    def real(word: str) -> float:
        number = float(word)
        return refuse(word) if math.isinf(number) else number

    json.loads(text, parse_constant=refuse, parse_float=real)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside, itself included."""
    yield path
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, each in inside:
        yield from places(each, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Return a copy with another value at a path."""
    if not path:
        return other
    whole = copy.deepcopy(value)
    at(whole, path[:-1])[path[-1]] = other
    return whole


def odd_forms(lot: Random, value: Any, count: int) -> Iterator[str]:
    """Yield JSON texts that differ from `value` in one place."""
    everywhere = list(places(value))[1:]
    for _ in range(count):
        drawn = lot.random()
        if drawn < 0.1 or not everywhere:
            yield lot.choice(_ODD_TEXTS)
            continue
        path = lot.choice(everywhere)
        if drawn < 0.2:
            text = json.dumps(replaced(value, path, _MARK), ensure_ascii=False)
            yield text.replace(f'"{_MARK}"', lot.choice(_ODD_TOKENS))
        elif drawn < 0.3:
            yield _twice(lot, value, path)
        elif drawn < 0.4:
            yield json.dumps(_renamed(lot, value, path))
        else:
            other = _like(lot, at(value, path)) if lot.random() < 0.3 else lot.choice(_ODD_VALUES)
            yield json.dumps(replaced(value, path, other))


def _like(lot: Random, value: Any) -> Any:
    """Return the same value in another form, that may be allowed."""
    if isinstance(value, str):
        number = value.lstrip("-")
        if number.isdigit():
            return lot.choice([int(value), float(value), value + ".0", value + "e0", " " + value])
        return lot.choice([value.replace("+", "-").replace("/", "_"), value.rstrip("="), value.upper(),
                           value.lower(), value + " ", value + "Z"])  # fmt: skip
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return lot.choice([str(value), float(value), f"{value}.0", value * 2])
    if isinstance(value, list):
        return lot.choice(
            [{str(place): each for place, each in enumerate(value)}, value * 2, [*value, None]]
        )
    return lot.choice([[value], None, [], list(value or ())])


def _renamed(lot: Random, value: Any, path: tuple[Any, ...]) -> Any:
    if not isinstance(path[-1], str):
        return replaced(value, path, None)
    whole = copy.deepcopy(value)
    inside = at(whole, path[:-1])
    name = path[-1]
    new = lot.choice([name.upper(), name + "_", "".join(f"_{c.lower()}" if c.isupper() else c for c in name),
                      "@type", name.strip("[]"), f"[{name}]", name.replace("_", ""), "01", "TRUE", "1.0"])  # fmt: skip
    inside[new] = inside.pop(name)
    return whole


def _twice(lot: Random, value: Any, path: tuple[Any, ...]) -> str:
    """Return the JSON with one key twice."""
    if not isinstance(path[-1], str):
        return json.dumps(replaced(value, path, [None, None]))
    whole = copy.deepcopy(value)
    at(whole, path[:-1])[_MARK] = lot.choice([at(value, path), None])
    return json.dumps(whole, ensure_ascii=False).replace(_MARK, json.dumps(path[-1])[1:-1])


def odd_wires(lot: Random, wire: bytes, count: int) -> Iterator[bytes]:
    """Yield bytes that differ from a message's in one place."""
    unknown = (b"\xf8\xff\xff\xff\x0f\x01", b"\xfa\xff\xff\xff\x0f\x01a", b"\xfb\xff\xff\xff\x0f\xfc\xff\xff\xff\x0f",
               b"\x08", b"\x00\x00", b"\x0f\x00", b"\x0e", b"\x0c", b"\x0b", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
               b"\x08" + b"\xff" * 10, b"\x0a\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x80\x00", b"\x0a\x01\xff",
               b"\xf8\xff\xff\xff\x1f\x01")  # fmt: skip
    for _ in range(count):
        way = lot.randrange(5)
        place = lot.randrange(len(wire) + 1)
        if way == 0:
            yield wire[:place]
        elif way == 1:
            yield wire + wire
        elif way == 2:
            yield wire[:place] + lot.randbytes(1) + wire[place + 1 :]
        elif way == 3:
            yield wire + lot.choice(unknown)
        else:
            yield lot.choice(unknown) + wire
