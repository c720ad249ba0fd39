"""Whatever a reader is given, it gives a report or one line that says what is wrong."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import parse_blast
import parse_ghz
import parse_h2load
import parse_scenario
from parsers import find
from parsers.common.command import text_of
from parsers.common.values import ParseError

from .ghz.reports import CLOSING, EOF, small_json, small_text
from .sweeps import small_sweep
from .test_find import REPORT

FIXTURES = Path(__file__).parents[2] / "fixtures"


@dataclass(frozen=True)
class Reader:
    """One of the five, and reports that it reads."""

    parse: Callable[[str], Any]
    numbers: Callable[[Any], dict[str, object]]
    reports: tuple[str, ...]

    def check(self, text: str) -> None:
        """Read a text: its numbers are JSON, or the error is one line that can be printed."""
        try:
            report = self.parse(text)
        except ParseError as error:
            said = str(error)
        else:
            said = json.dumps(self.numbers(report), allow_nan=False)
        assert said
        assert "\n" not in said


def saved(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


GHZ_CALLS = ((8.0, 1.0, ""), (9.0, 1.0, ""), (9.9, 1.0, CLOSING), (9.9, 1.0, EOF))
H2LOAD = (
    "h2load/h2load-152-mixed.txt", "h2load/h2load-170-mixed.json", "h2load/h2load-170-warm-up.txt",
)  # fmt: skip
READERS = {
    "ghz": Reader(
        parse_ghz.parse,
        lambda report: parse_ghz.as_dict(report, 5000),
        (
            json.dumps(small_json(*GHZ_CALLS)),
            small_text((2, CLOSING), (1, EOF), ok=3),
            saved("volley/line.json"),
        ),
    ),
    "h2load": Reader(
        parse_h2load.parse,
        parse_h2load.as_dict,
        tuple(map(saved, H2LOAD)),
    ),
    "find": Reader(find.parse, asdict, (json.dumps(REPORT),)),
    "blast": Reader(parse_blast.parse, parse_blast.as_dict, (json.dumps(small_sweep()),)),
    "scenario": Reader(
        parse_scenario.parse,
        parse_scenario.as_dict,
        (saved("volley/scenario/faults.json"), saved("volley/scenario/paced.json")),
    ),
}
EACH = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
OFTEN = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@EACH
@OFTEN
@given(raw=st.binary(max_size=200))
def test_any_bytes(reader: Reader, raw: bytes) -> None:
    reader.check(text_of(raw))


@EACH
@OFTEN
@given(data=st.data())
def test_any_change_of_a_report_s_text(reader: Reader, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(reader.reports))
    at, to = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    by = data.draw(st.text(max_size=20) | st.just(text[at:to] * 2))
    reader.check(text[:at] + by + text[to:])


@EACH
@OFTEN
@given(data=st.data())
def test_any_value_anywhere_in_a_report(reader: Reader, data: st.DataObject) -> None:
    whole = [text for text in reader.reports if text[0] + text.rstrip()[-1] == "{}"]
    report = json.loads(data.draw(st.sampled_from(whole)))
    places = list(places_of(report))
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(ODD)
    reader.check(json.dumps(report))


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([2**63 - 1, 2**64, 10**400, 1e308, -0.0, 1e-320]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)  # fmt: skip


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each list or object in a value, with each of its indices or keys."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield value, key
        yield from places_of(value[key])


# Without its end a line may be whole all the same, and a message of the server has no known end.
ENDS = {"ghz": "rpc error: code = Unavailable", "h2load": "%", "blast": "}", "scenario": "}"}


@pytest.mark.parametrize("name", READERS)
@OFTEN
@given(data=st.data())
def test_a_report_that_is_cut_is_refused(name: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(READERS[name].reports))
    end = "}" if text.startswith("{") else ENDS[name]
    cut = data.draw(st.integers(0, text.rindex(end)))
    with pytest.raises(ParseError) as caught:
        READERS[name].parse(text[:cut])
    assert "\n" not in str(caught.value)
