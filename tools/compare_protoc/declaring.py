"""Writes the declarations of one file."""

from dataclasses import dataclass, field
from random import Random

from tools.compare_protoc.naming import SCALARS, Namer, literal
from tools.compare_protoc.options import custom

_PACKABLE = set(SCALARS) - {"string", "bytes"}
_KEYS = sorted(set(SCALARS) - {"float", "double", "bytes"})
_FEATURES = {
    "field": ("field_presence = EXPLICIT", "field_presence = IMPLICIT",
              "field_presence = LEGACY_REQUIRED"),
    "repeated": ("repeated_field_encoding = EXPANDED", "repeated_field_encoding = PACKED"),
    "string": ("utf8_validation = NONE", "utf8_validation = VERIFY"),
    "message": ("message_encoding = DELIMITED", "message_encoding = LENGTH_PREFIXED"),
    "json": ("json_format = LEGACY_BEST_EFFORT", "json_format = ALLOW"),
    "enum": ("enum_type = OPEN", "enum_type = CLOSED"),
}  # fmt: skip
_JSON_NAMES = ("x-y", "É", "Json", "a.b", "@type")
_FLAGS = ("deprecated = true", "debug_redact = true", "deprecated=false",
          "retention = RETENTION_SOURCE", "targets = TARGET_TYPE_FIELD")  # fmt: skip
_OPTIONS = ('java_package = "com.x"', "java_multiple_files = true", "optimize_for = SPEED",
            "optimize_for = LITE_RUNTIME", 'go_package = "x.y/z;z"', "cc_enable_arenas = false",
            "deprecated = true", 'csharp_namespace = "X"', 'objc_class_prefix = "OB"',
            "java_string_check_utf8 = true", 'php_namespace = "A\\\\B"',
            "py_generic_services = true", 'ruby_package = "R"')  # fmt: skip


@dataclass
class Declared:
    """A file, and the types that may be named in it: each with the syntax of its file."""

    name: str
    syntax: str
    package: str = ""
    text: str = ""
    messages: list[tuple[str, str]] = field(default_factory=list)
    enums: list[tuple[str, str, list[str]]] = field(default_factory=list)
    extendable: list[str] = field(default_factory=list)
    own_messages: list[tuple[str, str]] = field(default_factory=list)
    own_enums: list[tuple[str, str, list[str]]] = field(default_factory=list)
    passed_on: list["Declared"] = field(default_factory=list)

    def see(self, other: "Declared") -> None:
        """Import another file, and what it passes on."""
        self.messages += other.own_messages
        self.enums += other.own_enums
        self.extendable += other.extendable
        for more in other.passed_on:
            self.see(more)


class Writer:
    """Writes one file, line by line."""

    def __init__(self, lot: Random, file: Declared, namer: Namer, *, with_options: bool) -> None:
        self.lot = lot
        self.file = file
        self.namer = namer  # of top-level names, which differ between the files
        self.with_options = with_options
        self.edition = file.syntax[:2] == "20"
        self.old = file.syntax in {"", "proto2"}

    def file_options(self) -> list[str]:
        """Options at the top, by lot."""
        lot = self.lot
        known = _OPTIONS[: 9 if self.edition else 13]
        lines = [f"option {each};" for each in lot.sample(known, lot.choice([0, 0, 1, 2]))
                 if not (self.edition and "java_" in each)
                 and not (self.file.syntax != "proto2" and "LITE" in each)]  # fmt: skip
        if self.file.syntax == "2024":
            lines.append("option features.enforce_naming_style = STYLE_LEGACY;")
            lines.append("option features.default_symbol_visibility = EXPORT_ALL;")
        if self.edition:
            groups = ["field", "repeated", "string", "message", "json", "enum"]
            drawn = lot.sample(groups, lot.choice([0, 1, 2]))
            lines += [f"option features.{lot.choice(_FEATURES[each][:2])};" for each in drawn]
        lines += [f"option {each};" for each in self.custom("File")]
        return lines

    def custom(self, of: str) -> list[str]:
        """Return custom options of a kind of element, by lot."""
        return custom(self.lot, of) if self.with_options and self.lot.random() < 0.3 else []

    def file_body(self, busy: int) -> list[str]:
        """Declare messages, enums, services and extensions."""
        lines: list[str] = []
        for _ in range(busy):
            kind = self.lot.choice(["message", "message", "message", "enum", "service", "extend"])
            if kind == "message":
                lines += self.message(self.file.package, self.namer, 0)
            elif kind == "enum":
                lines += self.enum(self.file.package, self.namer, self.namer)
            elif kind == "service":
                lines += self.service()
            else:
                lines += self.extend(self.file.package, self.namer)
            if self.lot.random() < 0.1:
                lines.append(
                    self.lot.choice(["// a comment", "/* one\n two */", ";", "/** doc */"])
                )
        return lines

    def lines(self, busy: int) -> list[str]:
        """Return all lines below imports and package."""
        return self.file_options() + self.file_body(busy)

    # ---- names of types

    def _reference(self, full: str, scope: str) -> str:
        lot = self.lot
        if lot.random() < 0.35:
            return "." + full
        parts, mine = full.split("."), scope.split(".")
        same = 0
        while same < min(len(parts) - 1, len(mine)) and parts[same] == mine[same]:
            same += 1
        return ".".join(parts[lot.choice([same, same, lot.randint(0, same)]) :])

    def _some_message(self, scope: str) -> str | None:
        known = self.file.messages + self.file.own_messages
        return self._reference(self.lot.choice(known)[0], scope) if known else None

    def _some_enum(self, scope: str, *, implicit: bool) -> tuple[str, list[str]] | None:
        known = [each for each in self.file.enums + self.file.own_enums
                 if not implicit or each[1] not in {"", "proto2", "closed"}]  # fmt: skip
        if not known:
            return None
        full, _, values = self.lot.choice(known)
        return self._reference(full, scope), values

    # ---- messages

    def message(self, scope: str, namer: Namer, depth: int) -> list[str]:
        """Declare a message, and what is in it."""
        lot = self.lot
        name = namer.take(upper=lot.random() < 0.8)
        full = f"{scope}.{name}" if scope else name
        self.file.own_messages.append((full, self.file.syntax))
        lines = [f"message {name} {{", *self.members(full, depth), "}"]
        if lot.random() < 0.03 and self.file.syntax == "2024":
            lines[0] = "export " + lines[0]
        return lines

    def members(self, full: str, depth: int) -> list[str]:
        """Declare what is in a message or group."""
        lot = self.lot
        inner = Namer(lot)
        numbers = self._numbers()
        lines = [f"option {each};" for each in self.custom("Message")]
        if lot.random() < 0.1:
            lines.append("option deprecated = true;")
        if depth < 3 and lot.random() < 0.35:
            lines += self.message(full, inner, depth + 1)
        if depth < 3 and lot.random() < 0.25:
            lines += self.enum(full, inner, inner)
        for _ in range(lot.choice([0, 1, 2, 3, 5, 8])):
            lines += self.member(full, inner, numbers, depth)
        if lot.random() < 0.25:
            low = lot.choice([100_000, 200_000])
            words = [str(low), f"{low + 2} to {low + 9}", f"{low + 1000} to max"]
            lines.append(f"reserved {', '.join(words[: lot.randint(1, 3)])};")
            name = inner.take(keywords=False)
            quoted = name if self.edition else f'"{name}"'
            lines.append(f"reserved {quoted};")
        if self.file.syntax != "proto3" and lot.random() < 0.4:
            lines.append(self._extensions(full))
        if depth < 2 and lot.random() < 0.1:
            lines += self.extend(full, inner)
        return lines

    def _extensions(self, full: str) -> str:
        options = self.custom("ExtensionRange")
        first = self.lot.choice([1000, 1001])
        self.file.extendable.append(full)
        if not options and self.lot.random() < 0.3:
            options = ["verification = UNVERIFIED"]
        tail = f" [{', '.join(options)}]" if options else ""
        return f"extensions {first} to {self.lot.choice(['9999', '0x270F'])}{tail};"

    def _numbers(self) -> list[int]:
        lot = self.lot
        drawn = [*range(1, 30), *lot.sample(range(30, 999), 12), 20000, 99999]
        if lot.random() < 0.3:
            lot.shuffle(drawn)
        return drawn

    def member(self, full: str, inner: Namer, numbers: list[int], depth: int) -> list[str]:
        """Declare a field, a map, a oneof or a group."""
        lot = self.lot
        kind = lot.random()
        if kind < 0.12:
            return [self.map_field(full, inner, numbers)]
        if kind < 0.22:
            return self.oneof(full, inner, numbers, depth)
        if kind < 0.3 and self.old and depth < 3:
            return self.group(
                full, inner, numbers, self.lot.choice(["optional ", "repeated "]), depth
            )
        return [self.field(full, inner, numbers, self.label())]

    def label(self) -> str:
        """Return the label of a field, by lot."""
        if self.old:
            return self.lot.choice(["optional ", "optional ", "repeated ", "required "])
        if self.edition:
            return self.lot.choice(["", "", "repeated "])
        return self.lot.choice(["", "", "optional ", "repeated "])

    def group(
        self, full: str, inner: Namer, numbers: list[int], label: str, depth: int
    ) -> list[str]:
        """Declare a group."""
        name = inner.take(upper=True, keywords=False)
        if not name[0].isupper():
            name = "G" + name
        head = f"{label}group {name} = {numbers.pop(0)} {{"
        return [head, *self.members(f"{full}.{name}", depth + 1), "}"]

    def oneof(self, full: str, inner: Namer, numbers: list[int], depth: int) -> list[str]:
        """Declare a oneof."""
        lines = [f"oneof {inner.take()} {{", *(f"option {each};" for each in self.custom("Oneof"))]
        for _ in range(self.lot.randint(1, 4)):
            if self.old and depth < 3 and self.lot.random() < 0.15:
                lines += self.group(full, inner, numbers, "", depth)
            else:
                lines.append(self.field(full, inner, numbers, "", in_oneof=True))
        return [*lines, "}"]

    def map_field(self, full: str, inner: Namer, numbers: list[int]) -> str:
        """Declare a map."""
        value, sort, _ = self._type(full, implicit=False)
        lazy = ["lazy = true"] if sort == "message" and self.lot.random() < 0.1 else []
        options = self._tail(self.custom("Field") + lazy)
        key = self.lot.choice(_KEYS)
        name = inner.take(keywords=False)
        return f"map<{key}, {value}> {name} = {numbers.pop(0)}{options};"

    def _type(self, scope: str, *, implicit: bool) -> tuple[str, str, list[str]]:
        """Return a type, its kind, and the names of an enum's values."""
        lot = self.lot
        drawn = lot.random()
        if drawn < 0.25 and (message := self._some_message(scope)):
            return message, "message", []
        if drawn < 0.4 and (enum := self._some_enum(scope, implicit=implicit)):
            return enum[0], "enum", enum[1]
        scalar = lot.choice(SCALARS)
        return scalar, scalar, []

    def field(
        self, full: str, inner: Namer, numbers: list[int], label: str, *, in_oneof: bool = False
    ) -> str:
        """Declare a field."""
        kind, sort, values = self._type(full, implicit=not self.old)
        options = self.field_options(label, sort, values, in_oneof=in_oneof)
        number = numbers.pop(0)
        written = self.lot.choice([str(number)] * 8 + [hex(number), f"0{number:o}"])
        return f"{label}{kind} {inner.take()} = {written}{self._tail(options)};"

    def _tail(self, options: list[str]) -> str:
        return f" [{', '.join(options)}]" if options else ""

    def field_options(
        self, label: str, sort: str, values: list[str], *, in_oneof: bool = False, own: bool = True
    ) -> list[str]:
        """Return options of a field, by lot."""
        lot, options = self.lot, self.custom("Field")
        if lot.random() < 0.1:
            options.append(lot.choice(_FLAGS))
        if own and lot.random() < 0.08:
            options.append(f'json_name = "{lot.choice(_JSON_NAMES)}{lot.randint(0, 999)}"')
        repeated = label == "repeated "
        if repeated and sort in _PACKABLE | {"enum"} and not self.edition and lot.random() < 0.3:
            options.append(f"packed = {lot.choice(['true', 'false'])}")
        if sort.endswith("64") and lot.random() < 0.1:
            options.append(f"jstype = {lot.choice(['JS_STRING', 'JS_NORMAL', 'JS_NUMBER'])}")
        if sort == "message" and lot.random() < 0.05:
            options.append("lazy = true")
        if (
            self.file.syntax != "proto3"
            and not repeated
            and sort != "message"
            and lot.random() < 0.3
        ):
            default = lot.choice(values) if sort == "enum" else literal(lot, sort)
            if not self.edition or in_oneof:
                options.append(f"default = {default}")
        if self.edition and lot.random() < 0.3:
            options += self._field_features(repeated, sort, in_oneof=in_oneof or not own)
        lot.shuffle(options)
        return options

    def _field_features(self, repeated: bool, sort: str, *, in_oneof: bool) -> list[str]:
        choices: list[str] = []
        if repeated and sort in _PACKABLE:
            choices += _FEATURES["repeated"]
        if not repeated and not in_oneof:
            choices += _FEATURES["field"][:1] if sort == "message" else _FEATURES["field"]
        if sort == "string":
            choices += _FEATURES["string"]
        if sort == "message":
            choices += _FEATURES["message"]
        return [f"features.{self.lot.choice(choices)}"] if choices else []

    # ---- others

    def enum(self, scope: str, namer: Namer, values: Namer) -> list[str]:
        """Declare an enum; its values are in the scope around it."""
        lot = self.lot
        name = namer.take(upper=True)
        lines = [f"enum {name} {{"]
        lines += [f"option {each};" for each in self.custom("Enum")]
        numbers = [
            0,
            *lot.sample([1, 2, 3, 100, -1, -5, 2147483647, -2147483648], lot.randint(0, 5)),
        ]
        if alias := lot.random() < 0.15 and len(numbers) > 1:
            lines.append("option allow_alias = true;")
            numbers.append(numbers[-1])
        syntax = self.file.syntax
        if self.edition and lot.random() < 0.3:
            chosen = lot.choice(_FEATURES["enum"])
            lines.append(f"option features.{chosen};")
            syntax = "closed" if "CLOSED" in chosen else syntax
        names = []
        for number in numbers:
            names.append(values.take(upper=not alias))
            options = self.custom("EnumValue")
            if lot.random() < 0.1:
                options.append("deprecated = true")
            lines.append(f"{names[-1]} = {number}{self._tail(options)};")
        if lot.random() < 0.2:
            lines.append("reserved 5, 7 to 9, -10 to -7, 1000 to max;"
                         if 2147483647 not in numbers else "reserved 6;")  # fmt: skip
        self.file.own_enums.append((f"{scope}.{name}" if scope else name, syntax, names))
        return [*lines, "}"]

    def service(self) -> list[str]:
        """Declare a service."""
        lot = self.lot
        lines = [f"service {self.namer.take(upper=True)} {{"]
        lines += [f"option {each};" for each in self.custom("Service")]
        methods = Namer(lot)
        for _ in range(lot.randint(0, 4)):
            into, out = (self._some_message(self.file.package) for _ in range(2))
            if not into or not out:
                continue
            stream = [lot.choice(["", "", "stream "]) for _ in range(2)]
            options = self.custom("Method")
            if lot.random() < 0.2:
                options.append(lot.choice(["deprecated = true", "idempotency_level = IDEMPOTENT"]))
            body = "{ " + " ".join(f"option {each};" for each in options) + " }"
            tail = body if options or lot.random() < 0.2 else ";"
            lines.append(
                f"rpc {methods.take()} ({stream[0]}{into}) returns ({stream[1]}{out}){tail}"
            )
        return [*lines, "}"]

    def extend(self, scope: str, namer: Namer) -> list[str]:
        """Extend a message that has room for it."""
        lot = self.lot
        if not self.file.extendable or self.file.syntax == "proto3":
            return []
        full = lot.choice(self.file.extendable)
        lines = []
        for _ in range(lot.randint(1, 3)):
            number = lot.randint(1002, 9998)  # probably free
            label = lot.choice(["repeated ", "optional " if self.old else ""])
            kind, sort, values = self._type(scope, implicit=False)
            options = self.field_options(label, sort, values, in_oneof=True, own=False)
            options = [each for each in options if "IMPLICIT" not in each]
            lines.append(f"{label}{kind} {namer.take()} = {number}{self._tail(options)};")
        return [f"extend {self._reference(full, scope)} {{", *lines, "}"]
