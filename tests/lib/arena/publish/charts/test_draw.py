"""Drawings as SVG: the marks are where the numbers are, and nothing else is there."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from math import log10
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from arena.judge.leaderboard import rank
from arena.publish.charts import pictures_of
from arena.publish.charts.draw import draw
from arena.publish.charts.drawing import (
    BlastDrawing,
    Curve,
    Drawing,
    LatencyDrawing,
    ScheduledDrawing,
    SustainedDrawing,
    TaxDrawing,
    Toll,
)
from arena.publish.charts.marks import WIDTH
from arena.record.measurement import BlastPoint, Second
from tests.lib.arena.publish.charts.loads import POINTS, a_point, a_second, blast, scheduled

ROOT = Path(__file__).resolve().parents[5]
LIB = ROOT / "lib"
STYLE = ROOT / "site" / "static" / "style.css"


def drawn(drawing: Drawing) -> ET.Element:
    return ET.fromstring(f"<svg {draw(drawing)}")


def of_blast(points: Sequence[BlastPoint], sustained: float | None = None) -> BlastDrawing:
    (board,) = rank([blast("a", points)]).boards
    (picture,) = pictures_of(board, ())
    assert isinstance(picture.drawing, BlastDrawing)
    *others, last = picture.drawing.ways
    return BlastDrawing((*others, replace(last, sustained=sustained)))


def of_seconds(seconds: Sequence[Second]) -> ScheduledDrawing:
    (board,) = rank([scheduled("a", seconds)]).boards
    (picture,) = pictures_of(board, ())
    assert isinstance(picture.drawing, ScheduledDrawing)
    return picture.drawing


CURVE = Curve(((0.5, 1e6), (0.1, 2e6), (0.01, 1e7)), 2e7)


def that_lasts(whole: float) -> SustainedDrawing:
    return SustainedDrawing((a_second(),) * 7, "requests/s", whole)


GHZ = Toll("ghz", (1.0, 2.0), (3.0, 4.0))
VOLLEY = Toll("volley", (1.0, 1.0), (0.012, 0.0125))


EVERY: dict[str, Drawing] = {
    "latency": LatencyDrawing(CURVE, (CURVE, Curve(((0.5, 1e6), (0.001, 1e8)), None))),
    "tax": TaxDrawing((GHZ, VOLLEY), "messages", 5.0),
    "scheduled": of_seconds([a_second(), a_second(50), a_second(length_s=0.6)]),
    "blast": of_blast([*POINTS, a_point(1, 1000, 9000.0, {"Unavailable": 5})], 15_000.0),
    "lasting": that_lasts(100.0),
}


def marks(svg: ET.Element, name: str) -> list[ET.Element]:
    """Return the marks of a named kind, or of a Vega kind such as mark-line, in all plots."""
    return [
        mark
        for group in svg.iter("g")
        if re.search(rf"\b{name}(_\d+)?(_marks)?( |$)", group.get("class", ""))
        if "role-mark" in group.get("class", "")
        for mark in group
    ]


def place(mark: ET.Element) -> tuple[float, float]:
    found = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", mark.get("transform", ""))
    assert found
    return float(found[1]), float(found[2])


def points_of(line: ET.Element) -> list[tuple[float, float]]:
    """Return the corners of a line, each once, whatever its commands."""
    x = y = 0.0
    corners: list[tuple[float, float]] = []
    for command, numbers in re.findall(r"([MLHVhvl])([^A-Za-z]*)", line.get("d", "")):
        values = [float(value) for value in re.findall(r"-?[\d.]+", numbers)]
        if command in "ML":
            x, y = values
        elif command == "H":
            (x,) = values
        elif command == "V":
            (y,) = values
        if (x, y) not in corners[-1:]:
            corners.append((x, y))
    return corners


def words(svg: ET.Element) -> list[str]:
    return [text.text or "" for text in svg.iter("text")]


@pytest.mark.parametrize("name", EVERY)
def test_all_colours_are_the_pages_own_in_light_and_in_dark(name: str) -> None:
    svg = draw(EVERY[name])
    colours = set(re.findall(r' (?:fill|stroke)="([^"]*)"', svg)) - {"none", "transparent"}
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
    svg = draw(EVERY[name])
    assert not re.search(r"\bid=|href|url\(|https?:|xmlns|<script|<style|<image|\bon\w+=", svg)


@pytest.mark.parametrize("name", EVERY)
def test_a_drawing_fits_a_narrow_phone_and_is_not_scaled_up_to_it(name: str) -> None:
    _, _, width, height = map(float, drawn(EVERY[name]).get("viewBox", "").split())
    assert WIDTH < width < 380
    assert height < 400
    assert {text.get("font-size") for text in drawn(EVERY[name]).iter("text")} == {"11px"}


CODE = """
import sys
from tests.lib.arena.publish.charts.test_draw import EVERY, draw
sys.stdout.write("".join(draw(each) for each in EVERY.values()))
"""


def test_the_same_numbers_make_the_same_bytes_in_another_process() -> None:
    here = "".join(draw(each) for each in EVERY.values())
    path = os.pathsep.join([str(ROOT), str(ROOT / "lib")])
    there = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
        check=True, capture_output=True, encoding="utf-8", timeout=120,
    ).stdout  # fmt: skip
    assert there == here


def test_what_was_due_and_what_was_sent_are_stairs_over_time() -> None:
    svg = drawn(of_seconds([a_second(100, 100), a_second(50, 200)]))
    due, sent, *_ = marks(svg, "mark-line")
    assert (due.get("stroke"), sent.get("stroke")) == ("var(--faint)", "var(--accent)")
    assert float(due.get("stroke-width", 0)) > 2 * float(sent.get("stroke-width", 0))
    # Two seconds are 300 px, and 250 calls a second 90 px.
    assert points_of(due) == [(0, 54), (150, 54), (150, 18), (300, 18)]
    assert points_of(sent) == [(0, 54), (150, 54), (150, 72), (300, 72)]
    assert {"due", "sent", "p99", "p50", "calls per second", "latency, on a log scale"} <= set(
        words(svg)
    )


def test_a_missed_second_has_a_band_and_a_cross_in_both_plots() -> None:
    svg = drawn(of_seconds([a_second(), a_second(94), a_second(), a_second(95)]))
    crosses = marks(svg, "missed")
    assert [place(mark)[0] for mark in crosses] == [112.5, 112.5]
    bands = marks(svg, "mark-rect")
    assert [re.findall(r"M([\d.]+),.*?h([\d.]+)", band.get("d", ""))[0] for band in bands] == [
        ("75", "75")
    ] * 2
    assert not marks(drawn(of_seconds([a_second()] * 4)), "missed")


def test_a_part_of_a_second_is_scaled_up_and_a_shorter_one_left_out() -> None:
    half = drawn(of_seconds([a_second(100), a_second(50, 50, length_s=0.5)]))
    # 100 calls a second, of 120 that are 90 px.
    assert {y for _, y in points_of(marks(half, "mark-line")[0])} == {15}
    assert points_of(marks(half, "mark-line")[0])[-1][0] == 300
    # The axis ends at a half or a whole second: at 1.5 s.
    less = drawn(of_seconds([a_second(100), a_second(1, 1, length_s=0.25)]))
    assert points_of(marks(less, "mark-line")[0])[-1][0] == 200
    # But that it was missed is marked.
    missed = drawn(of_seconds([a_second(100), a_second(9, 1, length_s=0.25)]))
    assert [place(mark)[0] for mark in marks(missed, "missed")] == [225, 225]


def test_latency_is_on_a_log_scale_that_names_its_units() -> None:
    svg = drawn(of_seconds([a_second(p50_ns=1e6, p99_ns=1e7), a_second(p50_ns=1e6, p99_ns=1e8)]))
    p99, p50 = marks(svg, "mark-line")[2:]
    assert {"1 ms", "10 ms", "100 ms"} <= set(words(svg))
    assert [y for _, y in points_of(p99)] == pytest.approx([45, 0])
    assert [y for _, y in points_of(p50)] == pytest.approx([90, 90])
    assert p99.get("stroke-dasharray") != p50.get("stroke-dasharray")


def test_a_second_without_a_reply_is_a_gap_and_one_between_two_gaps_a_dot() -> None:
    silent = a_second(ok=0, p50_ns=None, p99_ns=None)
    svg = drawn(of_seconds([a_second(), a_second(), silent, a_second(), silent]))
    p99 = marks(svg, "mark-line")[2]
    assert p99.get("d", "").count("M") == 2
    dots = [mark for mark in marks(svg, "mark-symbol") if mark.get("fill") == "var(--accent)"]
    assert [place(dot)[0] for dot in dots] == [210]


def test_a_schedule_without_a_single_reply_has_no_latency() -> None:
    svg = drawn(of_seconds([a_second(ok=0, p50_ns=None, p99_ns=None)] * 3))
    assert "latency, on a log scale" not in words(svg)
    assert "seconds" in words(svg)


def at_n(number: float, most: float) -> float:
    low, high = 0.75, most * 1.33
    return WIDTH * log10(number / low) / log10(high / low)


def test_a_ring_marks_where_throughput_stops_growing() -> None:
    svg = drawn(of_blast(POINTS))
    rings = marks(svg, "full")
    # The way of eight still grows at its largest N.
    assert [ring.get("stroke") for ring in rings] == ["var(--way-1)"]
    assert [place(ring)[0] for ring in rings] == pytest.approx([at_n(10, 100)], abs=0.02)
    # The axis ends at 25,000: at the interval of the highest there is, 22,000.
    assert [place(ring)[1] for ring in rings] == pytest.approx(
        [170 * (1 - 9600 / 25_000)], abs=0.02
    )


def test_a_cross_marks_the_first_failure_in_both_plots() -> None:
    failed = [
        a_point(1, 100, 5000.0, {"Internal": 100}),
        a_point(1, 1000, 50.0, {"Internal": 5000}),
    ]
    svg = drawn(of_blast([*POINTS[:2], *failed]))
    above, below = marks(svg, "fails")
    assert place(above)[0] == pytest.approx(at_n(100, 1000), abs=0.02)
    # 10 % of the calls at N = 100, and 50 % at N = 1,000, where the axis ends.
    assert place(below) == pytest.approx((at_n(100, 1000), 70 * (1 - 10 / 50)), abs=0.02)
    assert "failed calls, %" in words(svg)


def test_without_a_failure_there_is_no_plot_of_failures() -> None:
    svg = drawn(of_blast(POINTS))
    assert "failed calls, %" not in words(svg)
    assert not marks(svg, "fails")


def test_where_every_call_failed_there_is_still_a_picture() -> None:
    svg = drawn(of_blast([a_point(1, 5, 0.0, {"Internal": 50})]))
    assert "failed calls, %" in words(svg)
    assert not marks(svg, "full")
    assert "5" in words(svg)


def test_each_point_has_its_interval() -> None:
    svg = drawn(of_blast([a_point(1, 1, 1000.0)]))
    (bar,) = (mark for mark in marks(svg, "mark-rule") if mark.get("stroke") == "var(--way-1)")
    # From 900 to 1,100 of 1,200.
    assert abs(float(bar.get("y2", 0))) == pytest.approx(170 * 200 / 1200, abs=0.02)


def test_what_is_sustained_is_a_dashed_line_with_its_figure() -> None:
    svg = drawn(of_blast(POINTS, 15_000.0))
    (line,) = marks(svg, "sustained")
    assert place(line)[1] == pytest.approx(170 * (1 - 15_000 / 25_000), abs=0.02)
    assert line.get("stroke-dasharray")
    assert line.get("stroke") == "var(--way-2)"
    (label,) = (text for text in svg.iter("text") if text.text == "sustained 15.0 k")
    # Its middle is just above the line.
    assert 0 < place(line)[1] - place(label)[1] < 11
    assert not marks(drawn(of_blast(POINTS)), "sustained")


def test_ways_are_told_apart_without_their_colours() -> None:
    points = [a_point(c, n, 100.0 * c * n) for c in (1, 2, 4, 8) for n in (1, 10, 100)]
    svg = drawn(of_blast(points))
    lines = marks(svg, "mark-line")
    assert len({line.get("stroke-dasharray") for line in lines}) == 4
    symbols = [
        mark for mark in marks(svg, "mark-symbol") if "var(--way" in (mark.get("fill") or "")
    ]
    assert len({symbol.get("d") for symbol in symbols}) == 4
    assert {"1 connection", "2 connections", "4 connections", "8 connections"} <= set(words(svg))


def test_a_sustained_load_is_drawn_from_zero_beside_the_whole_run() -> None:
    seconds = [*(a_second(each) for each in (100, 50, 100, 100)), a_second(9, length_s=0.1)]
    svg = drawn(SustainedDrawing(tuple(seconds), "requests/s", 80.0))
    each, whole = marks(svg, "mark-line")
    assert {y for _, y in points_of(each)} == {0, 45}
    assert [y for _, y in points_of(whole)] == [18, 18]
    assert whole.get("stroke-dasharray") != each.get("stroke-dasharray")
    assert {"requests/s, by second", "each second", "whole run"} <= set(words(svg))


def at_share(share: float, last: float) -> float:
    low, high = last / 1.5, 0.5 * 1.5
    return WIDTH * (1 - log10(share / low) / log10(high / low))


def test_latency_is_drawn_by_what_is_left_above_each_percentile() -> None:
    svg = drawn(LatencyDrawing(CURVE, ()))
    (line,) = marks(svg, "mark-line")
    assert line.get("stroke") == "var(--accent)"
    shares = [at_share(share, 0.001) for share, _ in CURVE.points]
    assert [x for x, _ in points_of(line)] == pytest.approx(shares, abs=0.02)
    # From 1 ms, at the bottom, to 20 ms, which is the most.
    heights = [150 * (1 - log10(ns / 1e6) / log10(20)) for _, ns in CURVE.points]
    assert [y for _, y in points_of(line)] == pytest.approx(heights, abs=0.02)
    assert {"p50", "p90", "p99", "max", "1 ms", "20 ms"} <= set(words(svg))
    assert "p99.9" not in words(svg)
    assert "other runs" not in words(svg)


def test_the_most_is_a_dot_that_no_line_leads_to() -> None:
    svg = drawn(LatencyDrawing(CURVE, ()))
    (most,) = marks(svg, "most")
    assert place(most) == pytest.approx((at_share(0.001, 0.001), 0), abs=0.02)
    without = drawn(LatencyDrawing(replace(CURVE, max_ns=None), ()))
    assert not marks(without, "most")
    assert "max" not in words(without)


def test_the_headlines_run_is_thicker_than_the_others_and_above_them() -> None:
    svg = drawn(LatencyDrawing(CURVE, (CURVE, CURVE)))
    widths = [float(line.get("stroke-width", 0)) for line in marks(svg, "mark-line")]
    assert widths == [1, 1, 2]
    assert {"headline's run", "other runs"} <= set(words(svg))


def test_runs_of_a_failed_record_are_drawn_without_a_headline() -> None:
    svg = drawn(LatencyDrawing(None, (CURVE,)))
    assert [line.get("stroke") for line in marks(svg, "mark-line")] == ["var(--quiet)"]


def test_cpu_is_a_bar_as_far_as_it_is_known_and_paler_as_far_as_it_may_go() -> None:
    svg = drawn(TaxDrawing((GHZ, VOLLEY), "messages", 5.0))

    def spans(name: str) -> list[float]:
        """Return where each bar begins, and how long it is."""
        found = [re.match(r"M([\d.]+),.*?h([\d.]+)", bar.get("d", "")) for bar in marks(svg, name)]
        return [float(number) for each in found if each for number in each.groups()]

    # 230 px are 5 seconds.
    assert spans("known") == pytest.approx([0, 46, 0, 138, 0, 46, 0, 0.55], abs=0.02)
    assert spans("possible")[:4] == pytest.approx([46, 46, 138, 46], abs=0.02)
    assert {"server under ghz", "ghz itself", "server under volley", "volley itself"} <= set(
        words(svg)
    )


def test_no_digit_of_a_word_is_lost_in_a_drawing() -> None:
    assert "0.012–0.013" in words(drawn(TaxDrawing((VOLLEY,), "messages", 5.0)))
    assert "0.012–0.013" in words(drawn(TaxDrawing((GHZ, VOLLEY), "messages", 5.0)))


def test_a_cost_without_an_upper_end_says_so() -> None:
    endless = Toll("ghz", (1.0, None), (3.0, None))
    svg = drawn(TaxDrawing((endless,), "messages", 5.0))
    assert {"> 1.00", "> 3.00"} <= set(words(svg))


class Counted:
    """Counts what is drawn by the library."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        real = vl_convert.vega_to_svg

        def count(spec: str | dict[str, Any]) -> str:
            self.count += 1
            return str(real(spec))

        monkeypatch.setattr(vl_convert, "vega_to_svg", count)


def test_the_same_numbers_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = draw(that_lasts(123.0))
    counted = Counted(monkeypatch)
    assert draw(that_lasts(123.0)) == first
    assert counted.count == 0


def test_drawings_with_equal_axes_share_a_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    first = draw(that_lasts(777.0))
    counted = Counted(monkeypatch)
    second = draw(that_lasts(776.0))
    assert counted.count == 1
    assert second != first
    assert words(ET.fromstring(f"<svg {second}")) == words(ET.fromstring(f"<svg {first}"))


def test_marks_of_one_name_in_two_plots_are_each_in_their_own() -> None:
    failed = a_point(1, 100, 5000.0, {"Internal": 100})
    svg = drawn(of_blast([*POINTS[:2], failed]))
    above, below = marks(svg, "fails")
    # 5,000 of 12,000 requests a second, and 10 % of 10.
    assert place(above)[1] == pytest.approx(170 * 7 / 12, abs=0.02)
    assert place(below)[1] == 0


def test_no_marks_of_another_drawing_are_left_on_a_sheet() -> None:
    missed = drawn(of_seconds([a_second(), a_second(50)]))
    kept = drawn(of_seconds([a_second(), a_second(100)]))
    assert len(marks(missed, "missed")) == 2
    assert not marks(kept, "missed")


IMPORTS = """
import sys
from arena.publish.charts import pictures_of
from arena.publish.site.build import build
print(sorted({"altair", "vl_convert", "jsonschema"} & set(sys.modules)))
"""


def test_the_drawing_libraries_are_loaded_when_there_is_something_to_draw() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], env={"PYTHONPATH": str(LIB)},
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "[]\n"
