"""Drawings: the marks are where the numbers are, and nothing else is there."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from math import log10
from pathlib import Path

import pytest

from arena.judge.leaderboard import rank
from arena.record.measurement import BlastPoint, Second
from arena.site.charts.svg import LEFT, WIDTH
from arena.site.charts.tax import taxed_loads
from arena.site.kinds import SHOWN
from tests.fakes import a_record
from tests.lib.arena.site.drawn import Drawn, course_of, heights, latency_of
from tests.lib.arena.site.loads import (
    POINTS,
    a_point,
    a_second,
    blast,
    lasting,
    scheduled,
    under,
    with_latency,
)

ROOT = Path(__file__).resolve().parents[5]
STYLE = ROOT / "site" / "static" / "style.css"


def of_blast(points: Sequence[BlastPoint], sustained: float | None = None) -> Drawn:
    others = [lasting("a", sustained)] if sustained else []
    boards = rank([blast("a", points), *others]).boards
    (board,) = (each for each in boards if each.profile == "bang")
    return Drawn(*SHOWN[board.shape].of_board(board, boards))


def of_seconds(*seconds: Second) -> Drawn:
    return Drawn(course_of(scheduled("a", seconds)))


def of_latency(*runs: dict[str, float]) -> Drawn:
    rated = [with_latency(-number, **run) for number, run in enumerate(runs, -len(runs))]
    return Drawn(latency_of(a_record(runs=rated)))


def of_tax(own_s: float = 2.0, cut: int = 0) -> Drawn:
    (load,) = taxed_loads(rank([under("ghz"), under("volley", own_s=own_s, cut=cut)]).boards)
    return Drawn(load.pictures[0])


CURVE = {"p50": 1e6, "p90": 2e6, "p99": 1e7, "max": 2e7}

EVERY = {
    "latency": of_latency(CURVE, {"p50": 1e6, "p999": 1e8}),
    "tax": of_tax(),
    "scheduled": of_seconds(a_second(), a_second(50), a_second(length_s=0.6)),
    "blast": of_blast([*POINTS, a_point(1, 1000, 9000.0, {"Unavailable": 5})], 15_000.0),
    "lasting": Drawn(course_of(lasting("a", 100.0))),
}


@pytest.mark.parametrize("name", EVERY)
def test_all_colours_are_the_pages_own_in_light_and_in_dark(name: str) -> None:
    svg = EVERY[name].svg
    colours = set(re.findall(r' (?:fill|stroke)="([^"]*)"', svg)) - {"none"}
    assert colours
    assert "style=" not in svg
    light, _, dark = STYLE.read_text().partition("prefers-color-scheme: dark")
    for colour in colours:
        variable = re.fullmatch(r"var\((--[a-z0-9-]+)\)", colour)
        assert variable, colour
        assert f"{variable[1]}: " in light
        assert f"{variable[1]}: " in dark.partition("}")[0]


@pytest.mark.parametrize("name", EVERY)
def test_a_drawing_has_nothing_that_could_clash_or_load_or_run(name: str) -> None:
    svg = EVERY[name].svg
    assert not re.search(r"\bid=|href|url\(|https?:|xmlns|<script|<style|<image|\bon\w+=", svg)


@pytest.mark.parametrize("name", EVERY)
def test_a_drawing_fits_a_narrow_phone_and_all_its_words_are_inside(name: str) -> None:
    drawn = EVERY[name]
    _, _, width, height = map(float, drawn.root.get("viewBox", "").split())
    assert WIDTH < width < 380
    assert height < 400
    assert all(-LEFT <= float(text.get("x", 0)) < width for text in drawn.root.iter("text"))
    assert all(float(text.get("y", 0)) < height for text in drawn.root.iter("text"))


CODE = """
import sys
from tests.lib.arena.site.charts.test_drawings import EVERY
sys.stdout.write("".join(each.svg for each in EVERY.values()))
"""


def test_the_same_numbers_make_the_same_bytes_in_another_process() -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "lib")])
    there = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
        check=True, capture_output=True, encoding="utf-8", timeout=120,
    ).stdout  # fmt: skip
    assert there == "".join(each.svg for each in EVERY.values())


def test_calls_due_and_calls_sent_are_stairs_over_time() -> None:
    drawn = of_seconds(a_second(100, 100), a_second(50, 200))
    (due,), (sent, *_) = drawn.places("line", "faint"), drawn.places("line", "accent")
    # Two seconds are 300 px, and 250 calls a second 90 px.
    assert due == [(0, 54), (150, 54), (150, 18), (300, 18)]
    assert sent == [(0, 54), (150, 54), (150, 72), (300, 72)]
    assert drawn.marks("line", "faint")[0].get("stroke-width") == "5"
    words = {"due", "sent", "p99", "p50", "calls per second", "latency, on a log scale"}
    assert words <= set(drawn.words)


def test_a_missed_second_has_a_band_and_a_cross_in_both_plots() -> None:
    drawn = of_seconds(a_second(), a_second(94), a_second(), a_second(95))
    assert drawn.places("cross") == [[(112.5, 5)]] * 2
    assert drawn.boxes("missed") == [(75, 0, 75, 90)] * 2
    kept = of_seconds(*[a_second()] * 4)
    assert not kept.marks("missed")
    assert not kept.marks("cross")


def test_a_part_of_a_second_is_scaled_up_and_a_shorter_one_left_out() -> None:
    half = of_seconds(a_second(100), a_second(50, 50, length_s=0.5))
    # 100 calls a second, of 120 that are 90 px.
    assert half.places("line", "faint")[0][-1] == (300, 15)
    assert set(heights(half.places("line", "faint")[0])) == {15}
    # The axis ends at a half or a whole second: at 1.5 s.
    less = of_seconds(a_second(100), a_second(1, 1, length_s=0.25))
    assert less.places("line", "faint")[0][-1][0] == 200
    # But that it was missed is marked.
    missed = of_seconds(a_second(100), a_second(9, 1, length_s=0.25))
    assert missed.places("cross")[0] == [(225, 5)]


def test_latency_is_on_a_log_scale_that_names_its_units() -> None:
    drawn = of_seconds(a_second(p50_ns=1e6, p99_ns=1e7), a_second(p50_ns=1e6, p99_ns=1e8))
    (p50,), p99 = drawn.places("line", "quiet"), drawn.places("line", "accent")[1]
    assert {"1 ms", "10 ms", "100 ms"} <= set(drawn.words)
    assert heights(p99) == [45, 0]
    assert heights(p50) == [90, 90]
    assert drawn.marks("line", "quiet")[0].get("stroke-dasharray")


def test_a_second_without_a_reply_is_a_gap_and_one_between_two_gaps_a_dot() -> None:
    silent = a_second(ok=0, p50_ns=None, p99_ns=None)
    drawn = of_seconds(a_second(), a_second(), silent, a_second(), silent)
    p99 = drawn.marks("line", "accent")[1]
    assert p99.get("d", "").count("M") == 2
    # The middle of the fourth of five seconds; a circle begins at its left edge.
    assert [places[0][0] for places in drawn.places("circle", "accent")] == [210]


def test_a_schedule_without_a_single_reply_has_no_latency() -> None:
    words = of_seconds(*[a_second(ok=0, p50_ns=None, p99_ns=None)] * 3).words
    assert "latency, on a log scale" not in words
    assert "seconds" in words


def on_log(value: float, low: float, high: float) -> float:
    return WIDTH * log10(value / low) / log10(high / low)


def at_n(number: float, most: float) -> float:
    return round(on_log(number, 0.75, most * 1.33), 1)


def test_a_ring_marks_where_throughput_stops_growing() -> None:
    drawn = of_blast(POINTS)
    # The way of eight still grows at its largest N. The axis ends at 25,000: above the interval
    # of the highest there is, 22,000.
    assert drawn.places("ring", "way-1") == [[(at_n(10, 100), round(170 * (1 - 9600 / 25e3), 1))]]
    assert len(drawn.marks("ring")) == 1


def test_a_cross_marks_the_first_failure_in_both_plots() -> None:
    failed = [
        a_point(1, 100, 5000.0, {"Internal": 100}),
        a_point(1, 1000, 50.0, {"Internal": 5000}),
    ]
    drawn = of_blast([*POINTS[:2], *failed])
    above, below = drawn.places("cross")
    # 5,000 of 12,000; 10 % of the calls at N = 100, and 50 % at N = 1,000, where the axis ends.
    assert above == [(at_n(100, 1000), round(170 * 7 / 12, 1))]
    assert below == [(at_n(100, 1000), 70 * (1 - 10 / 50))]
    assert "failed calls, %" in drawn.words


def test_without_a_failure_there_is_no_plot_of_failures() -> None:
    drawn = of_blast(POINTS)
    assert "failed calls, %" not in drawn.words
    assert not drawn.marks("cross")


def test_where_every_call_failed_there_is_still_a_picture() -> None:
    drawn = of_blast([a_point(1, 5, 0.0, {"Internal": 50})])
    assert "failed calls, %" in drawn.words
    assert not drawn.marks("ring")
    assert "5" in drawn.words


def test_each_point_has_its_interval() -> None:
    ((bottom, top),) = of_blast([a_point(1, 1, 1000.0)]).places("interval")
    # From 900 to 1,100 of 1,200.
    assert bottom[1] - top[1] == pytest.approx(170 * 200 / 1200, abs=0.1)


def test_what_is_sustained_is_a_dashed_line_with_its_figure() -> None:
    drawn = of_blast(POINTS, 15_000.0)
    (line,) = drawn.marks("rule", "way-2")
    assert line.get("stroke-dasharray")
    assert drawn.places("rule") == [[(0, 170 * (1 - 15 / 25))]]
    (label,) = (text for text in drawn.root.iter("text") if text.text == "sustained 15.0 k")
    # Its foot is just above the line.
    assert 0 < 68 - float(label.get("y", 0)) < 5
    assert not of_blast(POINTS).marks("rule")


def test_ways_differ_in_more_than_their_colours() -> None:
    drawn = of_blast([a_point(c, n, 100.0 * c * n) for c in (1, 2, 4, 8) for n in (1, 10, 100)])
    assert len({line.get("stroke-dasharray") for line in drawn.marks("line")}) == 4
    assert all(drawn.marks(shape) for shape in ("circle", "square", "triangle", "diamond"))
    assert {"1 connection", "2 connections", "4 connections", "8 connections"} <= set(drawn.words)


def test_a_sustained_load_is_drawn_from_zero_beside_the_whole_run() -> None:
    record = lasting("a", 80.0)
    seconds = [*(a_second(each) for each in (100, 50, 100, 100)), *[a_second(80)] * 3]
    run = record.runs[0].model_copy(
        update={"seconds": (*seconds, a_second(9, length_s=0.1)), "rate": 80.0}
    )
    drawn = Drawn(course_of(record.model_copy(update={"runs": (run,)})))
    (each,), (whole,) = drawn.places("line", "accent"), drawn.places("line", "quiet")
    assert set(heights(each)) == {0, 45, 18}
    assert heights(whole) == [18, 18]
    assert drawn.marks("line", "quiet")[0].get("stroke-dasharray")
    assert {"requests/s, by second", "each second", "whole run"} <= set(drawn.words)


def at_share(share: float, last: float) -> float:
    return round(on_log(share, 0.5 * 1.5, last / 1.5), 1)


def test_latency_is_drawn_by_what_is_left_above_each_percentile() -> None:
    drawn = of_latency(CURVE)
    (line,) = drawn.places("line", "accent")
    assert [x for x, _ in line] == [at_share(share, 0.001) for share in (0.5, 0.1, 0.01)]
    # From 1 ms, at the bottom, to 20 ms, which is the maximum.
    values = [CURVE["p50"], CURVE["p90"], CURVE["p99"]]
    assert heights(line) == [round(150 * (1 - log10(ns / 1e6) / log10(20)), 1) for ns in values]
    assert {"p50", "p90", "p99", "max", "1 ms", "20 ms"} <= set(drawn.words)
    assert "p99.9" not in drawn.words
    assert "other runs" not in drawn.words


def test_the_maximum_is_a_dot_that_no_line_leads_to() -> None:
    drawn = of_latency(CURVE)
    points, (most,) = drawn.places("circle", "accent")
    assert most == (at_share(0.001, 0.001), 0.0)
    assert most not in points
    without = of_latency({**CURVE, "max": 0})
    assert len(without.marks("circle", "accent")) == 1
    assert "max" not in without.words


def test_a_curve_has_only_the_percentiles_that_are_known_and_that_a_log_scale_has() -> None:
    drawn = of_latency({"p50": 0.0, "p75": 1e6, "p95": 2e6, "p999": 3e6, "max": 0.0})
    assert len(drawn.places("line")[0]) == 3
    assert "max" not in drawn.words


def test_the_headlines_run_is_thicker_than_the_others_and_above_them() -> None:
    drawn = of_latency(CURVE, CURVE, CURVE)
    assert [line.get("stroke-width") for line in drawn.marks("line")] == ["1", "1", "2"]
    assert {"headline's run", "other runs"} <= set(drawn.words)


def test_cpu_is_a_bar_as_far_as_it_is_known_with_its_figure() -> None:
    drawn = of_tax(0.05)
    # 4 CPU seconds, and 2 or 0.05 of the generator's, for 5 million messages; 226 px are 1.2.
    widths = [226 * cost / 1.2 for cost in (0.8, 0.4, 0.8, 0.01)]
    assert [box[2] for box in drawn.boxes("known")] == pytest.approx(widths, abs=0.1)
    names = {"server under ghz", "ghz itself", "server under volley", "volley itself"}
    assert names | {"0.80", "0.40", "0.010"} <= set(drawn.words)


def test_what_cut_calls_leave_unknown_of_a_cost_is_paler() -> None:
    assert not of_tax().boxes("possible")[-1][2]
    drawn = of_tax(cut=200_000)
    known, possible = drawn.boxes("known")[2], drawn.boxes("possible")[2]
    assert known[0] + known[2] == pytest.approx(possible[0], abs=0.1)
    assert possible[2] > 1
    assert any("–" in words for words in drawn.words)
