"""The medians, the bars and the output."""

import json

import pytest

from arena.record.measurement import Cost
from tools.bench_scenarios.bars import bars
from tools.bench_scenarios.contestants import Told
from tools.bench_scenarios.report import to_json, to_text
from tools.bench_scenarios.turns import Shot, medians


def a_shot(
    workload: str, tool: str, cpu_ns: float, peak_bytes: int = 10_000_000, astray: int = 0
) -> Shot:
    cost = Cost(cpu_s=cpu_ns * 1e-3, peak_bytes=peak_bytes)
    return Shot(workload, tool, Told(999_999, astray), 1_000_000, 5.0, cost)


def a_round(own_ns: float = 1.0, own_bytes: float = 1.0, astray: int = 0) -> list[Shot]:
    """Return shots in which volley is exactly at every limit, unless told otherwise."""
    return [
        a_shot("crud-h2c", "volley", 1000 * own_ns),
        a_shot("crud-h2c", "h2loadrunner", 1000 / 0.3),
        a_shot("crud-h2c", "h2load", 2000),
        a_shot("crud-tls", "volley", 10_000 * own_ns),
        a_shot("crud-tls", "k6", 120_000),
        a_shot("crud-paced", "volley", 4000 * own_ns, astray=astray),
        a_shot("crud-paced", "h2loadrunner", 10_000),
        a_shot("grpc-flow", "volley", 117.3 * own_ns**2),
        a_shot("grpc-plain", "volley", 102 * own_ns),
        a_shot("grpc-plain", "volley-before", 100),
        a_shot("grpc-unary", "volley", 1020 * own_ns),
        a_shot("grpc-unary", "volley-before", 1000),
        a_shot("memory-open", "volley", 1, round(64_000_000 * own_bytes)),
        a_shot("memory-users", "volley", 1, round(20_000_000 * own_bytes)),
        a_shot("memory-users", "k6", 1, 400_000_000),
    ]


def missed(shots: list[Shot]) -> list[str]:
    return [each.what for each in bars(shots) if not each.met]


def test_below_its_limits_volley_misses_no_bar_and_above_them_every_one() -> None:
    assert len(bars(a_round())) == 12
    assert missed(a_round(0.999)) == []
    assert len(missed(a_round(1.001))) == 8
    assert missed(a_round(0.999, own_bytes=1.001)) == [
        "bytes, memory-open",
        "bytes, memory-users : k6",
    ]
    assert missed(a_round(0.999, astray=1)) == ["neither begun nor dropped, crud-paced"]


def test_an_iteration_astray_in_any_round_counts() -> None:
    shots = [*a_round(0.999), *a_round(0.99, astray=1), *a_round(0.999)]
    assert missed(shots) == ["neither begun nor dropped, crud-paced"]


def test_a_bar_against_a_missing_tool_is_left_out() -> None:
    alone = [shot for shot in a_round() if shot.tool == "volley"]
    assert [each.what for each in bars(alone)] == [
        "CPU ns a request, crud-h2c",
        "CPU a request, grpc-flow : grpc-plain",
        "bytes, memory-open",
        "bytes, memory-users",
        "neither begun nor dropped, crud-paced",
    ]
    assert bars([a_shot("crud-h2c", "h2load", 1.0)]) == []


def test_the_median_is_that_of_the_cpu() -> None:
    shots = [a_shot("crud-h1", "volley", ns) for ns in (5.0, 1.0, 3.0)]
    assert medians(shots) == [shots[2]]
    assert medians(shots[:2]) == [shots[1]]


def test_json_has_a_row_for_each_workload_and_tool_and_baselines_and_memory_apart() -> None:
    told = json.loads(to_json(a_round()))
    assert len(told["rows"]) == 8
    assert told["rows"][0] == {
        "workload": "crud-h2c",
        "tool": "volley",
        "cpu_ns_per_request": 1000.0,
        "rate": 200_000.0,
        "counted": 999_999,
        "server_counted": 1_000_000,
        "peak_bytes": 10_000_000,
    }
    baselines = [(row["workload"], row["tool"]) for row in told["baselines"]]
    tools = ("volley", "volley-before")
    assert baselines == [(name, tool) for name in ("grpc-plain", "grpc-unary") for tool in tools]
    assert len(told["memory"]) == 3


def test_json_has_every_bar() -> None:
    told = json.loads(to_json(a_round(0.999, own_bytes=1.001)))["bars"]
    assert len(told) == 12
    assert told[0] == {
        "what": "CPU ns a request, crud-h2c",
        "reached": pytest.approx(999.0),
        "most": 1000.0,
        "met": True,
    }
    assert [each["what"] for each in told if not each["met"]] == [
        "bytes, memory-open",
        "bytes, memory-users : k6",
    ]


def test_text_has_the_figures_and_the_bars_beside_them() -> None:
    told = to_text(a_round(1.001), 3)
    assert "medians of 3 interleaved rounds" in told
    assert "200k/s" in told.replace(" ", "")
    assert "(at most 0.3)" in told
    assert told.count("MISSED") == 8
