"""The medians, the bars and the output."""

import json

from arena.record.measurement import Cost
from tools.bench_scenarios.bars import bars
from tools.bench_scenarios.report import to_json, to_text
from tools.bench_scenarios.turns import Shot, medians


def a_shot(workload: str, tool: str, cpu_ns: float, peak_bytes: int = 10_000_000) -> Shot:
    cost = Cost(cpu_s=cpu_ns * 1e-3, peak_bytes=peak_bytes)
    return Shot(workload, tool, None if tool == "volley" else 999_999, 1_000_000, 5.0, cost)


def a_round(own_ns: float = 1.0, own_bytes: int = 10_000_000) -> list[Shot]:
    """Return shots in which volley is exactly at every limit, if `own_ns` is 1."""
    return [
        a_shot("crud-h2c", "volley", 1000 * own_ns),
        a_shot("crud-h2c", "h2loadrunner", 1000 / 0.3),
        a_shot("crud-h2c", "h2load", 2000),
        a_shot("crud-tls", "volley", 10_000 * own_ns, own_bytes),
        a_shot("crud-tls", "k6", 120_000, 200_000_000),
        a_shot("crud-paced", "volley", 4000 * own_ns),
        a_shot("crud-paced", "h2loadrunner", 10_000),
        a_shot("grpc-flow", "volley", 115 * own_ns),
        a_shot("grpc-plain", "volley", 100),
    ]


def missed(shots: list[Shot]) -> int:
    return sum(not each.met for each in bars(shots))


def test_below_its_limits_volley_misses_no_bar_and_above_them_every_one() -> None:
    assert len(bars(a_round())) == 7
    assert missed(a_round(0.999)) == 0
    assert missed(a_round(1.001)) == 6
    assert missed(a_round(0.999, own_bytes=10_000_001)) == 1


def test_a_bar_against_a_missing_tool_is_left_out() -> None:
    alone = [shot for shot in a_round() if shot.tool == "volley"]
    assert [each.what for each in bars(alone)] == [
        "CPU ns a request, crud-h2c",
        "CPU a request, grpc-flow : grpc-plain",
    ]
    assert bars([a_shot("crud-h2c", "h2load", 1.0)]) == []


def test_the_median_is_that_of_the_cpu() -> None:
    shots = [a_shot("crud-h1", "volley", ns) for ns in (5.0, 1.0, 3.0)]
    assert medians(shots) == [shots[2]]
    assert medians(shots[:2]) == [shots[1]]


def test_json_has_a_row_for_each_workload_and_tool_and_the_baseline_apart() -> None:
    told = json.loads(to_json(a_round()))
    assert len(told["rows"]) == 8
    assert told["rows"][0] == {
        "workload": "crud-h2c",
        "tool": "volley",
        "cpu_ns_per_request": 1000.0,
        "rate": 200_000.0,
        "counted": None,
        "server_counted": 1_000_000,
        "peak_bytes": 10_000_000,
    }
    assert [row["workload"] for row in told["baselines"]] == ["grpc-plain"]


def test_text_has_the_figures_and_the_bars_beside_them() -> None:
    told = to_text(a_round(1.001), 3)
    assert "medians of 3 interleaved rounds" in told
    assert "200k/s" in told.replace(" ", "")
    assert "(at most 0.3)" in told
    assert told.count("MISSED") == 6
