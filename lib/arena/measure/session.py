"""A session: one framework under one profile, from its build to its record."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.base.errors import ContractError, FrameworkError, GeneratorError, StageError
from arena.base.hashing import sha256_of
from arena.base.numbers import format_ns
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.judge.flags import flags_of
from arena.judge.headline import headline_of, spread_of
from arena.judge.store import Draft
from arena.judge.words import figure_words
from arena.machine import certs, facts, git, ports
from arena.measure import contract
from arena.measure.contract import Report
from arena.measure.generators import Generator, Shot
from arena.measure.plan import Plan
from arena.measure.runtimes import Built, Runtime, Server
from arena.record.figures import figure_of
from arena.record.measurement import Cost, Measurement, Raw, Run
from arena.record.record import (
    Failure,
    MeasuredFramework,
    Provenance,
    Record,
    RuntimeInfo,
    record_key,
)
from arena.record.times import utc_now
from arena.what.framework import source_sha256
from arena.what.measured import MeasuredProfile

# HttpArena's entries listen on both, whichever the profile uses.
PORTS = (8080, 8443)

# A server that uses less of one CPU than this, with all its calls open, is stuck.
_IDLE_SHARE = 0.01

# A server that fails more of its calls than this is broken, however fast the others are.
_MOST_FAILED = 0.01

# A server that is broken by the load must not be ranked for it.
_AFTER = "contract after the runs"


class Session:
    """Measures one plan. `run` returns its record, whether it is good or not."""

    def __init__(
        self,
        workspace: Workspace,
        plan: Plan,
        runtime: Runtime,
        generator: Generator,
        progress: Progress,
    ) -> None:
        self._workspace = workspace
        self._plan = plan
        self._runtime = runtime
        self._generator = generator
        self._progress = progress
        self._started_at = utc_now()
        self._scope = contract.scope_of(plan.profile)
        # Taken before the build: what is edited later was not measured.
        self._source_sha256 = source_sha256(workspace.framework(plan.framework.name))
        self._built = Built()
        self._server_argv: tuple[str, ...] | None = None
        self._before: Report | None = None
        self._after: Report | None = None
        self._runs: list[Run] = []
        self._stages_s: dict[str, float] = {}
        self._folder = Path()

    def run(self, draft: Draft) -> tuple[Record, StageError | None]:
        """Go through every stage; a failure of one ends the session and is in the record.

        Raw outputs and logs go to the draft's folder. What is no failure of a stage - a host
        that cannot do it, an interrupt - is raised, and there is no record.
        """
        self._folder = draft.folder
        try:
            self._measure()
        except StageError as error:
            return self._record(error), error
        return self._record(None), None

    def _measure(self) -> None:
        plan, progress = self._plan, self._progress
        for port in sorted({*PORTS, plan.profile.port}):
            ports.require_free_port(port)
        certs.ensure_certificate(self._workspace.certs)
        name = plan.framework.name
        with self._stage("build"), progress.waiting(f"build {name} ({self._runtime.name})"):
            self._built = self._runtime.build(plan.framework, self._folder / "build.log")
        with self._serving() as server:
            with self._stage("contract"), progress.waiting("contract check"):
                self._before = self._contract(server)
            self._require(self._before, "contract", server)
            with self._stage("warm-up"):
                self._warm_up(server)
            for number in range(1, plan.profile.runs + 1):
                with self._stage("runs"):
                    self._runs.append(self._one_run(server, number))
            with self._stage(_AFTER), progress.waiting("contract check, after the runs"):
                self._after = self._contract(server)
            self._require(self._after, _AFTER, server)

    @contextmanager
    def _serving(self) -> Iterator[Server]:
        """Run the server for the block; starting and stopping it are stages too."""
        plan = self._plan
        log = self._folder / "server.log"
        began_stop = None
        try:
            began = time.monotonic()
            with self._runtime.start(plan.framework, plan.cpus.server, log) as server:
                self._server_argv = server.argv
                with self._progress.waiting(f"start {plan.framework.name}"):
                    contract.wait_ready(self._scope, plan.ready_timeout_s, server.ended)
                self._stages_s["start"] = time.monotonic() - began
                try:
                    yield server
                finally:
                    began_stop = time.monotonic()
        except FrameworkError as error:
            # The server's own last words; they are complete only now.
            if error.log is None:
                error.log, error.output = log, tail(log)
            raise
        finally:
            if began_stop is not None:
                self._stages_s["stop"] = time.monotonic() - began_stop

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._stages_s[name] = self._stages_s.get(name, 0.0) + time.monotonic() - began

    def _contract(self, server: Server) -> Report:
        """Hold the server against the contract, and say what it warns of, each thing once."""
        known = self._before.checks if self._before else ()
        warned = {check.check for check in known if check.status == "warn"}
        report = contract.check(self._scope, server)
        for check in report.checks:
            if check.status == "warn" and check.check not in warned:
                self._progress.say(f"warning: {check}")
        return report

    def _require(self, report: Report, stage: str, server: Server) -> None:
        """Raise what the contract found wrong; a check says so if the server ended at it."""
        if failure := report.first_failure:
            raise ContractError(stage, str(failure))
        if how := server.ended():
            raise _gone(stage, how)

    def _warm_up(self, server: Server) -> None:
        profile = self._plan.profile.warm_up()
        shot = self._fire(server, "warm-up", "warm-up", profile)
        self._measurement(shot, "warm-up", profile)

    def _one_run(self, server: Server, number: int) -> Run:
        profile = self._plan.profile
        label = f"run {number} of {profile.runs}"
        started_at = utc_now()
        before = self._cost(server, label)
        shot = self._fire(server, label, f"run-{number}", profile)
        after = self._cost(server, label)
        measured = self._measurement(shot, label, profile)
        spent_s = after.cpu_s - before.cpu_s
        if not measured.messages and spent_s < _IDLE_SHARE * measured.elapsed_s:
            raise FrameworkError(
                label, f"no call finished, and the server did nothing ({spent_s:.2f} s of CPU)"
            )
        run = Run(
            **measured.model_dump(),
            started_at=started_at,
            server=Cost(cpu_s=spent_s, peak_bytes=after.peak_bytes),
            generator=shot.cost,
            raw=Raw(path=self._below_results(shot.raw), sha256=sha256_of(shot.raw)),
        )
        self._progress.say(f"{label}: {_figure(run, profile)}")
        return run

    def _fire(self, server: Server, stage: str, name: str, profile: MeasuredProfile) -> Shot:
        """Put a load on for its window; raise when server or generator do not live through it."""

        def watch(elapsed: float) -> None:
            tick(elapsed)
            if how := server.ended():
                raise _gone(stage, how)

        at_most = profile.load.may_end_early
        with self._progress.window(stage, profile.window_s, at_most=at_most) as tick:
            shot = self._generator.fire(profile, self._folder / name, watch)
        if how := server.ended():
            raise _gone(stage, how)
        if shot.problem:
            raise GeneratorError(stage, shot.problem, log=shot.log, output=shot.output)
        return shot

    def _cost(self, server: Server, stage: str) -> Cost:
        try:
            return server.cost()
        except OSError as error:
            raise _gone(stage, server.ended() or str(error)) from error

    def _measurement(self, shot: Shot, stage: str, profile: MeasuredProfile) -> Measurement:
        """Read the generator's output; a load in which too many calls failed is a failure.

        Calls that were all cut are none: the server was only too slow to finish one. A blast
        tells where the failures begin, so those are its figures.
        """
        try:
            measured = self._generator.parse(shot.raw, profile)
        except ValueError as error:
            raise GeneratorError(
                stage, f"{self._generator.name}'s output cannot be read: {error}", log=shot.raw
            ) from error
        calls = measured.calls
        codes = ", ".join(f"{n} x {code}" for code, n in calls.failed.items())
        if not calls.ok and (calls.failed or not calls.cut):
            reason = f"no call succeeded ({codes or 'none was made'})"
            raise FrameworkError(stage, reason, log=shot.raw, output=shot.output)
        failed = sum(calls.failed.values())
        if failed > _MOST_FAILED * (calls.ok + failed) and not profile.load.counts_failures:
            reason = f"{failed} of {calls.ok + failed} calls failed ({codes})"
            raise FrameworkError(stage, reason, log=shot.raw, output=shot.output)
        return measured

    def _record(self, error: StageError | None) -> Record:
        plan = self._plan
        headline = headline_of(plan.profile, self._runs) if error is None else None
        return Record(
            status="ok" if error is None else error.status,
            started_at=self._started_at,
            failure=None if error is None else self._failure(error),
            framework=MeasuredFramework(
                **plan.framework.model_dump(),
                source_sha256=self._source_sha256,
                image_digest=self._built.image_digest,
            ),
            profile=plan.profile,
            headline=headline,
            runs=tuple(self._runs),
            spread=spread_of(plan.profile.metric, self._runs),
            flags=flags_of(plan.profile, self._runs, headline, plan.cpus.generator_count),
            contract=self._before.checks if self._before else (),
            contract_after=self._after.checks if self._after else (),
            messages_per_data_frame=self._before.messages_per_data_frame if self._before else None,
            provenance=self._provenance(),
        )

    def _failure(self, error: StageError) -> Failure:
        """Describe what went wrong; its log is named below results/, as the runs' outputs are."""
        log = None
        if error.log and error.log.exists() and error.log.stat().st_size:
            log = self._below_results(error.log)
        return Failure(stage=error.stage, reason=error.reason, log=log)

    def _below_results(self, file: Path) -> str:
        """Return where a file of the draft will be once it is saved."""
        key = record_key(self._plan.profile, self._plan.framework)
        return f"{key}/{self._started_at}/{file.name}"

    def _provenance(self) -> Provenance:
        plan = self._plan
        docker_version = None
        if self._runtime.name == "docker":
            from arena.machine.docker import daemon_version

            docker_version, _ = daemon_version()
        return Provenance(
            git=git.git_state(self._workspace.root),
            generator=self._generator.info(plan.profile),
            host=facts.describe(docker_version),
            cpus=plan.cpus.record(),
            runtime=RuntimeInfo(
                name=self._runtime.name,
                argv=self._server_argv or (),
                standin=self._built.standin,
            ),
            overrides=dict(plan.overrides),
            stages_s={name: round(seconds, 3) for name, seconds in self._stages_s.items()},
        )


def _gone(stage: str, how: str) -> FrameworkError:
    return FrameworkError(stage, f"the server ended in the middle of it ({how})")


def _figure(run: Run, profile: MeasuredProfile) -> str:
    """Say one run in a line."""
    value, _, high = figure_of(profile.metric, run)
    parts = [figure_words(profile.metric, value, high)]
    if run.latency_ns.p99 is not None and not profile.metric.is_latency:
        parts.append(f"p99 {format_ns(run.latency_ns.p99)}")
    parts.append(f"CPU server {run.server.cpu_s:.1f} s, generator {run.generator.cpu_s:.1f} s")
    if run.calls.cut:
        parts.append(f"calls cut: {run.calls.cut}")
    parts += [f"calls failed: {n} x {code}" for code, n in run.calls.failed.items()]
    return "; ".join(parts)
