"""A session: one framework under one profile, stage by stage, from its build to its record."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from arena import contract
from arena.base.errors import (
    ContractError,
    FrameworkError,
    GeneratorError,
    HostError,
    StageError,
)
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.base.writing import shorten
from arena.contract import Report, Sampler, Scope
from arena.judge.store import Draft
from arena.load.generators import Generator
from arena.machine import certs, ports
from arena.machine.blame import said
from arena.machine.builds import finished
from arena.machine.sentinel import Sentinel
from arena.record.record import Record, Visit
from arena.record.times import utc_now
from arena.run.driver import Driver, ended_amid
from arena.run.plan import Plan
from arena.run.recording import Observed, record_of
from arena.run.runtimes import Runtime, Server
from arena.run.steady import told_warm_up
from arena.what.environment import FLEET_GENERATOR, STANDARD
from arena.what.framework import source_sha256
from arena.what.profile import MeasuredProfile
from arena.what.releases import release_of

# A server that broke under the load must not be ranked.
_AFTER = "contract after the runs"


@dataclass(frozen=True)
class Course:
    """What a session does between start and stop; seconds of warm-up, then `runs`.

    After the warm-up, a visit's load goes on until the host is quiet, for at most `quiet_wait_s`.
    Its record has the `visit`.
    """

    warm_up_s: float
    runs: int
    is_checked: bool = True
    quiet_wait_s: float = 0.0
    visit: Visit | None = None


def classic(profile: MeasuredProfile) -> Course:
    """Return the course of a session that belongs to no block: the profile's own."""
    return Course(profile.warmup_s, profile.runs)


@dataclass
class Session:
    """Measures one plan. `run` returns its record, good or failed."""

    workspace: Workspace
    plan: Plan
    runtime: Runtime
    generator: Generator
    progress: Progress
    sentinel: Sentinel
    course: Course | None = None

    def __post_init__(self) -> None:
        self._course = self.course or classic(self.plan.profile)
        generator = self.generator.info(self.plan.profile)
        look = contract.disguise_of(generator.name, generator.version)
        self._scope = replace(contract.scope_of(self.plan.profile), disguise=look)
        # Read before the build: later edits are not measured.
        name = self.plan.framework.name
        source = source_sha256(self.workspace.framework(name))
        release = release_of(self.workspace, name)
        self._seen = Observed(utc_now(), source, release, visit=self._course.visit)

    def run(self, draft: Draft) -> tuple[Record, StageError | None]:
        """Run every stage; a failed stage ends the session and is in the record.

        Raw outputs and logs go to the draft's folder. Other errors, such as a port in use or an
        interrupt, are raised and leave no record.
        """
        failure = None
        try:
            self._measure(draft.folder)
        except StageError as error:
            self._require_able(draft.folder, error)
            failure = error
        about = self.workspace, self.plan, self.runtime, self.generator, self._seen
        return record_of(*about, self.sentinel.limits, failure), failure

    def _require_able(self, folder: Path, error: StageError | None = None) -> None:
        """Raise HostError if this host cannot do what a session needs, or could not: an `error`."""
        if isinstance(error, ContractError):
            return
        if error is None or error.stage == "start":
            # HttpArena's entries listen on both, whichever port the profile uses.
            for port in sorted({STANDARD.h2c, STANDARD.tls, self.plan.profile.port}):
                ports.require_free_port(port)
        profile = self.plan.profile
        try:
            if isinstance(error, GeneratorError) and (found := said("generator", error.output)):
                raise found
            are_local = profile.generator != FLEET_GENERATOR
            ports.require_able(profile.port, profile.connection_count, folder, are_local=are_local)
        except HostError:
            for line in error.output.splitlines() if error else ():
                self.progress.say(f"  | {line}")
            raise

    def _measure(self, folder: Path) -> None:
        plan, progress, seen = self.plan, self.progress, self._seen
        self._require_able(folder)
        certs.ensure_certificate(self.workspace.certs)
        with self._stage("build"):
            build = self.runtime.build(plan.framework, folder / "build.log")
            seen.built = finished(build, progress)
        seen.stages_s["build"] += seen.built.ahead_s
        if plan.profile.load.is_start and isinstance(self._scope, Scope):
            self._measure_start(folder, self._scope)
            return
        with self._serving(folder / "server.log") as server:
            if self._course.is_checked:
                if isinstance(self._scope, Scope):
                    with self._stage("contract"), progress.waiting("look for standard services"):
                        seen.offers = contract.offers(self._scope)
                seen.before = self._contract(server, "contract", "contract check")
                _require(seen.before, "contract", server)
            self._load(self._driver(server, folder))
            self._check_after(server)

    def _measure_start(self, folder: Path, scope: Scope) -> None:
        """Measure a start, and a load from its first reply on; nothing warms the server up.

        It is started once before, so that all that it reads is in the page cache.
        """
        seen, running, moments = self._seen, list[Server](), list[float]()

        def away_s() -> float | None:
            # A server that is not there yet has used nothing.
            server_s = running[0].away_s() if running else 0.0
            generator_s = self.generator.away_s()
            return None if server_s is None or generator_s is None else server_s + generator_s

        with self._stage("warm-up"), self._serving(folder / "server-before.log"):
            pass
        self.sentinel.calibrate()
        window = self.sentinel.window(away_s, is_steady=not self.generator.is_away, by_process=True)

        def wait(server: Server) -> None:
            running.append(server)
            moments.extend(lookout.wait(self.plan.ready_timeout_s, server.ended))

        with (
            contract.Lookout(scope) as lookout,
            self._serving(folder / "server.log", wait) as server,
        ):
            driver = self._driver(server, folder)
            with self._stage("runs"):
                seen.runs.append(driver.run_from_start(window, *moments))
            self._check_after(server)

    def _driver(self, server: Server, folder: Path) -> Driver:
        return Driver(
            self.plan,
            self.generator,
            server,
            folder,
            self._seen.started_at,
            self.progress,
            self.sentinel,
            self._sampler(),
            self._seen.idle_bytes,
        )

    def _check_after(self, server: Server) -> None:
        if self._course.is_checked:
            self._seen.after = self._contract(server, _AFTER, "contract check, after the runs")
            _require(self._seen.after, _AFTER, server)

    def _sampler(self) -> Callable[[], Sampler] | None:
        """Return what makes the checker of replies; None if the generator checks them itself."""
        if self.generator.checks_replies or not isinstance(self._scope, Scope):
            return None
        plan = self.plan
        return partial(Sampler, self._scope, plan.profile, self._course.runs, plan.cpus.generator)

    def _load(self, driver: Driver) -> None:
        """Warm the server up and make the runs."""
        course, seen = self._course, self._seen
        if course.visit:
            self._visit(driver, course.visit)
        else:
            profile = self.plan.profile
            if profile.load.steadies and self.generator.tells_window(profile):
                seen.warm_up = told_warm_up(profile.load, profile.warmup_s, 0.0)
            with self._stage("warm-up"):
                driver.warm_up(course.warm_up_s)
        for number in range(len(seen.runs) + 1, course.runs + 1):
            with self._stage("runs"):
                seen.runs.append(driver.run(number, course.runs))

    def _visit(self, driver: Driver, visit: Visit) -> None:
        """Warm the server up until the host is quiet, and make the run that counts."""
        course, seen = self._course, self._seen
        wait_s = self.sentinel.wait_s(course.quiet_wait_s)
        if self.generator.tells_window(self.plan.profile):
            seen.warm_up = told_warm_up(self.plan.profile.load, course.warm_up_s, wait_s)
        seen.stages_s["warm-up"] = 0.0
        with self._stage("runs"):
            warmed = driver.warmed_run(
                1, course.runs, warm_up_s=course.warm_up_s, quiet_wait_s=wait_s
            )
        seen.stages_s["warm-up"] = warmed.warm_up_s + warmed.waited_s
        seen.stages_s["runs"] -= seen.stages_s["warm-up"]
        seen.runs.append(warmed.run)
        seen.visit = visit.changed(
            warm_up_s=round(warmed.warm_up_s, 3),
            waited_s=round(warmed.waited_s, 3),
        )

    @contextmanager
    def _serving(self, log: Path, wait: Callable[[Server], None] | None = None) -> Iterator[Server]:
        """Run the server for the block; starting and stopping it are stages too.

        `wait` is how it is awaited, if not by the usual call.
        """
        plan, stages_s = self.plan, self._seen.stages_s
        began_stop = None
        try:
            began = time.monotonic()
            with self.runtime.start(plan.framework, plan.cpus.server, log) as server:
                self._seen.server_argv = server.argv
                with self.progress.waiting(f"start {plan.framework.name}"):
                    if wait:
                        wait(server)
                    else:
                        contract.wait_ready(self._scope, plan.ready_timeout_s, server.ended)
                stages_s["start"] = time.monotonic() - began
                if idle := server.memory():
                    self._seen.idle_bytes = idle.anonymous_bytes
                try:
                    yield server
                finally:
                    began_stop = time.monotonic()
        except FrameworkError as error:
            # The server's output is complete only now.
            if error.log is None:
                error.log, error.output = log, tail(log)
            raise
        finally:
            if began_stop is not None:
                stages_s["stop"] = time.monotonic() - began_stop
            shorten(log)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        stages_s, began = self._seen.stages_s, time.monotonic()
        try:
            yield
        finally:
            stages_s[name] = stages_s.get(name, 0.0) + time.monotonic() - began

    def _contract(self, server: Server, stage: str, words: str) -> Report:
        """Check the server against the contract; print each warning once a session."""
        known = self._seen.before.checks if self._seen.before else ()
        warned = {check.check for check in known if check.status == "warn"}
        with self._stage(stage), self.progress.waiting(words):
            report = contract.check(self._scope, server)
        for check in report.checks:
            if check.status == "warn" and check.check not in warned:
                self.progress.say(f"warning: {check}")
        return report


def _require(report: Report, stage: str, server: Server) -> None:
    """Raise the first failed check; without one, the end of the server."""
    if failure := report.first_failure:
        raise ContractError(stage, str(failure))
    if how := server.ended():
        raise ended_amid(stage, how)
