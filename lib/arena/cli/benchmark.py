"""The benchmark verb: plan what was asked for, run it, publish."""

import shlex
from collections.abc import Mapping, Sequence

import click

from arena.base.durations import format_duration
from arena.base.errors import FrameworkError
from arena.base.progress import Progress, progress
from arena.base.text import printable, shown
from arena.base.workspace import Workspace
from arena.measure import generators
from arena.measure.plan import Plan, Request, plan_sessions
from arena.measure.runner import Outcome, find_generators, only_here, run_plans, runnable
from arena.measure.runtimes import choose
from arena.publish.site.build import build as publish
from arena.what import selection


def benchmark(
    workspace: Workspace, request: Request, environment: Mapping[str, str], command: str
) -> int:
    """Do what was asked; return the exit code. Bad input is refused before anything starts."""
    shows = progress()
    selected = selection.frameworks(workspace, request.framework)
    for broken in selected.broken:
        click.echo(f"error: {printable(str(broken.error))}", err=True)
    plans = plan_sessions(workspace, request, environment, selected.frameworks)
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


def _worst(codes: Sequence[tuple[str, int]]) -> int:
    return max((code for _, code in codes), default=0)


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
            f"{each.title}: runs: {profile.runs} x {profile.load.run_words}, "
            f"after {format_duration(profile.warmup_s)} of warm-up; {each.cpus}"
        )
        load = generators.preview(profile, workspace, environment, each.cpus.generator)
        for argv in (*runtime.plan(each.framework, each.cpus.server), load):
            click.echo(f"  {printable(shlex.join(argv))}")
