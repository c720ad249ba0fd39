"""What quiet windows teach about a host."""

from typing import Any

import pytest

from arena.machine.sentinel import Limits, judged
from arena.record.measurement import Watch
from tests.lib.arena.machine.sentinel.hosts import a_watch

NOW = "2026-01-01T00-00-00.000000Z"
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
