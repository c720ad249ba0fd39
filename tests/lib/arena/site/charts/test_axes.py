"""Axes that people can read."""

import pytest

from arena.site.charts.axes import apart, few, latencies, linear, powers, rates, steps, top


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (3e5, 6e6, (2e5, 5e5, 1e6, 2e6, 5e6, 1e7)),
        (1e6, 1e6, (1e6, 2e6)),
        (1e6, 2e6, (1e6, 2e6)),
        (0.3, 0.4, (0.2, 0.5)),
        (999.9999999999999, 1e3, (500, 1e3)),
    ],
)
def test_a_log_axis_goes_from_a_step_below_to_a_step_above(
    low: float, high: float, ticks: tuple[float, ...]
) -> None:
    assert steps(low, high) == pytest.approx(ticks)


def test_a_long_log_axis_names_only_the_powers_of_ten() -> None:
    assert few(steps(3, 60)) == steps(3, 60)
    assert few(steps(3, 6000)) == (10, 100, 1000, 10_000)
    assert powers(0.75, 13_300) == (1, 10, 100, 1000, 10_000)


@pytest.mark.parametrize(
    ("value", "end"),
    [(0, 1), (-3, 1), (1, 1), (101, 120), (200, 200), (201, 250), (0.07, 0.08), (9.9e5, 1e6)],
)
def test_an_axis_from_zero_ends_at_a_round_number_that_has_room(value: float, end: float) -> None:
    assert top(value) == pytest.approx(end)


def test_a_round_number_is_not_pushed_up_by_its_last_bit() -> None:
    assert all(top(digit * 10.0**power) < digit * 10.0**power * 1.01
               for digit in (1, 2, 5) for power in range(-3, 9))  # fmt: skip


@pytest.mark.parametrize(
    ("places", "moved"),
    [
        ([], []),
        ([50.0], [50.0]),
        ([10.0, 90.0], [10.0, 90.0]),
        ([50.0, 50.0], [45.0, 55.0]),
        ([52.0, 50.0], [56.0, 46.0]),
        # The first two push each other into the third.
        ([50.0, 50.0, 56.0], [42.0, 52.0, 62.0]),
    ],
)
def test_labels_that_stand_too_close_move_apart_around_their_middle(
    places: list[float], moved: list[float]
) -> None:
    assert apart(places, 10) == pytest.approx(moved)


@pytest.mark.parametrize(
    ("end", "steps", "labels"),
    [
        (1, 6, "0 0.2 0.4 0.6 0.8 1"),
        (120, 6, "0 20 40 60 80 100 120"),
        (250, 6, "0 50 100 150 200 250"),
        (15, 4, "0 5 10 15"),
        (7.5, 8, "0 1 2 3 4 5 6 7"),
    ],
)
def test_an_axis_from_zero_has_even_steps_of_round_numbers(
    end: float, steps: int, labels: str
) -> None:
    axis = linear(end, "{:g}".format, steps, has_grid=True)
    assert " ".join(label for _, label in axis.ticks) == labels
    assert axis.share(end / 2) == 0.5


def test_labels_name_their_units() -> None:
    assert [label for _, label in rates(2.5e6, 90).ticks][-2:] == ["2 M", "2.5 M"]
    assert [label for _, label in latencies((2e5, 1e6, 1e9)).ticks] == ["200 µs", "1 ms", "1 s"]
