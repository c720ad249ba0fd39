"""Durations, CPU lists and numbers for people."""

from collections.abc import Callable

import pytest

from arena.base.units import (
    RATES,
    TIMES_NS,
    bar_words,
    format_bytes,
    format_cpus,
    format_duration,
    format_megabytes,
    format_ns,
    format_rate,
    in_column,
    interval_words,
    parse_cpus,
    parse_duration,
    place_of,
    rate_words,
    rounded,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("500ms", 0.5),
        ("1m30s", 90),
        ("1.5h", 5400),
        ("1ms", 1e-3),
        ("1500us", 1.5e-3),
        ("24h", 86400),
    ],
)
def test_a_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "s", "-5s", "5 s", "5s ", "1,5s", "0s", "0ms", "25h", "5sx", "٥s.", 5, None,
        "999us", "0.9ms", "24h1s",
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_the_text(text: object) -> None:
    with pytest.raises(
        ValueError, match=r"is not a duration|must be at least 1ms and at most a day"
    ) as caught:
        parse_duration(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["5s", "500ms", "90s", "1500us", "1ms", "86400s"])
def test_a_formatted_duration_reads_back_as_itself(text: str) -> None:
    assert format_duration(parse_duration(text)) == text


def test_a_duration_is_never_rounded_to_nothing_coarser_than_a_microsecond() -> None:
    assert format_duration(1.2345678) == "1234568us"


@pytest.mark.parametrize(
    ("text", "cpus", "formatted"),
    [
        ("0", (0,), "0"),
        ("0-3,8", (0, 1, 2, 3, 8), "0-3,8"),
        ("8, 0-1 ,1-2", (0, 1, 2, 8), "0-2,8"),
        ("4-4", (4,), "4"),
    ],
)
def test_a_cpu_list_is_read_and_written_in_its_shortest_form(
    text: str, cpus: tuple[int, ...], formatted: str
) -> None:
    assert parse_cpus(text) == cpus
    assert format_cpus(cpus) == formatted


@pytest.mark.parametrize("text", ["", ",", "a", "3-1", "1-", "-1", "1--2", "0-999999", "0;1"])
def test_what_is_no_cpu_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a CPU list"):
        parse_cpus(text)


@pytest.mark.parametrize(
    ("words", "value", "text"),
    [
        (format_rate, 0, "0"),
        (format_rate, 7.125, "7.12"),
        (format_rate, 789, "789"),
        (format_rate, 999.4, "999"),
        (format_rate, 999.6, "1.00 k"),
        (format_rate, 45_600, "45.6 k"),
        (format_rate, 999_600, "1.00 M"),
        (format_rate, 1_234_567, "1.23 M"),
        (format_rate, 123_456_789, "123 M"),
        (format_rate, 2.5e9, "2.50 G"),
        (format_ns, 12, "12 ns"),
        (format_ns, 1500, "1.50 µs"),
        (format_ns, 8.12e8, "812 ms"),
        (format_ns, 1.05e9, "1.05 s"),
        # Sizes are in binary units, limits of memory in decimal ones.
        (format_bytes, 12, "12 B"),
        (format_bytes, 1024, "1.00 KiB"),
        (format_bytes, 23.4 * 2**20, "23.4 MiB"),
        (format_megabytes, 0, "0.0 MB"),
        (format_megabytes, 64_000_000, "64.0 MB"),
        (format_megabytes, 1_234_567_890, "1234.6 MB"),
    ],
)
def test_a_figure_has_three_digits_and_a_unit(
    words: Callable[[float], str], value: float, text: str
) -> None:
    assert words(value) == text


@pytest.mark.parametrize(
    ("value", "high", "client_bound", "text"),
    [
        (1.02e6, 2e6, False, "1.02 M"),
        (1.02e6, 2e6, True, "≥ 1.02 M"),
        (0.0, 2e6, False, "< 2.00 M"),
        (0.0, 2e6, True, "< 2.00 M"),
        (0.0, 0.0, False, "0"),
    ],
)
def test_a_rate_says_how_far_it_is_known(
    value: float, high: float, client_bound: bool, text: str
) -> None:
    assert rate_words(value, high, client_bound=client_bound) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1e6, 2e6, "1.00 M to 2.00 M"), (1e6, 1e6, "counted"), (0, 0, "counted")],
)
def test_an_error_bar_without_a_width_is_called_counted(low: float, high: float, text: str) -> None:
    assert bar_words(low, high) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "words", "interval"),
    [
        # Half of 15 k is known to thousands, but three digits are enough.
        (1_017_345, 1.01e6, 1.025e6, "1.02 M", "1.01 M to 1.03 M"),
        (825e3, 825e3, 929e3, "0.82 M", "0.82 M to 0.93 M"),
        (820e3, 700e3, 950e3, "0.8 M", "0.7 M to 1.0 M"),
        (82.5e3, 70e3, 95e3, "80 k", "70 k to 100 k"),
        (32.28e6, 28e6, 33e6, "32 M", "28 M to 33 M"),
        (12_345, 12_345, 12_345, "12.3 k", "12.3 k to 12.4 k"),
        # What is rounded up to the next power of ten has a digit less below it.
        (999_600, 999_600, 999_600, "1.00 M", "0.99 M to 1.00 M"),
        (10_010, 2_000, 267_000, "10 k", "2 k to 0.27 M"),
        # One digit is always left.
        (200, 0, 4000, "0.2 k", "0 to 4.0 k"),
        (5, 5, 5, "5.00", "5.00"),
        # What no unit reaches is nothing.
        (5e-324, 0, 5e-324, "0", "0"),
    ],
)
def test_a_value_has_the_digits_that_its_interval_leaves_it(
    value: float, low: float, high: float, words: str, interval: str
) -> None:
    place = place_of(value, low, high)
    assert rounded(value, place, RATES) == words
    assert interval_words(low, high, place, RATES) == interval


def test_what_is_only_known_to_be_more_is_rounded_down() -> None:
    assert rounded(1.239e6, 4, RATES) == "1.24 M"
    assert rounded(1.239e6, 4, RATES, down=True) == "1.23 M"
    # What is exact in decimals stays it.
    assert rounded(1.23e6, 4, RATES, down=True) == "1.23 M"


def test_times_are_rounded_in_their_own_units() -> None:
    assert rounded(2_368_816, place_of(2_368_816, 0, 0), TIMES_NS) == "2.37 ms"
    assert rounded(693_247, place_of(693_247, 693_247, 693_247), TIMES_NS) == "693 µs"
    assert rounded(812, 0, TIMES_NS) == "812 ns"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((1.234, 1.04, 1.41), ("1.2", "1.0–1.5")),
        ((1.234, 1.2, 1.27), ("1.23", "1.20–1.27")),
        ((823, 823, 929), ("820", "820–930")),
        ((7000, 6547, 7401), ("7,000", "6,500–7,500")),
        # A small low end keeps its own first digit.
        ((1.5, 0.02, 9.0), ("2", "0.02–9")),
        ((0.0042, 0.0041, 0.0043), ("0.0042", "0.0041–0.0043")),
        ((1.0, 1.0, 1.0), ("1.00", "")),
        ((2.5, 2.06, None), ("2.50", "2.06 or more")),
    ],
)
def test_a_figure_in_a_column_has_the_digits_of_its_interval(
    given: tuple[float, float, float | None], shown: tuple[str, str]
) -> None:
    assert in_column(*given) == shown
