"""Custom options: the file that declares them, and uses of them."""

from random import Random

from tools.compare_protoc.naming import SCALARS, literal

OPTIONS_FILE = "custom/options.proto"
ELEMENTS = ("File", "Message", "Field", "Oneof", "Enum", "EnumValue", "Service", "Method",
            "ExtensionRange")  # fmt: skip

_HEAD = """
package custom.opts;
import "google/protobuf/descriptor.proto";
import "google/protobuf/any.proto";
enum Level { LEVEL_ZERO = 0; LEVEL_LOW = 1; LEVEL_HIGH = 7; }
message Rule {
  optional string text = 1;
  repeated int32 numbers = 2;
  optional Rule inner = 3;
  repeated Rule rules = 4;
  optional Level level = 5;
  optional double real = 6;
  optional float single = 14;
  optional bytes raw = 7;
  optional bool flag = 8;
  map<string, int64> totals = 9;
  optional google.protobuf.Any any = 10;
  oneof choice { int64 one = 11; string other = 12; }
  repeated Level levels = 13;
  extensions 100 to 200;
  reserved "gone";
  %s
}
extend Rule { optional int32 extra = 100; repeated Rule more = 101; }
"""
_GROUP = "optional group Box = 20 { optional int32 x = 1; }"


def options_file() -> str:
    """Return a file that extends each kind of options with each kind of value."""
    lines = ['syntax = "proto2";', _HEAD % _GROUP]
    for place, element in enumerate(ELEMENTS):
        lines.append(f"extend google.protobuf.{element}Options {{")
        number = 50_000 + 100 * place
        low = element.lower()
        for at, scalar in enumerate(SCALARS):
            lines.append(f"  optional {scalar} {low}_{scalar} = {number + at};")
        lines += [
            f"  optional Level {low}_level = {number + 20};",
            f"  optional Rule {low}_rule = {number + 21};",
            f"  repeated string {low}_texts = {number + 22};",
            f"  repeated Rule {low}_rules = {number + 23};",
            f"  repeated int32 {low}_packed = {number + 24} [packed = true];",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _name(lot: Random, name: str) -> str:
    return lot.choice(["(custom.opts.", "(.custom.opts."]) + name + ")"


def custom(lot: Random, element: str) -> list[str]:
    """Return settings of an element's custom options, without `option`."""
    low = element.lower()
    scalars = lot.sample(SCALARS, lot.choice([0, 1, 2]))
    settings = [f"{_name(lot, f'{low}_{each}')} = {literal(lot, each)}" for each in scalars]
    kind = lot.random()
    if kind < 0.2:
        level = lot.choice(["LEVEL_LOW", "LEVEL_HIGH", "LEVEL_ZERO"])
        settings.append(f"{_name(lot, low + '_level')} = {level}")
    elif kind < 0.5:
        settings.append(f"{_name(lot, low + '_rule')} = {aggregate(lot, 0)}")
    elif kind < 0.6:
        rule = _name(lot, low + "_rule")
        settings += [f'{rule}.text = "t"', f"{rule}.inner.level = LEVEL_HIGH",
                     f"{rule}.(custom.opts.extra) = 4", f"{rule}.box.x = 3"]  # fmt: skip
    elif kind < 0.75:
        texts = _name(lot, low + "_texts")
        settings += [f"{texts} = {literal(lot, 'string')}" for _ in range(lot.randint(1, 3))]
    elif kind < 0.85:
        settings += [f"{_name(lot, low + '_rules')} = {aggregate(lot, 1)}" for _ in range(2)]
    elif kind < 0.95:
        settings += [f"{_name(lot, low + '_packed')} = {each}" for each in (1, -2, 0x7F)]
    return settings


def _real(lot: Random) -> str:
    return literal(lot, "float").replace("0x10", "16")


def aggregate(lot: Random, depth: int) -> str:
    """Return a message in the text format, as options have it."""
    parts = []
    for entry in lot.sample(range(17), lot.choice([0, 1, 2, 4])):
        inner = aggregate(lot, depth + 1) if depth < 3 else "{}"
        colon = lot.choice([": ", " ", ":"])
        parts.append([
            f"text: {literal(lot, 'string')}", "numbers: 1 numbers: -2", "numbers: [1, 2, 0x3]",
            f"inner{colon}{inner}", f"rules {inner}", f"rules: [{inner}, {inner}]",
            f"level: {lot.choice(['LEVEL_LOW', '7'])}", f"real: {_real(lot)}",
            f"raw: {literal(lot, 'bytes')}", f"flag: {lot.choice(['true', 'false', 't', '1'])}",
            'totals { key: "a" value: 9 } totals: { key: "b" }', f"one: {literal(lot, 'int64')}",
            "[custom.opts.extra]: 5", f"[custom.opts.more] {inner}",
            f"any {{ [type.googleapis.com/custom.opts.Rule] {inner} }}",
            lot.choice(["Box { x: 1 }", "levels: [LEVEL_LOW, LEVEL_HIGH]", "rules: []",
                        "inner < text: 'x' >", f"single: {_real(lot)}"]),
            f"gone{lot.choice([': 1', ': -inf', ': x', ' { a: 1 b < > }', ': [{ }, 2, []]'])}",
        ][entry])  # fmt: skip
    end = lot.choice(["", ",", ";"])
    return "{ " + f"{end} ".join(parts) + (end if parts else "") + " }"
