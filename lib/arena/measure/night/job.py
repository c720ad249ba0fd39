"""The night: choose what to measure, measure what fits the budget, build the site at the end."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.base.durations import format_duration
from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.judge.cache import Cache
from arena.machine.cpus import CpuPlan
from arena.measure import plan as planning
from arena.measure.blocks.asked import BlockOptions
from arena.measure.blocks.engine import ends_here
from arena.measure.blocks.job import Request, measure_in_blocks
from arena.measure.generators import Generator
from arena.measure.generators.find import Located
from arena.measure.night.diary import Diary, Scope, close_others, to_resume, unresumable
from arena.measure.night.history import History, in_order
from arena.measure.night.tally import Fate, Tally
from arena.measure.plan import Plan
from arena.measure.racks.runner import AnyRunner, RackRunner, class_of_racks
from arena.measure.runner import Outcome, Runner, frameworks_of, only_here
from arena.measure.runtimes import choose
from arena.record.times import utc_now
from arena.what import selection
from arena.what.framework import source_sha256
from arena.what.overrides import FLEET_GENERATOR, TRIAL
from arena.what.selection import Selection

if TYPE_CHECKING:
    from arena.measure.fleet.racks import Racks

Clock = Callable[[], float]

# How far a rack may be off its class, in percent, unless told otherwise.
QUARANTINE = 2.0


@dataclass(frozen=True)
class NightOptions:
    """The command line's options; `budget` is in seconds, None for no limit.

    `quarantine` is how far a rack may be off its class, in percent; None for the usual limit.
    """

    frameworks: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    connections: tuple[int, ...] = ()
    only_changed: bool = False
    resume: bool = False
    budget: float | None = None
    runtime: str = "auto"
    generator: str | None = None
    fleet: str | None = None
    host_class: str | None = None
    quarantine: float | None = None
    wait: bool = False
    dry_run: bool = False
    blocks: BlockOptions = field(default_factory=BlockOptions)

    @property
    def scope(self) -> Scope:
        """The requested scope of the night."""
        named = set() if selection.ALL in self.frameworks else set(self.frameworks)
        return Scope(
            frameworks=tuple(sorted(named)),
            profiles=tuple(sorted(set(self.profiles))),
            connections=self.connections,
            generator=FLEET_GENERATOR if self.fleet else self.generator,
            only_changed=self.only_changed,
            blocks=self.blocks.blocks,
            seed=self.blocks.seed,
            twins=self.blocks.twin,
        )


def night(
    workspace: Workspace,
    options: NightOptions,
    environment: Mapping[str, str],
    command: str,
    publish: Callable[[Workspace, Progress], Path],
    clock: Clock = time.monotonic,
) -> int:
    """Measure what was requested; return the exit code. Bad input is refused before any start."""
    shows = progress()
    _refuse_trials(environment)
    options.blocks.require_sense(
        {"--only-changed": options.only_changed and "a block measures all frameworks"},
        resumes=options.resume,
    )
    diary = to_resume(workspace.nights, options.scope, shows) if options.resume else None
    scope, tally = diary.scope if diary else options.scope, Tally()
    racks = _racks(workspace, options, environment, shows)
    away = racks.generator if racks else None
    try:
        sessions, plans = _plans(workspace, options, scope, environment, tally, shows, away)
    except UsageError as error:
        if scope == options.scope:
            raise
        raise unresumable(f"that night cannot be resumed: {error}") from error
    selection.warn_of_typos(workspace, frameworks_of(plans), shows)
    at_racks = _at_racks(workspace, options, sessions, plans, racks, shows) if racks else None
    if scope.blocks:
        asked = replace(
            options.blocks,
            blocks=scope.blocks,
            seed=scope.seed,
            twin=scope.twins,
            block_warm_up=scope.warm_up_s,
        )
        return measure_in_blocks(
            Request(
                workspace, scope, asked, sessions, plans, environment, command, diary,
                options.budget, clock, tally, at_racks,
            ),
            publish,
        )  # fmt: skip
    if options.dry_run:
        here: AnyRunner = at_racks or Runner(
            workspace, sessions, choose(options.runtime, workspace, shows), shows
        )
        history = _history(workspace, plans, here, environment, {})
        runnable = _runnable(here, plans, tally)
        ordered = _in_turn(workspace, scope, runnable, history, diary, tally)
        _show(ordered, options.budget, history, tally)
        return tally.code
    place: AbstractContextManager[AnyRunner] = (
        at_racks.only_night(command) if at_racks else only_here(workspace, sessions, command, shows)
    )
    with place as runner:
        diary = diary and diary.as_it_is(shows)
        if diary is None:
            close_others(workspace, scope, shows)
        runnable = _runnable(runner, plans, tally)
        found = runner.find_generators(runnable)
        began = clock()  # The build of a generator does not count: it happens once.
        history = _history(workspace, plans, runner, environment, found)
        ordered = _in_turn(workspace, scope, runnable, history, diary, tally)
        book = diary or Diary.new(workspace.nights, utc_now(), scope)

        def may_begin(plan: Plan) -> bool:
            left_s = None if options.budget is None else options.budget - (clock() - began)
            if not _fits(plan, left_s, history, tally):
                return False
            book.begin(plan.title)
            return True

        def ended(outcome: Outcome) -> None:
            fate: Fate = "failed" if outcome.code else "measured"
            tally.add(outcome.plan.framework.name, outcome.plan.profile.label, fate, outcome.code)

        left = runner.run(ordered, found, may_begin=may_begin, ended=ended, goes_on=True)
        _end(book, left, tally, runner.cannot, workspace, shows)
        tally.code = max(tally.code, runner.code)
        for line in (*tally.table(), *tally.notes()):
            click.echo(line)
        page = publish(workspace, shows)
    click.echo(f"page: {shown(page)}")
    return tally.code


def _racks(
    workspace: Workspace,
    options: NightOptions,
    environment: Mapping[str, str],
    shows: Progress,
) -> "Racks | None":
    """Return the racks of the fleet; None if the server runs here.

    UsageError for options of racks if there are none.
    """
    found = None
    if options.fleet is not None:
        planning.require_fleets(options.generator, environment)
        from arena.measure.fleet.racks import find_racks

        found = find_racks(workspace, options.fleet, options.host_class, shows)
    of_racks = {"--class": options.host_class, "--quarantine": options.quarantine}
    for name, value in of_racks.items():
        if value is not None and not found:
            raise UsageError(f"{name}: is for a fleet with racks")
    return found


def _at_racks(
    workspace: Workspace,
    options: NightOptions,
    sessions: planning.RunOptions,
    plans: Sequence[Plan],
    racks: "Racks",
    shows: Progress,
) -> RackRunner:
    """Return what runs the sessions on those racks that can make one night together."""
    measured = frameworks_of(plans)
    fit, offers = class_of_racks(racks.racks, measured, workspace, options.runtime, shows)
    percent = QUARANTINE if options.quarantine is None else options.quarantine
    return RackRunner(workspace, sessions, shows, fit, offers, percent / 100)


def _end(
    book: Diary,
    left: Sequence[Plan],
    tally: Tally,
    cannot: str,
    workspace: Workspace,
    shows: Progress,
) -> None:
    """End the night; it can be resumed if the host cut it short and sessions are `left`."""
    if not left:
        book.close(workspace, shows)
        return
    for plan in left:
        tally.add(plan.framework.name, plan.profile.label, "left")
    report_error(ends_here(cannot, "--resume continues it"))
    tally.code = max(tally.code, HostError.exit_code)


def _refuse_trials(environment: Mapping[str, str]) -> None:
    # CONNECTIONS only selects among a profile's counts here.
    for name in sorted(TRIAL.keys() - {"CONNECTIONS"}):
        if environment.get(name):
            raise UsageError(f"{name}: makes trials, but a night makes full records (unset it)")


def _plans(
    workspace: Workspace,
    options: NightOptions,
    scope: Scope,
    environment: Mapping[str, str],
    tally: Tally,
    shows: Progress,
    rack: tuple[Located, CpuPlan] | None,
) -> tuple[planning.RunOptions, list[Plan]]:
    """Return the options of every session, and the sessions. UsageError on bad input."""
    sessions = planning.RunOptions(
        profiles=scope.profiles,
        runtime=options.runtime,
        duration=scope.duration_s,
        generator=options.generator if options.fleet else scope.generator,
        fleet=options.fleet,
        wait=options.wait,
        dry_run=options.dry_run,
    )
    selected = _frameworks(workspace, scope, tally, shows)
    plans = planning.plan_sessions(workspace, sessions, environment, selected, rack)
    if scope.profiles:
        unplanned = {*scope.frameworks} - {plan.framework.name for plan in plans}
        for each in selected.frameworks:
            if each.enabled and each.name in unplanned:
                profiles = ", ".join(scope.profiles)
                shows.say(f"skipped {each.name}: it does not subscribe to {profiles}")
    if scope.connections:
        plans = [each for each in plans if each.profile.connection_count in scope.connections]
    if not plans:
        raise UsageError("--connections: no profile that is left has such a count")
    return sessions, plans


def _frameworks(workspace: Workspace, scope: Scope, tally: Tally, shows: Progress) -> Selection:
    """Return the frameworks of the night's patterns; report and count the broken ones."""
    selected = selection.frameworks(workspace, ",".join(scope.frameworks) or selection.ALL)
    for broken in selected.broken:
        report_error(str(broken.error))
        tally.add(broken.name, "meta.json", "failed", FrameworkError.exit_code)
    for framework in selected.frameworks:
        if framework.name in selected.named and not framework.enabled:
            shows.say(f"skipped {framework.name}: its meta.json says `enabled`: false")
    return replace(selected, named=frozenset())


def _runnable(runner: AnyRunner, plans: Sequence[Plan], tally: Tally) -> list[Plan]:
    """Return the plans that this host can run; count the others as skipped."""

    def skipped(plan: Plan) -> None:
        tally.add(plan.framework.name, plan.profile.label, "skipped")

    return runner.runnable(plans, skipped)


def _history(
    workspace: Workspace,
    plans: Sequence[Plan],
    runner: AnyRunner,
    environment: Mapping[str, str],
    found: Mapping[Located, Generator],
) -> History:
    """Return the past sessions on such hosts; all plans of a night use them in one way."""
    here = runner.host_class(plans[0], environment)
    return History(open_archive(workspace.results, Cache(workspace.cache)), here, found)


def _in_turn(
    workspace: Workspace,
    scope: Scope,
    plans: Sequence[Plan],
    history: History,
    diary: Diary | None,
    tally: Tally,
) -> list[Plan]:
    """Return the plans to measure, in order, and count the others.

    A session comes last if it began in the resumed night, by its `diary`, and has no record: it may
    have killed that night.
    """
    hashes = {
        name: source_sha256(workspace.framework(name))
        for name in {plan.framework.name for plan in plans}
        if scope.only_changed
    }
    todo = []
    for plan in plans:
        name, newest = plan.framework.name, history.newest(plan)
        if diary and newest and newest.started_at >= diary.started_at:
            tally.add_earlier(name, plan.profile.label, is_good=newest.status == "ok")
        elif hashes and history.would_repeat(plan, hashes[name]):
            tally.add(name, plan.profile.label, "unchanged")
        else:
            todo.append(plan)
    begun = diary.begun if diary else frozenset()
    return sorted(in_order(todo, history, utc_now()), key=lambda plan: plan.title in begun)


def _fits(plan: Plan, left_s: float | None, history: History, tally: Tally) -> bool:
    """Return whether a session should end within the remaining time; count it if not."""
    if left_s is None or (left_s > 0 and history.expected_s(plan) <= left_s):
        return True
    tally.add(plan.framework.name, plan.profile.label, "left")
    return False


def _show(ordered: Sequence[Plan], budget_s: float | None, history: History, tally: Tally) -> None:
    """Print the sessions in order, and how long they should take."""
    ahead_s = 0.0
    for plan in ordered:
        if _fits(plan, None if budget_s is None else budget_s - ahead_s, history, tally):
            expected_s = history.expected_s(plan)
            click.echo(f"{plan.title}: about {format_duration(math.ceil(expected_s))}")
            ahead_s += expected_s
    for line in tally.notes():
        click.echo(line)
    minutes = math.ceil(ahead_s / 60)
    click.echo(f"about {minutes} minute{'s' * (minutes != 1)}")
