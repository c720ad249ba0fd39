"""`arena compare` and `arena twins`."""

import json

import pytest

from tests.commandline import Line
from tests.fakes import save
from tests.lib.arena.judge.visits import blocks

RATES = {"slow": 1e6, "fast": 1.2e6, "same": 1.0e6, "slow~twin": 1.2e6}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("slow", "fast", "stream-grpc"), 10, "slow is 16."),
        (("fast", "slow", "stream-grpc", "--connections=64"), 11, "fast is 2"),
        (
            ("slow", "same", "stream-grpc", "--generator", "ghz"),
            0,
            "slow and same are not told apart (",
        ),
        (("slow~twin", "slow", "stream-grpc"), 11, "slow~twin is "),
        (("same", "same~twin", "stream-grpc"), 12, "same and same~twin are not comparable. No ni"),
    ],
)
def test_the_exit_code_is_the_verdict(line: Line, words: list[str], code: int, said: str) -> None:
    save(line.workspace.results, *blocks(RATES))
    outcome = line("compare", *words)
    assert (outcome.code, outcome.err) == (code, "")
    assert outcome.out.startswith(said)
    assert len(outcome.out.splitlines()) == 1


def test_as_json_it_is_all_of_it(line: Line) -> None:
    save(line.workspace.results, *blocks(RATES))
    outcome = line("compare", "slow", "fast", "stream-grpc", "--json")
    found = json.loads(outcome.out)
    assert (outcome.code, found["verdict"], found["a"], found["b"]) == (
        10,
        "slower",
        "slow",
        "fast",
    )
    assert found["low"] < found["ratio"] < found["high"]
    assert found["blocks"] == 8


def test_bad_usage_ends_with_2(line: Line) -> None:
    save(line.workspace.results, *blocks(RATES))
    for words in (["slow", "slwo", "stream-grpc"], ["slow"], ["slow", "fast", "unary-grpc"]):
        outcome = line("compare", *words)
        assert outcome.code == 2
        assert len(outcome.err.splitlines()) == 1


def test_twins_are_listed_and_a_look_lifts_the_suspension(line: Line) -> None:
    for hour in (1, 2):
        save(line.workspace.results, *blocks(RATES, hour=hour))
    outcome = line("twins")
    assert outcome.code == 0
    load, *nights = outcome.out.splitlines()
    nights, figures = [it for it in nights if ", " not in it.split("NOT")[0]][:2], nights[2:]
    assert load.startswith("stream-grpc, 64 connections, ghz, 5s-x-3, a-4-cpus-native-")
    assert ": 0 of 2 pairs not told apart by their own test (95 % interval 0 % to " in load
    assert load.endswith("; RANKS ARE SUSPENDED")
    assert [each.split()[1:4] for each in nights] == [["slow", "NOT", "TIED"]] * 2
    # Memory is the same in all runs.
    memory = (
        "  server_peak_bytes: 2 of 2 pairs not told apart by their own test (95 % interval 16 %"
    )
    assert [each for each in figures if each.startswith(memory) and "SUSPENDED" not in each]
    looked = line("twins", "--looked", "stream-grpc", "--connections=64")
    assert looked.code == 0
    assert looked.out.startswith("stream-grpc: the twins of all nights before 20")
    assert "SUSPENDED" not in line("twins").out


def test_a_look_at_what_has_no_twin_is_refused(line: Line) -> None:
    assert line("twins").out == "no night of such a load has a twin that was judged\n"
    outcome = line("twins", "--looked", "stream-grpc")
    assert (outcome.code, outcome.err) == (
        2,
        "error: --looked: no night of `stream-grpc` has a twin\n",
    )
    assert not line.workspace.host.exists()
