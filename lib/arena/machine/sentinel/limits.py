"""The limits of a host's signals: where they start, and what its own quiet windows teach.

A signal with a noise of its own has a limit that is learned: the median of the newest windows plus
five times their median absolute deviation (about 3.4 standard deviations), never below the first
value and at most so many times it. That of foreign CPU has the host's background below it, which is
measured: `beside`. Windows with steal, throttling, swapping or a clock that jumped
teach nothing; a window with any other disturbance hardly moves a median. All other limits stay.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.machine.sentinel.background import Background
from arena.record.measurement import LimitsInForce, Watch
from arena.record.times import UtcTime

# Where the limits start. Of steal, a virtual machine always sees a little.
FIRST: Mapping[str, float] = {
    "steal": 0.005,
    "foreign": 0.01,
    "io": 0.001,
    "memory": 0.001,
    "spin_off": 0.02,
    "copy_off": 0.02,
    "throttled_s": 0.0,
    "thermal": 0.0,
    "oom_kills": 0.0,
    "swapped_pages": 0.0,
    "clock_jump_s": 0.1,
}
_STEAL_IN_A_VM = 0.01

# The signals with a learned limit, and how many times its first value it may be.
LEARNED: Mapping[str, float] = {
    "foreign": 3.0,
    "io": 3.0,
    "memory": 3.0,
    "spin_off": 10.0,
    "copy_off": 10.0,
}

# How far these scatter by themselves is a matter of the host: no judgement before it is known, and
# none if a limit would have to be larger still.
_ONLY_LEARNED = frozenset({"spin_off", "copy_off"})

# A window that is shorter teaches nothing: CPU times come in steps of 10 ms.
_LEAST_S = 2.0
_LEAST_WINDOWS = 20
MOST_WINDOWS = 200
_DEVIATIONS = 5.0

# How the kernel counts softirq time shows only in windows with some of it.
_SOME_SOFTIRQ = 0.01
_LEAST_WITH_SOFTIRQ = 5
# Less foreign CPU than this is impossible: it is softirq time that was subtracted in error.
IMPOSSIBLE = -0.005

Value = Annotated[float, Field(ge=0, le=1e6)]


class Limit(Frozen):
    """A signal's limit: the first value, the learned one, and the windows that taught it.

    `in_force` is the one that judges; None: the signal is recorded, but not judged.
    """

    first: Value
    learned: Value | None = None
    windows: Annotated[int, Field(ge=0)] = 0
    in_force: Value | None


class Limits(Frozen):
    """All limits of one host; `host` describes it in words.

    `learned_at` is when its records were last looked at. `softirq_in_tasks`: whether the kernel
    counts softirq time as time of the tasks that it interrupts, too; None while that is unknown.
    `background` is the foreign CPU of the idle host, which was `looked_at` then; None while it is
    unknown, or too much to live with.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    host: str
    learned_at: UtcTime | None = None
    softirq_in_tasks: bool | None = None
    looked_at: UtcTime | None = None
    background: Background | None = None
    limits: dict[str, Limit]

    @classmethod
    def first(cls, host: str, *, is_virtual: bool) -> "Limits":
        """Return the limits of a host that has taught nothing yet."""
        values = {**FIRST, "steal": _STEAL_IN_A_VM} if is_virtual else FIRST
        return cls(
            host=host,
            limits={
                name: Limit(first=value, in_force=None if name in _ONLY_LEARNED else value)
                for name, value in values.items()
            },
        )

    def in_force(self, signal: str) -> float | None:
        """Return the limit that judges a signal; None if none does."""
        limit = self.limits.get(signal)
        return limit.in_force if limit else None

    @property
    def recorded(self) -> LimitsInForce:
        """What records keep of them: those that judge."""
        most = {name: it.in_force for name, it in self.limits.items() if it.in_force is not None}
        return LimitsInForce(softirq_in_tasks=self.softirq_in_tasks, most=most)

    def beside(self, background: Background) -> "Limits":
        """Return the limits on a host with a background: that plus 1 % of foreign CPU is quiet."""
        foreign = self.limits["foreign"]
        first = round(FIRST["foreign"] + background.share, 6)
        changed = foreign.changed(first=first, in_force=first)
        return self.changed(background=background, limits={**self.limits, "foreign": changed})

    def taught(self, windows: Sequence[Watch], now: str) -> "Limits":
        """Return what windows of this host teach, the newest first; first values if too few do."""
        calm = [each for each in windows if _teaches(each, self)][:MOST_WINDOWS]
        in_tasks = _softirq_in_tasks(calm)
        learned = {
            name: limit
            for name in LEARNED.keys() & self.limits.keys()
            if (limit := _learned(name, self.limits[name], calm, in_tasks))
        }
        return self.changed(
            learned_at=now, softirq_in_tasks=in_tasks, limits={**self.limits, **learned}
        )


def value_of(signal: str, watch: Watch, *, softirq_in_tasks: bool | None) -> float | None:
    """Return a signal's value; foreign CPU without softirq time that no task is charged for.

    While that is unknown, a foreign CPU that would be less than nothing shows it.
    """
    value: float | None = getattr(watch, signal)
    if signal != "foreign" or value is None or watch.softirq is None or softirq_in_tasks:
        return None if value is None else abs(value) if signal == "clock_jump_s" else value
    less = value - watch.softirq
    return value if softirq_in_tasks is None and less < IMPOSSIBLE else less


def _teaches(watch: Watch, limits: Limits) -> bool:
    if watch.elapsed_s < _LEAST_S:
        return False
    for name in FIRST.keys() - LEARNED.keys():
        value, limit = value_of(name, watch, softirq_in_tasks=None), limits.in_force(name)
        if value is not None and limit is not None and value > limit:
            return False
    return True


def _learned(
    signal: str, limit: Limit, windows: Sequence[Watch], in_tasks: bool | None
) -> Limit | None:
    """Return a signal's limit as the windows teach it; None if there are too few."""
    found = (value_of(signal, each, softirq_in_tasks=in_tasks) for each in windows)
    values = [value for value in found if value is not None]
    if len(values) < _LEAST_WINDOWS:
        return None
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values)
    wanted = max(limit.first, middle + _DEVIATIONS * deviation)
    most = limit.first + FIRST[signal] * (LEARNED[signal] - 1)
    too_wide = wanted > most and signal in _ONLY_LEARNED
    return limit.changed(
        learned=round(wanted, 6),
        windows=len(values),
        in_force=None if too_wide else round(min(wanted, most), 6),
    )


def _softirq_in_tasks(windows: Sequence[Watch]) -> bool | None:
    """Return how the kernel counts softirq time; None if too few windows had some.

    If it is in the tasks' own time, subtracting it makes foreign CPU less than nothing.
    """
    less = [
        each.foreign - each.softirq
        for each in windows
        if each.foreign is not None and (each.softirq or 0) >= _SOME_SOFTIRQ
        if each.softirq is not None
    ]
    if len(less) < _LEAST_WITH_SOFTIRQ:
        return None
    return statistics.median(less) < IMPOSSIBLE
