"""What differs is told, and what is the same is not; it is cut down to what shows it."""

import pytest
from google.protobuf import any_pb2, descriptor_pb2, struct_pb2, wrappers_pb2
from google.protobuf.descriptor_pool import DescriptorPool

from tools.compare_protoc import allowed, comparing, shrinking
from tools.compare_protoc.allowed import Allowed
from tools.compare_protoc.asking import Tally, difference, slug
from tools.compare_protoc.generating import Case
from tools.compare_protoc.jsons import Letter
from tools.compare_protoc.report import summary
from tools.compare_protoc.volley import Answer

FIELD = descriptor_pb2.FieldDescriptorProto


def described(**changes: object) -> bytes:
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", syntax="proto3")
    message = file.message_type.add(name="M")
    message.field.add(name="f", number=1, type=FIELD.TYPE_FLOAT, label=FIELD.LABEL_OPTIONAL)
    for name, value in changes.items():
        setattr(message.field[0], name, value)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def pool() -> DescriptorPool:
    made = DescriptorPool()
    made.Add(descriptor_pb2.FileDescriptorSet.FromString(described()).file[0])
    return made


def test_the_path_of_what_is_described_otherwise_is_told() -> None:
    def first(ours: bytes) -> str | None:
        return comparing.first_of_sets(described(), ours, "a.proto", DescriptorPool())

    assert first(described()) is None
    assert first(described(json_name="g")) == "message_type.field.json_name-surplus"
    assert first(described(number=2)) == "message_type.field.number"
    assert first(b"") == "missing-file"
    assert first(b"\xff") == "no-descriptor-set"


def test_singles_are_compared_as_such_and_minus_zero_is_not_zero() -> None:
    kind = pool().FindMessageTypeByName("M")
    assert comparing.first_of_json({"f": 0.1}, {"f": 0.10000000149011612}, kind) is None
    assert comparing.first_of_json({"f": 0.0}, {"f": -0.0}, kind) == "float"
    assert comparing.first_of_json({"f": 1.0}, {}, kind) == "missing-float"
    assert comparing.first_of_json({"f": 1.0}, {"f": "1"}, kind) == "float"


def test_text_that_is_not_utf8_is_the_same_with_replacement_characters() -> None:
    kind = descriptor_pb2.FileDescriptorProto.DESCRIPTOR
    for theirs, ours, is_same in [
        (r"b'a\xffb'", "a\ufffdb", True),
        (r"b'a\xffb'", "a?b", False),
        ("b'", "c", False),
        ("b'x'", "b'x'", True),
    ]:
        differs = comparing.first_of_json({"name": theirs}, {"name": ours}, kind)
        assert (differs is None) == is_same


def test_what_is_in_an_extension_is_told() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="e.proto")
    message = file.message_type.add(name="X")
    message.field.add(name="f", number=1, type=FIELD.TYPE_FLOAT, label=FIELD.LABEL_OPTIONAL)
    message.extension_range.add(start=10, end=20)
    file.extension.add(
        name="x", number=10, type=FIELD.TYPE_MESSAGE, type_name=".X", extendee=".X",
        label=FIELD.LABEL_OPTIONAL,
    )  # fmt: skip
    made = DescriptorPool()
    made.Add(file)
    kind = made.FindMessageTypeByName("X")
    assert comparing.first_of_json({"[x]": {"f": 1.0}}, {"[x]": {"f": 2.0}}, kind) == "float"
    assert comparing.first_of_json({"[x]": {}}, {}, kind) == "missing-message"


def test_fields_with_one_name_are_a_difference_of_their_own() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="s.proto")
    message = file.message_type.add(name="X")
    message.options.deprecated_legacy_json_field_conflicts = True
    for number, name in enumerate("ab", 1):
        message.field.add(
            name=name, json_name="z", number=number, type=FIELD.TYPE_INT32,
            label=FIELD.LABEL_OPTIONAL,
        )  # fmt: skip
    made = DescriptorPool()
    made.Add(file)
    kind = made.FindMessageTypeByName("X")
    assert comparing.first_of_json({"z": 1}, {"a": 1}, kind) == "same-names"
    assert comparing.first_of_json({"z": 1}, {"z": 1}, kind) is None


def test_messages_are_compared_field_by_field() -> None:
    one, two = (wrappers_pb2.DoubleValue(value=each) for each in (0.0, -0.0))
    assert comparing.first_of_messages(one, one) is None
    assert comparing.first_of_messages(one, two) == "surplus-double"
    value = struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    assert comparing.first_of_messages(value, struct_pb2.Value()) == "missing-enum"


def test_maps_in_an_any_have_no_order() -> None:
    def packed(*keys: str) -> any_pb2.Any:
        entries = (bytes([10, 5, 10, 1, ord(key), 18, 0]) for key in keys)
        inside = any_pb2.Any(type_url="a/google.protobuf.Struct", value=b"".join(entries))
        outside = any_pb2.Any()
        outside.Pack(inside)
        return outside

    assert packed("a", "b").value != packed("b", "a").value
    assert comparing.first_of_messages(packed("a", "b"), packed("b", "a")) is None
    assert comparing.first_of_messages(packed("a", "b"), packed("b", "c")) == "bytes"


def test_a_message_without_a_required_field_is_none() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="b.proto")
    file.message_type.add(name="N").field.add(
        name="f", number=1, type=FIELD.TYPE_INT32, label=FIELD.LABEL_REQUIRED
    )
    made = DescriptorPool()
    made.Add(file)
    for letter in (Letter("N", json="{}"), Letter("N", wire=b"")):
        assert difference(made, letter, Answer("refused", "no `f`")) is None
    assert difference(made, Letter("N", wire=b""), Answer("json", {})) == (
        "wire-accepted/a-required-field-is-missing"
    )
    assert difference(made, Letter("N", json='{"f": 1}'), Answer("bytes", b"\x08\x01")) is None


def test_what_one_refuses_and_the_other_takes_differs() -> None:
    taken, refused = Answer("bytes", b"\x0d\x00\x00\x80\x3f"), Answer("refused", "no `x`")
    assert difference(pool(), Letter("M", json='{"f": 1}'), taken) is None
    assert difference(pool(), Letter("M", json='{"f": 1}'), refused) == "json-refused/no-x"
    assert difference(pool(), Letter("M", json='{"g": 1}'), refused) is None
    surplus = difference(pool(), Letter("M", json='{"g": 1}'), taken)
    assert surplus
    assert surplus.startswith("json-accepted/")
    assert difference(pool(), Letter("M", json='{"f": 2}'), taken) == "message-differs/float"
    shown = Answer("json", {"f": 2.0})
    for letter, kind in (
        (Letter("M", wire=taken.value), "json-differs/float"),
        (Letter("M", wire=taken.value, is_odd=True), "json-differs/odd-float"),
    ):
        assert difference(pool(), letter, shown) == kind
    panic = Answer("panicked", "index 5")
    assert difference(pool(), Letter("M", wire=b""), panic) == "wire-panicked/index"


def test_names_and_numbers_make_no_other_kind() -> None:
    assert slug('"a.b" is already defined in "c".') == slug('"d" is already defined in "e.f".')
    assert slug("number 5 is reserved") == "number-is-reserved"


def test_a_case_is_cut_down_to_the_lines_that_matter() -> None:
    text = "message A {\nint32 a = 1;\n}\nmessage B {\nint32 bad = 1 [x = 2];\nint32 c = 2;\n}\n"
    case = Case("", {"root.proto": text.encode(), "dep.proto": b"message C {}\n"})
    least = shrinking.least_case(case, lambda other: b"bad" in other.files["root.proto"])
    assert least.files == {"root.proto": b"int32 bad = 1;\n"}


def test_json_is_cut_down_to_the_values_that_matter() -> None:
    letter = Letter("M", json='{"a": [1, {"bad": 2, "c": 3}], "d": 4}')
    least = shrinking.least_letter(letter, None, lambda other: "bad" in (other.json or ""))
    assert least.json == '{"a": [{"bad": 2}]}'


def test_what_is_no_json_is_refused_although_python_takes_it() -> None:
    for text in ('{"f": NaN}', '{"f": -Infinity}', '{"f": 1e400}'):
        assert difference(pool(), Letter("M", json=text), Answer("refused", "no JSON")) is None


def test_every_kind_that_the_document_allows_has_a_reason(pytestconfig: pytest.Config) -> None:
    kinds = allowed.read(pytestconfig.rootpath).kinds
    assert kinds
    text = (pytestconfig.rootpath / allowed.DOCUMENT).read_text("utf-8")
    rows = [line for line in text.splitlines() if any(f"`{kind}`" in line for kind in kinds)]
    assert all(len(row.strip("| ").split("|")[-1].strip()) > 20 for row in rows)


def test_allowed_kinds_are_counted_and_not_shown() -> None:
    tally = Tally(is_allowed=Allowed(["json-refused/*", "described/x"]))
    assert tally.add("json-refused/anything", "seed 1") is None
    assert tally.add("described/x-y", "seed 2")
    assert tally.add("described/x-y", "seed 3") is None
    assert "2 differences of 1 kinds, 1 allowed ones" in summary(tally)
