"""The main job: plan the sessions a person asked for, run them one by one, publish."""

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from arena import generators, host, selection
from arena.errors import ArenaError, FrameworkError, HostError, UsageError
from arena.figures import bar_of, figure_words, missed, value_words
from arena.files import printable, shown
from arena.frameworks import Framework
from arena.generators import Generator
from arena.limits import allow_open_files
from arena.processes import adopt_orphans, end_leftovers
from arena.profiles import Kind, Profile, with_requests
from arena.progress import Progress, progress
from arena.records import Draft, Record, clear_drafts, measured_profile
from arena.runtimes import Runtime, choose, require_known
from arena.session import Plan, Session
from arena.site.build import build as publish
from arena.units import format_duration
from arena.workspace import Workspace

# What may be overridden from the environment, beside the flags' own variables.
_ENVIRONMENT = (
    "GHZ", "GHZ_IMAGE", "H2LOAD", "H2LOAD_IMAGE", "VOLLEY", "VOLLEY_IMAGE", "LOADGEN_DOCKER",
    "SERVER_CPUS", "LOADGEN_CPUS",
)  # fmt: skip

# The overrides that only some kinds of load know.
_ONLY_FOR: Mapping[str, frozenset[Kind]] = {
    "DURATION": frozenset({"closed", "blast"}),
    "REQUESTS": frozenset({"scheduled", "blast"}),
}

# Who goes on after a session that the host could not measure stops after so many frameworks.
_IN_A_ROW = 3


@dataclass(frozen=True)
class Request:
    """What a person asked for on the command line; None where they left it to the profile."""

    framework: str
    profiles: tuple[str, ...] = ()
    runs: int | None = None
    duration: float | None = None
    requests: int | None = None
    runtime: str = "auto"
    generator: str | None = None
    ready_timeout: float = 60.0
    wait: bool = False
    dry_run: bool = False
    no_save: bool = False


def benchmark(
    workspace: Workspace, request: Request, environment: Mapping[str, str], command: str
) -> int:
    """Do what was asked; return the exit code. Bad input is refused before anything starts."""
    shows = progress()
    selected = selection.frameworks(workspace, request.framework)
    for broken in selected.broken:
        click.echo(f"error: {printable(str(broken.error))}", err=True)
    plans = plan(workspace, request, environment, selected.frameworks)
    codes = [(broken.name, FrameworkError.exit_code) for broken in selected.broken]
    for framework in {each.framework.name: each.framework for each in plans}.values():
        selection.warn_of_typos(workspace, framework, shows)
    if request.dry_run:
        _show(workspace, request, plans, environment, shows)
        return _worst(codes)
    with only_here(workspace, request, command, shows) as runtime:
        sessions = runnable(plans, runtime, shows)
        found = find_generators(workspace, sessions, environment, shows)

        def ended(outcome: Outcome) -> None:
            codes.append((outcome.plan.title, outcome.code))
            if outcome.saved:
                click.echo(f"page: {shown(publish(workspace, shows))}")

        run_plans(workspace, request, sessions, runtime, found, shows, ended=ended)
    if len(codes) > 1:
        failed = [name for name, code in codes if code]
        which = f": {', '.join(failed)}" if failed else ""
        click.echo(f"{len(codes) - len(failed)} measured, {len(failed)} failed{which}")
    return _worst(codes)


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
    """Have the host to ourselves for the block, and ready for sessions; yield the runtime.

    HostError if it is not: another benchmark runs, records cannot be saved, there is no Docker.
    """
    adopt_orphans()
    allow_open_files()
    with host.only_benchmark(command, wait=request.wait, say=shows.say):
        clear_drafts(workspace.results)
        with Draft(_drafts(workspace, request)):
            pass  # Better to learn now than after an hour that nothing can be saved.
        runtime = choose(request.runtime, workspace, shows)
        remove_leftovers(runtime, shows)
        yield runtime


def _drafts(workspace: Workspace, request: Request) -> Path:
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
    """Run one session after the other, those that `may_begin`, and tell `ended` of each.

    One whose generator was not found has failed. What is no failure of a stage, such as a port
    that is taken, ends them all; if it `goes_on`, only the one session, unless it is the host that
    fails, for three frameworks in a row. Return the sessions that had no turn.
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
            with Draft(_drafts(workspace, request)) as draft:
                outcome = _one(workspace, request, each, runtime, generator, draft, shows)
        except Exception as error:  # whatever one session runs into, the others may not
            if not goes_on or os.environ.get("ARENA_DEBUG"):
                raise
            what = (
                str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
            )
            click.echo(f"error: {each.title}: {printable(what)}", err=True)
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

    One that cannot be had is said, and its plans are not measured; HostError if there are no
    others.
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
        click.echo(f"error: {printable(str(reason))}", err=True)
    return found


def _worst(codes: Sequence[tuple[str, int]]) -> int:
    return max((code for _, code in codes), default=0)


def plan(
    workspace: Workspace,
    request: Request,
    environment: Mapping[str, str],
    frameworks: Sequence[Framework],
) -> list[Plan]:
    """Return the sessions to run: framework x profile x connections. UsageError on bad input.

    Of `all`, those that are disabled are left out.
    """
    of_all = request.framework == selection.ALL
    require_known(request.runtime)
    cpus = host.plan_cpus(host.physical_cores(), environment)
    overrides = _overrides(request, environment)
    plans = [
        Plan(
            framework,
            measured_profile(profile, connections),
            cpus,
            request.ready_timeout,
            _in_force(overrides, profile),
        )
        for framework in frameworks
        if framework.enabled or not of_all
        for found in selection.profiles(workspace, framework, request.profiles, of_all=of_all)
        for profile in [_overridden(found, workspace, request)]
        for connections in profile.record_connections
    ]
    generators.check((each.profile for each in plans), environment)
    if not plans:
        wanted = ", ".join(f"`{each}`" for each in request.profiles) or "any profile"
        raise UsageError(f"no enabled framework subscribes to {wanted}")
    for name in _ONLY_FOR.keys() & overrides.keys():
        if not any(name in each.overrides for each in plans):
            kinds = " and ".join(sorted(_ONLY_FOR[name]))
            flag = f"{name} (--{name.lower()})"
            raise UsageError(f"{flag}: is for {kinds} loads, and none of these is one")
    return plans


def _overridden(profile: Profile, workspace: Workspace, request: Request) -> Profile:
    if request.requests is not None and profile.kind in _ONLY_FOR["REQUESTS"]:
        profile = with_requests(profile, request.requests)
    changes: dict[str, object] = {}
    if request.runs is not None:
        changes["runs"] = request.runs
    if request.duration is not None and profile.kind in _ONLY_FOR["DURATION"]:
        changes["duration_s"] = request.duration
    if request.generator is not None:
        generators.require_known(request.generator, "--generator")
        changes["generator"] = request.generator
    else:
        path = workspace.profiles / f"{profile.name}.yaml"
        generators.require_known(profile.generator, f"{shown(path)}: generator")
    return profile.model_copy(update=changes)


def _in_force(overrides: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """Return the overrides that change this profile's load."""
    return {
        name: value
        for name, value in overrides.items()
        if profile.kind in _ONLY_FOR.get(name, frozenset({profile.kind}))
    }


def _overrides(request: Request, environment: Mapping[str, str]) -> dict[str, str]:
    """Return every override in force, by the name it goes by in the environment."""
    found = {name: environment[name] for name in _ENVIRONMENT if environment.get(name)}
    if request.runs is not None:
        found["RUNS"] = str(request.runs)
    if request.duration is not None:
        found["DURATION"] = format_duration(request.duration)
    if request.requests is not None:
        found["REQUESTS"] = str(request.requests)
    if request.runtime != "auto":
        found["RUNTIME"] = request.runtime
    if request.generator is not None:
        found["GENERATOR"] = request.generator
    for name, value in found.items():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{name}: is not UTF-8 text") from error
    return found


def runnable(
    plans: Sequence[Plan],
    runtime: Runtime,
    shows: Progress,
    skipped: Callable[[Plan], None] = lambda _: None,
) -> list[Plan]:
    """Return what this host can run; the rest is said, and told. HostError if that is all."""
    frameworks = {each.framework.name: each.framework for each in plans}
    problems = {
        name: problem
        for name, framework in frameworks.items()
        if (problem := runtime.unavailable(framework))
    }
    if len(problems) == len(frameworks) == 1:
        raise HostError(*problems.values())
    for name, problem in problems.items():
        shows.say(f"skipped {name}: {problem}")
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
        click.echo(f"error: {each.framework.name}: {printable(str(error))}", err=True)
    else:
        click.echo(_headline(record))
        for note in _notes(record):
            shows.say(f"note: {note}")
    if saved:
        if record.failure and record.failure.log:
            click.echo(f"log: {shown(workspace.results / record.failure.log)}")
        click.echo(f"record: {shown(saved)}")
    return Outcome(each, error.exit_code if error else 0, saved)


def _length(profile: Profile) -> str:
    """Say how long a run takes."""
    if profile.kind == "scheduled":
        return f"{profile.requests} requests in {profile.window_s:.1f} s"
    most = "at most " if profile.kind == "blast" else ""
    return most + format_duration(profile.window_s)


def _headline(record: Record) -> str:
    """Say the result in a line, with what a reader must know before trusting it."""
    headline, spread = record.headline, record.spread
    if headline is None or spread is None:
        raise ValueError("a good record has a headline")
    profile = record.profile
    figure = figure_words(profile.metric, headline.value, headline.high, record.flags)
    middle = ""
    if len(record.runs) > 1:
        known = spread.median
        middle = f"median {value_words(profile.metric, known, 0) if known else 'unknown'}"
    bar = bar_of(profile.metric, profile.kind, headline.low, headline.high)
    flags = ", ".join(record.flags)
    how = "; ".join(part for part in (headline.rule, bar, middle, flags) if part)
    return f"{record.framework.name} {profile.label}: {figure} ({how})"


def _notes(record: Record) -> Iterator[str]:
    """Say why a good record has no rank."""
    if "missed-schedule" in record.flags and record.headline:
        seconds = record.runs[record.headline.run - 1].seconds
        count = f"{sum(map(missed, seconds))} of {len(seconds)} seconds"
        yield f"{count} had other calls than were due, so this is not the schedule and has no rank"
    if "cut-short" in record.flags:
        yield "the sweep ran out of time before each point had enough shots, so it has no rank"


def remove_leftovers(runtime: Runtime, shows: Progress) -> None:
    """Remove what a benchmark that was killed left running; call it with the host's lock held."""
    for what in end_leftovers():
        shows.say(f"ended {what[:120]}, left behind by a benchmark that was killed")
    if runtime.name != "docker":
        return
    from arena.runtimes import docker

    for name in docker.remove_leftovers():
        shows.say(f"removed the container {name}, left behind by a benchmark that was killed")


def _show(
    workspace: Workspace,
    request: Request,
    plans: list[Plan],
    environment: Mapping[str, str],
    shows: Progress,
) -> None:
    """Print what would be done, with the very command lines."""
    runtime = choose(request.runtime, workspace, shows)
    for each in runnable(plans, runtime, shows):
        profile = each.profile
        click.echo(
            f"{each.title}: runs: {profile.runs} x {_length(profile)}, "
            f"after {format_duration(profile.warmup_s)} of warm-up; {each.cpus}"
        )
        load = generators.preview(profile, workspace, environment, each.cpus.generator)
        for argv in (*runtime.plan(each.framework, each.cpus.server), load):
            click.echo(f"  {printable(shlex.join(argv))}")
