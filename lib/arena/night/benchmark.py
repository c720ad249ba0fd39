"""The benchmark: plan the requested sessions, run them, build the site."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from arena.base.durations import format_duration
from arena.base.errors import FrameworkError, UsageError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import printable, shown
from arena.base.throttle import Throttle
from arena.base.workspace import Workspace
from arena.night.blocks import Request, measure_in_blocks
from arena.night.diary import Diary, Scope, to_resume
from arena.run.plan import Plan, RunOptions, plan_sessions
from arena.run.runner import Outcome, Runner, frameworks_of, only_here
from arena.run.runtimes import choose
from arena.what import selection
from arena.what.ports import STANDARD

# The site of many records takes seconds to build.
_BETWEEN_BUILDS_S = 60.0

# What ends the error if records cannot be saved.
_UNSAVED = ", or try without saving: --no-save"


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
    _require_sense(options)
    shows = progress()
    selected = selection.frameworks(workspace, options.frameworks)
    for broken in selected.broken:
        report_error(str(broken.error))
    plans = plan_sessions(workspace, options, environment, selected)
    codes = [(broken.name, FrameworkError.exit_code) for broken in selected.broken]
    selection.warn_of_typos(workspace, frameworks_of(plans), shows)
    for name in filter(environment.get, STANDARD.environment):
        shows.say(f"note: {name} is ignored: under load, servers have the profile's port")
    if options.blocks.blocks:
        scope = _scope(options)
        diary = to_resume(workspace.nights, scope, shows) if options.resume else None
        if options.night:
            diary = Diary.read(workspace.nights / f"{options.night}.jsonl")
        blocks = options.blocks
        asked = Request(workspace, scope, blocks, options, plans, environment, command, diary)
        return max(_worst(codes), measure_in_blocks(asked, publish))
    if options.dry_run:
        runtime = choose(options.runtime, workspace, shows)
        _show(Runner(workspace, options, runtime, shows), plans)
        return _worst(codes)
    pages: list[Path] = []
    with (
        only_here(workspace, options, command, shows, _UNSAVED) as runner,
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


def _require_sense(options: RunOptions) -> None:
    """Raise UsageError if options contradict each other."""
    unfit = {
        "--runs": options.runs
        and "a visit makes one run; in the first block, it makes the profile's",
        "--no-save": options.no_save and "blocks are made of records",
    }
    options.blocks.require_sense(unfit, is_trial=options.duration is not None)
    if options.resume and not options.blocks.blocks:
        raise UsageError("--resume: is for blocks (add --blocks)")


def _scope(options: RunOptions) -> Scope:
    """Return what makes two nights of blocks the same, so that one can be resumed."""
    asked = options.blocks
    words = {word for word in options.frameworks.split(",") if word}
    return Scope(
        frameworks=tuple(sorted(words - {selection.ALL})),
        profiles=tuple(sorted(set(options.profiles))),
        connections=options.connections or (),
        generator=options.made_by,
        blocks=asked.blocks,
        seed=asked.seed,
        twins=asked.twin,
        duration_s=options.duration,
        warm_up_s=asked.block_warm_up,
    )


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
