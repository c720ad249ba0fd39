"""Running planned sessions one by one, on a host of their own."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from arena.base.errors import ArenaError, HostError
from arena.base.progress import Progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.judge.store import Draft, clear_drafts
from arena.machine import lock
from arena.machine.child import adopt_orphans, allow_open_files
from arena.machine.leftovers import end_leftovers
from arena.machine.needs import install_lines
from arena.measure import generators
from arena.measure.announce import headline_line, notes
from arena.measure.generators import Generator
from arena.measure.plan import Plan, Request
from arena.measure.runtimes import Runtime, choose
from arena.measure.session import Session
from arena.what.framework import Framework

# A night ends after this many frameworks in a row that the host could not measure.
_IN_A_ROW = 3


@dataclass(frozen=True)
class Outcome:
    """How one session ended: its exit code, and its record's file, if it has one."""

    plan: Plan
    code: int
    saved: Path | None = None


@contextmanager
def only_here(
    workspace: Workspace, request: Request, command: str, shows: Progress
) -> Iterator[Runtime]:
    """Hold the host's lock for the block, make it ready for sessions, and yield the runtime.

    HostError if another benchmark is running, records cannot be saved or Docker is missing.
    """
    adopt_orphans()
    allow_open_files()
    with lock.only_benchmark(command, wait=request.wait, say=shows.say):
        clear_drafts(workspace.results)
        with Draft(drafts(workspace, request)):
            pass  # Fail now, not after an hour, if nothing can be saved.
        runtime = choose(request.runtime, workspace, shows)
        remove_leftovers(runtime, shows)
        yield runtime


def drafts(workspace: Workspace, request: Request) -> Path:
    """Return the folder for the drafts of sessions."""
    return Path(tempfile.gettempdir()) if request.no_save else workspace.results


def run_plans(
    workspace: Workspace,
    request: Request,
    plans: Sequence[Plan],
    runtime: Runtime,
    found: Mapping[str, Generator],
    shows: Progress,
    *,
    may_begin: Callable[[Plan], bool] = lambda _: True,
    ended: Callable[[Outcome], None],
    goes_on: bool = False,
) -> Sequence[Plan]:
    """Run those sessions that `may_begin`, in order; call `ended` after each.

    A session whose generator was not found has failed. An error that is not a stage's failure,
    such as a port that is taken, ends the whole run. With `goes_on` it ends only its session,
    until the host has failed for three frameworks in a row. Return the sessions that had no turn.
    """
    broken: set[str] = set()
    for number, each in enumerate(plans, 1):
        if not may_begin(each):
            continue
        generator = found.get(each.profile.generator)
        if generator is None:
            ended(Outcome(each, HostError.exit_code))
            continue
        try:
            with Draft(drafts(workspace, request)) as draft:
                outcome = _one(workspace, request, each, runtime, generator, draft, shows)
        except Exception as error:  # A bug in one session must not stop the others.
            if not goes_on or os.environ.get("ARENA_DEBUG"):
                raise
            what = (
                str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
            )
            report_error(f"{each.title}: {what}")
            outcome = Outcome(each, HostError.exit_code)
            if isinstance(error, HostError | OSError):
                broken.add(each.framework.name)
        else:
            broken.clear()
        ended(outcome)
        if len(broken) == _IN_A_ROW:
            return plans[number:]
    return ()


def find_generators(
    workspace: Workspace, plans: Sequence[Plan], environment: Mapping[str, str], shows: Progress
) -> dict[str, Generator]:
    """Find every generator that the plans need, by the name it was asked for.

    A generator that is missing is reported, and its plans are not measured; HostError if all are
    missing.
    """
    found = {}
    missing = []
    for each in {each.profile.generator: each for each in plans}.values():
        cpus = each.cpus.generator
        try:
            generator = generators.resolve(each.profile, workspace, environment, cpus, shows)
            found[each.profile.generator] = generator
        except HostError as error:
            missing.append(error)
    for reason in missing:
        if not found:
            raise reason
        report_error(str(reason))
    return found


def runnable(
    plans: Sequence[Plan],
    runtime: Runtime,
    shows: Progress,
    skipped: Callable[[Plan], None] = lambda _: None,
) -> list[Plan]:
    """Return the plans that this host can run; report the others, and call `skipped` for each.

    HostError if it can run none.
    """
    frameworks = frameworks_of(plans)
    problems = {
        framework.name: problem
        for framework in frameworks
        if (problem := runtime.unavailable(framework))
    }
    if len(problems) == len(frameworks) == 1:
        raise HostError(*(problem.reason for problem in problems.values()))
    for name, problem in problems.items():
        shows.say(f"skipped {name}: {problem.reason}")
    for line in install_lines(need for problem in problems.values() for need in problem.missing):
        shows.say(line)
    if len(problems) == len(frameworks):
        raise HostError("no framework can be run here")
    for each in plans:
        if each.framework.name in problems:
            skipped(each)
    return [each for each in plans if each.framework.name not in problems]


def _one(
    workspace: Workspace,
    request: Request,
    each: Plan,
    runtime: Runtime,
    generator: Generator,
    draft: Draft,
    shows: Progress,
) -> Outcome:
    """Run one session and save its record."""
    shows.say(f"{each.title}, {each.cpus}")
    loaded = each.loaded_by(generator.name)
    info = generator.info(loaded.profile)
    shows.say(f"generator: {info.name} {info.version} (from {info.found})")
    record, error = Session(workspace, loaded, runtime, generator, shows).run(draft)
    saved = None if request.no_save else draft.save(record)
    if error:
        for line in error.output.splitlines():
            shows.say(f"  | {line}")
        report_error(f"{each.framework.name}: {error}")
    else:
        click.echo(headline_line(record))
        for note in notes(record):
            shows.say(f"note: {note}")
    if saved:
        if record.failure and record.failure.log:
            click.echo(f"log: {shown(workspace.results / record.failure.log)}")
        click.echo(f"record: {shown(saved)}")
    return Outcome(each, error.exit_code if error else 0, saved)


def frameworks_of(plans: Sequence[Plan]) -> list[Framework]:
    """Return the frameworks of the plans, each once, in order."""
    return list({plan.framework.name: plan.framework for plan in plans}.values())


def remove_leftovers(runtime: Runtime, shows: Progress) -> None:
    """End and remove what a killed benchmark left running. The host's lock must be held."""
    for what in end_leftovers():
        shows.say(f"ended {what[:120]}, left behind by a benchmark that was killed")
    if runtime.name != "docker":
        return
    from arena.machine import docker

    for name in docker.remove_leftovers():
        shows.say(f"removed the container {name}, left behind by a benchmark that was killed")
