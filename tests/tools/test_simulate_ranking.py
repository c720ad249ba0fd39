"""The simulator draws the noises that it describes, and counts what the ranks get wrong."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import correlation, fmean, stdev

import pytest
from click.testing import CliRunner

from tools import simulate_ranking
from tools.simulate_ranking import NOISES, Noise, Tally, counts_of, logs_of, row_of, simulated

ROOT = Path(__file__).resolve().parents[2]
NAMES = [f"server-{number}" for number in range(20)]
STILL = Noise("nothing", run_sd=0.0, start_sd=0.0)


def drawn(noise: Noise, blocks: int = 200) -> list[dict[str, float]]:
    return logs_of(noise, NAMES, blocks, random.Random("test"))


def values(noise: Noise) -> list[float]:
    return [value for block in drawn(noise) for value in block.values()]


def test_the_ten_noises_are_drawn_as_they_are_described() -> None:
    assert len(NOISES) == 10
    assert stdev(values(NOISES["normal"])) == pytest.approx(0.0224, rel=0.05)
    lost = [value for value in values(replace(STILL, outliers=0.05)) if value]
    assert len(lost) == pytest.approx(0.05 * 4200, rel=0.25)
    assert -0.52 < min(lost) <= max(lost) < -0.1
    for name, share in {"steal": 0.44, "steal-waited": 0.09}.items():
        assert NOISES[name].stolen == share
        stolen = [value for value in values(replace(STILL, stolen=share)) if value]
        assert len(stolen) == pytest.approx(share * 4200, rel=0.15)
        assert fmean(stolen) == pytest.approx(-0.075, rel=0.1)


def test_a_p99_has_a_heavy_tail_to_one_side() -> None:
    tail = [value for value in values(replace(STILL, tail=0.1)) if value]
    assert len(tail) == pytest.approx(0.1 * 4200, rel=0.2)
    assert max(tail) < 0
    assert fmean(tail) == pytest.approx(-0.5, rel=0.15)
    assert NOISES["p99"].tail == 0.1


def test_the_memory_of_some_servers_has_two_levels() -> None:
    blocks = drawn(replace(STILL, jumping=0.3))
    up = {name: fmean(block[name] < -2.3 for block in blocks) for name in NAMES}
    jumping = [share for share in up.values() if share]
    assert 2 <= len(jumping) <= 11
    assert fmean(jumping) == pytest.approx(0.3, abs=0.05)
    assert {block[name] for block in blocks for name in NAMES} == {0.0, -log(10)}


def test_frameworks_differ_in_noise_as_far_as_described() -> None:
    for name, most in {"hetero": 10, "widest": 20}.items():
        blocks = drawn(replace(NOISES[name], drift_sd=0, outliers=0))
        sds = {server: stdev(block[server] for block in blocks) for server in NAMES}
        assert 0.4 * most < max(sds.values()) / min(sds.values()) < 1.3 * most
        twin = stdev(block["twin"] for block in blocks)
        assert twin == pytest.approx(sds["server-0"], rel=0.2)


def test_the_host_wanders_slowly_and_visits_are_shuffled() -> None:
    blocks = drawn(replace(STILL, drift_sd=0.03))
    in_order = [value for block in blocks for value in block.values()]
    assert stdev(in_order) == pytest.approx(0.03, rel=0.3)
    steps = [after - before for before, after in pairwise(in_order)]
    # Twenty seconds of twenty minutes: √(2 · 20 s ÷ 1200 s) of 3 %.
    assert stdev(steps) == pytest.approx(0.03 * 0.181, rel=0.1)
    assert correlation(in_order[:-1], in_order[1:]) > 0.95
    assert len({tuple(block) for block in blocks}) == len(blocks)
    assert all(sorted(block) == sorted([*NAMES, "twin"]) for block in blocks)


def test_with_hardly_any_noise_the_slower_server_is_always_found() -> None:
    counted = counts_of(NAMES, drawn(replace(STILL, run_sd=1e-4), 8))
    assert (counted.nights, counted.pairs, counted.chances, counted.found) == (1, 190, 19, 19)


def test_a_difference_that_is_not_there_is_counted() -> None:
    def apart(block: Mapping[str, float]) -> dict[str, float]:
        return {**block, "server-3": block["server-3"] + 0.3, "twin": block["twin"] - 0.3}

    counted = counts_of(NAMES, [apart(block) for block in drawn(NOISES["normal"], 8)])
    assert counted.wrong_nights == 1
    assert counted.wrong_pairs == 19
    assert counted.covered == 0
    assert counted.tied == 0


@pytest.mark.parametrize(
    ("noise", "power"),
    [("normal", 0.2), ("hetero", 0.2), ("steal-waited", 0.2), ("memory", 0.05), ("p99", -1)],
)
def test_the_error_rates_are_those_that_the_page_promises(noise: str, power: float) -> None:
    row = row_of(noise, 8, simulated(noise, 8, 20, range(60)))
    # Were they 5 %, more than 8 of 60 nights would be a matter of 1 in 200.
    assert row.any <= 8 / 60
    assert row.coverage >= 52 / 60
    assert row.tied >= 57 / 60
    assert row.power > power
    assert row.any < row.any_high < row.any + 0.15


def test_the_lots_are_the_same_each_time_and_differ_from_night_to_night() -> None:
    first, again = (simulated("hetero", 8, 8, range(10, 40)) for _ in range(2))
    assert first == again
    assert simulated("hetero", 8, 8, range(40, 70)) != first
    parts = Tally()
    for part in (range(10, 20), range(20, 40)):
        parts.add(simulated("hetero", 8, 8, part))
    assert parts == first


def test_json_has_a_row_for_each_noise_and_number_of_blocks() -> None:
    words = ["--nights", "3", "--blocks", "8,6", "--frameworks", "4", "--json"]
    ended = CliRunner().invoke(simulate_ranking.command, words)
    rows = json.loads(ended.stdout)["rows"]
    assert [(row["noise"], row["blocks"]) for row in rows] == [
        (noise, blocks) for blocks in (8, 6) for noise in NOISES
    ]
    keys = ["noise", "blocks", "pair", "any", "any_high", "power", "coverage", "tied"]
    for row in rows:
        assert list(row) == keys
        assert all(0 <= row[key] <= 1 for key in keys[2:])
    assert "Simulating 20 × 3 nights" in ended.stderr


def test_the_table_is_in_percent_and_explains_itself() -> None:
    ended = CliRunner().invoke(
        simulate_ranking.command, ["--nights", "2", "--blocks", "6", "--frameworks", "3"]
    )
    for name, noise in NOISES.items():
        assert sum(line.startswith(f"{name} ") for line in ended.stdout.splitlines()) == 2
        assert noise.words in ended.stdout


@pytest.mark.parametrize(
    "wrong",
    [["--blocks", "5"], ["--blocks", "8,x"], ["--nights", "0"], ["--frameworks", "1"], ["--no"]],
)
def test_a_bad_option_is_one_line(wrong: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tools.simulate_ranking", *wrong],
        check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/lib:{ROOT}"},
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1
    assert wrong[0] in ended.stderr
