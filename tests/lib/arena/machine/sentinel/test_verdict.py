"""Which windows are disturbed, and by what."""

from typing import Any

import pytest

from arena.machine.sentinel import Limits, judged, words
from tests.lib.arena.machine.sentinel.hosts import a_watch

METAL = Limits.first("a host", is_virtual=False)
VM = Limits.first("a host", is_virtual=True)


def signals(limits: Limits = METAL, /, **changes: Any) -> list[str]:
    return [each.signal for each in judged(a_watch(**changes), limits)]


def test_a_quiet_window_is_not_disturbed() -> None:
    assert signals() == []


@pytest.mark.parametrize(
    ("signal", "under", "over"),
    [
        ("steal", 0.004, 0.006),
        ("foreign", 0.009, 0.011),
        ("io", 0.0009, 0.0011),
        ("memory", 0.0009, 0.0011),
        ("throttled_s", 0.0, 0.001),
        ("thermal", 0, 1),
        ("oom_kills", 0, 1),
        ("swapped_pages", 0, 1),
        ("clock_jump_s", -0.05, -0.2),
        ("clock_jump_s", 0.05, 0.2),
    ],
)
def test_each_signal_has_a_limit(signal: str, under: Any, over: Any) -> None:
    assert signals(METAL, **{signal: under}) == []
    assert signals(METAL, **{signal: over}) == [signal]


def test_a_vm_may_have_a_little_more_steal() -> None:
    assert signals(VM, steal=0.009) == []
    assert signals(VM, steal=0.011) == ["steal"]


def test_what_our_own_load_causes_is_only_recorded() -> None:
    assert signals(cpu=0.9, involuntary_switches=100_000, softirq=0.0) == []


def test_what_is_not_known_is_not_judged() -> None:
    nothing: dict[str, Any] = dict.fromkeys(("steal", "foreign", "softirq", "io", "memory"))
    assert signals(METAL, **nothing) == []


def test_a_short_window_is_not_disturbed_by_the_steps_of_its_clock() -> None:
    assert signals(elapsed_s=1.0, foreign=0.02) == []
    assert signals(elapsed_s=1.0, foreign=0.03) == ["foreign"]


@pytest.mark.parametrize("in_tasks", [True, None])
def test_softirq_time_that_tasks_are_charged_for_is_not_subtracted(in_tasks: bool | None) -> None:
    limits = METAL.changed(softirq_in_tasks=in_tasks)
    assert signals(limits, foreign=0.003, softirq=0.12) == []
    # Subtracted, it would hide this.
    assert signals(limits, foreign=0.05, softirq=0.12) == ["foreign"]


@pytest.mark.parametrize("in_tasks", [False, None])
def test_softirq_time_of_no_task_is_not_foreign(in_tasks: bool | None) -> None:
    limits = METAL.changed(softirq_in_tasks=in_tasks)
    assert signals(limits, foreign=0.123, softirq=0.12) == []
    assert signals(limits, foreign=0.15, softirq=0.12) == ["foreign"]


def test_a_disturbance_is_told_with_its_limit() -> None:
    found = judged(a_watch(steal=0.031, swapped_pages=12, clock_jump_s=-3600.0), VM)
    assert words(found) == (
        "steal 3.1 % (limit 1 %), swapped pages 12 (limit 0), "
        "a clock jumped by 3,600 s (limit 0.1 s)"
    )
    assert words(judged(a_watch(steal=0.01004), VM)) == "steal over 1 % (limit 1 %)"
