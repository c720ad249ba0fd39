"""Every number and every text that is read has bounds, whatever file it comes from."""

from collections.abc import Iterator
from typing import Any

import pydantic
import pytest

from arena.base import model as of_all
from arena.base.model import Frozen, JsonObject, Number
from arena.judge.proofs import Proofs
from arena.judge.rounds import Round
from arena.judge.twins import Reviewed
from arena.record.record import Record
from arena.what.framework import Framework
from arena.what.profile import Profile

_JSON = "JsonValue"


def without_bounds(schema: Any, *, is_limited: bool = False) -> Iterator[str]:
    """Yield each number, text or JSON in a core schema that has no bounds."""
    if isinstance(schema, list | tuple):
        for each in schema:
            yield from without_bounds(each, is_limited=is_limited)
    if not isinstance(schema, dict) or _JSON in schema.get("ref", ""):
        return
    match schema:
        case {
            "type": "function-after" | "function-before",
            "function": {"function": of_all._bounded},
        }:
            return
        case {"type": "int" | "float" as kind} if not {"ge", "le"} <= schema.keys():
            yield kind
        case {"type": "str"} if "max_length" not in schema and not is_limited:
            yield "str"
        case {"type": "definition-ref", "schema_ref": str(ref)} if _JSON in ref:
            yield "JSON"
    is_limited = is_limited or "str_max_length" in (schema.get("config") or {})
    for key, value in schema.items():
        if key not in {"metadata", "serialization", "config", "default", "function"}:
            yield from without_bounds(value, is_limited=is_limited)


class Loose(pydantic.BaseModel):
    number: int
    figures: dict[str, float | None]
    data: dict[str, pydantic.JsonValue]


@pytest.mark.parametrize("model", [Record, Framework, Profile, Round, Proofs, Reviewed])
def test_every_number_and_text_has_bounds(model: type[pydantic.BaseModel]) -> None:
    assert list(without_bounds(model.__pydantic_core_schema__)) == []
    loose = without_bounds(Loose.__pydantic_core_schema__)
    assert sorted(loose) == ["JSON", "float", "int", "str", "str"]


class Each(Frozen):
    text: str = ""
    number: Number = 0.0
    data: JsonObject = pydantic.Field(default_factory=dict)


@pytest.mark.parametrize(
    "given",
    [
        {"text": "\ud8ff"}, {"text": "x" * ((1 << 20) + 1)}, {"number": 2e-31}, {"number": -1.1e18},
        {"number": 10**309}, {"number": float("nan")}, {"data": {"a": [{"b": -(10**400)}]}},
        {"data": {"a": "\udfff"}}, {"data": {"\ud800": 1}}, {"data": {"a": float("inf")}},
        {"data": {"a": [1e300]}}, {"data": {"a": {"b" * ((1 << 20) + 1): 1}}},
        {"data": {"a": [[]] * 2 + [__import__("json").loads("[" * 99 + "]" * 99)]}},
    ],
)  # fmt: skip
def test_what_is_beyond_all_bounds_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(pydantic.ValidationError):
        Each.model_validate(given)


def test_what_is_within_them_is_taken() -> None:
    data = {"text": "é" * (1 << 20), "number": -1e-30, "data": {"a": [2**64 - 1, -0.5, None]}}
    assert Each.model_validate(data).model_dump() == data
