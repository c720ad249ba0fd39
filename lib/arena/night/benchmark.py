"""The benchmark: plan the requested sessions, run them, build the site."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from arena.base.errors import FrameworkError, UsageError
from arena.base.progress import Throttle, progress, report_error
from arena.base.text import printable, shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.night.diary import scope_of, to_resume
from arena.night.hosts import FleetOf
from arena.night.night import Job, Publish, measure
from arena.run.plan import Plan, plan_sessions
from arena.run.request import Request
from arena.run.runner import Outcome, Runner, frameworks_of, only_here
from arena.run.runtimes import choose
from arena.what import selection
from arena.what.environment import STANDARD

# The site of many records takes seconds to build.
_BETWEEN_BUILDS_S = 60.0

# What ends the error if records cannot be saved.
_UNSAVED = ", or try without saving: --no-save"


def benchmark(
    workspace: Workspace,
    request: Request,
    environment: Mapping[str, str],
    command: str,
    publish: Publish,
    fleet_of: FleetOf = lambda: None,
) -> int:
    """Measure what was requested; return the exit code. Bad input is refused before any start.

    The site is built at the end, and at most once a minute before that. After an interrupt, the
    next build shows the new records.
    """
    request.require_sense()
    if request.resume and not request.blocks:
        raise UsageError("--resume: is for blocks (add --blocks)")
    fleet, shows = fleet_of(), progress()
    selected = selection.frameworks(workspace, request.selected)
    for broken in selected.broken:
        report_error(str(broken.error))
    plans = plan_sessions(
        workspace, request, environment, selected, fleet.joined if fleet else None
    )
    codes = [(broken.name, FrameworkError.exit_code) for broken in selected.broken]
    selection.warn_of_typos(workspace, frameworks_of(plans), shows)
    for name in filter(environment.get, STANDARD.environment):
        shows.say(f"note: {name} is ignored: under load, servers have the profile's port")
    if request.blocks:
        scope = scope_of(request)
        diary = to_resume(workspace.nights, scope, shows) if request.resume else None
        job = Job(workspace, request, scope, plans, environment, command, diary)
        return max(_worst(codes), measure(job, publish))
    if request.dry_run:
        runtime = choose(request.runtime, workspace, shows, quota=request.server_quota)
        _show(Runner(workspace, request, runtime, shows), plans)
        return _worst(codes)
    pages: list[Path] = []
    with (
        only_here(Runner, workspace, request, plans[0].cpus, command, shows, _UNSAVED) as runner,
        Throttle(lambda: pages.append(publish(workspace, shows)), _BETWEEN_BUILDS_S) as site,
    ):
        sessions = runner.runnable(plans)
        found = runner.find_generators(sessions)

        def ended(outcome: Outcome) -> None:
            codes.append((outcome.plan.title, outcome.code))
            if outcome.saved:
                site.ask()

        runner.run(sessions, found, ended=ended)
    if pages:
        click.echo(f"page: {shown(pages[-1])}")
    if len(codes) > 1:
        failed = [name for name, code in codes if code]
        which = f": {', '.join(failed)}" if failed else ""
        click.echo(f"{len(codes) - len(failed)} measured, {len(failed)} failed{which}")
    return _worst(codes)


def _worst(codes: Sequence[tuple[str, int]]) -> int:
    return max((code for _, code in codes), default=0)


def _show(runner: Runner, plans: Sequence[Plan]) -> None:
    """Print each session and its command lines."""
    for each in runner.runnable(plans):
        profile = each.profile
        click.echo(
            f"{each.title}: runs: {profile.runs} x {profile.load.run_words}, "
            f"after {format_duration(profile.warmup_s)} of warm-up; {each.cpus}"
        )
        load = each.generator.preview(runner.workspace, each.cpus.generator).info(profile).argv
        for argv in (*runner.runtime.plan(each.framework, each.cpus.server), load):
            click.echo(f"  {printable(shlex.join(argv))}")
