"""Running planned sessions one by one, on a host without other benchmarks."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import click

from arena.base.errors import ArenaError, HostError, UsageError
from arena.base.progress import Progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import sweep_checkout
from arena.judge.derive import derive
from arena.judge.host_class import class_of
from arena.judge.store import Draft, clear_drafts
from arena.load import generators
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine import cpus, facts, lock
from arena.machine.blame import words
from arena.machine.builds import Build, beside, install_lines
from arena.machine.child import adopt_orphans, allow_open_files
from arena.machine.cpus import CpuPlan
from arena.machine.lock import end_leftovers
from arena.machine.sentinel import Sentinel
from arena.record.record import Record
from arena.run.announce import headline_line, notes
from arena.run.limits import limits_here
from arena.run.plan import Plan
from arena.run.request import Request
from arena.run.runtimes import Runtime, choose
from arena.run.runtimes.remembered import BuiltAhead, BuiltOnce
from arena.run.session import Course, Session
from arena.what.framework import Framework

Kind = TypeVar("Kind", bound="Runner")

# A night ends after this many sessions in a row that the host could not measure, if they are of as
# many frameworks, or of all.
_IN_A_ROW = 3


@dataclass(frozen=True)
class Outcome:
    """How one session ended: its exit code, its record, if any, and the file of that.

    `is_hosts`: the host could not measure, which says nothing of the framework.
    """

    plan: Plan
    code: int
    saved: Path | None = None
    record: Record | None = None
    is_hosts: bool = False


@dataclass
class Streak:
    """The sessions in a row that the host could not measure, by framework; there are so many."""

    frameworks: int = _IN_A_ROW
    broken: list[str] = field(default_factory=list)

    def ends(self, outcome: Outcome) -> bool:
        """Count a session; return whether there were too many in a row."""
        if outcome.record:
            self.broken.clear()
        elif outcome.is_hosts:
            self.broken.append(outcome.plan.framework.name)
        several = len(set(self.broken)) >= min(self.frameworks, _IN_A_ROW)
        return several and len(self.broken) >= _IN_A_ROW


@dataclass(frozen=True)
class Runner:
    """Runs planned sessions under one runtime. `find_generators` and `run` need the host's lock.

    `width` sessions run at the same time; `cannot` says why some may be left. No error is told by
    `code`: each has its session.
    """

    workspace: Workspace
    request: Request
    runtime: Runtime
    shows: Progress
    width: int = 1
    cannot: str = "this host cannot measure"
    code: int = 0

    def host_class(self, plan: Plan, environment: Mapping[str, str]) -> str:
        """Return the class that the host has now."""
        hosts, split = plan.generator.hosts, plan.cpus
        try:
            if not hosts:
                split = cpus.plan_cpus(cpus.physical_cores(), environment, split.server_quota)
        except (UsageError, HostError) as error:  # A CPU of SERVER_CPUS was taken away.
            return str(error)
        return class_of(facts.describe(None), split.record(), self.runtime.name, hosts).id

    def once(self) -> Self:
        """Return the same, with builds that are remembered."""
        return replace(self, runtime=BuiltOnce(self.runtime))

    @cached_property
    def sentinel(self) -> Sentinel:
        """The watch over this host, with the same limits for all sessions."""
        is_kept = not self.request.no_save
        return Sentinel(limits_here(self.workspace, self.shows, is_kept=is_kept))

    def runnable(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans that this host can run, and report the others; HostError without any."""
        frameworks = frameworks_of(plans)
        problems = {
            framework.name: problem
            for framework in frameworks
            if (problem := self.runtime.unavailable(framework))
        }
        if len(problems) == len(frameworks) == 1:
            raise HostError(*(problem.reason for problem in problems.values()))
        for name, problem in problems.items():
            self.shows.say(f"skipped {name}: {problem.reason}")
        needs = (need for problem in problems.values() for need in problem.missing)
        for line in install_lines(needs):
            self.shows.say(line)
        if len(problems) == len(frameworks):
            raise HostError("no framework can be run here")
        return [each for each in plans if each.framework.name not in problems]

    def find_generators(self, plans: Sequence[Plan]) -> dict[Located, Generator]:
        """Make every generator ready that the plans need, all at the same time.

        The server of the first plan is built beside them, if a program has to be built. Report
        a missing generator and do not measure its plans; HostError if all are missing.
        """
        needed = {each.generator: each.cpus.generator for each in plans}
        builds: dict[Located | None, Build[Generator | None]] = {
            located: generators.build(located, self.workspace, own)
            for located, own in needed.items()
        }
        if any(not (located.program or located.image) for located in needed):
            builds[None] = self._ahead(plans[0].framework)
        found: dict[Located, Generator] = {}
        missing: list[HostError] = []
        with closing(beside(builds, self.shows)) as ended:
            for located, result in ended:
                try:
                    ready = result()
                except HostError as error:
                    missing.append(error)
                    if len(missing) == len(needed):
                        raise missing[0] from None
                    continue
                if located and ready:
                    found[located] = ready
        for reason in missing:
            report_error(str(reason))
        return {located: found[located] for located in needed if located in found}

    def _ahead(self, framework: Framework) -> Build[None]:
        """Build a framework's server before its session, if this host can run it."""
        if isinstance(self.runtime, BuiltAhead) and not self.runtime.unavailable(framework):
            yield from self.runtime.ahead(framework)

    def run(
        self,
        plans: Sequence[Plan],
        found: Mapping[Located, Generator],
        *,
        may_begin: Callable[[Plan], bool] = lambda _: True,
        ended: Callable[[Outcome], None],
        goes_on: bool = False,
    ) -> Sequence[Plan]:
        """Run those sessions that `may_begin`, in order; call `ended` after each.

        A session without its generator fails. Other errors, such as a port in use, are no stage's
        failure: they end the whole run. With `goes_on`, they end only their session, until the host
        has failed for three frameworks in a row. Return the sessions that did not begin.
        """
        streak = Streak()
        for number, each in enumerate(plans, 1):
            if not may_begin(each):
                continue
            outcome = self.measure(each, found.get(each.generator), goes_on=goes_on)
            ended(outcome)
            if streak.ends(outcome):
                return plans[number:]
        return ()

    def measure(
        self,
        each: Plan,
        generator: Generator | None,
        *,
        goes_on: bool,
        course: Course | None = None,
    ) -> Outcome:
        """Run one session and save its record; `goes_on` reports all errors but an interrupt."""
        if generator is None:
            return Outcome(each, HostError.exit_code)
        try:
            with Draft(_drafts(self.workspace, self.request)) as draft:
                return self._session(each, generator, draft, course)
        except Exception as error:  # A bug in one session must not stop the others.
            if not goes_on or os.environ.get("ARENA_DEBUG"):
                raise
            kind = "" if isinstance(error, ArenaError) else f"{type(error).__name__}: "
            why = words(error) if isinstance(error, OSError) else f"{kind}{error}"
            report_error(f"{each.title}: {why}")
            is_hosts = isinstance(error, HostError | OSError)
            return Outcome(each, HostError.exit_code, is_hosts=is_hosts)

    def _session(
        self, each: Plan, generator: Generator, draft: Draft, course: Course | None
    ) -> Outcome:
        """Run one session and save its record; a visit prints only what is wrong."""
        shows = self.shows
        if course is None:
            shows.say(f"{each.title}, {each.cpus}")
            info = generator.info(each.profile)
            shows.say(f"generator: {info.name} {info.version} (from {info.found})")
        session = Session(
            self.workspace, each, self.runtime, generator, shows, self.sentinel, course
        )
        record, error = session.run(draft)
        saved = None if self.request.no_save else draft.save(record)
        if error:
            for line in error.output.splitlines():
                shows.say(f"  | {line}")
            report_error(f"{each.framework.name}: {error}")
        derived = derive(record)
        if not error and course is None:
            click.echo(headline_line(record, derived))
        if error or course is None:
            for note in notes(record, derived):
                shows.say(f"note: {note}")
            if saved and record.failure and record.failure.log:
                click.echo(f"log: {shown(self.workspace.results / record.failure.log)}")
            if saved:
                click.echo(f"record: {shown(saved)}")
        return Outcome(each, error.exit_code if error else 0, saved, record)


@contextmanager
def only_here(
    kind: type[Kind],
    workspace: Workspace,
    request: Request,
    split: CpuPlan,
    command: str,
    shows: Progress,
    advice: str = "",
) -> Iterator[Kind]:
    """Hold the host's lock for the block, prepare the host for sessions, and yield the runner.

    HostError if another benchmark is running, records cannot be saved (with an `advice` for it),
    Docker is missing, or CPUs cannot be kept awake as `split` says.
    """
    facts.require_stat()
    adopt_orphans()
    allow_open_files()
    with lock.only_benchmark(command, wait=request.wait, say=shows.say):
        clear_drafts(workspace.results)
        sweep_checkout(workspace)
        with Draft(_drafts(workspace, request), advice):
            pass  # Fail now, not after an hour, if nothing can be saved.
        runtime = choose(request.runtime, workspace, shows, quota=request.server_quota)
        remove_leftovers(runtime, shows)
        with cpus.kept_awake(split):
            yield kind(workspace, request, BuiltAhead(runtime, workspace), shows)


def _drafts(workspace: Workspace, request: Request) -> Path:
    """Return the folder for the drafts of sessions."""
    return Path(tempfile.gettempdir()) if request.no_save else workspace.results


def frameworks_of(plans: Sequence[Plan]) -> list[Framework]:
    """Return the frameworks of the plans, each once, in order."""
    return list({plan.framework.name: plan.framework for plan in plans}.values())


def remove_leftovers(runtime: Runtime, shows: Progress) -> None:
    """Stop and remove what a killed benchmark left running. The host's lock must be held."""
    for what in end_leftovers():
        shows.say(f"ended {what[:120]}, left behind by a benchmark that was killed")
    if runtime.name != "docker":
        return
    from arena.machine import docker

    for name in docker.remove_leftovers():
        shows.say(f"removed the container {name}, left behind by a benchmark that was killed")
