"""Makes .proto files by seed: most of them right, a quarter broken on purpose."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tools.compare_protoc import breaking, formatting, odd
from tools.compare_protoc.declaring import Declared, Writer
from tools.compare_protoc.naming import Namer
from tools.compare_protoc.options import OPTIONS_FILE, options_file

ROOT = "root.proto"
SYNTAXES = ("", "proto2", "proto3", "proto3", "2023", "2024")
_WELL_KNOWN = {
    "google/protobuf/any.proto": ["Any"],
    "google/protobuf/duration.proto": ["Duration"],
    "google/protobuf/empty.proto": ["Empty"],
    "google/protobuf/field_mask.proto": ["FieldMask"],
    "google/protobuf/struct.proto": ["Struct", "Value", "ListValue"],
    "google/protobuf/timestamp.proto": ["Timestamp"],
    "google/protobuf/wrappers.proto": [
        f"{each}Value"
        for each in [
            "Double",
            "Float",
            "Int64",
            "UInt64",
            "Int32",
            "UInt32",
            "Bool",
            "String",
            "Bytes",
        ]
    ],
}


@dataclass
class Case:
    """Files to be compiled, and which of them."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    root: str = ROOT
    fault: str = ""
    """How the root was broken on purpose."""


def faults() -> Iterator[Case]:
    """Yield a case for each fault, with nothing beside it."""
    for name, text in breaking.alone():
        files = {ROOT: text.encode("utf-8", "surrogateescape")}
        yield Case(f"fault {name}", files, fault=name)


def oddities() -> Iterator[Case]:
    """Yield a case for each declaration that looks wrong, with nothing beside it."""
    for name, text in odd.alone():
        yield Case(f"odd {name}", {ROOT: text.encode()})


def case_of(seed: int) -> Case:
    """Return the case of this seed, always the same one."""
    lot = Random(seed)
    case = Case(f"seed {seed}")
    with_options = lot.random() < 0.5
    if with_options:
        case.files[OPTIONS_FILE] = options_file().encode()
    declared: list[Declared] = []
    namer = Namer(lot)
    for place in range(lot.choice([0, 0, 1, 1, 2, 3])):
        name = lot.choice(["", "sub/", "sub/deep/"]) + f"dep{place}.proto"
        one = _file(lot, namer, name, declared, with_options=with_options, busy=lot.randint(1, 3))
        declared.append(one)
        case.files[name] = one.text.encode()
    root = _file(lot, namer, ROOT, declared, with_options=with_options, busy=lot.randint(2, 6))
    text = root.text
    if lot.random() < 0.25:
        case.fault, text = breaking.broken(lot, text, root.syntax)
    elif lot.random() < 0.25:
        text = formatting.oddly(lot, text)
    mark = b"\xef\xbb\xbf" if lot.random() < 0.05 else b""
    case.files[ROOT] = mark + text.encode("utf-8", "surrogateescape")
    return case


def _file(
    lot: Random, namer: Namer, name: str, others: list[Declared], *, with_options: bool, busy: int
) -> Declared:
    syntax = lot.choice(SYNTAXES)
    one = Declared(name, syntax, package=_package(lot))
    lines = []
    if syntax.startswith("proto"):
        lines.append(f'syntax = "{syntax}";')
    elif syntax:
        lines.append(f'edition = "{syntax}";')
    imports = _imports(lot, others, one)
    if with_options:
        imports.append(f'import "{OPTIONS_FILE}";')
    package = [f"package {one.package};"] if one.package else []
    lot.shuffle(imports)
    lines += lot.choice([imports + package, package + imports])
    writer = Writer(lot, one, namer, with_options=with_options)
    lines += writer.lines(busy)
    one.text = "\n".join(lines) + "\n"
    return one


def _package(lot: Random) -> str:
    parts = lot.choices(["pkg", "api", "v1", "shop", "message", "Pkg", "google_", "a"], k=3)
    return ".".join(dict.fromkeys(parts[: lot.randint(0, 3)]))


def _imports(lot: Random, others: list[Declared], one: Declared) -> list[str]:
    lines = []
    for other in others:
        if lot.random() < 0.8:
            word = lot.choice(["", "", "", "public "] + (["weak "] if one.syntax != "2024" else []))
            lines.append(f'import {word}"{other.name}";')
            if word == "public ":
                one.passed_on.append(other)
            one.see(other)
    for file, names in _WELL_KNOWN.items():
        if lot.random() < 0.25:
            lines.append(f'import "{file}";')
            one.messages += [(f"google.protobuf.{each}", "proto3") for each in names]
            if file.endswith("struct.proto"):
                one.enums.append(("google.protobuf.NullValue", "proto3", ["NULL_VALUE"]))
    return lines
