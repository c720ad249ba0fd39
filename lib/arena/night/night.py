"""The night: choose what to measure, measure what fits the budget, build the site at the end.

A night of blocks makes its blocks first, then each load without blocks once. Any other night is
nothing but such loads, those first that tell most.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import filterfalse
from pathlib import Path

import click

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.judge.archive import Archive, open_archive
from arena.judge.cache import Cache
from arena.judge.ranking import RANKED_BLOCKS
from arena.judge.twins import NO_LOOKS, read_book
from arena.judge.verdicts import Verdict
from arena.load.find import Located
from arena.load.generators import Generator
from arena.night.diary import (
    Diary,
    Log,
    NightScope,
    close_others,
    events_in,
    scope_of,
    to_resume,
    unresumable,
)
from arena.night.engine import RESUME, CutShortError, NightRunner, ends_here
from arena.night.expected import Expected
from arena.night.history import History, in_order
from arena.night.hosts import FleetOf, LoadHosts, NightPlace, RackPlace, Racks
from arena.night.planning import (
    at_own_rates,
    by_load,
    last_night_of,
    plan_night,
    problem_of,
    within,
    words_of,
)
from arena.night.schedule import PlannedLoad, PlannedNight, seed_of
from arena.night.table import lines_of, verdicts_of
from arena.night.tally import Fate, Tally
from arena.night.warm_ups import WarmUps, learn
from arena.record.times import utc_now
from arena.run.plan import Away, Plan, plan_sessions
from arena.run.request import Request
from arena.run.runner import Outcome, frameworks_of, only_here
from arena.run.runtimes import choose
from arena.what import selection
from arena.what.environment import TRIAL
from arena.what.framework import source_sha256
from arena.what.loads import Share
from arena.what.selection import Selection

Clock = Callable[[], float]
Publish = Callable[[Workspace, Progress], Path]

# Of a budget, at most this share is kept for the loads without blocks.
_KEPT_SHARE = 0.25


@dataclass(frozen=True)
class Job:
    """A night to measure: what was asked, its scope and its plans.

    With a `diary`, it is the rest of that night. Without `racks`, it is measured on this host.
    """

    workspace: Workspace
    request: Request
    scope: NightScope
    plans: Sequence[Plan]
    environment: Mapping[str, str]
    command: str
    diary: Diary | None = None
    clock: Clock = time.monotonic
    tally: Tally = field(default_factory=Tally)
    racks: RackPlace | None = None


def night(
    workspace: Workspace,
    request: Request,
    environment: Mapping[str, str],
    command: str,
    publish: Publish,
    fleet_of: FleetOf = lambda: None,
    clock: Clock = time.monotonic,
) -> int:
    """Measure what was requested; return the exit code. Bad input is refused before any start."""
    _refuse_trials(environment)
    request.require_sense()
    fleet, shows, tally = fleet_of(), progress(), Tally()
    wanted = scope_of(request)
    diary = to_resume(workspace.nights, wanted, shows) if request.resume else None
    scope = diary.scope if diary else wanted
    racks = _racks(request, fleet)
    away = racks or fleet
    try:
        plans = _plans(workspace, request, scope, environment, tally, away.joined if away else None)
    except UsageError as error:
        if scope == wanted:
            raise
        raise unresumable(f"that night cannot be resumed: {error}") from error
    selection.warn_of_typos(workspace, frameworks_of(plans), shows)
    asked = request.changed(
        blocks=scope.blocks,
        seed=scope.seed,
        twin=scope.twins,
        duration=scope.duration_s,
        block_warm_up=scope.warm_up_s,
        server_quota=scope.server_quota,
    )
    at_racks = racks.runner(workspace, asked, plans, shows) if racks else None
    job = Job(workspace, asked, scope, plans, environment, command, diary, clock, tally, at_racks)
    return measure(job, publish)


def measure(job: Job, publish: Publish) -> int:
    """Measure a night, or the rest of one; return the exit code."""
    shows, workspace, request = progress(), job.workspace, job.request
    if job.scope.blocks:
        if not any(map(_has_blocks, job.plans)):
            raise UsageError("--blocks: is for closed and paced loads, and none of these is one")
        request.twins_of({each.framework.name: each for each in job.plans})
        if job.scope.blocks < RANKED_BLOCKS:
            shows.say(f"with fewer than {RANKED_BLOCKS} blocks there are intervals, but no ranks")
    if request.dry_run:
        quota = request.server_quota
        runtime = partial(choose, request.runtime, workspace, shows, quota=quota)
        where = job.racks or NightRunner(workspace, request, runtime(), shows)
        _Night(_runnable(job, where), where, {}).show()
        return job.tally.code
    with _place(job, shows) as runner:
        if job.diary:
            job = replace(job, diary=job.diary.as_it_is(shows))
        job = _runnable(job, runner)
        found = runner.find_generators(job.plans)
        made = _Night(job, runner.once() if job.scope.blocks else runner, found)
        try:
            made.measure()
        except KeyboardInterrupt:
            shows.say(made.resume)
            raise
        page = publish(workspace, shows)
    click.echo(f"page: {shown(page)}")
    return job.tally.code


def _place(job: Job, shows: Progress) -> AbstractContextManager[NightPlace]:
    """Return what runs the sessions, and holds the lock of where they run."""
    if job.racks:
        return job.racks.only_night(job.command)
    split = job.plans[0].cpus
    return only_here(NightRunner, job.workspace, job.request, split, job.command, shows)


def _has_blocks(plan: Plan) -> bool:
    return plan.profile.load.has_blocks


def _runnable(job: Job, runner: NightPlace) -> Job:
    """Return the job with the plans that can be run, and count the others as skipped."""
    plans = runner.runnable(job.plans)
    names = {plan.framework.name for plan in plans}
    for plan in job.plans:
        if plan.framework.name not in names:
            job.tally.add(plan.framework.name, plan.profile.label, "skipped")
    return replace(job, plans=plans)


class _Night:
    """One night, new or resumed. Its plan is made at once.

    If it cannot be resumed: HostError on a host of another class, else UsageError.
    """

    def __init__(self, job: Job, runner: NightPlace, found: Mapping[Located, Generator]) -> None:
        self._job, self._runner, self._found = job, runner, found
        self._tally, self._shows = job.tally, runner.shows
        for plan in job.plans if found else ():
            if plan.generator not in found:
                self._count(plan, "failed", HostError.exit_code)
        plans = [each for each in job.plans if each.generator in found or not found]
        self._diary = job.diary
        self.id = self._diary.started_at if self._diary else utc_now()
        self._began_s = job.clock()  # The build of a generator does not count: it happens once.
        self._began_on = self._host_class()
        self._history = History(self._archive(), self._began_on, found)
        in_blocks = _has_blocks if job.scope.blocks else (lambda _: False)
        self._plans = by_load(self._at_own_rates([*filter(in_blocks, plans)]))
        self._once = self._in_turn([*filterfalse(in_blocks, plans)])
        self._expected = Expected(self._history, self._plans)
        self._kept_s = min(
            sum(map(self._history.expected_s, self._once)),
            _KEPT_SHARE * (job.request.budget or 0.0),
        )
        self._book = read_book(job.workspace.host) if job.scope.blocks else NO_LOOKS
        self._planned = self._plan() if job.scope.blocks else None
        self._verdicts: dict[str, list[Verdict]] = {}

    @property
    def resume(self) -> str:
        """How the night goes on after it was cut short."""
        return RESUME if self._planned else "--resume continues it"

    @property
    def _loads(self) -> tuple[PlannedLoad, ...]:
        return self._planned.loads if self._planned else ()

    def _archive(self) -> Archive:
        return open_archive(self._job.workspace.results, Cache(self._job.workspace.cache))

    def _host_class(self) -> str:
        """Return the class that the hosts have now; all plans of a night use them in one way."""
        return self._runner.host_class(self._job.plans[0], self._job.environment)

    def _at_own_rates(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return plans with a rate each, and count those without; UsageError if none is left."""
        planned = self._job.diary.planned if self._job.diary else None
        known, unknown = at_own_rates(plans, self._history, planned)
        for plan in unknown:
            self._count(plan, "skipped")
            self._shows.say(
                f"left out: {plan.title}: its rate is a share of what it does under "
                f"{plan.profile.load_as(Share).of}, and no night of blocks has measured that on "
                "this class of hosts"
            )
        if unknown and not known:
            raise UsageError("no load of blocks is left")
        return known

    def _in_turn(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the sessions to make, in order, and count the others.

        A session comes last if it began in the resumed night and has no record: it may have killed
        that night.
        """
        workspace, diary = self._job.workspace, self._diary
        hashes = {
            name: source_sha256(workspace.framework(name))
            for name in {plan.framework.name for plan in plans}
            if self._job.scope.only_changed
        }
        todo = []
        for plan in plans:
            name, newest = plan.framework.name, self._history.newest(plan)
            if diary and newest and newest.started_at >= diary.started_at:
                is_good = newest.status == "ok"
                self._tally.add_earlier(name, plan.profile.label, is_good=is_good)
            elif hashes and self._history.would_repeat(plan, hashes[name]):
                self._count(plan, "unchanged")
            else:
                todo.append(plan)
        begun = diary.begun if diary else frozenset()
        ordered = in_order(todo, self._history, utc_now())
        return sorted(ordered, key=lambda plan: plan.title in begun)

    def _plan(self) -> PlannedNight:
        """Return the plan of the blocks: that of the diary, or a new one."""
        job, request = self._job, self._job.request
        sources = {
            name: source_sha256(job.workspace.framework(name))
            for name in sorted({name for own in self._plans.values() for name in own})
        }
        if self._diary and (resumed := self._diary.planned):
            if resumed.host_class != self._began_on:
                raise HostError(
                    "this host is not of the class that the night began with "
                    f"({resumed.host_class}): measure a new night, without --resume"
                )
            if why := problem_of(resumed, self._plans, sources):
                raise unresumable(f"that night cannot be resumed: {why}")
            return resumed
        seed, warm_ups = seed_of(request.seed or self.id), self._warm_ups()
        night = plan_night(self._plans, request, seed, sources, self._began_on, warm_ups)
        if request.budget is None:
            return night
        return within(
            (request.budget - self._kept_s) * self._runner.width,
            night,
            self._expected,
            last_night_of(self._plans, self._history),
        )

    def show(self) -> None:
        """Print the plan."""
        for line in self._words():
            click.echo(line)
        if self._planned:
            if not (self._diary or self._job.request.seed):
                click.echo("the order is an example: a night without --seed makes its own")
            return
        ahead_s = 0.0
        for plan in self._once:
            if self._fits(plan, ahead_s):
                expected_s = self._history.expected_s(plan)
                click.echo(f"{plan.title}: about {format_duration(math.ceil(expected_s))}")
                ahead_s += expected_s
        for line in self._tally.notes():
            click.echo(line)
        minutes = math.ceil(ahead_s / 60)
        click.echo(f"about {minutes} minute{'s' * (minutes != 1)}")

    def _words(self) -> list[str]:
        """Return the plan of the blocks as lines; none without blocks."""
        if not self._planned:
            return []
        lines = words_of(self._planned, self._plans, self._expected)
        if self._once:
            titles = ", ".join(each.title for each in self._once)
            reach = "" if self._job.request.budget is None else ", as far as the budget goes"
            lines.append(f"loads without blocks, measured once after the others{reach}: {titles}")
        return lines

    def measure(self) -> None:
        """Make the blocks that are left, then the loads without blocks; learn the warm-ups."""
        job, tally = self._job, self._tally
        book = self._diary or Diary.new(job.workspace.nights, self.id, job.scope, self._planned)
        for line in self._words():
            self._shows.say(line)
        log = Log(events_in(book.events), book.append)
        try:
            with book.going_on():
                self._make(log, book)
        except HostError as error:
            how = error.how if isinstance(error, CutShortError) else self.resume
            report_error(ends_here(str(error), how))
            tally.code = max(tally.code, HostError.exit_code)
        tally.code = max(tally.code, self._runner.code)
        self._count_blocks(log)
        for line in (*(() if self._planned else tally.table()), *tally.notes()):
            click.echo(line)

    def _make(self, log: Log, book: Diary) -> None:
        """Measure all, and end the night; HostError if the host cannot go on."""
        if self._planned:
            self._runner.blocks(
                self._found,
                self._host_class,
                shows=self._shows,
                night=self.id,
                planned=self._planned,
                plans=self._plans,
                log=log,
                expected=self._expected,
                quiet_wait_s=self._job.request.quiet_wait_s,
                left_s=lambda: self._left_s() - self._kept_s,
                load_ended=lambda load: self._judge(load, log),
            ).run()
        left = self._measure_once(book)
        for plan in left:
            self._count(plan, "left")
        if left:
            raise HostError(self._runner.cannot)
        if self._planned:
            self._learn(self._planned)
        close_others(self._job.workspace, book, self._shows)
        book.close(self._job.workspace, self._shows)

    def _left_s(self) -> float:
        budget_s = self._job.request.budget
        return math.inf if budget_s is None else budget_s - (self._job.clock() - self._began_s)

    def _fits(self, plan: Plan, ahead_s: float = 0.0) -> bool:
        """Return whether a session should end within the budget; count it if not."""
        left_s = self._left_s() - ahead_s
        if left_s > 0 and self._history.expected_s(plan) <= left_s:
            return True
        self._count(plan, "left")
        return False

    def _measure_once(self, book: Diary) -> Sequence[Plan]:
        """Measure the loads that have no blocks; return those that the host cannot measure."""

        def may_begin(plan: Plan) -> bool:
            if not self._fits(plan):
                return False
            book.begin(plan.title)
            return True

        def ended(outcome: Outcome) -> None:
            self._count(outcome.plan, "failed" if outcome.code else "measured", outcome.code)

        return self._runner.run(
            self._once, self._found, may_begin=may_begin, ended=ended, goes_on=True
        )

    def _judge(self, load: PlannedLoad, log: Log) -> None:
        """Judge a load whose blocks have all ended, and show it."""
        verdicts = verdicts_of(self._archive(), self._book, self.id, load, self._began_on)
        self._verdicts[load.load] = verdicts
        metric = next(iter(self._plans[load.load].values())).profile.metric
        for line in lines_of(verdicts, load, metric, log):
            click.echo(line)

    def _learn(self, planned: PlannedNight) -> None:
        """Set the warm-ups of the next nights; trials teach nothing."""
        if any(not TRIAL.keys().isdisjoint(each.overrides) for each in self._job.plans):
            return
        warm_ups = self._warm_ups()
        if self._job.scope.warm_up_s is not None or warm_ups.is_broken:
            return
        for load in planned.loads:
            verdicts = self._verdicts[load.load]
            for line in learn(self.id, planned, load, verdicts, warm_ups, utc_now()):
                self._shows.say(line)
        try:
            warm_ups.save()
        except HostError as error:
            self._shows.say(f"warning: {error}: the next night has the warm-ups of this one")

    def _warm_ups(self) -> WarmUps:
        return WarmUps.read(self._job.workspace.host / "warm-ups.json", self._shows)

    def _count_blocks(self, log: Log) -> None:
        """Count what was measured in blocks, and what was left out of them."""
        for load in self._loads:
            for name, plan in self._plans[load.load].items():
                dropped = log.dropped[load.load].get(name)
                fate: Fate = "failed" if dropped else "measured"
                self._count(plan, fate, dropped.code if dropped else 0)
        left_out = self._planned.left_out if self._planned else {}
        for name in left_out.keys() - {each.load for each in self._loads}:
            for plan in self._plans.get(name, {}).values():
                self._count(plan, "left")

    def _count(self, plan: Plan, fate: Fate, code: int = 0) -> None:
        self._tally.add(plan.framework.name, plan.profile.label, fate, code)


def _racks(request: Request, fleet: LoadHosts | None) -> Racks | None:
    """Return the racks of the fleet; None if the server runs here.

    UsageError for options of racks if there are none.
    """
    found = fleet.racks() if fleet else None
    of_racks = {"--class": request.host_class, "--quarantine": request.quarantine}
    for name, value in of_racks.items():
        if value is not None and not found:
            raise UsageError(f"{name}: is for a fleet with racks")
    return found


def _refuse_trials(environment: Mapping[str, str]) -> None:
    # CONNECTIONS only selects among a profile's counts here.
    for name in sorted(TRIAL.keys() - {"CONNECTIONS"}):
        if environment.get(name):
            raise UsageError(f"{name}: makes trials, but a night makes full records (unset it)")


def _plans(
    workspace: Workspace,
    request: Request,
    scope: NightScope,
    environment: Mapping[str, str],
    tally: Tally,
    away: Callable[[], Away] | None,
) -> list[Plan]:
    """Return the sessions of a night's scope. UsageError on bad input."""
    shows = progress()
    asked = request.changed(
        profiles=scope.profiles,
        connections=None,
        duration=scope.duration_s,
        generator=request.generator if away else scope.generator,
        server_quota=scope.server_quota,
    )
    selected = _frameworks(workspace, scope, tally, shows)
    plans = plan_sessions(workspace, asked, environment, selected, away)
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
    return plans


def _frameworks(
    workspace: Workspace, scope: NightScope, tally: Tally, shows: Progress
) -> Selection:
    """Return the frameworks of the night's patterns; report and count the broken ones."""
    selected = selection.frameworks(workspace, ",".join(scope.frameworks) or selection.ALL)
    for broken in selected.broken:
        report_error(str(broken.error))
        tally.add(broken.name, "meta.json", "failed", FrameworkError.exit_code)
    for framework in selected.frameworks:
        if framework.name in selected.named and not framework.enabled:
            shows.say(f"skipped {framework.name}: its meta.json says `enabled`: false")
    return replace(selected, named=frozenset())
