"""Windows with a burst of foreign CPU, and windows without."""

import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from arena.base.text import columns
from arena.machine.sentinel import Limits, Sentinel, judged, names, share_words
from arena.record.measurement import Run
from arena.run.driver import Driver, Warmed
from arena.run.plan import Plan
from tools.bench_sentinel.rig import Rig
from tools.bench_sentinel.stranger import BURST_S, Stranger


def bursts(
    rig: Rig,
    plan: Plan,
    them: Stranger,
    counts: tuple[int, int],
    *,
    warm_up_s: float,
    wait_s: float,
) -> str:
    """Measure so many windows with a burst and so many without, shuffled; return a report."""
    cpus = sorted(os.sched_getaffinity(0))
    room_s = max(0.0, plan.profile.window_s - BURST_S)
    with_bursts, calm = counts
    kinds = [True] * with_bursts + [False] * calm
    random.shuffle(kinds)
    found: dict[bool, list[Warmed]] = {True: [], False: []}
    began = time.monotonic()

    def load(driver: Driver) -> list[Run]:
        for number, with_burst in enumerate(kinds, 1):
            rig.sentinel.opened = lambda: None
            if with_burst:
                rig.sentinel.opened = lambda: them.burst(
                    random.uniform(0, room_s), random.choice(cpus)
                )
            longest_s = rig.sentinel.wait_s(wait_s)
            warmed = driver.warmed_run(
                number, len(kinds), warm_up_s=warm_up_s, quiet_wait_s=longest_s
            )
            found[with_burst].append(warmed)
        # A record of them is made and thrown away: one is enough.
        return [warmed.run]

    rig.start(plan, load)
    elapsed_s = time.monotonic() - began
    spent = rig.files.spent_s
    rows = [
        ["windows", "voided", "by", "steal seen", "foreign CPU seen", "waited"],
        *(
            _burst_row(found[kind], "a 1 s burst" if kind else "no burst", rig.sentinel.limits)
            for kind in (True, False)
        ),
    ]
    about = (
        f"{plan.title}, windows of {plan.profile.window_s:g} s after {warm_up_s:g} s of warm-up; "
        "bars: at least 95 of 100 bursts voided, at most 15 of 100 others"
    )
    cost = (
        f"watching took {sum(spent) / elapsed_s * 100:.2f} % of one CPU: {len(spent)} looks of "
        f"{statistics.fmean(spent) * 1e3:.2f} ms in {elapsed_s:.0f} s"
    )
    return "\n".join([*columns(rows), about, _background(rig.sentinel), cost])


def _background(sentinel: Sentinel) -> str:
    """Return what the host does by itself, who does it, and how many waits were in vain."""
    found, limit = sentinel.limits.background, sentinel.limits.in_force("foreign") or 0.0
    share = share_words(found.share) if found else "unknown"
    who = f" ({names(found.processes)})" if found and found.processes else ""
    return (
        f"background: {share}{who}, limit of foreign CPU {share_words(limit)}; "
        f"waits in vain: {sentinel.vain_waits}"
    )


def _burst_row(group: Sequence[Warmed], name: str, limits: Limits) -> list[str]:
    runs = [each.run for each in group]
    found = [judged(run.watch, limits) if run.watch else () for run in runs]
    void = [each for each in found if each]
    by = Counter(each.signal for own in void for each in own)
    waited = [each.waited_s for each in group]
    return [
        f"{len(runs)} with {name}",
        f"{len(void)} ({100 * len(void) / max(1, len(runs)):.0f} of 100)",
        ", ".join(f"{signal} {times}" for signal, times in by.most_common()) or "nothing",
        _shares([run.watch.steal for run in runs if run.watch]),
        _shares([run.watch.foreign for run in runs if run.watch]),
        f"mean {statistics.fmean(waited):.1f} s, most {max(waited):.0f} s",
    ]


def _shares(values: Sequence[float | None]) -> str:
    known = sorted(value * 100 for value in values if value is not None)
    if not known:
        return "unknown"
    return f"{known[0]:.2f} to {known[-1]:.2f} %, median {statistics.median(known):.2f} %"
