"""What holds for a report in either form."""

import json

import pytest

from parse_ghz import parse
from parsers.common.figures import Calls

from .reports import report_of, small_json, small_text


@pytest.mark.parametrize("messages_per_call", [0, -1])
def test_a_rate_needs_at_least_one_message_per_call(messages_per_call: int) -> None:
    with pytest.raises(ValueError, match="messages_per_call"):
        report_of("ghz-121-unary-ok.json").rate(messages_per_call)


def test_an_error_without_a_grpc_status_is_unknown_in_both_forms() -> None:
    raw = small_json((9.9, 1.0, "rpc error: code = Internal desc = x"))
    raw["statusCodeDistribution"] = {"": 1}
    raw["details"][0]["status"] = ""
    assert parse(json.dumps(raw)).calls == Calls(0, {"Unknown": 1}, 0)
    text = small_text((1, "rpc error: code = Internal desc = x")).replace("[Internal]", "[]")
    assert parse(text).calls == Calls(10, {"Unknown": 1}, 0)
