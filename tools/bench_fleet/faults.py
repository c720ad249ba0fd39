"""Faults at random moments of a load: nothing is made twice, and nothing is left behind."""

import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools.bench_fleet.net import NOTES, Played, Rig, volleys
from tools.bench_fleet.shots import CALL, Gun

KINDS = ("killed", "paused", "cut off", "coordinator killed")

# A window of a second opens about two seconds after the load was asked for.
_WINDOW_S = 1.0
_LAST_S = 3.5
_END_S = 1.0

_SHOT = re.compile(r"--name (\S+) .*--share (\S+) ")


def break_(rig: Rig, victim: Played, kind: str) -> None:
    """Break something."""
    if kind == "killed":
        victim.kill()
    elif kind == "paused":
        victim.pause()
    elif kind == "cut off":
        victim.cut(is_cut=True)
    else:
        rig.coordinator.kill()


def mend(rig: Rig, victim: Played, kind: str) -> None:
    """Make the fleet whole again."""
    if kind == "cut off":
        victim.cut(is_cut=False)
    if kind == "coordinator killed":
        rig.coordinator.start()
        for each in rig.hosts:
            rig.restart(each, wait=False)
    else:
        rig.restart(victim, wait=False)
    rig.await_workers()


def break_at_random(
    rig: Rig, gun: Gun, count: int, rng: random.Random, folder: Path
) -> Iterator[str]:
    """Yield how loads ended that something broke."""
    seen: Counter[str] = Counter()
    last_s, alive, unnamed = 0.0, 0, 0
    for number in range(count):
        kind, victim = KINDS[number % len(KINDS)], rng.choice(rig.hosts)
        breaking = _Breaking(rig, victim, kind, rng.uniform(0.0, _LAST_S))
        flags = [*CALL, "-c", "8", "-z", "1s", "--name", f"shot-{number}"]
        shot = gun.fire(_WINDOW_S, flags, lead_s=0.5, during=breaking.look)
        breaking.look(_LAST_S)
        last_s = max(last_s, shot.after_s)
        time.sleep(_END_S)
        alive += bool(volleys())
        ending = "ok" if not shot.problems else "failed" if shot.made else "nothing fired"
        seen[f"{kind}: {ending}"] += 1
        unnamed += any("generator" not in each and "fleet" not in each for each in shot.problems)
        mend(rig, victim, kind)
        if kind == "coordinator killed":
            gun = gun.again()
    for words, times in sorted(seen.items()):
        yield f"  {words} {times} times"
    starts = Counter(_SHOT.findall((folder / NOTES).read_text()))
    twice = sum(each > 1 for each in starts.values())
    yield (
        f"of {count} faults: shares made twice {twice} (bar 0); over at most {last_s:.1f} s after "
        f"the window (bar 10 s); volley alive 1 s later: {alive} (bar 0); host not named: {unnamed}"
    )


class _Breaking:
    """Breaks something once, when its moment has come."""

    def __init__(self, rig: Rig, victim: Played, kind: str, at_s: float) -> None:
        self._what = (rig, victim, kind)
        self._at_s = at_s
        self._is_done = False

    def look(self, elapsed_s: float) -> None:
        """Break it, if it is time."""
        if not self._is_done and elapsed_s >= self._at_s:
            self._is_done = True
            break_(*self._what)
