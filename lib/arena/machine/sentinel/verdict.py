"""The verdict on a window: which signals were over their limits. It never sees a rate."""

from collections.abc import Sequence

from arena.machine.sentinel.background import Busy
from arena.machine.sentinel.limits import FIRST, Limits, value_of
from arena.record.measurement import Disturbance, LimitsInForce, Watch

# CPU time is counted in steps of 10 ms, and by several processes: less than this is no evidence.
_LEAST_CPU_S = 0.05
_LEAST_PRESSURE_S = 0.005
_OF_CPUS = frozenset({"steal", "foreign"})
_OF_TIME = frozenset({"io", "memory"})
_SHARES = _OF_CPUS | _OF_TIME | {"spin_off", "copy_off"}

_NAMES = {
    "steal": "steal",
    "foreign": "foreign CPU",
    "io": "waiting for I/O",
    "memory": "waiting for memory",
    "spin_off": "CPU speed off by",
    "copy_off": "memory speed off by",
    "throttled_s": "throttled by a quota",
    "thermal": "throttled by heat",
    "oom_kills": "out-of-memory kills",
    "swapped_pages": "swapped pages",
    "clock_jump_s": "a clock jumped by",
}


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
    unit = " s" if it.signal.endswith("_s") else ""
    return f"{name} {_short(it.value)}{unit} (limit {it.limit:g}{unit})"


def names(busy: Sequence[Busy]) -> str:
    """Return busy processes for people: `agent (12) 0.8 %, [kworker/0:1] (7) 0.3 %`."""
    return ", ".join(f"{each.name} {share_words(each.share)}" for each in busy)


def share_words(share: float) -> str:
    """Return a share in percent, with two digits: `0.45 %`, `12 %`."""
    return f"{_short(share * 100)} %"


def _short(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 10 else f"{value:,.0f}"  # noqa: PLR2004 - two digits
