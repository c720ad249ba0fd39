"""Latency: exact from samples, or as ghz printed it."""

import json

from parse_ghz import parse
from parsers.common.figures import Calls, Latency

from .reports import FIXTURES, small_json, small_text


def test_percentiles_are_nearest_rank_over_ok_calls_only() -> None:
    calls = [(9.0, place / 1000, "") for place in range(1, 1001)]
    report = parse(
        json.dumps(small_json((9.0, 8.0, "rpc error: code = Internal desc = x"), *calls))
    )
    assert report.latency == Latency(
        kind="service", mean=500_500_000, p50=500_000_000, p75=750_000_000, p90=900_000_000,
        p95=950_000_000, p99=990_000_000, p999=999_000_000, max=1_000_000_000, samples=1000,
    )  # fmt: skip


def test_json_without_details_falls_back_on_error_texts_and_printed_percentiles() -> None:
    raw = json.loads((FIXTURES / "ghz-121-stream.json").read_text())
    del raw["details"]
    report = parse(json.dumps(raw))

    assert report.calls == Calls(710, {}, 174)
    assert report.latency.mean is None
    assert report.latency.p999 is None
    assert report.latency.p99 == 2879081179
    assert report.latency.samples == 710


def test_printed_percentiles_that_include_errors_are_not_passed_on() -> None:
    text = (FIXTURES / "ghz-121-unary-ok.txt").read_text()
    mixed = text.replace(
        "  [OK]   200 responses   \n\n",
        "  [OK]   199 responses   \n  [Internal]   1 responses   \n\nError distribution:\n"
        "  [1]   rpc error: code = Internal desc = boom   \n",
    )
    report = parse(mixed)
    assert report.calls == Calls(199, {"Internal": 1}, 0)
    assert report.latency == Latency(kind="service", samples=0)


def test_percentiles_that_ghz_left_empty_are_dropped_in_both_forms() -> None:
    empty = {"percentage": 0, "latency": 0}
    raw = small_json((9.0, 0.0, ""), latencyDistribution=[empty, empty])
    assert parse(json.dumps(raw)).percentiles_ns == {}
    text = small_text().replace(
        "Latency distribution:\n", "Latency distribution:\n  0 % in 0 ns \n"
    )
    assert parse(text).percentiles_ns == {}
