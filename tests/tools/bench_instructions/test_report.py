"""The output of the gate."""

import json
from dataclasses import replace

from tests.tools.bench_instructions.samples import CONDITIONS, an_outcome
from tools.bench_instructions.report import failure, to_json, to_text


def test_text_has_a_line_for_each_figure() -> None:
    told = to_text(an_outcome(1.0, 1.0304)).splitlines()
    assert told[0] == (
        "medians of 3 rounds; build release; features: none, rustc 1.95.0, glibc 2.36, "
        "valgrind 3.19.0, cpu x86_64 avx2"
    )
    assert [line.split() for line in told[2:]] == [
        ["instructions", "committed", "ratio", "spread"],
        ["a", "1,000.0", "1,000.0", "1.000", "1.00", "%", "ok"],
        ["b", "1,030.4", "1,000.0", "1.030", "0.97", "%", "ABOVE"],
    ]


def test_what_is_too_high_is_named() -> None:
    assert failure(an_outcome(1.0, 1.03, 1.0, 1.021)).startswith(
        "tools/bench_instructions/committed.json: figures of today are more than 2 % above: "
        "b (+3.0 %), d (+2.1 %); "
    )
    assert failure(an_outcome(1.0, 0.9)) == ""


def test_lower_figures_ask_to_be_committed() -> None:
    assert to_text(an_outcome(1.0, 0.95)).endswith(
        "\ncommit the lower figures with --write: b (-5.0 %)"
    )


def test_what_is_not_judged_is_told_and_fails_nothing() -> None:
    outcome = replace(an_outcome(1.5, 0.5), conditions=replace(CONDITIONS, rustc="1.96.0"))
    told = to_text(outcome)
    assert told.endswith(
        "\nnot judged: the committed figures have other conditions (rustc 1.96.0, not 1.95.0)"
    )
    assert "1.500" in told
    assert failure(outcome) == ""


def test_another_volley_stands_beside_it() -> None:
    outcome = an_outcome(1.0)
    beside = replace(outcome, measured=[replace(outcome.measured[0], against=[800.0])])
    heading, row = to_text(beside).splitlines()[2:]
    assert heading.split()[-3:] == ["the", "other", "ratio"]
    assert row.split()[-2:] == ["800.0", "1.250"]


def test_json_has_the_conditions_and_every_figure() -> None:
    told = json.loads(to_json(an_outcome(1.03)))
    assert told["conditions"] == told["committed_conditions"]
    assert told["figures"] == [
        {
            "name": "a",
            "rounds": [1030.0, 1025.0, 1035.0],
            "against": [],
            "instructions": 1030.0,
            "committed": 1000.0,
            "ratio": 1.03,
            "verdict": "ABOVE",
        }
    ]
