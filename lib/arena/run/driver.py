"""Driving the load: the generator runs against the server, for the warm-up and for each run."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.base.errors import ContractError, FrameworkError, GeneratorError
from arena.base.progress import Progress
from arena.base.reading import sha256_of
from arena.contract import Sampler
from arena.load.generators import Generator, Shot
from arena.machine.sentinel import Calibration, Sentinel, Window
from arena.record.measurement import Cost, Measurement, Raw, Run, Sampled, Second, Started
from arena.record.times import utc_now
from arena.run.announce import run_line
from arena.run.cost_series import CostSeries
from arena.run.memory import MemoryWatch
from arena.run.plan import Plan
from arena.run.quiet import Quiet
from arena.run.recording import saved_as
from arena.run.runtimes import Server
from arena.run.steady import Steady, told_warm_up
from arena.what.profile import MeasuredProfile

# A server with all its calls open that uses less than this share of one CPU is stuck.
_IDLE_SHARE = 0.01

# A server that fails a larger share of its calls is broken, however fast its other calls are.
_MOST_FAILED = 0.01

# So many calls beside a load cannot all fail by chance.
_LEAST_SAMPLED = 10

# A server may work on calls that were cut, for seconds if h2load left 100,000 of them. What follows
# begins when it uses less than this share of one CPU, or after so many seconds or windows.
_SETTLED_SHARE = 0.1
_SETTLE_S = 15.0
_SETTLE_WINDOWS = 3
_SETTLE_LOOK_S = 0.2

# An idle server is watched for so long.
_IDLE_S = 5.0

# Where a program opens no window when told, the warm-up goes on in further starts of it.
_MORE_S = 5.0
# A container's start is not looked at, so its five seconds of quiet take longer.
_MORE_AWAY_S = 7.0
_LEAST_S = 1.0

# A window that is told to open does so within this time.
_OPENS_WITHIN_S = 0.05

# In the last second of a window, each look at the server may be the last one.
_LAST_S = 1.0


@dataclass(frozen=True)
class Warmed:
    """A run with the warm-up before it: its seconds, and those of the wait for quiet."""

    run: Run
    warm_up_s: float
    waited_s: float


@dataclass
class _Opened:
    """What was so when a window opened, and the server's cost at its end, where that was seen."""

    started_at: str
    server: Cost
    window: Window
    calibration: Calibration
    sampler: Sampler | None
    half_s: float
    memory: MemoryWatch
    began: float = field(default_factory=time.monotonic)
    at_half: tuple[float, Cost] | None = None
    at_last: tuple[float, Cost] | None = None
    at_end: tuple[float, Cost] | None = None

    def tick(self, cost: Callable[[], Cost]) -> None:
        """Call this about ten times a second: it sees the end of the window, if that is known."""
        self.window.tick()
        now = time.monotonic()
        passed_s = now - self.began
        if self.at_half is None and passed_s >= self.half_s:
            self.at_half = now, cost()
        elif 2 * self.half_s - _LAST_S <= passed_s <= 2 * self.half_s:
            # A generator may end with its window, before anybody looks again.
            self.at_last = now, cost()
        if not self.window.is_closed:
            self.memory.tick()
        elif self.at_end is None:
            self.at_end = now, cost()
            self.memory.close()

    def halves(self) -> tuple[float, float] | None:
        """Return the server's CPU seconds a second in both halves; None if they were not seen."""
        last = self.at_end or self.at_last
        if not (self.at_half and last):
            return None
        (half, used), (end, all_used) = self.at_half, last
        early = (used.cpu_s - self.server.cpu_s) / (half - self.began)
        return early, (all_used.cpu_s - used.cpu_s) / (end - half)

    def throttled_s(self, after: Cost) -> float | None:
        """Return how long the server's quota held it back since; None without a quota."""
        before_s, after_s = self.server.throttled_s, after.throttled_s
        return None if before_s is None or after_s is None else max(0.0, after_s - before_s)

    def sampled(self) -> Sampled | None:
        """End the runner's own calls, and return what came of them."""
        return self.sampler.stop() if self.sampler else None


@dataclass(frozen=True)
class Driver:
    """Runs a plan's load against its server, watched. Raw outputs go to `folder`.

    `sampler` makes what checks replies during a run, if the generator checks none. `idle_bytes` are
    the server's anonymous memory from after its first answer.
    """

    plan: Plan
    generator: Generator
    server: Server
    folder: Path
    session_began: str
    progress: Progress
    sentinel: Sentinel
    sampler: Callable[[], Sampler] | None = None
    idle_bytes: int | None = None

    def warm_up(self, seconds: float) -> None:
        """Run the load for the warm-up; a broken server or generator raises."""
        self.sentinel.calibrate()
        self._settle("warm-up", self._warm("warm-up", seconds, lambda: None))

    def run(self, number: int, runs: int) -> Run:
        """Measure run `number` of `runs`, from 1; StageError if server or generator breaks.

        The CPUs were calibrated before the load: before the warm-up, or after the run before.
        """
        label = f"run {number} of {runs}"
        calibration, profile = self.sentinel.latest(), self.plan.profile
        if profile.load.steadies and self.generator.tells_window(profile):
            return self._told(number, runs, profile.warmup_s, 0.0).run
        opened: _Opened | None = None
        # What comes after the window, such as a long report, is not watched where its end is known.
        is_known = self.generator.is_away or self.generator.lead_s(profile) > 0
        seconds = profile.window_s if is_known else math.inf

        def tick() -> None:
            if opened:
                opened.tick(lambda: self._cost(label))

        def on_open() -> None:
            nonlocal opened
            if opened:
                opened.sampled()
            opened = self._open(label, calibration, seconds)

        try:
            shot = self._fire(label, f"run-{number}", profile, tick, on_open)
        except BaseException:
            if opened:
                opened.sampled()
            raise
        if opened is None:
            raise self._unopened(label, shot)
        return self._closed(label, shot, opened)

    def warmed_run(
        self, number: int, runs: int, *, warm_up_s: float, quiet_wait_s: float
    ) -> Warmed:
        """Warm up, wait until the host is quiet for at most `quiet_wait_s`, and measure a run.

        The load flows on into the window if the generator opens it when told. If not, the warm-up
        goes on in further starts of the generator. A host that does not get quiet is measured all
        the same; the run's watch shows what disturbed it.
        """
        self.sentinel.calibrate()
        load = self.plan.profile.load
        idle = self._idle() if load.steadies else None
        if load.closed_first_s:
            stage = "warm-up at full speed"
            self._settle(stage, self._warm(stage, load.closed_first_s, lambda: None))
        if self.generator.tells_window(self.plan.profile):
            warmed = self._told(number, runs, warm_up_s, quiet_wait_s)
            server = warmed.run.server.changed(idle=idle)
            return replace(warmed, run=warmed.run.changed(server=server))
        quiet = self._quiet(quiet_wait_s)
        began = time.monotonic()
        measured = self._warm("warm-up", warm_up_s, quiet.tick)
        warmed_s = time.monotonic() - began
        more_s = _MORE_AWAY_S if self.generator.is_away else _MORE_S
        while not quiet.is_over():
            left_s = max(_LEAST_S, quiet.at_most_s - quiet.waited_s)
            seconds = min(more_s, left_s)
            self._settle("warm-up", measured)
            measured = self._warm("warm-up, until the host is quiet", seconds, quiet.tick)
        self._settle("warm-up", measured)
        return Warmed(self.run(number, runs), warmed_s, quiet.waited_s)

    def run_from_start(self, window: Window, listened: float, replied: float) -> Run:
        """Measure the load that follows a start at once; `window` was opened before the start.

        The server `listened` and had `replied` at these moments of the monotonic clock.
        """
        label, before = "run 1 of 1", self._cost("start")
        memory = MemoryWatch(self.server, self.idle_bytes)
        latest = self.sentinel.latest()
        opened = _Opened(utc_now(), before, window, latest, None, math.inf, memory)
        series = CostSeries(before)

        def tick() -> None:
            window.tick()
            memory.tick()
            series.look(self._cost(label))

        # It is made once: a second load would meet a server that is warm.
        shot = self._shot(label, "run-1", self.plan.profile, tick, series.begin)
        self._require_whole(label, shot)
        series.look(self._cost(label))
        began_s = self.server.began_s

        def started(seconds: Sequence[Second]) -> Started:
            return Started(
                listens_s=listened - began_s,
                first_reply_s=replied - began_s,
                load_s=series.began_s - began_s,
                cpu_s=before.cpu_s,
                peak_bytes=before.peak_bytes,
                seconds=series.seconds(seconds),
            )

        return self._closed(label, shot, opened, started)

    def _idle(self) -> float:
        """Return the server's CPU seconds a second while nobody is connected."""
        with self.progress.waiting("look at the idle server"):
            began, used_s = time.monotonic(), self._cost("idle").cpu_s
            time.sleep(_IDLE_S)
            return (self._cost("idle").cpu_s - used_s) / (time.monotonic() - began)

    def _quiet(self, at_most_s: float) -> Quiet:
        return Quiet(
            self.sentinel,
            self._away_s,
            at_most_s,
            self.progress.say,
            is_away=self.server.is_away or self.generator.is_away,
            by_process=self.plan.profile.load.follows_schedule,
        )

    def _told(self, number: int, runs: int, warm_up_s: float, quiet_wait_s: float) -> Warmed:
        """Make the warm-up and the run with one start of the generator.

        One that does not end, or does not open its window, is started once more.
        """
        label = f"run {number} of {runs}"
        quiet = self._quiet(quiet_wait_s)
        shot, opened, warmed_s = self._shot_told(label, number, warm_up_s, quiet)
        if (shot.may_repeat or opened is None) and not self.server.ended():
            self._set_aside(label, shot)
            quiet = self._quiet(quiet_wait_s)
            shot, opened, warmed_s = self._shot_told(label, number, warm_up_s, quiet)
        if opened is None:
            self._require_whole("warm-up", shot)
            raise self._unopened("warm-up", shot)
        self._require_whole(label, shot)
        return Warmed(self._closed(label, shot, opened), warmed_s, quiet.waited_s)

    def _shot_told(
        self, label: str, number: int, warm_up_s: float, quiet: Quiet
    ) -> tuple[Shot, _Opened | None, float]:
        """Start the generator once, and tell it when to open its window.

        Returns what was so when it opened, and the seconds of the warm-up.
        """
        profile = self.plan.profile
        calibration = self.sentinel.latest()
        opened: _Opened | None = None
        warmed_s = 0.0
        steady = Steady() if profile.load.steadies else None

        def may_open(elapsed: float, is_warm: bool) -> bool:
            nonlocal opened, warmed_s
            self._require_alive(label if opened else "warm-up")
            if opened:
                opened.tick(lambda: self._cost(label))
                return True
            quiet.tick()
            if steady:
                is_warm = steady.is_over(elapsed, self._cost("warm-up").cpu_s) and is_warm
            if not is_warm:
                return False
            warmed_s = warmed_s or elapsed
            if not quiet.is_over():
                return False
            self.progress.say(f"{label} ({profile.window_s:g} s) …")
            opened = self._open(label, calibration, profile.window_s + _OPENS_WITHIN_S)
            return True

        warm_up = told_warm_up(profile.load, warm_up_s, quiet.at_most_s)
        with self.progress.waiting(f"warm-up for {warm_up_s:g} s, and {label}"):
            shot = self.generator.fire_told(
                profile, warm_up, self.folder / f"run-{number}", may_open
            )
        return shot, opened, warmed_s

    def _warm(self, stage: str, seconds: float, on_tick: Callable[[], None]) -> Measurement:
        """Make the load once, to warm up; only the last one leaves its output."""
        for before in self.folder.glob("warm-up.*"):
            before.unlink()
        profile = self.plan.profile.changed(warmup_s=seconds).warm_up()
        return self._measurement(self._fire(stage, "warm-up", profile, on_tick), stage, profile)

    def _settle(self, stage: str, measured: Measurement | None = None) -> None:
        """Wait until the server has worked off the calls that were cut; not forever.

        Without a measurement, nobody knows whether there are any.
        """
        if measured and not measured.calls.cut:
            return
        most_s = min(_SETTLE_S, _SETTLE_WINDOWS * self.plan.profile.window_s)
        began, used_s, is_busy = time.monotonic(), self._cost(stage).cpu_s, True
        while is_busy and time.monotonic() - began < most_s:
            time.sleep(_SETTLE_LOOK_S)
            before_s, used_s = used_s, self._cost(stage).cpu_s
            is_busy = used_s - before_s > _SETTLED_SHARE * _SETTLE_LOOK_S
        waited_s = time.monotonic() - began
        if waited_s >= 1:
            more = ", and is not done" if is_busy else ""
            self.progress.say(f"{stage}: the server worked on for {waited_s:.0f} s{more}")

    def _away_s(self) -> float | None:
        """Return the CPU seconds of server and generator in containers; None while unknown."""
        server_s, generator_s = self.server.away_s(), self.generator.away_s()
        return None if server_s is None or generator_s is None else server_s + generator_s

    def _open(self, label: str, calibration: Calibration, seconds: float) -> _Opened:
        server, is_steady = self._cost(label), not self.generator.is_away
        window = self.sentinel.window(
            self._away_s,
            seconds=seconds,
            is_steady=is_steady,
            by_process=self.plan.profile.load.follows_schedule,
        )
        sampler = self.sampler() if self.sampler else None
        if sampler:
            sampler.start()
        half_s = self.plan.profile.window_s / 2 if self.plan.profile.load.steadies else math.inf
        memory = MemoryWatch(self.server, self.idle_bytes)
        return _Opened(utc_now(), server, window, calibration, sampler, half_s, memory)

    def _closed(
        self,
        label: str,
        shot: Shot,
        opened: _Opened,
        started: Callable[[Sequence[Second]], Started] | None = None,
    ) -> Run:
        """Read what a run measured, and what the host did meanwhile.

        `started` makes the start before the load from the load's seconds.
        """
        opened.window.close()
        if not opened.at_end:
            opened.memory.close()
        # Nothing is waited for before: a busy server works on.
        # At a fixed rate, calls that were due in the window may be answered a moment after it.
        is_late = self.plan.profile.load.steadies
        after = opened.at_end[1] if opened.at_end and not is_late else self._cost(label)
        sampled = opened.sampled()
        profile = self.plan.profile
        if sampled and sampled.failed == sampled.calls >= _LEAST_SAMPLED:
            raise FrameworkError(
                label,
                f"all {sampled.calls} calls that the runner made beside the load failed: no reply "
                "could be checked",
                log=shot.raw,
            )
        if sampled and sampled.wrong:
            raise ContractError(
                label,
                f"{sampled.wrong} of {sampled.calls} replies that were checked during the load are "
                f"wrong ({sampled.sample:.200})",
                log=shot.raw,
            )
        measured = self._measurement(shot, label, profile)
        self._settle(label, measured)
        watch = opened.window.watch(opened.calibration, self.sentinel.calibrate())
        spent_s = after.cpu_s - opened.server.cpu_s
        if not measured.messages and spent_s < _IDLE_SHARE * measured.elapsed_s:
            raise FrameworkError(
                label, f"no call finished, and the server did nothing ({spent_s:.2f} s of CPU)"
            )
        path = saved_as(self.plan, self.session_began, shot.raw)
        generators = tuple(
            each.changed(raw=each.raw.changed(path=f"{folder}/{each.raw.path}"))
            for folder in [str(Path(path).parent)]
            for each in shot.generators
        )
        run = Run(
            **dict(measured),
            started_at=opened.started_at,
            server=after.changed(
                cpu_s=spent_s,
                halves=opened.halves(),
                memory=opened.memory.found,
                throttled_s=opened.throttled_s(after),
            ),
            generator=shot.cost,
            sampled=sampled,
            raw=Raw(path=path, sha256=sha256_of(shot.raw)),
            generators=generators,
            watch=watch,
            started=started(measured.seconds) if started else None,
        )
        self.progress.say(f"{label}: {run_line(run, profile.metric)}")
        return run

    def _fire(
        self,
        stage: str,
        name: str,
        profile: MeasuredProfile,
        on_tick: Callable[[], None],
        on_open: Callable[[], None] = lambda: None,
    ) -> Shot:
        """Run the load for its window; raise if the server or the generator breaks.

        A generator that does not end after its window is killed, and the load is made once more; so
        is that of one whose own fault kept it from beginning.
        """
        shot = self._shot(stage, name, profile, on_tick, on_open)
        if shot.may_repeat and not self.server.ended():
            self._set_aside(stage, shot)
            shot = self._shot(stage, name, profile, on_tick, on_open)
        self._require_whole(stage, shot)
        return shot

    def _shot(
        self,
        stage: str,
        name: str,
        profile: MeasuredProfile,
        on_tick: Callable[[], None],
        on_open: Callable[[], None],
    ) -> Shot:
        """Start the generator once, for its lead and its window."""

        def watch(elapsed: float) -> None:
            tick(elapsed)
            on_tick()
            self._require_alive(stage)

        at_most = profile.load.may_end_early
        seconds = self.generator.lead_s(profile) + profile.window_s
        with self.progress.window(stage, seconds, at_most=at_most) as tick:
            return self.generator.fire(profile, self.folder / name, watch, on_open)

    def _set_aside(self, stage: str, shot: Shot) -> None:
        """Keep the output of a start that is repeated, and wait for the server."""
        kept = [
            path.rename(path.with_stem(f"{path.stem}-repeated"))
            for path in dict.fromkeys((shot.raw, shot.log))
        ]
        why = shot.problem or self._unopened_words()
        self.progress.say(f"{stage}: {why}; once more ({kept[0].name} has its output)")
        self._settle(stage)

    def _unopened(self, stage: str, shot: Shot) -> GeneratorError:
        return GeneratorError(stage, self._unopened_words(), log=shot.log, output=shot.output)

    def _unopened_words(self) -> str:
        return f"{self.generator.name} ended before its window opened"

    def _require_whole(self, stage: str, shot: Shot) -> None:
        """Raise if the server or the generator broke."""
        self._require_alive(stage)
        if shot.problem:
            raise GeneratorError(stage, shot.problem, log=shot.log, output=shot.output)

    def _require_alive(self, stage: str) -> None:
        if how := self.server.ended():
            raise ended_amid(stage, how)

    def _cost(self, stage: str) -> Cost:
        try:
            return self.server.cost()
        except OSError as error:
            raise ended_amid(stage, self.server.ended() or str(error)) from error

    def _measurement(self, shot: Shot, stage: str, profile: MeasuredProfile) -> Measurement:
        """Read the generator's output; FrameworkError if too many calls failed.

        One wrong reply is a ContractError: no rule about shares excuses it.

        A load whose calls were all cut is no failure: the server was too slow to finish any call.
        A load that counts failures, like a blast, may have any share of them.
        """
        try:
            measured = shot.measured or self.generator.parse(shot.raw, profile)
        except ValueError as error:
            raise GeneratorError(
                stage, f"{self.generator.name}'s output cannot be read: {error}", log=shot.raw
            ) from error
        calls, wrong = measured.calls, measured.wrong
        if wrong.calls:
            made = calls.ok + sum(calls.failed.values())
            reason = f"{wrong.calls:,} of {made:,} calls had a wrong reply ({wrong.sample:.200})"
            raise ContractError(stage, reason, log=shot.raw, output=shot.output)
        failed = sum(calls.failed.values())
        codes = ", ".join(f"{n} x {code}" for code, n in calls.failed.items())
        reason = ""
        if not calls.ok and (failed or not calls.cut):
            reason = f"no call succeeded ({codes or 'none was made'})"
        elif failed > _MOST_FAILED * (calls.ok + failed) and not profile.load.counts_failures:
            reason = f"{failed} of {calls.ok + failed} calls failed ({codes})"
        if reason:
            raise FrameworkError(stage, reason, log=shot.raw, output=shot.output)
        return measured


def ended_amid(stage: str, how: str) -> FrameworkError:
    """Return the error of a server that ended during a stage."""
    return FrameworkError(stage, f"the server ended in the middle of it ({how})")
