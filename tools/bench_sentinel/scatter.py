"""How far figures scatter, within a start and from start to start, with the wait and without."""

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from arena.base.text import columns
from arena.base.units import format_rate
from arena.machine.sentinel import judged
from arena.record.measurement import Run
from arena.run.driver import Driver
from arena.run.plan import Plan
from tools.bench_sentinel.rig import Rig


def scatter(
    rig: Rig, plans: Sequence[Plan], starts: int, runs: int, warm_up_s: float, wait_s: float
) -> str:
    """Start each server `starts` times with the wait and as often without it, interleaved."""
    rates: dict[tuple[str, bool], list[list[float]]] = {}
    waits: dict[str, list[float]] = {}
    void: Counter[tuple[str, bool]] = Counter()
    for _ in range(starts):
        turns = [(plan, waits_first) for plan in plans for waits_first in (True, False)]
        random.shuffle(turns)
        for plan, is_waiting in turns:
            name = plan.title

            def load(driver: Driver, name: str = name, is_waiting: bool = is_waiting) -> list[Run]:
                warmed = driver.warmed_run(
                    1, runs, warm_up_s=warm_up_s, quiet_wait_s=wait_s if is_waiting else 0.0
                )
                made = [warmed.run, *(driver.run(at, runs) for at in range(2, runs + 1))]
                rates.setdefault((name, is_waiting), []).append([run.rate for run in made])
                watch, limits = warmed.run.watch, rig.sentinel.limits
                void[name, is_waiting] += bool(watch and judged(watch, limits))
                if is_waiting:
                    waits.setdefault(name, []).append(warmed.waited_s)
                return made

            rig.start(plan, load)
    heads = ["load", "wait", "starts", "first window", "sd of first windows", "sd within"]
    rows = [[*heads, "sd between", "first windows disturbed", "waited"]]
    for plan in plans:
        name = plan.title
        for is_waiting in (True, False):
            own = rates[name, is_waiting]
            spread = Spread.of(own)
            waited = f"mean {statistics.fmean(waits[name]):.1f} s" if is_waiting else "–"
            rows.append([
                name, "yes" if is_waiting else "no", f"{len(own)}",
                format_rate(statistics.fmean(each[0] for each in own)),
                _percent(spread.first), _percent(spread.within), _percent(spread.between),
                f"{void[name, is_waiting]}", waited,
            ])  # fmt: skip
    about = (
        f"windows of {plans[0].profile.window_s:g} s, {runs} a start, "
        f"after {warm_up_s:g} s of warm-up; sd: standard deviation of log(rate), about a share. "
        "within: of the windows of one start; between: of starts, without what is within"
    )
    return "\n".join([*columns(rows), about])


@dataclass(frozen=True)
class Spread:
    """Standard deviations of log(rate); None if there are too few windows."""

    first: float | None
    within: float | None
    between: float | None

    @classmethod
    def of(cls, starts: Sequence[Sequence[float]]) -> "Spread":
        """Split the scatter of windows into that of one start and that between starts.

        Analysis of variance with random effects (Searle, Casella, McCulloch 1992, chapter 3).
        """
        logs = [[math.log(rate) for rate in rates if rate > 0] for rates in starts]
        logs = [each for each in logs if each]
        pair = 2
        first = statistics.stdev(each[0] for each in logs) if len(logs) >= pair else None
        several = [each for each in logs if len(each) >= pair]
        if len(several) < pair:
            return cls(first, None, None)
        within = statistics.fmean(statistics.variance(each) for each in several)
        means = statistics.variance([statistics.fmean(each) for each in several])
        size = statistics.fmean(len(each) for each in several)
        return cls(first, math.sqrt(within), math.sqrt(max(0.0, means - within / size)))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f} %"
