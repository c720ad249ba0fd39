"""What `volley blast` prints: each figure is that of its shots, or it is refused in a line."""

import json
import random
from typing import Any

import pytest

from parse_blast import parse_file
from parsers.blast import MedianInterval, interval, parse_sweep
from parsers.common.values import ParseError

from .sweeps import VOLLEY, Change, small_sweep

SHOT = ("points", 0, "shots", 0)
FAR = 2**80


def test_a_sweep_is_its_points_and_their_shots() -> None:
    report = parse_sweep(json.dumps(small_sweep()))
    assert (report.elapsed_s, report.replies_checked) == (0.5, 5)
    assert (report.ok, report.failed) == (5, {"Internal": 1, "Unavailable": 2})
    first, second = report.points
    assert report.fastest == first
    assert (first.connections, first.requests, first.ok, first.failed) == (1, 2, 4, {})
    assert first.rate == MedianInterval(1500.0, 1000.0, 2000.0)
    assert [shot.rate for shot in second.shots] == [1000.0, 0.0]
    assert second.failed == report.failed
    assert (first.latency.kind, first.latency.samples) == ("response", 4)
    assert first.latency.p99 == 1_000_000


def test_replies_that_were_not_compared_are_not_checked() -> None:
    text = json.dumps(small_sweep((("checks", "compared"), False)))
    assert parse_sweep(text).replies_checked is None


def test_what_it_does_not_know_is_passed_over() -> None:
    more = small_sweep((("more",), [1]), (("points", 0, "more"), {}), ((*SHOT, "more"), "x"))
    assert parse_sweep(json.dumps(more)) == parse_sweep(json.dumps(small_sweep()))


def test_a_whole_sweep_is_read() -> None:
    report = parse_file(VOLLEY / "grpc-go.json")
    assert len(report.points) == 39
    assert {len(point.shots) for point in report.points} == {10}
    assert report.ok == 30 * sum(report.points[at].requests for at in range(13))
    assert report.failed == {}
    assert report.replies_checked == report.ok
    told = json.loads((VOLLEY / "grpc-go.json").read_bytes())["points"]
    for point, own in zip(report.points, told, strict=True):
        assert [*vars(point.rate).values()] == pytest.approx([*own["rate"].values()])
        ordered = sorted(shot.rate for shot in point.shots)
        assert (point.rate.at_least, point.rate.at_most) == (ordered[1], ordered[8])
    assert report.fastest
    best = max(own["rate"]["median"] for own in told)
    assert report.fastest.rate.median == pytest.approx(best)


def test_failures_have_their_statuses() -> None:
    report = parse_file(VOLLEY / "failures.json")
    assert set(report.failed) == {"Internal", "Unavailable"}
    assert report.ok + sum(report.failed.values()) == 10 * 2 * (1 + 5 + 100)


def test_a_point_that_was_never_fired_is_left_out() -> None:
    told = json.loads((VOLLEY / "cut.json").read_bytes())["points"]
    report = parse_file(VOLLEY / "cut.json")
    fired = [(each["connections"], each["requests"]) for each in told if each["shots"]]
    assert 0 < len(fired) < len(told)
    assert [(point.connections, point.requests) for point in report.points] == fired


def test_a_sweep_without_an_ok_call_has_rates_of_0() -> None:
    report = parse_file(VOLLEY / "wrong.json")
    assert (report.ok, report.failed) == (0, {"DataLoss": 24})
    assert {point.rate for point in report.points} == {MedianInterval(0.0, 0.0, 0.0)}
    assert report.points[0].latency.p50 is None


def fired_never(sweep: dict[str, Any]) -> dict[str, Any]:
    null = dict.fromkeys(("mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"))
    for point in sweep["points"]:
        point |= {"shots": [], "ok": 0, "failed": {}, "latency_ns": {"samples": 0, **null}}
        point["rate"] = dict.fromkeys(("median", "low", "high"))
        point["latency_ns"]["kind"] = "response"
    return sweep


def test_a_sweep_cut_before_its_first_blast_has_no_points() -> None:
    report = parse_sweep(json.dumps(fired_never(small_sweep())))
    assert (report.points, report.fastest, report.ok) == ((), None, 0)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ((("blast",), None), "not what `volley blast -O json` prints"),
        ((("blast",), 2), "`blast` is 2: only schema 1"),
        ((("blast",), "1"), "`blast` must be a whole number"),
        ((("elapsed_s",), 0), "took 0 s"),
        ((("elapsed_s",), -1), "`elapsed_s` is out of range"),
        ((("elapsed_s",), float("nan")), "NaN"),
        ((("repetitions",), None), "`repetitions` is missing"),
        ((("repetitions",), 1), r"`points\[0\]` has 2 shots of 1"),
        ((("points",), None), "`points` is missing or empty"),
        ((("points",), []), "`points` is missing or empty"),
        ((("points",), {}), "`points` must be a list"),
        ((("points", 0), 7), r"`points\[0\]` must be a JSON object"),
        ((("points", 0, "connections"), 0), "no connections or no requests"),
        ((("points", 0, "connections"), 2), "not sorted"),
        ((("points", 0, "connections"), 3), "not sorted"),
        ((("points", 0, "connections"), FAR), "out of range"),
        ((("points", 0, "requests"), True), "must be a whole number"),
        ((("points", 0, "requests"), 3), r"`points\[0\].shots\[0\]` has 2 calls of 3"),
        ((("points", 0, "ok"), 3), r"calls of `points\[0\]` are not those of its shots"),
        ((("points", 1, "failed", "Internal"), 2), r"calls of `points\[1\]` are not those"),
        ((("points", 1, "failed"), {"Internal": 3}), r"calls of `points\[1\]` are not those"),
        ((("points", 0, "shots"), None), r"calls of `points\[0\]` are not those"),
        ((("points", 0, "rate", "median"), 1502.0), "by its shots 1500.0"),
        ((("points", 0, "rate", "low"), 998.0), "by its shots 1000.0"),
        ((("points", 0, "rate", "high"), 2003), "by its shots 2000.0"),
        ((("points", 0, "rate", "high"), "many"), r"`points\[0\].rate.high` must be a number"),
        ((("points", 0, "rate"), {}), r"`points\[0\].rate.median` is missing"),
        ((("points", 0, "latency_ns", "samples"), 3), "are not its 4 OK calls"),
        ((("points", 0, "latency_ns", "samples"), 5), "are not its 4 OK calls"),
        ((("points", 0, "latency_ns", "p99"), 1), "not in order"),
        ((("points", 0, "latency_ns", "kind"), "fast"), "must be service or response"),
        (((*SHOT, "ok"), 1), "has 1 calls of 2"),
        (((*SHOT, "failed"), {"Internal": 1}), "has 3 calls of 2"),
        (((*SHOT, "failed"), {"OK": 0, "<b>": -1}), "out of range"),
        (((*SHOT, "failed"), {"<b>": 1}), "not the code of an error"),
        (((*SHOT, "failed"), {"OK": 1}), "not the code of an error"),
        (((*SHOT, "span_ns"), 0), "has 2 OK calls in 0 ns"),
        ((("points", 1, "shots", 1, "span_ns"), 5), "has 0 OK calls in 5 ns"),
        (((*SHOT, "span_ns"), 1.5), "must be a whole number"),
        (((*SHOT, "order"), 1), "`order` does not number them"),
        (((*SHOT, "order"), 4), "`order` does not number them"),
        ((("checks", "replies_checked"), "all"), "`checks.replies_checked` must be"),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_line(change: Change, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse_sweep(json.dumps(small_sweep(change)))
    assert "\n" not in str(caught.value)


def test_shots_are_in_the_order_of_repetitions() -> None:
    turned = small_sweep((("points", 0, "shots"), small_sweep()["points"][0]["shots"][::-1]))
    with pytest.raises(ParseError, match="not in order"):
        parse_sweep(json.dumps(turned))


def test_figures_may_be_rounded() -> None:
    rounded = small_sweep((("points", 0, "rate", "median"), 1500.9))
    assert parse_sweep(json.dumps(rounded)).points[0].rate.median == 1500.0


# ---- the median and its interval


@pytest.mark.parametrize(
    ("n", "rank"),
    # Tables of the sign test, 95 % two-sided: Conover, Practical Nonparametric Statistics, A3.
    [(1, 1), (5, 1), (6, 1), (8, 1), (9, 2), (10, 2), (11, 2), (12, 3), (20, 6), (25, 8)],
)
def test_the_interval_ends_at_the_values_of_the_sign_test(n: int, rank: int) -> None:
    sample = [float(value) for value in range(1, n + 1)]
    random.Random(1).shuffle(sample)
    assert interval(sample) == MedianInterval((n + 1) / 2, float(rank), float(n + 1 - rank))


def test_a_thousand_values_are_as_quick_and_as_sure() -> None:
    found = interval([float(value) for value in range(1000)])
    # The normal approximation: 500 - 1.96 * sqrt(1000) / 2.
    assert (found.at_least, found.at_most) == (468.0, 531.0)


def test_one_value_is_all_there_is() -> None:
    assert interval([3.0]) == MedianInterval(3.0, 3.0, 3.0)
