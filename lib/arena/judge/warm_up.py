"""How long a framework needs to warm up, learned from many cold starts under the same load.

One start cannot tell: its rates scatter by 5 to 15 % from second to second, and some servers stand
on a false plateau for seconds. So the starts of several nights are taken together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from parsers.blast.median import interval

# The warm-ups that may be learned, in seconds.
CHOICES_S = (2, 3, 5, 8, 10, 15, 20, 40)
# Starts and nights that are needed.
LEAST_STARTS = 12
LEAST_NIGHTS = 3
# A start is warm when this many seconds run at this share of its plateau.
_WINDOW_S = 5
_WARM = 0.97


@dataclass(frozen=True)
class Start:
    """A cold start: its night, and its messages of each second from the first call on.

    The seconds are those of the warm-up and of the run after it.
    """

    night: str
    rates: Sequence[float]


def learned_warm_up(starts: Sequence[Start]) -> float | None:
    """Return the shortest warm-up, in seconds, after which these starts are warm.

    After it, the next 5 s of a start run at 97 % of the start's plateau or more: that holds for the
    median of all starts, including the lower end of its 95 % interval. None if no choice is long
    enough, or with fewer than 12 starts or 3 nights that last 5 s longer than the choice.
    """
    for choice_s in CHOICES_S:
        long_enough = [each for each in starts if len(each.rates) >= choice_s + _WINDOW_S]
        if len(long_enough) < LEAST_STARTS:
            return None
        if len({each.night for each in long_enough}) < LEAST_NIGHTS:
            return None
        shares = [_share(each.rates, choice_s) for each in long_enough]
        if interval(shares).at_least >= _WARM:
            return float(choice_s)
    return None


def _share(rates: Sequence[float], after_s: int) -> float:
    """Return the rate of the window after some seconds, as a share of the plateau.

    The plateau is the median of the last third of the seconds, and of 5 at least. If the start did
    nothing then, the window is not warm.
    """
    plateau = median(rates[-max(_WINDOW_S, len(rates) // 3) :])
    return fmean(rates[after_s : after_s + _WINDOW_S]) / plateau if plateau else 0.0
