"""A night of blocks: plan it or resume it, make its blocks, then what is measured only once."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.judge.archive import Archive, open_archive
from arena.judge.cache import Cache
from arena.judge.entry import Entry
from arena.judge.nights import Verdict
from arena.judge.twins import read_book
from arena.measure.blocks.asked import BlockOptions, warn_of_few
from arena.measure.blocks.engine import RESUME, Blocks, CutShortError, Engine, ends_here
from arena.measure.blocks.expected import Expected
from arena.measure.blocks.learning import learn
from arena.measure.blocks.log import Log
from arena.measure.blocks.order import seed_of
from arena.measure.blocks.planned import PlannedLoad, PlannedNight
from arena.measure.blocks.planning import (
    by_load,
    last_night_of,
    plan_night,
    problem_of,
    within,
    words_of,
)
from arena.measure.blocks.table import lines_of, verdicts_of
from arena.measure.blocks.warm_ups import WarmUps
from arena.measure.generators import Generator
from arena.measure.generators.find import Located
from arena.measure.night.diary import Diary, Scope, close_others, unresumable
from arena.measure.night.history import History
from arena.measure.night.tally import Fate, Tally
from arena.measure.plan import Plan, RunOptions
from arena.measure.racks.blocks import RackBlocks
from arena.measure.racks.runner import AnyRunner, RackRunner
from arena.measure.runner import Outcome, Runner, only_here
from arena.measure.runtimes import choose
from arena.record.times import utc_now
from arena.what.framework import source_sha256
from arena.what.overrides import TRIAL

# Of a budget, at most this share is kept for the loads without blocks.
_KEPT_SHARE = 0.25


@dataclass(frozen=True)
class Request:
    """A night of blocks: its scope and plans, and how they are measured.

    With a `diary`, it is the rest of that night. `budget_s` is None for no limit. Without `racks`,
    it is measured on this host.
    """

    workspace: Workspace
    scope: Scope
    options: BlockOptions
    sessions: RunOptions
    plans: Sequence[Plan]
    environment: Mapping[str, str]
    command: str
    diary: Diary | None = None
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    tally: Tally = field(default_factory=Tally)
    racks: RackRunner | None = None


def measure_in_blocks(asked: Request, publish: Callable[[Workspace, Progress], Path]) -> int:
    """Measure a night of blocks, or the rest of one; return the exit code."""
    shows, workspace, sessions = progress(), asked.workspace, asked.sessions
    if not any(_has_blocks(each) for each in asked.plans):
        raise UsageError("--blocks: is for closed loads, and none of these is one")
    asked.options.twins_of({each.framework.name: each for each in asked.plans})
    warn_of_few(asked.scope.blocks or 1, shows)
    if sessions.dry_run:
        runner = asked.racks or Runner(
            workspace, sessions, choose(sessions.runtime, workspace, shows), shows
        )
        _Night(asked, runner, {}).show()
        return asked.tally.code
    with _place(asked, shows) as runner:
        if asked.diary:
            asked = replace(asked, diary=asked.diary.as_it_is(shows))
        if not asked.diary:
            close_others(workspace, asked.scope, shows)
        found = runner.find_generators(asked.plans)
        night = _Night(asked, runner.once(), found)
        try:
            night.measure()
        except KeyboardInterrupt:
            shows.say(RESUME)
            raise
        page = publish(workspace, shows)
    click.echo(f"page: {shown(page)}")
    return asked.tally.code


def _place(asked: Request, shows: Progress) -> AbstractContextManager[AnyRunner]:
    """Return what runs the sessions, and holds the lock of where they run."""
    if asked.racks:
        return asked.racks.only_night(asked.command)
    return only_here(asked.workspace, asked.sessions, asked.command, shows)


def _has_blocks(plan: Plan) -> bool:
    return plan.profile.load.keeps_in_flight


class _Night:
    """One night, new or resumed. Its plan is made at once.

    If it cannot be resumed: HostError on a host of another class, else UsageError.
    """

    def __init__(
        self, asked: Request, runner: AnyRunner, found: Mapping[Located, Generator]
    ) -> None:
        self._asked, self._runner, self._found = asked, runner, found
        self._tally, self._shows = asked.tally, runner.shows
        plans = runner.runnable(asked.plans, lambda plan: self._count(plan, "skipped"))
        if found:
            for plan in plans:
                if plan.generator not in found:
                    self._count(plan, "failed", HostError.exit_code)
            plans = [each for each in plans if each.generator in found]
        self._plans = by_load([each for each in plans if _has_blocks(each)])
        self._once = [each for each in plans if not _has_blocks(each)]
        self._began_on = self._host_class()
        self._history = History(
            open_archive(asked.workspace.results, Cache(asked.workspace.cache)),
            self._began_on,
            found,
        )
        self._expected = Expected(self._history, self._plans)
        self._began_s = asked.clock()
        self._book = read_book(asked.workspace.host)
        self._sources = {
            name: source_sha256(asked.workspace.framework(name))
            for name in sorted({name for own in self._plans.values() for name in own})
        }
        self._diary = asked.diary
        if self._diary and self._diary.planned and (why := self._why_not(self._diary.planned)):
            if asked.sessions.night:
                raise HostError(f"this is not as the night was planned: {why}")
            raise unresumable(f"that night cannot be resumed: {why}")
        self.id = self._diary.started_at if self._diary else utc_now()
        resumed = self._diary.planned if self._diary else None
        once_s = sum(self._history.expected_s(each) for each in self._once if not self._made(each))
        self._kept_s = min(once_s, _KEPT_SHARE * (asked.budget_s or 0.0))
        self._planned = resumed or self._plan()

    def _why_not(self, night: PlannedNight) -> str:
        """Return why a night cannot be resumed; HostError if this is another class of host."""
        if night.host_class != self._began_on:
            raise HostError(
                "this host is not of the class that the night began with "
                f"({night.host_class}): measure a new night, without --resume"
            )
        return problem_of(night, self._plans, self._sources)

    def _plan(self) -> PlannedNight:
        asked = self._asked
        night = plan_night(
            self._plans,
            asked.options,
            seed_of(asked.options.seed or self.id),
            self._sources,
            self._began_on,
            self._warm_ups(),
        )
        if asked.budget_s is None:
            return night
        return within(
            (asked.budget_s - self._kept_s) * self._runner.width,
            night,
            self._expected,
            last_night_of(self._plans, self._history),
        )

    def _host_class(self) -> str:
        """Return the class that the hosts have now."""
        return self._runner.host_class(self._asked.plans[0], self._asked.environment)

    def show(self) -> None:
        """Print the plan."""
        for line in self._words():
            click.echo(line)
        if not (self._diary or self._asked.options.seed):
            click.echo("the order is an example: a night without --seed makes its own")

    def _words(self) -> list[str]:
        lines = words_of(self._planned, self._plans, self._expected)
        if self._once:
            titles = ", ".join(each.title for each in self._once)
            reach = "" if self._asked.budget_s is None else ", as far as the budget goes"
            lines.append(f"loads without blocks, measured once after the others{reach}: {titles}")
        return lines

    def measure(self) -> None:
        """Make the blocks that are left, then the loads without blocks; learn the warm-ups."""
        asked, planned = self._asked, self._planned
        book = self._diary or Diary.new(asked.workspace.nights, self.id, asked.scope, planned)
        for line in self._words():
            self._shows.say(line)
        log = Log(book)
        engine = self._engine(log)
        try:
            self._make(engine, book)
        except HostError as error:
            how = error.how if isinstance(error, CutShortError) else RESUME
            report_error(ends_here(str(error), how))
            self._tally.code = max(self._tally.code, HostError.exit_code)
        self._tally.code = max(self._tally.code, self._runner.code)
        self._end(log)

    def _make(self, engine: Blocks, book: Diary) -> None:
        """Measure all, and end the night; HostError if the host cannot go on."""
        engine.run()
        left = self._measure_once(book)
        for plan in left:
            self._count(plan, "left")
        if left:
            raise HostError(self._runner.cannot)
        self._learn()
        if self._asked.sessions.night:
            book.end(utc_now())  # Of racks: what they measured is bundled where the night is.
        else:
            book.close(self._asked.workspace, self._shows)

    def _engine(self, log: Log) -> Blocks:
        runner = self._runner
        given: dict[str, Any] = {
            "shows": self._shows,
            "night": self.id,
            "planned": self._planned,
            "plans": self._plans,
            "log": log,
            "expected": self._expected,
            "quiet_wait_s": self._asked.options.quiet_wait_s,
            "left_s": lambda: self._left_s() - self._kept_s,
            "load_ended": lambda load: self._show_table(load, log),
        }
        if isinstance(runner, Runner):
            return Engine(**given, runner=runner, found=self._found, host_class=self._host_class)
        return RackBlocks(**given, runner=runner)

    def _made(self, plan: Plan) -> Entry | None:
        """Return the record of a load without blocks that this night made before it was cut."""
        newest = self._history.newest(plan)
        return newest if newest and newest.started_at >= self.id else None

    def _left_s(self) -> float:
        budget_s = self._asked.budget_s
        return math.inf if budget_s is None else budget_s - (self._asked.clock() - self._began_s)

    def _measure_once(self, book: Diary) -> Sequence[Plan]:
        """Measure the loads that have no blocks; return those that the host cannot measure."""

        def may_begin(plan: Plan) -> bool:
            if made := self._made(plan):
                name, is_good = plan.framework.name, made.status == "ok"
                self._tally.add_earlier(name, plan.profile.label, is_good=is_good)
            elif self._history.expected_s(plan) > self._left_s():
                self._count(plan, "left")
            else:
                book.begin(plan.title)
                return True
            return False

        def ended(outcome: Outcome) -> None:
            self._count(outcome.plan, "failed" if outcome.code else "measured", outcome.code)

        return self._runner.run(
            self._once, self._found, may_begin=may_begin, ended=ended, goes_on=True
        )

    def _show_table(self, load: PlannedLoad, log: Log) -> None:
        workspace = self._asked.workspace
        archive = open_archive(workspace.results, Cache(workspace.cache))
        verdicts = self._verdicts(archive, load)
        metric = next(iter(self._plans[load.load].values())).profile.metric
        for line in lines_of(verdicts, load, metric, log):
            click.echo(line)

    def _verdicts(self, archive: Archive, load: PlannedLoad) -> list[Verdict]:
        return verdicts_of(archive, self._book, self.id, load, self._planned.host_class)

    def _learn(self) -> None:
        """Set the warm-ups of the next nights; trials teach nothing."""
        planned, scope = self._planned, self._asked.scope
        if any(not TRIAL.keys().isdisjoint(each.overrides) for each in self._asked.plans):
            return
        if scope.warm_up_s is not None or self._asked.sessions.night:
            return
        warm_ups = self._warm_ups()
        if warm_ups.is_broken:
            return
        workspace = self._asked.workspace
        archive = open_archive(workspace.results, Cache(workspace.cache))
        for load in planned.loads:
            verdicts = self._verdicts(archive, load)
            for line in learn(archive, self.id, planned, load, verdicts, warm_ups, utc_now()):
                self._shows.say(line)
        try:
            warm_ups.save()
        except HostError as error:
            self._shows.say(f"warning: {error}: the next night has the warm-ups of this one")

    def _warm_ups(self) -> WarmUps:
        return WarmUps.read(self._asked.workspace.host / "warm-ups.json", self._shows)

    def _end(self, log: Log) -> None:
        """Print what failed and what was left out."""
        for load in self._planned.loads:
            plans = self._plans[load.load]
            for name, plan in plans.items():
                dropped = log.dropped[load.load].get(name)
                self._count(
                    plan, "failed" if dropped else "measured", dropped.code if dropped else 0
                )
        for name in self._planned.left_out.keys() - {each.load for each in self._planned.loads}:
            for plan in self._plans.get(name, {}).values():
                self._count(plan, "left")
        for line in self._tally.notes():
            click.echo(line)

    def _count(self, plan: Plan, fate: Fate, code: int = 0) -> None:
        self._tally.add(plan.framework.name, plan.profile.label, fate, code)
