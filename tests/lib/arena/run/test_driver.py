"""Runs that are watched, and the warm-up that goes on until the host is quiet."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.base.errors import ContractError, FrameworkError, GeneratorError
from arena.load.find import Located
from arena.load.ghz import GHZ
from arena.machine.child import TICK_S
from arena.machine.cpus import CpuPlan
from arena.machine.sentinel import Calibration, Limits, Sample, Sentinel, judged
from arena.machine.sentinel.watch import Process
from arena.record.measurement import Cost, Memory, Run, Sampled, Wrong
from arena.run.driver import Driver, _Opened
from arena.run.memory import MemoryWatch
from arena.run.plan import Plan
from tests.fakes import (
    FakeGenerator,
    FakeProgress,
    FakeServer,
    a_framework,
    a_measurement,
    a_profile,
)


@dataclass
class Host:
    """A host whose clock goes on a second with each look; `stolen` has the steal of each look."""

    stolen: Callable[[int], float] = lambda _: 0.0
    looks: int = 0
    calibrations: int = 0
    total: float = 0.0
    away: list[float | None] = field(default_factory=list)
    by_process: set[bool] = field(default_factory=set)
    cpus: frozenset[int] = frozenset({0, 1})

    def strangers(self) -> dict[int, Process]:
        return {}

    def sample(
        self, away_s: float | None = 0.0, *, in_full: bool = True, by_process: bool = False
    ) -> Sample:
        del in_full
        self.by_process.add(by_process)
        self.looks += 1
        self.total += 2 * self.stolen(self.looks)
        self.away.append(away_s)
        totals = {"steal": self.total, "realtime": 0.0, "boottime": 0.0}
        if away_s is not None:
            totals |= {"busy": 1.0 * self.looks, "own": 1.0 * self.looks + away_s}
        return Sample(float(self.looks), 2, totals)

    def calibrate(self) -> Calibration:
        self.calibrations += 1
        return Calibration((0.1, 0.1), (0.05, 0.05))


@dataclass
class Rig:
    """A driver and all that it uses."""

    folder: Path
    host: Host = field(default_factory=Host)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    server: FakeServer = field(default_factory=FakeServer)
    progress: FakeProgress = field(default_factory=FakeProgress)

    def driver(self) -> Driver:
        plan = Plan(
            a_framework(), a_profile(), Located(GHZ, GHZ), CpuPlan("unpinned", None, None), 1.0
        )
        sentinel = Sentinel(LIMITS, self.host, self.host.calibrate)  # type: ignore[arg-type]
        began = "2026-01-01T00-00-00.000000Z"
        return Driver(
            plan, self.generator, self.server, self.folder, began, self.progress, sentinel
        )


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    rig = Rig(tmp_path)
    # The wait's clock is the host's, on which each tick finds a second gone.
    monkeypatch.setattr("arena.run.quiet.BETWEEN_S", -1.0)
    monkeypatch.setattr("arena.run.driver.Quiet", _on_the_hosts_clock(rig))
    return rig


def _on_the_hosts_clock(rig: Rig) -> Callable[..., Any]:
    from arena.run.quiet import Quiet

    def made(sentinel: Any, away: Any, at_most_s: float, say: Any, **more: bool) -> Quiet:
        clock = lambda: float(rig.host.looks)  # noqa: E731
        return Quiet(sentinel, away, at_most_s, say, clock, **more)

    return made


PACED: dict[str, Any] = {
    "generator": "volley", "call": "benchmark.BenchmarkService/GetSum", "request": {"a": 1},
    "messages_per_call": 1, "metric": "CPU a call", "rate": 200,
}  # fmt: skip
LIMITS = Limits.first("a host", is_virtual=True)


def signals(run: Run) -> list[str]:
    assert run.watch
    return [each.signal for each in judged(run.watch, LIMITS)]


def test_a_run_says_what_the_host_did_meanwhile(rig: Rig) -> None:
    rig.host.stolen = lambda look: 0.2 if look == 2 else 0.0
    run = rig.driver().run(1, 3)
    assert run.watch
    assert run.watch.elapsed_s == 1.0
    assert run.watch.steal == pytest.approx(0.2)
    assert len(run.watch.spin_s) == 4
    assert signals(run) == ["steal"]
    assert signals(rig.driver().run(2, 3)) == []


def test_no_verdict_looks_at_a_rate(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.host.stolen = lambda look: 0.2 if look == 2 else 0.0
    known = rig.driver().run(1, 1)
    rig.host.looks, rig.host.total = 0, 0.0
    blind = a_measurement().model_copy(
        update=dict.fromkeys(("rate", "rate_at_least", "rate_at_most", "elapsed_s"), math.nan)
    )
    monkeypatch.setattr(rig.generator, "parse", lambda *_: blind)
    monkeypatch.setattr("arena.run.driver.Run", Run.model_construct)
    monkeypatch.setattr("arena.run.driver.run_line", lambda *_: "")
    unknown = rig.driver().run(1, 1)
    assert math.isnan(unknown.rate)
    assert signals(unknown) == signals(known) != []


def test_the_calibrations_are_before_the_warm_up_and_after_each_run(rig: Rig) -> None:
    at: list[int] = []
    rig.generator.on_fire = lambda _: at.append(rig.host.calibrations)
    driver = rig.driver()
    driver.warm_up(2.0)
    driver.run(1, 2)
    driver.run(2, 2)
    assert at == [1, 1, 2]
    assert rig.host.calibrations == 3


def test_a_container_is_watched_while_it_runs(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.machine.sentinel.BETWEEN_S", -1.0)
    seconds: list[float | None] = [None, 7.0, 8.0, None]
    sentinel = rig.driver().sentinel
    window = sentinel.window(lambda: seconds.pop(0), is_steady=False)
    window.tick()
    window.tick()
    window.close()
    assert rig.host.away == [None, 7.0, 8.0, None]
    watch = window.watch()
    assert watch
    assert watch.foreign == pytest.approx(-0.5)


@pytest.mark.parametrize("is_away", [False, True])
def test_what_comes_after_the_window_is_not_watched(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    rig.generator.is_away = is_away
    monkeypatch.setattr(rig.generator, "lead_s", lambda _: 0.0 if is_away else 3.0)
    rig.host.stolen = lambda look: 0.2 if look > 2 else 0.0

    def late(profile: Any, stem: Path, on_tick: Callable[[float], None], on_open: Any) -> Any:
        on_open()
        # On the host's clock, the window has been over for long at its second look.
        on_tick(profile.window_s)
        rig.server.used_s += 50.0
        return FakeGenerator.fire(rig.generator, profile, stem, on_tick)

    monkeypatch.setattr(rig.generator, "fire", late)
    run = rig.driver().run(1, 1)
    assert run.server.cpu_s == rig.server.busy_s
    assert rig.host.looks == 2
    assert signals(run) == []


@dataclass
class WorkingServer(FakeServer):
    """Works on cut calls for so many looks after each load."""

    looks_left: int = 0

    def cost(self) -> Cost:
        self.busy_s = 1.0 if self.looks_left else 0.0
        self.looks_left = max(0, self.looks_left - 1)
        return super().cost()


@pytest.mark.parametrize("cut", [0, 100_000])
def test_the_server_works_off_calls_that_were_cut_before_anything_else_begins(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    monkeypatch.setattr("arena.run.driver._SETTLE_S", 60.0)
    monkeypatch.setattr("arena.run.driver._SETTLE_LOOK_S", 0.0)
    rig.server = server = WorkingServer()
    rig.generator.measurements = [a_measurement(cut=cut)]
    left: list[int] = []
    calibrate, fire = rig.host.calibrate, rig.generator.fire

    def calibrated() -> Calibration:
        left.append(server.looks_left)
        return calibrate()

    def fired(*given: Any) -> Any:
        left.append(server.looks_left)
        shot = fire(*given)
        server.looks_left = 9
        return shot

    monkeypatch.setattr(rig.host, "calibrate", calibrated)
    monkeypatch.setattr(rig.generator, "fire", fired)
    driver = rig.driver()
    driver.warm_up(2.0)
    driver.run(1, 2)
    driver.run(2, 2)
    assert any(left) == (cut == 0)


def test_a_server_that_is_never_idle_is_not_waited_for_forever(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.run.driver._SETTLE_S", 1.0)
    rig.generator.measurements = [a_measurement(cut=1)]
    rig.driver().run(1, 1)
    assert "run 1 of 1: the server worked on for 1 s, and is not done" in rig.progress.lines


@pytest.mark.parametrize("is_told", [False, True])
def test_the_window_opens_at_once_on_a_quiet_host(rig: Rig, is_told: bool) -> None:
    rig.generator.is_told = is_told
    # A generator that is not told has a single tick of warm-up here: too little to be quiet.
    warmed = rig.driver().warmed_run(1, 1, warm_up_s=10, quiet_wait_s=120 if is_told else 0)
    assert warmed.waited_s == 0
    names = [name for name, _ in rig.generator.fired]
    assert names == (["run-1"] if is_told else ["warm-up", "run-1"])


def test_at_a_fixed_rate_a_closed_load_comes_first_and_the_server_must_be_steady(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.run.driver._IDLE_S", 0.01)
    rig.generator.is_told = True
    driver, cpu_s = rig.driver(), iter(math.exp(-look / 40) for look in range(10_000))
    monkeypatch.setattr(rig.server, "cost", lambda: Cost(cpu_s=1 - next(cpu_s), peak_bytes=1))
    driver = replace(driver, plan=replace(driver.plan, profile=a_profile(kind="paced", **PACED)))
    warmed = driver.warmed_run(1, 1, warm_up_s=10, quiet_wait_s=60)
    assert [seconds for _, seconds in rig.generator.fired] == [5.0, 10.0]
    # By ticks, a CPU that works at even distances is always at work, or never.
    assert rig.host.by_process == {True}
    # What it uses falls by a fifth from one 5 s to the next, for ever: it is not waited for longer.
    assert warmed.warm_up_s == 40.0
    assert warmed.run.server.idle


def test_a_generator_that_is_told_goes_on_until_the_host_is_quiet(rig: Rig) -> None:
    rig.generator.is_told = True
    rig.host.stolen = lambda look: 0.3 if look < 120 else 0.0
    warmed = rig.driver().warmed_run(1, 1, warm_up_s=10, quiet_wait_s=120)
    assert rig.host.by_process == {False}
    # It looks ten times a second of warm-up, and each look takes a second here.
    assert 18 <= warmed.waited_s <= 30
    assert signals(warmed.run) == []
    assert any(line.startswith("waiting for quiet: steal") for line in rig.progress.lines)


def test_other_generators_start_again_until_the_host_is_quiet(rig: Rig) -> None:
    rig.host.stolen = lambda look: 0.3 if look < 6 else 0.0
    warmed = rig.driver().warmed_run(1, 1, warm_up_s=10, quiet_wait_s=120)
    fired = [name for name, _ in rig.generator.fired]
    assert fired[-1] == "run-1"
    assert set(fired[:-1]) == {"warm-up"}
    assert len(fired) > 5
    assert [seconds for _, seconds in rig.generator.fired[:2]] == [10.0, 5.0]
    assert warmed.waited_s > 0
    assert len(list(rig.folder.glob("warm-up*"))) == 1
    assert signals(warmed.run) == []


@pytest.mark.parametrize("is_told", [False, True])
def test_a_host_that_never_gets_quiet_is_measured_and_marked(rig: Rig, is_told: bool) -> None:
    rig.generator.is_told = is_told
    rig.host.stolen = lambda _: 0.3
    warmed = rig.driver().warmed_run(1, 1, warm_up_s=2, quiet_wait_s=9)
    assert warmed.waited_s >= 9
    assert signals(warmed.run) == ["steal"]


def test_a_server_that_ends_in_the_warm_up_of_a_told_run_is_said_so(rig: Rig) -> None:
    rig.generator.is_told = True
    rig.server.how = "exit code 3"
    with pytest.raises(FrameworkError, match=r"ended in the middle of it \(exit code 3\)") as error:
        rig.driver().warmed_run(1, 1, warm_up_s=2, quiet_wait_s=9)
    assert error.value.stage == "warm-up"


def test_a_generator_that_ends_before_its_window_is_said_so(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.generator.is_told = True
    monkeypatch.setattr(
        rig.generator,
        "fire_told",
        lambda profile, _, stem, __: rig.generator.fire(profile, stem, lambda _: None),
    )
    with pytest.raises(GeneratorError, match="ended before its window opened"):
        rig.driver().warmed_run(1, 1, warm_up_s=2, quiet_wait_s=9)


def hangs(rig: Rig, monkeypatch: pytest.MonkeyPatch, times: int) -> list[Path]:
    """Let the generator hang so many times; return the raw outputs that it starts with."""
    fire, raws = rig.generator.fire, []

    def fired(profile: Any, stem: Path, *on: Any) -> Any:
        raw = stem.with_suffix(".json")
        assert not raw.exists()
        shot = fire(profile, stem, *on)
        raws.append(shot.raw)
        if len(raws) > times:
            return shot
        return replace(shot, may_repeat=True, problem="ghz did not end and was killed")

    monkeypatch.setattr(rig.generator, "fire", fired)
    return raws


def test_a_generator_that_hangs_is_started_once_more_and_its_output_is_kept(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hangs(rig, monkeypatch, 1) == []
    run = rig.driver().run(1, 3)
    assert run.raw.path.endswith("/run-1.json")
    assert (rig.folder / "run-1-repeated.json").read_text() == "0"
    assert (rig.folder / "run-1.json").read_text() == "1"
    said = (
        "run 1 of 3: ghz did not end and was killed; once more (run-1-repeated.json has its output)"
    )
    assert said in rig.progress.lines
    # The host was watched in the window that counts.
    assert run.watch
    assert run.watch.elapsed_s == 1.0


def test_a_visits_generator_that_does_not_open_its_window_is_started_once_more(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.generator.is_told = True
    told = rig.generator.fire_told
    shots: list[Path] = []

    def fired(profile: Any, warm_up: Any, stem: Path, may_open: Any) -> Any:
        shot = (
            told(profile, warm_up, stem, may_open)
            if shots
            else rig.generator.fire(profile, stem, lambda _: None)
        )
        shots.append(shot.raw)
        return shot

    monkeypatch.setattr(rig.generator, "fire_told", fired)
    warmed = rig.driver().warmed_run(1, 1, warm_up_s=2, quiet_wait_s=9)
    assert len(shots) == 2
    assert warmed.run.raw.path.endswith("/run-1.json")
    assert (rig.folder / "run-1-repeated.json").exists()
    assert any("ended before its window opened; once more (" in line for line in rig.progress.lines)


def test_a_short_window_is_not_followed_by_a_long_wait_for_the_server(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.run.driver._SETTLE_S", 60.0)
    monkeypatch.setattr("arena.run.driver._SETTLE_WINDOWS", 1)
    rig.generator.measurements = [a_measurement(cut=1)]
    driver = rig.driver()
    short = a_profile(duration_s=1.0)
    replace(driver, plan=replace(driver.plan, profile=short)).run(1, 1)
    assert "run 1 of 1: the server worked on for 1 s, and is not done" in rig.progress.lines


def test_a_generator_that_hangs_twice_fails_the_run(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    raws = hangs(rig, monkeypatch, 2)
    with pytest.raises(GeneratorError, match="did not end and was killed"):
        rig.driver().run(1, 3)
    assert len(raws) == 2


def test_what_happens_before_the_window_opens_is_not_the_runs(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    fire = rig.generator.fire

    def led(profile: Any, stem: Path, on_tick: Any, on_open: Any) -> Any:
        shot = fire(profile, stem, on_tick)
        rig.server.used_s += 50.0
        rig.host.looks += 10
        on_open()
        return shot

    monkeypatch.setattr(rig.generator, "fire", led)
    monkeypatch.setattr(rig.generator, "lead_s", lambda _: 3.0)
    run = rig.driver().run(1, 1)
    assert run.server.cpu_s == rig.server.busy_s
    assert run.watch
    assert run.watch.elapsed_s == 1.0
    assert "run 1 of 1 for 8 s" in rig.progress.lines
    monkeypatch.setattr(rig.generator, "fire", lambda *given: fire(*given[:3]))
    with pytest.raises(GeneratorError, match="ended before its window opened"):
        rig.driver().run(1, 1)


@dataclass
class FakeSampler:
    """Finds what it is told to; `ends` counts how often it was ended."""

    found: Sampled
    starts: int = 0
    ends: int = 0

    def start(self) -> None:
        self.starts += 1

    def stop(self) -> Sampled:
        self.ends += 1
        return self.found


def sampling(rig: Rig, sampler: Any) -> Driver:
    return replace(rig.driver(), sampler=lambda: sampler)


def test_replies_are_sampled_while_the_window_is_open_and_the_run_says_so(rig: Rig) -> None:
    sampler = FakeSampler(Sampled(calls=80, failed=1, cpu_s=0.1))
    driver = sampling(rig, sampler)
    driver.warm_up(1.0)
    assert sampler.starts == 0
    run = driver.run(1, 3)
    assert (sampler.starts, sampler.ends) == (1, 1)
    assert run.sampled == Sampled(calls=80, failed=1, cpu_s=0.1)


def test_what_the_server_does_until_the_last_sample_is_here_is_not_the_runs(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = FakeSampler(Sampled(calls=80, failed=0, cpu_s=0.1))

    def stop() -> Sampled:
        rig.server.used_s += 50.0
        return sampler.found

    monkeypatch.setattr(sampler, "stop", stop)
    assert sampling(rig, sampler).run(1, 3).server.cpu_s == rig.server.busy_s


def test_one_wrong_sample_is_against_the_contract(rig: Rig) -> None:
    sampler = FakeSampler(Sampled(calls=80, failed=0, cpu_s=0.1, wrong=1, sample="reply 0 is 4"))
    with pytest.raises(ContractError, match=r"1 of 80 replies .* are wrong \(reply 0 is 4\)"):
        sampling(rig, sampler).run(1, 3)


def test_sampling_ends_with_a_load_that_breaks(rig: Rig) -> None:
    sampler = FakeSampler(Sampled(calls=0, failed=0, cpu_s=0.0))
    rig.generator.on_fire = lambda _: "it broke"
    with pytest.raises(GeneratorError):
        sampling(rig, sampler).run(1, 3)
    assert sampler.starts == sampler.ends == 1


@pytest.mark.parametrize("warms_up", [True, False])
def test_one_wrong_reply_that_the_generator_found_is_against_the_contract(
    rig: Rig, *, warms_up: bool
) -> None:
    rig.generator.measurements = [a_measurement().changed(wrong=Wrong(1, "reply 0: 4, not 3"))]
    driver = rig.driver()
    with pytest.raises(ContractError, match=r"1 of [\d,]+ calls had a wrong reply \(reply 0: 4"):
        driver.warm_up(1.0) if warms_up else driver.run(1, 3)


def test_a_server_that_refuses_all_samples_has_failed(rig: Rig) -> None:
    sampler = FakeSampler(Sampled(calls=80, failed=80, cpu_s=0.1))
    with pytest.raises(FrameworkError, match="all 80 calls that the runner made beside the load"):
        sampling(rig, sampler).run(1, 3)
    few = FakeSampler(Sampled(calls=2, failed=2, cpu_s=0.1))
    assert sampling(rig, few).run(1, 3).sampled


def test_each_run_at_a_fixed_rate_flows_on_from_a_warm_up_at_the_rate(rig: Rig) -> None:
    rig.generator.is_told = True
    driver = rig.driver()
    driver = replace(driver, plan=replace(driver.plan, profile=a_profile(kind="paced", **PACED)))
    driver.run(1, 2)
    driver.run(2, 2)
    assert [name for name, _ in rig.generator.fired] == ["run-1", "run-2"]
    assert rig.driver().run(1, 1).server.halves is None


def test_a_run_has_the_servers_memory_at_its_end_and_the_highest_while_it_was_open(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    fire = rig.generator.fire

    def fired(profile: Any, stem: Path, on_tick: Callable[[float], None], on_open: Any) -> Any:
        for held in (900, 400, 700, 600):
            rig.server.anonymous = held
            if held == 400:
                on_open()
            time.sleep(TICK_S)
            on_tick(1.0)
        rig.server.anonymous = 500
        return fire(profile, stem, lambda _: None, lambda: None)

    monkeypatch.setattr(rig.generator, "fire", fired)
    run = replace(rig.driver(), idle_bytes=100).run(1, 1)
    assert run.server.memory == Memory(anonymous_bytes=500, highest_bytes=700, idle_bytes=100)


def test_a_window_whose_end_is_known_has_the_memory_of_that_moment(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FakeServer(anonymous=300)
    memory = MemoryWatch(server)
    window: Any = SimpleNamespace(is_closed=False, tick=lambda: None)
    cost = Cost(cpu_s=1.0, peak_bytes=1)
    opened = _Opened("", cost, window, Calibration((), ()), None, 0, memory)
    for held, is_closed in ((800, False), (300, True), (900, True)):
        server.anonymous, window.is_closed = held, is_closed
        time.sleep(TICK_S)
        opened.tick(server.cost)
    assert memory.found == Memory(anonymous_bytes=300, highest_bytes=800)


def test_samples_of_memory_are_ten_a_second_however_often_a_tick_comes() -> None:
    looks: list[None] = []
    server = FakeServer()
    server.anonymous_bytes = lambda: looks.append(None)  # type: ignore[method-assign]
    memory, until = MemoryWatch(server), time.monotonic() + 3 * TICK_S
    while time.monotonic() < until:
        memory.tick()
    assert 1 <= len(looks) <= 3


def test_a_server_whose_memory_cannot_be_read_has_none() -> None:
    memory = MemoryWatch(FakeServer(how="exit code 1"), 100)
    memory.tick()
    memory.close()
    assert memory.found is None


class FakeWindow:
    """A window that a test closes."""

    is_closed = False

    def tick(self) -> None: ...


def test_the_cpu_of_both_halves_is_by_their_own_times() -> None:
    window: Any = FakeWindow()
    used = iter([1.0, 4.0, 6.0])
    cost = Cost(cpu_s=next(used), peak_bytes=1)
    memory = MemoryWatch(FakeServer())
    opened = _Opened("", cost, window, Calibration((), ()), None, 0, memory)
    assert opened.halves() is None
    opened.tick(lambda: Cost(cpu_s=next(used), peak_bytes=1))
    window.is_closed = True
    opened.tick(lambda: Cost(cpu_s=next(used), peak_bytes=1))
    early, late = opened.halves() or (0.0, 0.0)
    assert opened.at_half
    assert opened.at_end
    assert early * (opened.at_half[0] - opened.began) == pytest.approx(3.0)
    assert late * (opened.at_end[0] - opened.at_half[0]) == pytest.approx(2.0)


def _same(cost: Cost) -> Cost:
    return cost


def test_a_generator_that_ends_with_its_window_was_seen_in_the_last_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window: Any = FakeWindow()
    opened = _Opened(
        "", Cost(cpu_s=1.0, peak_bytes=1), window, Calibration((), ()), None, 5.0,
        MemoryWatch(FakeServer()),
    )  # fmt: skip
    began, now = opened.began, [0.0]
    looks = {4.9: 5.0, 5.0: 6.0, 8.9: 6.5, 9.2: 8.0, 9.9: 9.0, 10.2: 99.0}
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for passed_s, used_s in looks.items():
        now[0] = began + passed_s
        cost = Cost(cpu_s=used_s, peak_bytes=1)
        opened.tick(partial(_same, cost))
    assert opened.at_end is None
    assert opened.halves() == pytest.approx((1.0, 3.0 / 4.9))


def test_a_run_has_the_time_for_which_its_servers_quota_held_it_back(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_s = iter([2.0, 2.75, 2.75, 2.75])
    cost = rig.server.cost
    limited = lambda: cost().changed(throttled_s=next(held_s))  # noqa: E731
    monkeypatch.setattr(rig.server, "cost", limited)
    assert rig.driver().run(1, 1).server.throttled_s == 0.75
    monkeypatch.setattr(rig.server, "cost", cost)
    assert rig.driver().run(1, 1).server.throttled_s is None
