"""requests/crud.openapi.yaml is whole, and says what an answer looks like."""

from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

CONTRACT = yaml.safe_load(
    (Path(__file__).resolve().parents[4] / "requests" / "crud.openapi.yaml").read_text()
)
ITEM = {"id": "0a", "owner": "ann", "rev": 1}


def refs(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        node = list(node.values())
    for each in node if isinstance(node, list) else ():
        yield from refs(each)


def test_every_reference_leads_to_a_part_and_every_part_is_used() -> None:
    used = set(refs(CONTRACT))
    for ref in used:
        assert reduce(lambda node, name: node[name], ref.removeprefix("#/").split("/"), CONTRACT)
    parts = CONTRACT["components"].items()
    assert used == {f"#/components/{kind}/{name}" for kind, of in parts for name in of}


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ({"item": ITEM}, True),
        ({"item": {"id": "0a", "rev": 7}}, True),
        ({"item": {**ITEM, "rev": "1"}}, False),
        ({"item": {**ITEM, "id": "a/b"}}, False),
        ({"item": {**ITEM, "owner": None}}, False),
        (ITEM, False),
    ],
)
def test_an_answer_holds_an_item(answer: Any, is_right: bool) -> None:
    schema = {**CONTRACT, "$ref": "#/components/schemas/Answer"}
    assert jsonschema.Draft202012Validator(schema).is_valid(answer) == is_right
