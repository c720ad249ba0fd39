"""Asks protoc and volley about one case, and tells what differs."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from warnings import catch_warnings, simplefilter

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from tools.compare_protoc import comparing, jsons, protoc, shrinking
from tools.compare_protoc.filling import Filler
from tools.compare_protoc.generating import Case
from tools.compare_protoc.jsons import Letter
from tools.compare_protoc.volley import Answer, Volley

TYPES_OF_A_FILE = 4
_REFUSALS = (json_format.Error, DecodeError, EncodeError, ValueError, TypeError, KeyError,
             AttributeError, RecursionError)  # fmt: skip
_BEFORE_REASONS = (
    r"\.proto:\d+:\d+: ",
    r"cannot compile `[^`]*`: ",
    r"is not a descriptor set, or a damaged one: ",
    r"cannot use the descriptor set `[^`]*`: ",
    r"the data does not fit `[^`]*`: (?:`[^`]*`(?: \([^)]*\))?: )?",  # the place and its type
    r"nor several with length prefixes: ",
)


def slug(reason: str) -> str:
    """Return what is said, without names and numbers."""
    reason = re.sub(
        r'"(?:\\.|[^"])*"|\'[^\']*\'|`[^`]*`', "X", reason.splitlines()[0] if reason else ""
    )
    reason = re.sub(
        r"Failed to ((parse|serialize) \S+ field|load JSON): |(?<=duplicate key ).*", "", reason
    )
    reason = re.sub(r" at [\w.\[\]]+$", "", reason.rstrip("."))
    reason = re.sub(r" at line \d+ column \d+|; .*", "", reason)
    reason = re.sub(r"\S*/\S*|\d+|\[\S*\]", "", reason)
    return re.sub(r"[^a-z]+", "-", reason.lower()).strip("-")[:70].rstrip("-") or "no-reason"


@dataclass
class Difference:
    """One kind of difference, by its first example."""

    kind: str
    case: str
    example: str = ""
    count: int = 1


@dataclass
class Tally:
    """What was asked, and what differs."""

    is_allowed: Callable[[str], bool] = lambda _: False

    counts: Counter[str] = field(default_factory=Counter)
    differences: dict[str, Difference] = field(default_factory=dict)

    def add(self, kind: str, case: str) -> Difference | None:
        """Count a difference; return it if it is the first of its kind, and not allowed."""
        if kind in self.differences:
            self.differences[kind].count += 1
            return None
        self.differences[kind] = Difference(kind, case)
        return None if self.is_allowed(kind) else self.differences[kind]


class Asker:
    """Compares case by case."""

    def __init__(self, folder: Path, volley: Volley, tally: Tally) -> None:
        self._folder = folder / "files"
        self._set = folder / "their.set"
        self._volley = volley
        self.tally = tally

    # ---- files

    def made(self, case: Case, seed: int) -> None:
        """Compare what is made of generated files."""
        self._write(case)
        kind, theirs = self._compared(case, [self._folder])
        self._counted(theirs, broken=bool(case.fault))
        if kind and (first := self.tally.add(kind, f"{case.name} {case.fault}".strip())):
            least = shrinking.least_case(case, lambda other: self._shows(other, kind))
            self._write(least)
            _, answer = self._refusals(least, [self._folder])
            first.example = _shown_files(least) + answer
        if theirs:
            self._messages(case.name, theirs, case.root, Random(seed))

    def collected(self, folder: Path, name: str, paths: Sequence[Path], seed: int) -> None:
        """Compare what is made of a file that others wrote."""
        case = Case(name, root=name)
        kind, theirs = self._compared(case, [folder, *paths], folder / name)
        self._counted(theirs, broken=False)
        if kind and (first := self.tally.add(kind, name)):
            _, first.example = self._refusals(case, [folder, *paths], folder / name)
        if theirs:
            self._messages(name, theirs, name, Random(seed))

    def _counted(self, theirs: bytes | None, *, broken: bool) -> None:
        self.tally.counts.update(["cases", "accepted" if theirs else "refused"])
        if broken:
            self.tally.counts["broken"] += 1

    def _write(self, case: Case) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        for name, content in case.files.items():
            file = self._folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def _shows(self, case: Case, kind: str) -> bool:
        self._write(case)
        return self._compared(case, [self._folder])[0] == kind

    def _refusals(
        self, case: Case, paths: Sequence[Path], file: Path | None = None
    ) -> tuple[Answer, str]:
        _, reason = protoc.compiled(case.root, paths)
        ours, _ = self._volley.asked(file or paths[0] / case.root, paths if file else [])
        says = "accepted" if ours.kind == "bytes" else f"{ours.kind}: {_reason(ours)}"
        return ours, f"protoc: {reason or 'accepted'}\nvolley: {says}\n"

    def _compared(
        self, case: Case, paths: Sequence[Path], file: Path | None = None
    ) -> tuple[str | None, bytes | None]:
        """Return what differs, and protoc's descriptor set."""
        theirs, reason = protoc.compiled(case.root, paths)
        ours, _ = self._volley.asked(file or paths[0] / case.root, paths if file else [])
        if ours.kind in {"panicked", "died"}:
            return f"file-{ours.kind}/{slug(ours.value)}", theirs
        if theirs is None:
            return (f"file-accepted/{slug(reason)}" if ours.kind == "bytes" else None), None
        if ours.kind == "refused":
            return f"file-refused/{slug(_reason(ours))}", theirs
        path = comparing.first_of_sets(
            theirs, ours.value, case.root, _pool(theirs) or DescriptorPool()
        )
        return (f"described/{_flat(path)}" if path else None), theirs

    # ---- messages

    def _messages(self, name: str, theirs: bytes, root: str, lot: Random) -> None:
        """Compare what is made of messages; volley reads protoc's descriptor set."""
        pool = _pool(theirs)
        if pool is None:
            self.tally.counts["not for Python"] += 1
            return
        kinds = _types(pool, root)
        kinds = lot.sample(kinds, min(len(kinds), TYPES_OF_A_FILE))
        filler = Filler(lot, pool)
        filler.name_types([each.full_name for each in kinds] or ["google.protobuf.Any"])
        letters = [letter for kind in kinds for letter in _letters(filler, kind)]
        file = self._set
        file.write_bytes(theirs)
        schema, answers = self._volley.asked(file, [], letters, protoset=True)
        if schema.kind != "bytes":
            if first := self.tally.add(f"set-{schema.kind}/{slug(_reason(schema))}", name):
                first.example = _reason(schema)
            return
        for letter, answer in zip(letters, answers, strict=True):
            self.tally.counts["messages"] += 1
            if (kind := difference(pool, letter, answer)) and (first := self.tally.add(kind, name)):

                def shows(other: Letter, kind: str = kind) -> bool:
                    _, (again,) = self._volley.asked(file, [], [other], protoset=True)
                    return difference(pool, other, again) == kind

                least = shrinking.least_letter(letter, _class(pool, letter), shows)
                _, (again,) = self._volley.asked(file, [], [least], protoset=True)
                first.example = _shown(pool, least, again)


def _flat(path: str) -> str:
    """Return a path as if no message was nested."""
    return re.sub(r"^message_type\.(nested_type\.)*", "message.", path).replace(
        "message.enum_type.", "enum_type."
    )


def difference(pool: DescriptorPool, letter: Letter, answer: Answer) -> str | None:
    """Return how volley's answer differs from what Python's protobuf makes of a message."""
    way = "wire" if letter.wire is not None else "json"
    if answer.kind in {"panicked", "died"}:
        return f"{way}-{answer.kind}/{slug(answer.value)}"
    expected, reason = _expected(pool, letter)
    if expected is None:
        if answer.kind == "refused":
            return None
        # What is decoded and cannot be JSON is shown as base64.
        if way == "wire" and reason.startswith("JSON: "):
            return None if _is_base64(answer.value) else f"json-shown/{slug(reason)}"
        return f"{way}-accepted/{slug(reason)}"
    if answer.kind == "refused":
        return f"{way}-refused/{slug(_reason(answer))}"
    kind = pool.FindMessageTypeByName(letter.name)
    if way == "wire":
        if _is_base64(answer.value):
            return "json-not-shown"
        path = comparing.first_of_json(expected, answer.value, kind)
        odd = "odd-" if letter.is_odd else ""
        return f"json-differs/{odd}{path}" if path else None
    ours = GetMessageClass(kind)()
    try:
        ours.ParseFromString(answer.value)
    except DecodeError:
        return "json-unreadable"
    path = comparing.first_of_messages(expected, ours)
    return f"message-differs/{path}" if path else None


def _is_base64(value: Any) -> bool:
    """Whether volley shows what is decoded as it came, because there is no JSON of it."""
    return isinstance(value, dict) and value.keys() == {"$protobuf"}


def _expected(pool: DescriptorPool, letter: Letter) -> tuple[Any, str]:
    """Return the JSON of a wire, or the message of JSON; or why there is neither."""
    message = _class(pool, letter)()
    try:
        if letter.json is not None:
            jsons.require_json(letter.json)
            json_format.Parse(letter.json, message, descriptor_pool=pool)
        else:
            message.ParseFromString(letter.wire or b"")
        # As C++ does.
        if not message.IsInitialized():
            return None, "a required field is missing"
        if letter.json is not None:
            return message, ""
    except _REFUSALS as error:
        return None, str(error)
    try:
        return _as_json(pool, message), ""
    except _REFUSALS as error:
        return None, f"JSON: {error}"


def _as_json(pool: DescriptorPool, message: Message, **how: Any) -> Any:
    with catch_warnings():
        simplefilter("ignore")
        return json_format.MessageToDict(
            message, always_print_fields_with_no_presence=True, descriptor_pool=pool, **how
        )


def _class(pool: DescriptorPool, letter: Letter) -> Any:
    return GetMessageClass(pool.FindMessageTypeByName(letter.name))


def _letters(filler: Filler, kind: Descriptor) -> list[Letter]:
    """Make messages of one type: encoded, as JSON, and broken."""
    lot, pool, name = filler.lot, filler.pool, kind.full_name
    letters = []
    for _ in range(2):
        message = filler.made(kind)
        wire = message.SerializePartialToString()
        letters.append(Letter(name, wire=wire))
        letters += [Letter(name, wire=odd, is_odd=True) for odd in jsons.odd_wires(lot, wire, 2)]
        how = {
            "preserving_proto_field_name": lot.random() < 0.3,
            "use_integers_for_enums": lot.random() < 0.3,
        }
        try:
            value = _as_json(pool, message, **how)
        except _REFUSALS:
            continue
        own = json.dumps(value, ensure_ascii=lot.random() < 0.5)
        forms = [own, *jsons.odd_forms(lot, value, 6)]
        letters += [Letter(name, json=form) for form in forms if _is_one(form)]
    return letters


def _is_one(text: str) -> bool:
    """Whether it is neither empty nor a list, which volley sends as several messages."""
    return bool(text.strip()) and not text.lstrip().startswith("[")


def _pool(theirs: bytes) -> DescriptorPool | None:
    """Return the types of a descriptor set, if Python's protobuf has no objection."""
    pool = DescriptorPool()
    try:
        for file in FileDescriptorSet.FromString(theirs).file:
            pool.Add(file)
    except (TypeError, DecodeError):
        return None
    return pool


def _types(pool: DescriptorPool, root: str) -> list[Descriptor]:
    types, new = [], list(pool.FindFileByName(root).message_types_by_name.values())
    while new:
        kind = new.pop(0)
        if not kind.GetOptions().map_entry and not kind.GetOptions().message_set_wire_format:
            types.append(kind)
        new += kind.nested_types
    return types


def _reason(answer: Answer) -> str:
    """Return why something was refused, without its place."""
    reason = str(answer.value)
    for before in _BEFORE_REASONS:
        if found := re.search(before, reason):
            return reason[found.end() :]
    return reason


def _shown_files(case: Case) -> str:
    shown = (
        f"--- {name}\n{content.decode('utf-8', 'backslashreplace')}"
        for name, content in case.files.items()
    )
    return "".join(each if each.endswith("\n") else each + "\n" for each in shown)


def _shown(pool: DescriptorPool, letter: Letter, answer: Answer) -> str:
    expected, reason = _expected(pool, letter)
    kind = pool.FindMessageTypeByName(letter.name)
    sent = f"wire: {letter.wire.hex()}" if letter.wire is not None else f"json: {letter.json}"
    if isinstance(expected, Message):
        expected = expected.SerializePartialToString(deterministic=True).hex()
    value = answer.value.hex() if isinstance(answer.value, bytes) else json.dumps(answer.value)
    theirs = json.dumps(expected) if expected is not None else f"refused: {reason}"
    shown = [sent, f"protobuf: {theirs}", f"volley: {answer.kind}: {value}"]
    return _declared(kind) + "".join(f"{each[:600]}\n" for each in shown)


def _declared(kind: Descriptor) -> str:
    proto = DescriptorProto()
    kind.CopyToProto(proto)
    names = FieldDescriptorProto.Type.Name
    fields = ", ".join(
        f"{each.type_name or names(each.type)[5:].lower()} {each.name} = {each.number}"
        for each in proto.field[:12]
    )
    return f"type: {kind.full_name} {{ {fields} }}\n"
