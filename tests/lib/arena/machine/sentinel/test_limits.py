"""The background of a host, what quiet windows teach about it, and which are disturbed."""

from pathlib import Path
from typing import Any

import pytest

from arena.machine.sentinel import (
    Limits,
    Sentinel,
    judged,
    names,
    seconds_words,
    share_words,
    words,
)
from arena.machine.sentinel.limits import MOST, Background, busiest, look, middle
from arena.machine.sentinel.watch import Process, Tree
from arena.record.measurement import Watch
from tests.lib.arena.machine.sentinel.hosts import FakeHost, a_watch

NOW = "2026-01-01T00-00-00.000000Z"


class Clock:
    """A host on which time passes when somebody sleeps; others use CPU ticks each second."""

    def __init__(self, host: FakeHost, ticks: list[int]) -> None:
        self.now = 50.0
        self.host = host
        self._ticks = iter(ticks)
        self._agent = 0
        self.host.sample()
        self._write(0)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._write(next(self._ticks))

    def _write(self, ticks: int) -> None:
        self.host.busy += ticks
        self._agent += ticks
        self.host.sample()
        stat = f"77 (agent)x) S 1 5 5 0 -1 0 1 2 3 4 {self._agent} 0 0 0 20 0\n"
        self.host.put("proc/77/stat", stat)


def looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ticks: list[int]
) -> tuple[list[float], str]:
    """Return the foreign CPU of each second, and who was busy."""
    clock = Clock(FakeHost(tmp_path), ticks)
    monkeypatch.setattr("arena.machine.sentinel.watch.time.monotonic", clock.monotonic)
    watches, busy = look(clock.host.host, clock.sleep)
    return [each.foreign or 0.0 for each in watches], names(busy)


def test_a_background_that_never_rests_is_measured_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, who = looked(tmp_path, monkeypatch, [3, 5, 4, 4, 4, 3, 5, 4])
    assert middle(values) == pytest.approx(0.02)
    assert who == "agent)x (77) 2 %"


def test_a_burst_of_two_seconds_leaves_no_trace_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, _ = looked(tmp_path, monkeypatch, [2, 2, 90, 100, 2, 2, 2, 2])
    assert middle(values) == pytest.approx(0.01)


def test_a_middle_needs_four_values_and_is_not_below_nothing() -> None:
    assert middle([0.01] * 3) is None
    assert middle([-0.02, -0.01, -0.01, 0.5]) == 0


def test_the_three_busiest_are_named_and_one_that_ended_is_not() -> None:
    before = {pid: Process(f"p{pid}", 100.0) for pid in range(1, 7)}
    used = {1: 0.4, 2: 0.1, 3: 0.0, 4: 0.3, 5: 0.2}
    after = {pid: Process(f"p{pid}", 100.0 + spent) for pid, spent in used.items()}
    after[9] = Process("new", 1.0)
    assert names(busiest(before, after, 10.0, 2)) == "new (9) 5 %, p1 (1) 2 %, p4 (4) 1.5 %"
    assert busiest(before, before, 10.0, 2) == busiest(before, after, 0.0, 2) == ()


def test_own_processes_are_no_strangers(tmp_path: Path) -> None:
    host = FakeHost(tmp_path)
    host.sample()
    assert set(Tree(host.root / "proc", 10).others()) == {12}


def test_the_limit_is_the_background_plus_one_percent() -> None:
    first = Limits.first("a host", is_virtual=False)
    limits = first.beside(Background(share=0.016))
    assert limits.in_force("foreign") == pytest.approx(0.026)
    assert not judged(a_watch(foreign=0.024), limits)
    assert judged(a_watch(foreign=0.024), first)
    # A second of one CPU in a window of five seconds on two.
    assert judged(a_watch(elapsed_s=5.0, foreign=0.016 + 0.1), limits)


def test_what_is_learned_beside_a_background_is_never_far_above_it() -> None:
    background = Background(share=MOST)
    limits = Limits.first("a host", is_virtual=False).beside(background)
    taught = limits.taught([a_watch(foreign=0.3)] * 20 + [a_watch(foreign=0.4)] * 20, NOW)
    assert taught.in_force("foreign") == pytest.approx(MOST + 0.03)
    assert taught.taught([], NOW).background == background


def test_waits_are_short_after_three_in_vain() -> None:
    sentinel = Sentinel(Limits.first("a host", is_virtual=False))
    for vain, wait_s in ((0, 120), (2, 120), (3, 10), (7, 10)):
        sentinel.vain_waits = vain
        assert (sentinel.wait_s(120), sentinel.wait_s(5), sentinel.wait_s(0)) == (wait_s, 5, 0)


FIRST = Limits.first("a host", is_virtual=True)


def windows(count: int = 40, **changes: Any) -> list[Watch]:
    """Return windows whose signals scatter evenly by 20 % around what is given."""
    return [
        a_watch(**{
            name: None if value is None else value * (0.8 + 0.4 * at / (count - 1))
            for name, value in changes.items()
        })
        for at in range(count)
    ]  # fmt: skip


def learned(found: list[Watch]) -> Limits:
    return FIRST.taught(found, NOW)


def test_too_few_windows_teach_nothing() -> None:
    assert learned(windows(19, foreign=0.012)).limits == FIRST.limits


def test_a_limit_follows_the_host_s_own_noise() -> None:
    limit = learned(windows(foreign=0.012)).limits["foreign"]
    assert 0.012 < limit.in_force < 0.03  # type: ignore[operator]
    assert (limit.first, limit.windows) == (0.01, 40)


def test_a_limit_is_never_below_its_first_value_and_at_most_three_times_it() -> None:
    assert learned(windows(foreign=0.001)).in_force("foreign") == 0.01
    assert learned(windows(foreign=0.2)).in_force("foreign") == 0.03


def test_a_record_keeps_the_limits_that_judge() -> None:
    limits = Limits.first("a host", is_virtual=True).changed(softirq_in_tasks=True)
    recorded = limits.recorded
    assert recorded.softirq_in_tasks is True
    # The calibrations are not judged before their scatter is known.
    assert recorded.most.keys() == FIRST.limits.keys() - {"spin_off", "copy_off"}
    assert recorded.in_force("spin_off") is None
    assert recorded.in_force("steal") == limits.in_force("steal") == 0.01
    for steal in (0.009, 0.011):
        watch = Watch(elapsed_s=5.0, cpus=2, steal=steal, spin_off=0.5)
        assert judged(watch, recorded) == judged(watch, limits)


def test_disturbed_windows_do_not_raise_a_limit() -> None:
    noisy = [a_watch(foreign=0.5) for _ in range(15)]
    calm = windows(foreign=0.004)
    assert learned(noisy + calm).in_force("foreign") == learned(calm).in_force("foreign")


@pytest.mark.parametrize("change", [{"steal": 0.3}, {"thermal": 4}, {"clock_jump_s": 7.0}])
def test_windows_with_steal_or_throttling_teach_nothing(change: dict[str, float]) -> None:
    assert learned(windows(foreign=0.02)).limits != FIRST.limits
    changed = [each.changed(**change) for each in windows(foreign=0.02)]
    assert learned(changed).limits == FIRST.limits


def test_short_windows_teach_nothing() -> None:
    assert learned(windows(foreign=0.02, elapsed_s=1.0)).limits == FIRST.limits


def test_steal_keeps_its_limit() -> None:
    assert learned(windows(steal=0.009)).in_force("steal") == 0.01


def test_the_calibration_is_judged_once_its_scatter_is_known() -> None:
    off = a_watch(spin_off=0.15)
    assert not judged(off, FIRST)
    taught = learned(windows(spin_off=0.01))
    assert [each.signal for each in judged(off, taught)] == ["spin_off"]
    assert not judged(a_watch(spin_off=0.019), taught)


def test_a_calibration_that_scatters_too_much_is_never_judged() -> None:
    limit = learned(windows(copy_off=0.3)).limits["copy_off"]
    assert limit.learned
    assert limit.in_force is None


def test_how_softirq_time_is_counted_is_learned() -> None:
    charged = learned(windows(foreign=0.003, softirq=0.12))
    assert charged.softirq_in_tasks is True
    apart = learned([a_watch(foreign=0.003 + s, softirq=s) for s in (0.05, 0.1, 0.12) * 10])
    assert apart.softirq_in_tasks is False
    assert learned(windows(foreign=0.003)).softirq_in_tasks is None


def test_limits_survive_their_file() -> None:
    taught = learned(windows(foreign=0.012, spin_off=0.01))
    assert Limits.model_validate_json(taught.model_dump_json()) == taught


METAL = Limits.first("a host", is_virtual=False)
VM = FIRST


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


def test_no_number_is_smaller_than_a_thousandth() -> None:
    assert [share_words(each) for each in (0.0, 6.8e-7, 1e-4)] == ["0 %", "< 0.001 %", "0.01 %"]
    assert [seconds_words(each) for each in (2.38e-7, 0.123)] == ["< 0.001 s", "0.12 s"]
    throttled = judged(a_watch(throttled_s=2e-5), VM)
    assert words(throttled) == "throttled by a quota < 0.001 s (limit 0 s)"
