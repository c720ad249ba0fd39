"""The base class of all models, the bounds of what they hold, and validation of data."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self, TypeVar

import pydantic

from arena.base.errors import UsageError
from arena.base.text import nearest, printable, shown
from parsers.common.figures import MOST, Bounds

Model = TypeVar("Model", bound=pydantic.BaseModel)

# A single value is accepted where a list is expected.
Listed = pydantic.BeforeValidator(
    lambda value: value if isinstance(value, list | tuple) else [value]
)

# Any number; one of these kinds of bounds is on every number of every model that is read.
Number = Annotated[float, Bounds(ge=-MOST, le=MOST)]

# The characters of a text in any model, unless its field says less.
_LONGEST_TEXT = 1 << 20

# JSON that is kept as it is has so many levels, and integers of 64 bits, signed or not.
_DEEPEST = 50
_LARGEST = 2**64


def _bounded(value: Any, depth: int = 0) -> Any:
    """Return a value of JSON; ValueError if a number or a text in it is beyond all bounds."""
    if depth > _DEEPEST:
        raise ValueError("is nested too deeply")
    if isinstance(value, dict):
        for each in (*value, *value.values()):
            _bounded(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            _bounded(each, depth + 1)
    elif isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            raise ValueError(f"has a text of more than {_LONGEST_TEXT:,} characters")
    elif isinstance(value, int | float) and not -_LARGEST < value < _LARGEST:
        raise ValueError("has a number that is too large")
    return value


# What models read of it is bounded at once, where their fields have no bounds of their own.
BOUNDED = pydantic.BeforeValidator(_bounded)

# An object of JSON.
JsonObject = Annotated[dict[str, pydantic.JsonValue], pydantic.AfterValidator(_bounded)]


class Frozen(pydantic.BaseModel):
    """The base class of all models: immutable, without unknown keys, every text limited."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        str_max_length=_LONGEST_TEXT,
    )

    def changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, all of them validated."""
        return self.model_validate({**dict(self), **changes})


def validated(
    model: type[Model],
    data: dict[str, Any],
    path: Path,
    keys: Sequence[str],
    spelled: Mapping[str, str] = MappingProxyType({}),
) -> Model:
    """Check `data` against `model`; UsageError names the file and the first wrong key.

    `keys` are the keys that a user may write; errors suggest them for an unknown key. `spelled`
    maps a part of a key to its spelling in the file, if that differs; an empty spelling drops it.
    """
    try:
        found = model.model_validate(data)
    except pydantic.ValidationError as error:
        # An unknown key is often a misspelt required one: report it before a missing one.
        first = min(
            error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden"
        )
        parts = [part for each in first["loc"] if (part := spelled.get(str(each), str(each)))]
        key = ".".join(parts) or "(whole file)"
        if first["type"] == "extra_forbidden":
            hint = "" if len(parts) > 1 else nearest(key, list(keys))
            raise UsageError(f"{shown(path)}: {printable(key)}: unknown key{hint}") from error
        what = first["msg"].removeprefix("Value error, ")
        given = "" if first["type"] == "missing" else f", not {first['input']!r:.60}"
        raise UsageError(printable(f"{shown(path)}: {key}: {what}{given}")) from error
    if key := next(_bools(found, data), ""):
        raise UsageError(f"{shown(path)}: {key}: must not be true or false")
    return found


def _bools(found: object, data: object) -> Iterator[str]:
    """Yield the keys of `data` with true or false that became something else: a number, 1 or 0."""
    if isinstance(found, pydantic.BaseModel) and isinstance(data, Mapping):
        for name, field in type(found).model_fields.items():
            for key in {field.alias or name, name} & data.keys():
                below = _bools(getattr(found, name), data[key])
                yield from (f"{key}.{each}" if each else key for each in below)
    elif isinstance(data, bool):
        values = found if isinstance(found, tuple) else (found,)
        if any(type(each) in {int, float} for each in values):
            yield ""
    elif isinstance(data, list) and isinstance(found, tuple) and len(data) == len(found):
        yield from (each for pair in zip(found, data, strict=True) for each in _bools(*pair))


def to_json(model: pydantic.BaseModel) -> str:
    """Return the model as indented JSON that ends in a newline."""
    return model.model_dump_json(indent=2) + "\n"
