"""A host's background, its limits, and the verdict on a window, which never sees a rate.

The background is the CPU time that others always use. It is measured while all processes of our own
are idle. An agent or a thread of the kernel that never rests disturbs every window alike: it is
named, and the limit of foreign CPU is above it.

A signal with a noise of its own has a limit that is learned: the median of the newest windows plus
five times their median absolute deviation (about 3.4 standard deviations), never below the first
value and at most so many times it. That of foreign CPU has the host's background below it, which is
measured: `beside`. Windows with steal, throttling, swapping or a clock that jumped
teach nothing; a window with any other disturbance hardly moves a median. All other limits stay.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.machine.sentinel.watch import HostFiles, Process, watch_of
from arena.record.measurement import Disturbance, LimitsInForce, Watch
from arena.record.times import UtcTime

# The middle half of these seconds counts, so a burst of two seconds leaves no trace.
_SLICES = 8
_SLICE_S = 1.0

# What is busier than this is no background: one looks for the cause, and does not live with it.
MOST = 0.03

_NAMED = 3
_LEAST_NAMED = 0.0005

Share = Annotated[float, Field(ge=0, le=1)]


class Busy(Frozen):
    """A process of others, and its share of the time of the CPUs that we may use."""

    name: str
    share: Share


class Background(Frozen):
    """The foreign CPU of an idle host, and up to three processes that make most of it."""

    share: Share
    processes: tuple[Busy, ...] = ()


def look(
    files: HostFiles, sleep: Callable[[float], None] = time.sleep
) -> tuple[list[Watch], tuple[Busy, ...]]:
    """Watch an idle host for eight seconds; return each of them, and who was busy."""
    processes, samples = files.strangers(), [files.sample(in_full=False)]
    for _ in range(_SLICES):
        sleep(_SLICE_S)
        samples.append(files.sample(in_full=False))
    watches = [watch_of(*pair) for pair in pairwise(samples) if pair[1].at > pair[0].at]
    elapsed_s = samples[-1].at - samples[0].at
    return watches, busiest(processes, files.strangers(), elapsed_s, len(files.cpus))


def middle(values: list[float]) -> float | None:
    """Return the mean of the middle half of at least four values; None of fewer, or below 0."""
    cut = len(values) // 4
    if not cut:
        return None
    kept = sorted(values)[cut:-cut]
    return max(0.0, sum(kept) / len(kept))


def busiest(
    before: Mapping[int, Process], after: Mapping[int, Process], elapsed_s: float, cpus: int
) -> tuple[Busy, ...]:
    """Return the three processes of others that used most CPU time between two looks."""
    capacity_s = elapsed_s * cpus
    if capacity_s <= 0:
        return ()
    used = (
        (each.cpu_s - (before[pid].cpu_s if pid in before else 0.0), f"{each.name} ({pid})")
        for pid, each in after.items()
    )
    most = sorted(used, reverse=True)[:_NAMED]
    shares = [(min(1.0, spent_s / capacity_s), name) for spent_s, name in most]
    return tuple(Busy(name=name, share=share) for share, name in shares if share >= _LEAST_NAMED)


# Where the limits start. Of steal, a virtual machine always sees a little.
FIRST: Mapping[str, float] = {
    "steal": 0.005, "foreign": 0.01, "io": 0.001, "memory": 0.001, "spin_off": 0.02,
    "copy_off": 0.02, "throttled_s": 0.0, "thermal": 0.0, "oom_kills": 0.0, "swapped_pages": 0.0,
    "clock_jump_s": 0.1,
}  # fmt: skip
_STEAL_IN_A_VM = 0.01

# The signals with a learned limit, and how many times its first value it may be.
LEARNED: Mapping[str, float] = {
    "foreign": 3.0, "io": 3.0, "memory": 3.0, "spin_off": 10.0, "copy_off": 10.0,
}  # fmt: skip

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


# CPU time is counted in steps of 10 ms, and by several processes: less than this is no evidence.
_LEAST_CPU_S = 0.05
_LEAST_PRESSURE_S = 0.005
_OF_CPUS = frozenset({"steal", "foreign"})
_OF_TIME = frozenset({"io", "memory"})
_SHARES = _OF_CPUS | _OF_TIME | {"spin_off", "copy_off"}

# No number in words is smaller.
_LEAST_WORDS = 0.001

_NAMES = {
    "steal": "steal", "foreign": "foreign CPU", "io": "waiting for I/O",
    "memory": "waiting for memory", "spin_off": "CPU speed off by",
    "copy_off": "memory speed off by", "throttled_s": "throttled by a quota",
    "thermal": "throttled by heat", "oom_kills": "out-of-memory kills",
    "swapped_pages": "swapped pages", "clock_jump_s": "a clock jumped by",
}  # fmt: skip


def judged(watch: Watch, limits: Limits | LimitsInForce) -> tuple[Disturbance, ...]:
    """Return the signals that were over their limits, in the order of `FIRST`; none: quiet."""
    found = []
    for signal in FIRST:
        value = value_of(signal, watch, softirq_in_tasks=limits.softirq_in_tasks)
        limit = limits.in_force(signal)
        if value is None or limit is None or value <= limit:
            continue
        if signal in _OF_CPUS and value * watch.elapsed_s * (watch.cpus or 1) < _LEAST_CPU_S:
            continue
        if signal in _OF_TIME and value * watch.elapsed_s < _LEAST_PRESSURE_S:
            continue
        found.append(Disturbance(signal=signal, value=value, limit=limit))
    return tuple(found)


def words(disturbed: Sequence[Disturbance]) -> str:
    """Return disturbances for people: `steal 3.1 % (limit 1 %), swapped pages 12 (limit 0)`."""
    return ", ".join(map(_words, disturbed))


def _words(it: Disturbance) -> str:
    name = _NAMES.get(it.signal, it.signal.replace("_", " "))
    if it.signal in _SHARES:
        value, limit = share_words(it.value), f"{it.limit * 100:.3g} %"
        return f"{name} {'over ' if value == limit else ''}{value} (limit {limit})"
    if it.signal.endswith("_s"):
        return f"{name} {seconds_words(it.value)} (limit {it.limit:g} s)"
    return f"{name} {_short(it.value)} (limit {it.limit:g})"


def names(busy: Sequence[Busy]) -> str:
    """Return busy processes for people: `agent (12) 0.8 %, [kworker/0:1] (7) 0.3 %`."""
    return ", ".join(f"{each.name} {share_words(each.share)}" for each in busy)


def share_words(share: float) -> str:
    """Return a share in percent, with two digits: `< 0.001 %`, `0.45 %`, `12 %`."""
    return f"{_short(share * 100)} %"


def seconds_words(seconds: float) -> str:
    """Return a time with two digits: `0.12 s`, `3,600 s`."""
    return f"{_short(seconds)} s"


def _short(value: float) -> str:
    if 0 < abs(value) < _LEAST_WORDS:
        return f"< {_LEAST_WORDS}"
    return f"{value:.2g}" if abs(value) < 10 else f"{value:,.0f}"  # noqa: PLR2004 - two digits
