"""Driving the load: the generator runs against the server, for the warm-up and for each run."""

from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import FrameworkError, GeneratorError
from arena.base.hashing import sha256_of
from arena.base.progress import Progress
from arena.measure.announce import run_line
from arena.measure.generators import Generator, Shot
from arena.measure.plan import Plan
from arena.measure.recording import saved_as
from arena.measure.runtimes import Server
from arena.record.measurement import Cost, Measurement, Raw, Run
from arena.record.times import utc_now
from arena.what.measured import MeasuredProfile

# A server with all its calls open that uses less than this share of one CPU is stuck.
_IDLE_SHARE = 0.01

# A server that fails a larger share of its calls is broken, however fast its other calls are.
_MOST_FAILED = 0.01


@dataclass(frozen=True)
class Driver:
    """Runs a plan's load against its server. Raw outputs go to `folder`."""

    plan: Plan
    generator: Generator
    server: Server
    folder: Path
    session_began: str
    progress: Progress

    def warm_up(self, seconds: float) -> None:
        """Run the load for the warm-up; a broken server or generator raises."""
        profile = self.plan.profile.changed(warmup_s=seconds).warm_up()
        self._measurement(self._fire("warm-up", "warm-up", profile), "warm-up", profile)

    def run(self, number: int, runs: int) -> Run:
        """Measure run `number` of `runs`, from 1; StageError if server or generator breaks."""
        profile = self.plan.profile
        label = f"run {number} of {runs}"
        started_at = utc_now()
        before = self._cost(label)
        shot = self._fire(label, f"run-{number}", profile)
        after = self._cost(label)
        measured = self._measurement(shot, label, profile)
        spent_s = after.cpu_s - before.cpu_s
        if not measured.messages and spent_s < _IDLE_SHARE * measured.elapsed_s:
            raise FrameworkError(
                label, f"no call finished, and the server did nothing ({spent_s:.2f} s of CPU)"
            )
        path = saved_as(self.plan, self.session_began, shot.raw)
        run = Run(
            **dict(measured),
            started_at=started_at,
            server=Cost(cpu_s=spent_s, peak_bytes=after.peak_bytes),
            generator=shot.cost,
            raw=Raw(path=path, sha256=sha256_of(shot.raw)),
        )
        self.progress.say(f"{label}: {run_line(run, profile.metric)}")
        return run

    def _fire(self, stage: str, name: str, profile: MeasuredProfile) -> Shot:
        """Run the load for its window; raise if the server or the generator breaks."""

        def watch(elapsed: float) -> None:
            tick(elapsed)
            self._require_alive(stage)

        at_most = profile.load.may_end_early
        with self.progress.window(stage, profile.window_s, at_most=at_most) as tick:
            shot = self.generator.fire(profile, self.folder / name, watch)
        self._require_alive(stage)
        if shot.problem:
            raise GeneratorError(stage, shot.problem, log=shot.log, output=shot.output)
        return shot

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

        A load whose calls were all cut is no failure: the server was too slow to finish any call.
        A load that counts failures, like a blast, may have any share of them.
        """
        try:
            measured = self.generator.parse(shot.raw, profile)
        except ValueError as error:
            raise GeneratorError(
                stage, f"{self.generator.name}'s output cannot be read: {error}", log=shot.raw
            ) from error
        calls = measured.calls
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
