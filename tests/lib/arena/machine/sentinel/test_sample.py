"""What is read of a host, whole or with files missing."""

from pathlib import Path

import pytest

from arena.machine.sentinel import Sample, watch_of
from tests.lib.arena.machine.sentinel.hosts import FakeHost, moved


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    return FakeHost(tmp_path)


def test_only_our_cpus_and_our_processes_count(host: FakeHost) -> None:
    before = host.sample()
    host.busy, host.own, host.steal = host.busy + 300, host.own + 200, host.steal + 20
    after = host.sample()
    watch = watch_of(before, moved(after, before.at + 5 - after.at))
    assert watch.cpus == 2
    assert watch.steal == pytest.approx(0.02)
    assert watch.foreign == pytest.approx(0.10)


@pytest.mark.parametrize(
    ("by_process", "has_others", "foreign"),
    [(True, False, 0.03), (False, False, 0.4), (True, True, 0.4)],
)
def test_beside_a_load_by_schedule_foreign_cpu_is_that_of_the_other_processes(
    host: FakeHost, by_process: bool, has_others: bool, foreign: float
) -> None:
    host.by_process, host.has_others = by_process, has_others
    before = host.sample(1.0)
    # The ticks say that the CPUs were busy for six seconds, two of them ours and in a container.
    host.busy, host.own, host.stranger = host.busy + 600, host.own + 100, host.stranger + 130
    after = host.sample(2.0)
    watch = watch_of(before, moved(after, before.at + 5 - after.at))
    assert watch.foreign == pytest.approx(foreign)
    assert (watch.softirq is None) == (by_process and not has_others)


@pytest.mark.parametrize("listed", [False, True])
def test_a_child_that_ended_counts(host: FakeHost, listed: bool) -> None:
    if listed:
        host.children()
    before = host.sample()
    host.ended += 400
    after = host.sample()
    assert after.totals["own"] - before.totals["own"] == pytest.approx(4.0)
    assert before.totals["own"] == pytest.approx((host.own + host.ended - 400) / 100)


def test_a_container_is_ours_and_unknown_until_it_can_be_read(host: FakeHost) -> None:
    assert host.sample(7.5).totals["own"] == pytest.approx(host.sample().totals["own"] + 7.5)
    assert "own" not in host.sample(None).totals
    assert watch_of(host.sample(None), host.sample(None)).foreign is None


def test_pressure_and_counts_are_differences(host: FakeHost) -> None:
    host.pressure(io_us=1_000_000)
    host.vmstat(kills=3, swapped_in=5)
    host.heat(8)
    before = host.sample()
    host.pressure(io_us=1_500_000, memory_us=100_000, cpu_us=2_000_000)
    host.vmstat(kills=4, swapped_in=6, swapped_out=2)
    host.heat(9)
    after = host.sample()
    watch = watch_of(before, moved(after, before.at + 10 - after.at))
    assert (watch.io, watch.memory, watch.cpu) == pytest.approx((0.05, 0.01, 0.2))
    assert (watch.oom_kills, watch.swapped_pages, watch.thermal) == (1, 3, 2)


def test_a_host_that_tells_nothing_is_watched_without_it(tmp_path: Path) -> None:
    bare = FakeHost(tmp_path).host
    first = bare.sample()
    watch = watch_of(first, moved(first, 1.0))
    told = watch.model_dump(exclude={"elapsed_s", "clock_jump_s", "spin_s", "copy_s", "cpus"})
    assert set(told.values()) == {None}


@pytest.mark.parametrize(
    ("groups", "mount", "line"),
    [
        ("0::/a/b\n", "cgroup2 cgroup2 rw", "throttled_usec 2500000"),
        ("3:cpu,cpuacct:/a/b\n0::/\n", "cgroup cgroup rw,cpu,cpuacct", "throttled_time 2500000000"),
    ],
)  # fmt: skip
def test_throttling_is_that_of_our_group_and_those_above(
    host: FakeHost, groups: str, mount: str, line: str
) -> None:
    host.put("proc/self/cgroup", groups)
    host.put("proc/self/mountinfo", f"9 8 0:7 / {host.root}/cg rw - {mount}\n")
    host.put("cg/a/b/cpu.stat", f"usage_usec 1\nnr_throttled 9\n{line}\n")
    host.put("cg/a/cpu.stat", f"{line}\n")
    assert host.sample().totals["throttled_s"] == pytest.approx(5.0)


def test_switches_are_counted_in_full_samples_only(host: FakeHost) -> None:
    before = host.sample()
    host.put("proc/11/task/11/status", "nothing\n")
    assert "involuntary_switches" in before.totals
    assert "involuntary_switches" not in host.sample(in_full=False).totals


@pytest.mark.parametrize("clock", ["realtime", "boottime"])
def test_either_clock_shows_a_jump(host: FakeHost, clock: str) -> None:
    first = host.sample()
    watch = watch_of(first, moved(first, 5.0, **{clock: -3.0}))
    assert watch.clock_jump_s == pytest.approx(-3.0)


def test_cpus_that_come_or_go_leave_no_shares(host: FakeHost) -> None:
    first = host.sample()
    later = Sample(first.at + 5, 1, first.totals)
    assert watch_of(first, later).steal is None
