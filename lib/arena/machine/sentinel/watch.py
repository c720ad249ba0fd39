"""What happened between two samples."""

from collections.abc import Sequence
from typing import Any

from arena.machine.sentinel.calibration import Calibration, farthest
from arena.machine.sentinel.sample import Sample
from arena.record.measurement import Watch

_COUNTS = ("thermal", "oom_kills", "swapped_pages", "involuntary_switches")
_PRESSURES = ("io", "memory", "cpu")


def watch_of(
    before: Sample,
    after: Sample,
    around: Sequence[Calibration] = (),
    usual: Calibration | None = None,
) -> Watch:
    """Return what the host did between two samples, which must be of different moments.

    `around` are the calibrations before and after; `usual` has the night's medians.
    """
    elapsed_s = after.at - before.at
    passed = {
        name: after.totals[name] - before.totals[name]
        for name in before.totals.keys() & after.totals.keys()
    }
    cpus = before.cpus if before.cpus == after.cpus else 0

    def of_cpus(name: str) -> float | None:
        return _share(passed[name], elapsed_s * cpus) if name in passed and cpus else None

    values: dict[str, Any] = {name: of_cpus(name) for name in ("steal", "softirq")}
    if {"busy", "own"} <= passed.keys() and cpus:
        values["foreign"] = _share(passed["busy"] - passed["own"], elapsed_s * cpus)
    values |= {name: _share(passed[name], elapsed_s) for name in _PRESSURES if name in passed}
    values |= {name: max(0, round(passed[name])) for name in _COUNTS if name in passed}
    if "throttled_s" in passed:
        values["throttled_s"] = max(0.0, passed["throttled_s"])
    return Watch(
        elapsed_s=elapsed_s,
        cpus=cpus or None,
        clock_jump_s=max((passed["realtime"], passed["boottime"]), key=abs),
        spin_s=tuple(value for each in around for value in each.spin_s),
        copy_s=tuple(value for each in around for value in each.copy_s),
        spin_off=farthest([each.spin_s for each in around], usual.spin_s if usual else ()),
        copy_off=farthest([each.copy_s for each in around], usual.copy_s if usual else ()),
        **values,
    )


def _share(part: float, whole: float) -> float:
    return max(-1.0, part / whole)
