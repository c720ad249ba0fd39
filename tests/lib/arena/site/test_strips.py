"""Strips: where marks lie on a line."""

import pytest

from arena.site.strips import Scale, Strip, line, scale_of


def test_a_linear_scale_begins_at_nought() -> None:
    scale = Scale(200.0)
    assert [scale.at(value) for value in (0, 100, 200, 500)] == [10, 200, 390, 390]


def test_a_logarithmic_scale_has_equal_steps_for_equal_ratios() -> None:
    scale = scale_of([1.0, 10.0, 100.0])
    assert scale.is_log
    assert [scale.at(value) for value in (0, 1, 10, 100)] == [10, 10, 200, 390]


@pytest.mark.parametrize(("least", "is_log"), [(5.0, False), (4.9, True)])
def test_a_scale_is_logarithmic_beyond_a_factor_of_twenty(least: float, is_log: bool) -> None:
    assert scale_of([100.0, least]).is_log == is_log


def test_nothing_to_draw_is_drawn_at_nought() -> None:
    assert scale_of([]) == scale_of([0.0]) == Scale(0.0)
    assert Scale(0.0).at(5.0) == 10


def test_a_strip_has_an_interval_dots_and_a_tick() -> None:
    assert Scale(380.0).strip([100.0, 200.0], [200.0], (50.0, 250.0), 150.0) == Strip(
        bar="M60 14h200", dots="M110 14h0M210 14h0", best="M210 14h0", tick="M160 2v24"
    )


def test_an_interval_without_a_width_is_not_drawn_and_a_narrow_one_is() -> None:
    assert Scale(380.0).strip([1.0], interval=(1.0, 1.0)).bar == ""
    assert Scale(380.0).strip([1.0], interval=(1.0, 1.01)).bar == "M11 14h1"


def test_dots_in_one_place_are_one() -> None:
    assert Scale(1e6).strip([5.0, 6.0, 7.0]).dots == "M10 14h0"


def test_a_line_goes_from_the_oldest_to_the_newest() -> None:
    drawn = line([(1.0, 1.0, 1.0), (0.0, 2.0, 2.0)])
    assert drawn.dots == "M10 28h0M390 4h0"
    assert drawn.tick == "M10 28L390 4"
    assert drawn.bar.endswith("M390 52V4")


def test_ends_that_are_too_far_apart_for_a_ratio_are_drawn() -> None:
    scale = scale_of([1e-160, 1e160])
    assert scale.at(1e-160) < scale.at(1.0) < scale.at(1e160)
