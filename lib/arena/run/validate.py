"""Validation: each framework's server is built, started, checked against the contract, stopped.

Nothing is measured or recorded. A framework that fails does not stop the others.
"""

import os
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from arena import contract
from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.model import to_json
from arena.base.progress import Progress, progress
from arena.base.reading import tail
from arena.base.text import shown
from arena.base.units import format_duration, three_digits
from arena.base.workspace import Workspace
from arena.base.writing import sweep_checkout
from arena.contract import AnyScope, Scope, connections
from arena.judge.proofs import Proofs
from arena.machine import builds, certs, facts, lock
from arena.machine import ports as machine_ports
from arena.machine.builds import finished
from arena.machine.child import adopt_orphans, allow_open_files
from arena.machine.interrupts import held
from arena.record.record import Check
from arena.run.beside import Candidate, Validator
from arena.run.runner import remove_leftovers
from arena.run.runtimes import Runtime, Server, choose, require_known
from arena.run.verdicts import (
    WORDS,
    FrameworkVerdict,
    PortChecks,
    Validation,
    check_line,
    is_proven,
    judged,
    port_checks,
    problem_of,
    save_proof,
    summary,
    table,
)
from arena.what import selection
from arena.what.environment import Ports
from arena.what.framework import Framework, source_sha256
from arena.what.selection import Selection

_READY_S = 60.0
# A server started with --running must already be listening.
_RUNNING_READY_S = 2.0

# Reported at once, and again in the final table.
_UNPLEASANT = ("skip", "fail")


@dataclass(frozen=True)
class ValidateOptions:
    """The options of the command line.

    `jobs` are checked at once, where ports allow it. One that `is_part` of another validation holds
    no lock and cleans up after nobody: the other one does. With `stale`, only frameworks without a
    proof are checked; with `record`, the verdicts become their proofs.
    """

    frameworks: str
    profiles: tuple[str, ...] = ()
    runtime: str = "auto"
    ready_timeout: float | None = None
    jobs: int = 1
    is_part: bool = False
    stale: bool = False
    record: bool = False
    wait: bool = False
    running: bool = False
    as_json: bool = False
    verbose: bool = False
    server_quota: float | None = None

    @property
    def ready_s(self) -> float:
        """How long a port may take to answer."""
        return self.ready_timeout or (_RUNNING_READY_S if self.running else _READY_S)


@dataclass(frozen=True)
class ValidationJob:
    """A framework, and what to check of it."""

    framework: Framework
    scopes: Sequence[AnyScope]


def validate(workspace: Workspace, options: ValidateOptions, *, command: str) -> int:
    """Validate as requested, print the verdicts, and return the exit code.

    UsageError on bad input, before any start; HostError if nothing could be checked.
    """
    selected = selection.frameworks(workspace, options.frameworks)
    _require_sensible(options, selected)
    if options.record or options.stale:
        Proofs.read(workspace.frameworks)
    shows = progress()
    checker = _Checker(workspace, options, Ports.chosen(os.environ), shows)
    planned = plan(workspace, selected, options.profiles)
    if not options.is_part:
        selection.warn_of_typos(workspace, selected.frameworks, shows)
    facts.require_stat()
    adopt_orphans()
    allow_open_files()
    outcomes = [each for each in planned if isinstance(each, FrameworkVerdict)]
    jobs = [each for each in planned if isinstance(each, ValidationJob)]
    by_name = {job.framework.name: job.framework for job in jobs}
    impeded = False

    def report(outcome: FrameworkVerdict) -> None:
        if not selected.is_one and outcome.verdict in _UNPLEASANT:
            shows.say(f"{WORDS[outcome.verdict]} {outcome.framework}: {outcome.reason}")

    alone = lock.only_benchmark(command, wait=options.wait, say=shows.say)
    with (
        nullcontext() if options.is_part else alone,
        _printed(options, selected, outcomes),
    ):
        for each in outcomes:
            report(each)
        certs.ensure_certificate(workspace.certs)
        runtime = None if options.running else checker.prepared()
        due = checker.stale(jobs, runtime) if options.stale and runtime else jobs
        with closing(checker.checks(due, runtime)) as checks:
            for name, checked in checks:
                try:
                    outcome = checked()
                except HostError as error:
                    if selected.is_one:
                        raise
                    outcome, impeded = _skipped(name, str(error)), True
                outcomes.append(outcome)
                report(outcome)
                if options.record:
                    save_proof(workspace, by_name[name], outcome, shows)
    return _exit_code(outcomes, impeded=impeded, are_some_proven=len(due) < len(jobs))


def _require_sensible(options: ValidateOptions, selected: Selection) -> None:
    """Raise UsageError for options that do not go together."""
    for flag, is_given in {"--record": options.record, "--stale": options.stale}.items():
        if is_given and (options.profiles or options.running):
            raise UsageError(f"{flag}: a proof is of all profiles, and of a server started here")
    if options.running and options.server_quota is not None:
        raise UsageError("--server-quota: with --running, the server is not started here")
    if options.running and not selected.is_one:
        raise UsageError("--running: name the framework that runs")
    if not options.running:
        require_known(options.runtime)


def plan(
    workspace: Workspace, selected: Selection, words: Sequence[str]
) -> list[ValidationJob | FrameworkVerdict]:
    """Return the job of each framework, by name, or its outcome if nothing can be checked.

    A broken meta.json fails. A framework is skipped if it is disabled and was not named, or if it
    subscribes to no profile. It is left out if it subscribes to no profile of `words`.
    """
    profiles = selection.profiles(workspace, selected, words)
    found: dict[str, ValidationJob | FrameworkVerdict] = {
        each.name: judged(each.name, (), str(each.error)) for each in selected.broken
    }
    for framework in selected.frameworks:
        name, subscribed = framework.name, profiles[framework.name]
        if words and not subscribed:
            continue
        if not framework.enabled and name not in selected.named:
            found[name] = _skipped(name, "its meta.json says `enabled`: false")
        elif subscribed:
            found[name] = ValidationJob(framework, contract.scopes_of(framework, subscribed))
        else:
            found[name] = _skipped(name, "subscribes to no profile of this runner")
    if not found:
        wanted = ", ".join(f"`{word}`" for word in words)
        raise UsageError(f"no framework {f'subscribes to {wanted}' if words else 'is there'}")
    return [found[name] for name in sorted(found)]


@dataclass(frozen=True)
class _Checker:
    """Makes the checks of a command; `ports` are those of its first server."""

    workspace: Workspace
    options: ValidateOptions
    ports: Ports
    shows: Progress

    def prepared(self) -> Runtime:
        """Return the chosen runtime, on a host that is ready for it."""
        quota = self.options.server_quota
        runtime = choose(self.options.runtime, self.workspace, self.shows, self.ports, quota)
        if not self.options.is_part:
            remove_leftovers(runtime, self.shows)
            sweep_checkout(self.workspace)
        return runtime

    def stale(self, jobs: Sequence[ValidationJob], runtime: Runtime) -> Sequence[ValidationJob]:
        """Return the jobs without a proof, and report how many have one."""
        workspace, proofs = self.workspace, Proofs.read(self.workspace.frameworks)
        due = [job for job in jobs if not is_proven(proofs, workspace, job.framework, runtime.name)]
        if proven := len(jobs) - len(due):
            self.shows.say(f"frameworks with a proof, left out: {proven} of {len(jobs)}")
        return due

    def checks(
        self, jobs: Sequence[ValidationJob], runtime: Runtime | None
    ) -> Generator[tuple[str, Callable[[], FrameworkVerdict]]]:
        """Yield each framework and a function that returns its outcome, or raises HostError.

        The checks are made in a runtime, or without one, of the server that already runs.
        """
        options, ports = self.options, self.ports
        if runtime is None:
            for job in jobs:
                yield job.framework.name, partial(self._running, _at(job, ports))
            return
        if len(jobs) == 1 or options.jobs == 1:
            for job in jobs:
                own = ports.given_to(job.framework.ports)
                yield job.framework.name, partial(self._started, _at(job, own), own, runtime)
            return
        parts = [
            Candidate(job.framework.name, job.framework.ports == "environment") for job in jobs
        ]
        words = ["--runtime", runtime.name, *["--verbose"] * options.verbose]
        if options.ready_timeout:
            words += ["--ready-timeout", format_duration(options.ready_timeout)]
        if options.server_quota is not None:
            words += ["--server-quota", f"{options.server_quota:g}"]
        slots = ports.several(options.jobs, machine_ports.listeners())
        try:
            yield from Validator(self.workspace, options.profiles, words, slots, self.shows).run(
                parts
            )
        finally:
            # A part that had to be killed has left its server.
            with held(), suppress(HostError):
                remove_leftovers(runtime, self.shows)

    def _running(self, job: ValidationJob) -> FrameworkVerdict:
        """Check a server that the user has started."""
        self.shows.say(
            "its CPU and memory are not looked at: only a server that is started here is"
        )
        ports, problem = self._check_ports(job, None)
        return judged(job.framework.name, ports, problem)

    def _started(self, job: ValidationJob, ports: Ports, runtime: Runtime) -> FrameworkVerdict:
        """Build the server, start it, check it and stop it; keep its logs only if it failed."""
        framework, workspace, shows = job.framework, self.workspace, self.shows
        source = source_sha256(workspace.framework(framework.name))
        if unavailable := runtime.unavailable(framework):
            return _skipped(framework.name, unavailable.reason, unavailable.missing)
        checked: list[PortChecks] = []
        problem = ""
        logs = workspace.tools / "validate" / framework.name
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        log = logs / "server.log"

        def require_able() -> None:
            for port in sorted({ports.h2c, ports.tls, *(scope.port for scope in job.scopes)}):
                machine_ports.require_free_port(port)
            machine_ports.require_able(ports.h2c, connections.CONNECTIONS, logs)

        try:
            require_able()
            finished(runtime.build(framework, logs / "build.log"), shows)
            with runtime.start(framework, None, log) as server:
                checked, problem = self._check_ports(job, server)
                if not problem:
                    with shows.waiting(f"end {framework.name}"):
                        last = contract.ending(job.scopes, server)
                    self._tell(last)
                    checked[-1] = checked[-1].and_also(last)
        except FrameworkError as error:
            problem, log = str(error), error.log or log
        finally:
            if not problem:
                shutil.rmtree(logs)
        if problem and not checked:
            require_able()  # or this host is why it did not start
        outcome = judged(framework.name, checked, problem, _shown(log, shows) if problem else None)
        return outcome.changed(runtime=runtime.name, source=source)

    def _check_ports(
        self, job: ValidationJob, server: Server | None
    ) -> tuple[list[PortChecks], str]:
        """Check each port while the server lives; return also what was wrong, if anything."""

        def ended() -> str | None:
            return server.ended() if server else None

        options, shows = self.options, self.shows
        checked: list[PortChecks] = []
        for scope in job.scopes:
            clear = "h2c" if isinstance(scope, Scope) else "plaintext"
            where = f"port {scope.port} ({'TLS' if scope.tls else clear})"
            try:
                with shows.waiting(f"await {job.framework.name} on {where}"):
                    contract.wait_ready(scope, options.ready_s, ended)
            except FrameworkError as error:
                return checked, problem_of(checked) or str(error)
            with shows.waiting(f"check {job.framework.name} on {where}"):
                offers = None
                if isinstance(scope, Scope) and not scope.light:
                    offers = contract.offers(scope)
                report = contract.check(scope, server, self._tell)
            checked.append(port_checks(scope, report, offers))
            if options.verbose and report.messages_per_data_frame is not None:
                packed = three_digits(report.messages_per_data_frame)
                shows.say(f"  messages per DATA frame: {packed}")
            if offers:
                shows.say(f"  offers: {offers.words}")
            if how := ended():
                return checked, problem_of(checked) or f"the server ended ({how})"
        return checked, problem_of(checked)

    def _tell(self, check: Check) -> None:
        """Show a check that was made, if it is of interest."""
        if self.options.verbose or check.status != "pass":
            self.shows.say(check_line(check))


def _at(job: ValidationJob, ports: Ports) -> ValidationJob:
    """Return the job with each of its ports where the server has it."""
    return replace(job, scopes=[replace(scope, port=ports.of(scope.port)) for scope in job.scopes])


def _shown(log: Path, shows: Progress) -> str | None:
    """Show the end of a log and its path; return the path, or None if the log is empty."""
    if not log.exists() or not log.stat().st_size:
        return None
    for line in tail(log).splitlines():
        shows.say(f"  | {line}")
    shows.say(f"  log: {shown(log)}")
    return str(log)


def _skipped(framework: str, why: str, missing: Sequence[str] = ()) -> FrameworkVerdict:
    return FrameworkVerdict(framework=framework, verdict="skip", reason=why, missing=tuple(missing))


@contextmanager
def _printed(
    options: ValidateOptions, selected: Selection, outcomes: Sequence[FrameworkVerdict]
) -> Iterator[None]:
    """Print the verdicts when the block is left; after an interrupt, those known so far."""
    try:
        yield
    finally:
        by_name = sorted(outcomes, key=lambda each: each.framework)
        if options.as_json:
            click.echo(to_json(Validation(frameworks=tuple(by_name))), nl=False)
        elif outcomes:
            missing = (need for each in outcomes for need in each.missing)
            summed = [] if selected.is_one else [summary(outcomes), *builds.install_lines(missing)]
            click.echo("\n".join([*table(by_name), *summed]))


def _exit_code(
    outcomes: Sequence[FrameworkVerdict], *, impeded: bool, are_some_proven: bool
) -> int:
    """Return 1 if any failed, else 3 if the host blocked one.

    HostError if it could check none, and none is proven.
    """
    verdicts = {each.verdict for each in outcomes}
    if "fail" in verdicts:
        return FrameworkError.exit_code
    if verdicts == {"skip"} and not are_some_proven:
        only = outcomes[0].reason if len(outcomes) == 1 else ""
        raise HostError(only or "no framework can be checked here")
    return HostError.exit_code if impeded else 0
