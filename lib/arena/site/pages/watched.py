"""What the sentinel saw of the host during the runs of a record, in words."""

from collections.abc import Callable, Sequence
from typing import Any

from arena.machine.sentinel import share_words
from arena.record.measurement import Run

# A cell's text, and whether its signal was over the limit.
Cell = tuple[str, bool]


def _seconds(value: float) -> str:
    return f"{value:.3g} s"


def _times(values: Sequence[float]) -> str:
    """Return the range of some times, as milliseconds."""
    ends = dict.fromkeys(f"{each * 1000:.3g}" for each in (min(values), max(values)))
    return "–".join(ends) + " ms"


# The signals in the order of the table: their field, their words, and how a value is shown.
_SIGNALS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("steal", "Steal: CPU time that the hypervisor took", share_words),
    ("foreign", "CPU time of other processes", share_words),
    ("softirq", "Softirq: interrupts of the network, disks and timers", share_words),
    ("io", "Time in which all waited for a disk", share_words),
    ("memory", "Time in which all waited for memory", share_words),
    ("cpu", "Time in which some waited for a CPU: mostly our own load", share_words),
    ("throttled_s", "Throttled by a control group", _seconds),
    ("thermal", "Throttled because of heat", "{:,} times".format),
    ("oom_kills", "Killed for lack of memory", "{:,} processes".format),
    ("swapped_pages", "Pages swapped", "{:,}".format),
    ("involuntary_switches", "Involuntary context switches", "{:,}".format),
    ("clock_jump_s", "Jump of the clock", _seconds),
    ("spin_s", "A fixed computation on each CPU took", _times),
    ("copy_s", "A fixed copy on each CPU took", _times),
)


def watched(runs: Sequence[Run]) -> list[tuple[str, list[Cell]]]:
    """Return the signals that some run has, each with a cell for each run."""
    found = []
    for field, words, shown in _SIGNALS:
        values = [getattr(run.watch, field) if run.watch else None for run in runs]
        # The verdict on a calibration is about its change, which has a name of its own.
        names = {field, field.replace("_s", "_off")}
        over = [not names.isdisjoint(it.signal for it in run.disturbed) for run in runs]
        if any(value is not None and value != () for value in values):
            cells = ["–" if value in (None, ()) else shown(value) for value in values]
            found.append((words, list(zip(cells, over, strict=True))))
    return found
