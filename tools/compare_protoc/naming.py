"""Names and literals by lot."""

from random import Random

_WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "order",
    "item",
    "price",
    "name",
    "kind",
    "user",
    "Reply",
    "Request",
    "Shop",
    "Cart",
    "UPPER",
    "camelCase",
    "snake_case",
    "a_1",
    "a1b2",
    "x_",
    "_lead",
    "Dot__Dot",
    "l1_l2",
    "HTTPCode",
    "id2",
    "URL",
    "value",
    "key",
]
_KEYWORDS = [
    "message",
    "enum",
    "service",
    "rpc",
    "returns",
    "stream",
    "option",
    "optional",
    "repeated",
    "required",
    "oneof",
    "map",
    "package",
    "syntax",
    "edition",
    "import",
    "public",
    "weak",
    "extend",
    "extensions",
    "reserved",
    "to",
    "max",
    "group",
    "string",
    "bytes",
    "int32",
    "double",
    "bool",
    "true",
    "false",
    "inf",
    "nan",
    "default",
    "json_name",
    "export",
    "local",
    "features",
    "none",
]
_TEXTS = (
    "", "plain", "\\n\\t\\\\", "\\x41\\102", "\\u00e9\\U0001F600", "it\\'s", '\\"', "é", "\\?\\a\\v",
    "\\0001", "/* no comment */", "// nor this", "\\xe2\\x82\\xac", "😀",
)  # fmt: skip


def plain(name: str) -> str:
    """Return a name as it may be confused with others."""
    return name.replace("_", "").lower()


class Namer:
    """Names that differ within one scope."""

    def __init__(self, lot: Random) -> None:
        self._lot = lot
        self._taken: set[str] = set()

    def take(self, *, upper: bool = False, keywords: bool = True) -> str:
        """Return a new name."""
        while True:
            name = self._drawn(keywords=keywords)
            if upper:
                name = name[0].upper() + name[1:]
            if plain(name) and plain(name) not in self._taken:
                self._taken.add(plain(name))
                return name

    def _drawn(self, *, keywords: bool) -> str:
        lot = self._lot
        word = lot.choice(_KEYWORDS if keywords and lot.random() < 0.15 else _WORDS)
        if lot.random() < 0.02:
            word = (word + "_") * lot.randint(10, 60) + "end"
        if lot.random() < 0.5:
            word += lot.choice(["", "_"]) + str(lot.randint(0, 99))
        return word


def text_literal(lot: Random) -> str:
    """Return a string in quotes."""
    quoted = [f'"{lot.choice(_TEXTS)}"' for _ in range(lot.choice([1, 1, 1, 2]))]
    quoted = [each.replace('"', "'") if '\\"' not in each and "'" not in each
              and lot.random() < 0.3 else each for each in quoted]  # fmt: skip
    return " ".join(quoted)


_SIGNED = {"int32": 31, "sint32": 31, "sfixed32": 31, "int64": 63, "sint64": 63, "sfixed64": 63}
_UNSIGNED = {"uint32": 32, "fixed32": 32, "uint64": 64, "fixed64": 64}
_REALS = (
    "0", "1", "-1", "1.5", "-0.0", "1e10", "1E-7", "3.4028235e38", "1e-45", "0.1", ".5", "5.", "inf", "-inf",
    "nan", "-nan", "123456789.125", "1e300", "16777217", "0x10", "1.7976931348623157e308", "5e-324",
    "18446744073709551615",
)  # fmt: skip
SCALARS = (*_SIGNED, *_UNSIGNED, "double", "float", "bool", "string", "bytes")


def literal(lot: Random, kind: str) -> str:
    """Return a value of a scalar type, as options and defaults have it."""
    if kind in _SIGNED:
        bits = _SIGNED[kind]
        number = lot.choice([0, 1, -1, 42, (1 << bits) - 1, -(1 << bits), lot.randint(-99, 99)])
        return _integer(lot, number)
    if kind in _UNSIGNED:
        return _integer(lot, lot.choice([0, 1, 7, (1 << _UNSIGNED[kind]) - 1, lot.randint(0, 999)]))
    if kind in {"double", "float"}:
        return lot.choice(_REALS)
    if kind == "bool":
        return lot.choice(["true", "false"])
    return text_literal(lot)


def _integer(lot: Random, number: int) -> str:
    sign = "-" if number < 0 else ""
    form = lot.choice(["d", "d", "d", "x", "o"])
    digits = format(abs(number), form)
    return sign + {"d": "", "x": "0x", "o": "0"}[form] + digits
