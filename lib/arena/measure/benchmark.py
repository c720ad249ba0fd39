"""The benchmark: plan the requested sessions, run them, build the site."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from arena.base.durations import format_duration
from arena.base.errors import FrameworkError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import printable, shown
from arena.base.throttle import Throttle
from arena.base.workspace import Workspace
from arena.measure.plan import Plan, RunOptions, plan_sessions
from arena.measure.runner import Outcome, Runner, frameworks_of, only_here
from arena.measure.runtimes import choose
from arena.what import selection

# The site of many records takes seconds to build.
_BETWEEN_BUILDS_S = 60.0


def benchmark(
    workspace: Workspace,
    options: RunOptions,
    environment: Mapping[str, str],
    command: str,
    publish: Callable[[Workspace, Progress], Path],
) -> int:
    """Measure what was requested; return the exit code. Bad input is refused before any start.

    The site is built at the end, and at most once a minute before that. After an interrupt, the
    next build shows the new records.
    """
    shows = progress()
    selected = selection.frameworks(workspace, options.frameworks)
    for broken in selected.broken:
        report_error(str(broken.error))
    plans = plan_sessions(workspace, options, environment, selected)
    codes = [(broken.name, FrameworkError.exit_code) for broken in selected.broken]
    selection.warn_of_typos(workspace, frameworks_of(plans), shows)
    if options.dry_run:
        runtime = choose(options.runtime, workspace, shows)
        _show(Runner(workspace, options, runtime, shows), plans)
        return _worst(codes)
    pages: list[Path] = []
    with (
        only_here(workspace, options, command, shows) as runner,
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
