"""Durations, lists of CPUs and numbers, as people and programs write them."""

import re
from collections.abc import Callable, Sequence
from math import ceil, floor, log10

_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(us|µs|ms|s|m|h)")
_SHORTEST_S = 1e-3
_LONGEST_S = 24 * 3600.0


def parse_duration(text: object) -> float:
    """Return the seconds in `5s`, `500ms` or `1m30s`; ValueError for any other text."""
    parts = _PART.findall(text) if isinstance(text, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration (write 5s, 500ms or 1m30s)")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not _SHORTEST_S <= seconds <= _LONGEST_S:
        raise ValueError(f"{text!r} must be at least 1ms and at most a day")
    return seconds


def format_duration(seconds: float) -> str:
    """Return a duration as generators read it: whole seconds, milliseconds or microseconds.

    >>> format_duration(5.0), format_duration(0.5)
    ('5s', '500ms')
    """
    for unit in ("s", "ms", "us"):
        count = seconds / _SECONDS[unit]
        if abs(count - round(count)) < 1e-6 * max(1.0, count):
            break
    return f"{round(count)}{unit}"


def parse_cpus(text: str) -> tuple[int, ...]:
    """Return the CPU numbers in a list like `0-3,8`, as cpuset(7) and taskset write it.

    Raises ValueError for any other text.
    """
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part.strip())
        if not match:
            raise ValueError(f"{text!r} is not a CPU list (write 0-3 or 0,2,4)")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{text!r} is not a CPU list ({part} runs backwards)")
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def format_cpus(cpus: Sequence[int]) -> str:
    """Return CPU numbers as a list of ranges: the inverse of parse_cpus."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


# The units of figures, by power of ten.
RATES: dict[int, str] = {9: " G", 6: " M", 3: " k", 0: ""}
TIMES_NS: dict[int, str] = {9: " s", 6: " ms", 3: " µs", 0: " ns"}
_SIZES = ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (0, " B"))


def format_rate(value: float) -> str:
    """Return a rate with the digits people read: `1.23 M`, `45.6 k`, `789`."""
    return _scaled(value, _from(RATES))


def rate_words(value: float, high: float, *, client_bound: bool = False) -> str:
    """Return a rate, or the bound that is known.

    `≥ 1.02 M`: the generator was the limit. `< 256 k`: only `high` is known, because no call
    finished in the window and the generator counts calls.
    """
    if not value and high:
        return f"< {format_rate(high)}"
    return at_least(format_rate(value), is_bound=client_bound)


def at_least(figure: str, *, is_bound: bool) -> str:
    """Return a figure in words, with `≥` before it if it is only a lower bound."""
    return f"≥ {figure}" if is_bound else figure


def bar_words(low: float, high: float) -> str:
    """Return an error bar: `825 k to 929 k`, or `counted` if its width is 0."""
    return "counted" if low == high else f"{format_rate(low)} to {format_rate(high)}"


def format_ns(value: float) -> str:
    """Return a time in nanoseconds with a readable unit: `812 ms`, `1.05 s`."""
    return _scaled(value, _from(TIMES_NS))


def format_bytes(value: float) -> str:
    """Return a size in binary units, as memory is counted: `23.4 MiB`."""
    return _scaled(value, _SIZES)


def format_megabytes(value: float) -> str:
    """Return a size in MB, which are 10^6 bytes, as limits are written: `64.0 MB`."""
    return f"{value / 1e6:.1f} MB"


# The maximum digits of a figure, and the minimum power of ten of its first digit.
_DIGITS = 3
_LEAST = -30

# An end of an interval that is beyond all figures: nothing is known of it.
_FAR = 1e18


def place_of(value: float, low: float, high: float) -> int:
    """Return the power of ten of the last digit that the interval justifies.

    It is that of the first digit of half the interval's width: 823 k between 823 k and 929 k is
    known to ten thousands. A value keeps one to three digits.
    """
    first = _exponent(value)
    half = (high - low) / 2
    least = first - _DIGITS + 1
    place = min(max(least, _exponent(half)), first) if half > 0 else least
    # A value that rounds up to the next power of ten has one digit more.
    return place + (place == least and _exponent(_whole(value, place) * 10.0**place) > first)


def rounded(value: float, place: int, units: dict[int, str], *, down: bool = False) -> str:
    """Return a value with no digit below `place`, a power of ten: `1.02 M`, `0.8 M`, `70 k`.

    The next larger unit is used if it avoids zeros for unknown digits and the value is at least a
    tenth of it. `down` rounds down, for a lower bound.
    """
    whole = _whole(value, place, floor if down else round)
    return _in_unit(whole, place, _unit_of(whole, place, units), units)


def interval_words(low: float, high: float, place: int, units: dict[int, str]) -> str:
    """Return an interval with no digit below `place`, its ends rounded outward, in one unit."""
    if high >= _FAR:
        return f"{rounded(low, _exponent(low), units, down=True)} or more"
    least, most = _whole(low, place, floor), _whole(high, place, ceil)
    if low > 0 and not least:
        # A small low end must not become 0: it keeps its own first digit.
        least_words = rounded(low, _exponent(low), units, down=True)
        return f"{least_words} to {rounded(most * 10.0**place, place, units)}"
    unit = _unit_of(least or most, place, units)
    if least == most:
        return _in_unit(least, place, unit, units)
    return f"{_in_unit(least, place, unit, units)} to {_in_unit(most, place, unit, units)}"


def in_column(value: float, low: float, high: float | None) -> tuple[str, str]:
    """Return a figure, and its interval as a span, for a column with one unit.

    The digits are those that the interval justifies, its ends rounded outward. Without a width, it
    is empty, and without a high end, `1.0 or more`.
    """
    if high is None:
        return in_unit(
            value
        ), f"{rounded(low, place_of(low, low, low), {0: ''}, down=True)} or more"
    place = place_of(value, low, high)
    shown = _plain(_whole(value, place), place)
    if low == high:
        return shown, ""
    least, most = _whole(low, place, floor), _whole(high, place, ceil)
    # A small low end must not become 0: it keeps its own first digit.
    small = low > 0 and not least
    start = rounded(low, _exponent(low), {0: ""}, down=True) if small else _plain(least, place)
    return shown, f"{start}–{_plain(most, place)}" if least < most else start


def _plain(whole: int, place: int) -> str:
    return f"{whole * 10.0**place:,.{max(0, -place)}f}"


def _unit_of(whole: int, place: int, units: dict[int, str]) -> int:
    """Return the power of ten of the unit in which `whole` times 10^place is shown."""
    power = _exponent(whole * 10.0**place)
    reached = max((unit for unit in units if unit <= power), default=min(units))
    larger = min((unit for unit in units if unit >= place), default=reached)
    return larger if reached < larger <= power + 1 else reached


def _in_unit(whole: int, place: int, unit: int, units: dict[int, str]) -> str:
    if not whole:
        return "0"
    return f"{whole * 10.0 ** (place - unit):.{max(0, unit - place)}f}{units[unit]}"


def _exponent(value: float) -> int:
    """Return the power of ten of a value's first digit; 0 if the value is not positive."""
    return max(floor(log10(value) + 1e-9), _LEAST) if value > 0 else 0


def _whole(value: float, place: int, to: Callable[[float], int] = round) -> int:
    """Return a value in units of 10^place, made an integer by `to`."""
    # Rounding to nine decimals first keeps exact decimals exact.
    return to(round(value / 10.0**place, 9))


def _from(units: dict[int, str]) -> list[tuple[float, str]]:
    """Return each unit with the value from which it is used; the unit of power 0 starts at 0."""
    return [(10.0**power if power else 0, unit) for power, unit in units.items()]


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return the value in the largest unit that it reaches."""
    # A value that would round up to 1000 is shown as 1 of the next unit.
    limit, unit = next(each for each in units if value >= each[0] * 0.9995)
    if not limit and value % 1 == 0:
        return f"{value:.0f}{unit}"
    return three_digits(value / limit if limit else value) + unit


def three_digits(value: float) -> str:
    """Return a number with three significant digits, but no more than two decimals."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0  # noqa: PLR2004
    return f"{value:.{decimals}f}"


# Below this, numbers have two significant digits instead of two decimals.
_SMALL = 0.1
_THOUSAND = 1000


def in_unit(value: float) -> str:
    """Return a number for a column with one unit: `1,090`, `12.3`, `0.13`, `0.0042`."""
    if value >= _THOUSAND:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:#.2g}" if 0 < value < _SMALL else three_digits(value)


def cost_words(low: float, high: float | None) -> str:
    """Return a cost: `0.80`, a range, or `> 3.12` if `high` is unknown."""
    if high is None:
        return f"> {in_unit(low)}"
    least, most = in_unit(low), in_unit(high)
    return least if least == most else f"{least}–{most}"
