"""`arena cost`: CPU-hours and GB-hours at a fixed rate, with their bounds."""

import json

import pytest

from tests.commandline import Line
from tests.fakes import save
from tests.lib.arena.judge.visits import paced

# CPU time of a call, in microseconds.
COSTS = {"cheap": 100.0, "dear": 200.0, "slow": 300.0}


@pytest.fixture
def measured(line: Line) -> Line:
    for block in range(1, 9):
        for at, (name, us) in enumerate(COSTS.items()):
            ok = 4_900 if name == "slow" else 10_000
            record = paced(name, us, block, minute=10 * block + at, ok=ok)
            save(line.workspace.results, record)
    return line


def test_a_bill_is_the_cpu_time_of_all_calls_and_the_memory_of_all_hours(measured: Line) -> None:
    outcome = measured("cost", "dear", "--rate", "2000", "--hours", "10", "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    # 200 us x 2,000/s are 0.4 CPUs, for ten hours.
    assert found["cpu_hours"]["value"] == pytest.approx(4.0, rel=0.01)
    assert found["cpu_hours"]["low"] < found["cpu_hours"]["value"] < found["cpu_hours"]["high"]
    assert found["gb_hours"]["low"] <= found["gb_hours"]["value"] <= found["gb_hours"]["high"]
    assert (found["blocks"], found["profile"]) == (8, "unary-rate-2000")


def test_in_words_it_names_its_bounds_and_compares_with_another(measured: Line) -> None:
    outcome = measured("cost", "cheap", "--rate", "2000", "--against", "dear")
    assert outcome.code == 0
    bill, bounds, comparison = outcome.out.splitlines()
    assert bill.startswith("cheap at 2,000 calls a second for 730 hours: 14")
    assert "CPU-hours, and" in bill
    assert "95 % interval of the CPU time" in bounds
    assert comparison.startswith("cheap is 50.")
    assert "% cheaper than dear" in comparison


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cheap", "--rate", "500"], "--rate: cheap was measured at 2,000 calls a second"),
        (["chaep", "--rate", "2000"], "no night at a fixed rate has `chaep`"),
        (["slow", "--rate", "2000"], "slow cannot keep 2,000 calls a second (unary-rate-2000)"),
        (["cheap", "--rate", "2000", "--tls"], "there is no night at a fixed rate with TLS"),
        (["cheap"], "Missing option '--rate'"),
        (["cheap", "--rate", "2000", "--against", "daer"], "there is no record of `daer` here"),
    ],
)
def test_what_was_not_measured_is_said_in_one_line(
    measured: Line, words: list[str], said: str
) -> None:
    outcome = measured("cost", *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1
