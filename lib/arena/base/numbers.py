"""Numbers as people read them."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10

# The units that a figure may have, by their power of ten.
RATES: dict[int, str] = {9: " G", 6: " M", 3: " k", 0: ""}
TIMES_NS: dict[int, str] = {9: " s", 6: " ms", 3: " µs", 0: " ns"}
_SIZES = ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (0, " B"))


def format_rate(value: float) -> str:
    """Return a rate with the digits people read: `1.23 M`, `45.6 k`, `789`."""
    return _scaled(value, _from(RATES))


def rate_words(value: float, high: float, *, client_bound: bool = False) -> str:
    """Return a rate as far as it is known.

    `≥ 1.02 M` when the generator was the limit, `< 256 k` when all that is known is `high`: no
    call finished in the window, and the generator counts calls.
    """
    if not value and high:
        return f"< {format_rate(high)}"
    return f"≥ {format_rate(value)}" if client_bound else format_rate(value)


def bar_words(low: float, high: float) -> str:
    """Return an error bar: `825 k to 929 k`, or `counted` where it has no width."""
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


# The digits that a figure has at most, and the least power of ten that its first one may have.
_DIGITS = 3
_LEAST = -30


def place_of(value: float, low: float, high: float) -> int:
    """Return the power of ten of the last digit that an interval leaves a value.

    That is the first digit of half the interval's width: 825 k between 825 k and 929 k is known
    to ten thousands. A value has one digit at least, and three at most.
    """
    first = _exponent(value)
    half = (high - low) / 2
    least = first - _DIGITS + 1
    place = min(max(least, _exponent(half)), first) if half > 0 else least
    # What is rounded up to the next power of ten has a digit more.
    return place + (place == least and _exponent(_whole(value, place) * 10.0**place) > first)


def rounded(value: float, place: int, units: dict[int, str], *, down: bool = False) -> str:
    """Return a value with no digit below `place`, a power of ten: `1.02 M`, `0.8 M`, `70 k`.

    No zero stands for an unknown digit as long as the larger unit takes it to a tenth at least.
    `down` is for what is only known to be more.
    """
    whole = _whole(value, place, floor if down else round)
    return _in_unit(whole, place, _unit_of(whole, place, units), units)


def interval_words(low: float, high: float, place: int, units: dict[int, str]) -> str:
    """Return an interval with no digit below `place`, its ends rounded outward, in one unit."""
    least, most = _whole(low, place, floor), _whole(high, place, ceil)
    if low > 0 and not least:
        # Little is not nothing: it keeps its own first digit.
        least_words = rounded(low, _exponent(low), units, down=True)
        return f"{least_words} to {rounded(most * 10.0**place, place, units)}"
    unit = _unit_of(least or most, place, units)
    if least == most:
        return _in_unit(least, place, unit, units)
    return f"{_in_unit(least, place, unit, units)} to {_in_unit(most, place, unit, units)}"


def _unit_of(whole: int, place: int, units: dict[int, str]) -> int:
    """Return the power of ten of the unit that so many times 10^place are told in."""
    power = _exponent(whole * 10.0**place)
    reached = max((unit for unit in units if unit <= power), default=min(units))
    larger = min((unit for unit in units if unit >= place), default=reached)
    return larger if reached < larger <= power + 1 else reached


def _in_unit(whole: int, place: int, unit: int, units: dict[int, str]) -> str:
    if not whole:
        return "0"
    return f"{whole * 10.0 ** (place - unit):.{max(0, unit - place)}f}{units[unit]}"


def _exponent(value: float) -> int:
    """Return the power of ten of a value's first digit; 0 if it has none."""
    return max(floor(log10(value) + 1e-9), _LEAST) if value > 0 else 0


def _whole(value: float, place: int, to: Callable[[float], int] = round) -> int:
    """Return how many times 10^place a value is, made whole."""
    # Nine digits, so that what is exact in decimals stays it.
    return to(round(value / 10.0**place, 9))


def _from(units: dict[int, str]) -> list[tuple[float, str]]:
    """Return from which value on each unit is used; the last one takes what is left."""
    return [(10.0**power if power else 0, unit) for power, unit in units.items()]


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return the value in the largest unit that it reaches."""
    # What would be rounded up to a thousand is one of the next unit.
    limit, unit = next(each for each in units if value >= each[0] * 0.9995)
    if not limit and value % 1 == 0:
        return f"{value:.0f}{unit}"
    return three_digits(value / limit if limit else value) + unit


def three_digits(value: float) -> str:
    """Return a number with three significant digits, but no more than two decimals."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0  # noqa: PLR2004
    return f"{value:.{decimals}f}"


# Below this, two digits say more than two decimals.
_SMALL = 0.1
_THOUSAND = 1000


def in_unit(value: float) -> str:
    """Return a number beside others of its unit: `1,090`, `12.3`, `0.13`, `0.0042`."""
    if value >= _THOUSAND:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:#.2g}" if 0 < value < _SMALL else three_digits(value)


def cost_words(low: float, high: float | None) -> str:
    """Return a range as far as it is known: `0.80`, a range, or `> 3.12`."""
    if high is None:
        return f"> {in_unit(low)}"
    least, most = in_unit(low), in_unit(high)
    return least if least == most else f"{least}–{most}"
