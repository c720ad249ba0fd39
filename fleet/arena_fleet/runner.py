"""Running sessions and blocks on racks, and taking in their records.

A block is a comparison on one host, and its median is taken out of each of its figures. So blocks
of racks of one class may stand in one night, and a difference between two racks is in no figure.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import click

from arena.base.errors import HostError
from arena.base.progress import Progress, report_error
from arena.base.workspace import Workspace
from arena.judge.derive import derive
from arena.judge.store import Draft, clear_drafts
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine import lock
from arena.night.diary import Event
from arena.night.engine import ENDS, Blocks
from arena.night.expected import minutes_words
from arena.night.schedule import PlannedLoad
from arena.record.times import utc_now
from arena.run.announce import headline_line
from arena.run.plan import Plan
from arena.run.request import Request
from arena.run.runner import Outcome, Streak
from arena.what.framework import Framework, source_sha256
from arena_fleet.rack import (
    Asked,
    AskedBlock,
    DamagedError,
    Offer,
    Rack,
    SessionEnd,
    Unpacked,
    spread,
)
from arena_fleet.references import (
    FRAMEWORK,
    Measured,
    ReferenceHistory,
    off_class,
    rate_of,
    sessions,
)

# The lock of nights on racks, below .tools/.
_LOCK = "nights.lock"


@dataclass
class RackRunner:
    """Runs planned sessions and blocks on racks of one class.

    `limit` is how far a rack may be off its class, as a share; with 0, nothing is measured for it.
    A rack that is lost, or cannot measure, is removed from `racks`, and `code` is then an error's.
    """

    workspace: Workspace
    request: Request
    shows: Progress
    racks: list[Rack]
    offers: Mapping[str, Offer]
    limit: float
    code: int = 0
    cannot: str = "no rack is left"
    _streaks: dict[str, Streak] = field(
        default_factory=lambda: defaultdict(lambda: Streak(frameworks=1))
    )

    @property
    def width(self) -> int:
        """How many sessions run at the same time."""
        return max(1, len(self.racks))

    def host_class(self, *_: object) -> str:
        """Return the class of the racks."""
        return next(iter(self.offers.values())).host_class

    def runnable(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans that all racks can run, and report the others; HostError without any."""
        problems: dict[str, str] = {}
        wanted = {each.framework.name for each in plans}
        for rack in self.racks:
            unavailable = self.offers[rack.name].unavailable
            for framework in sorted(wanted & unavailable.keys()):
                problems.setdefault(framework, f"rack {rack.name}: {unavailable[framework]}")
        for framework, why in problems.items():
            self.shows.say(f"skipped {framework}: {why}")
        left = [each for each in plans if each.framework.name not in problems]
        if not left:
            raise HostError("no framework can be run on all racks")
        return left

    @contextmanager
    def only_night(self, command: str) -> Iterator[Self]:
        """Hold the lock of this checkout's nights on racks, leave out racks, and yield the runner.

        Those that are off their class, by their references, are left out. HostError if another such
        night is running, or if records cannot be saved.
        """
        path = self.workspace.tools / _LOCK
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock.only_benchmark(
            command, wait=self.request.wait, say=self.shows.say, path=path, where="on racks"
        ):
            clear_drafts(self.workspace.nights)
            with self._draft():
                pass  # Fail now, not after an hour, if nothing can be saved.
            if self.limit:
                self._measure_references()
            yield self

    def find_generators(self, plans: Sequence[Plan]) -> dict[Located, Generator]:
        """Return the generator of all racks, by the plans that need it."""
        return {each.generator: each.generator.preview(self.workspace, None) for each in plans}

    def once(self) -> Self:
        """Return the runner for a night of blocks: each session of a rack builds by itself."""
        return self

    def blocks(self, *_: object, **given: Any) -> "RackBlocks":
        """Return what makes blocks; takes the fields of `Blocks`."""
        return RackBlocks(**given, runner=self)

    def run(
        self,
        plans: Sequence[Plan],
        found: Mapping[Located, Generator],
        *,
        may_begin: Callable[[Plan], bool] = lambda _: True,
        ended: Callable[[Outcome], None],
        goes_on: bool = False,
    ) -> Sequence[Plan]:
        """Run those sessions that `may_begin`; return those that did not end; `cannot` says why.

        Racks take them in order. `ended` is called after each. A session that does not begin on
        its rack goes back. If this host cannot save something, no session goes on.
        """
        del found, goes_on
        left, in_hand = deque(plans), dict[str, Plan]()

        def take(rack: Rack) -> tuple[Asked, Plan] | None:
            while left:
                begins, plan = may_begin(left[0]), left.popleft()
                if begins:
                    in_hand[rack.name] = plan
                    self.shows.say(f"rack {rack.name}: {plan.title}")
                    request = self.request_for(plan, [plan.framework.name])
                    return Asked(request=request, night=utc_now()), plan
            return None

        def over(rack: Rack, plan: Plan, end: SessionEnd) -> bool:
            if not (end.archive or end.is_lost):
                self.shows.say(f"rack {rack.name}: {end.error}: {plan.title} was not begun")
                left.appendleft(in_hand.pop(rack.name))
                return self.goes_on(rack, Outcome(plan, end.code, is_hosts=True))
            outcome = self._outcome(rack, plan, end)
            del in_hand[rack.name]
            ended(outcome)
            return not end.is_lost and self.goes_on(rack, outcome)

        try:
            spread(self.racks, take, over)
        except HostError as error:
            self.cannot = str(error)
        return [*in_hand.values(), *left]

    def goes_on(self, rack: Rack, outcome: Outcome) -> bool:
        """Return whether a rack may have another session after this one."""
        if not self._streaks[rack.name].ends(outcome):
            return True
        self.end(rack, "it failed three times in a row")
        return False

    def end(self, rack: Rack, why: str) -> None:
        """Report that a rack has no more sessions tonight."""
        self.fail(f"rack {rack.name} measures no more tonight: {why}")

    def fail(self, why: str) -> None:
        """Report what leaves an error's code."""
        self.code = HostError.exit_code
        report_error(why)

    @contextmanager
    def results(self, end: SessionEnd) -> Iterator[Unpacked]:
        """Unpack the results of a session for the block.

        DamagedError if they are broken, another HostError if this host cannot save them.
        """
        with self._draft() as draft:
            yield Unpacked(end.archive, draft, self.workspace.results)

    def _draft(self) -> Draft:
        # Drafts in results/ are removed by the next benchmark that begins in this checkout.
        return Draft(self.workspace.nights)

    def request_for(
        self, load: Plan, frameworks: Sequence[str], blocks: int | None = None
    ) -> Request:
        """Return the request of a session of frameworks under a plan's load."""
        profile, request = load.profile, self.request
        return Request(
            frameworks=tuple(frameworks),
            profiles=(profile.name,),
            connections=(profile.connection_count,),
            runtime=request.runtime,
            wait=request.wait,
            duration=request.duration,
            blocks=blocks,
            quiet_wait=request.quiet_wait_s if blocks else None,
        )

    def _outcome(self, rack: Rack, plan: Plan, end: SessionEnd) -> Outcome:
        """Take in the record of a session, and print what came of it."""
        if end.is_lost:
            self.end(rack, f"{end.error}; {plan.title} was in hand, and counts as failed")
            return Outcome(plan, end.code, is_hosts=True)
        why = end.error or f"it ended with exit code {end.code}, and left no record"
        try:
            with self.results(end) as unpacked:
                for path, record in unpacked.adopt():
                    if record.failure:
                        report_error(f"rack {rack.name}: {plan.title}: {record.failure.reason}")
                    else:
                        line = headline_line(record, derive(record))
                        click.echo(f"rack {rack.name}: {line}")
                    return Outcome(plan, end.code, path, record)
        except DamagedError as broken:
            why = str(broken)
        report_error(f"rack {rack.name}: {plan.title}: {why}")
        return Outcome(plan, HostError.exit_code, is_hosts=True)

    def _measure_references(self) -> None:
        """Leave out the racks that are off their class; HostError if none is left."""
        night, tonight = utc_now(), list[Measured]()
        history = ReferenceHistory.of(self.workspace)
        waiting = {
            rack.name: deque(sessions(self.offers[rack.name], wait=self.request.wait))
            for rack in self.racks
        }

        def take(rack: Rack) -> tuple[Asked, str] | None:
            if not waiting[rack.name]:
                return None
            request = waiting[rack.name].popleft()
            [name] = request.frameworks
            self.shows.say(f"rack {rack.name}: reference {name}")
            return Asked(request=request, night=night), name

        def over(rack: Rack, reference: str, end: SessionEnd) -> bool:
            rate, why = self._reference_rate(end)
            if not rate:
                self.end(rack, f"its reference {reference} failed: {why}")
                return False
            tonight.append(
                Measured(
                    night=night, host_class=self.host_class(), rack=rack.name,
                    reference=reference, rate=rate,
                )
            )  # fmt: skip
            return True

        spread(self.racks, take, over)
        there = {each.name for each in self.racks}
        whole = [each for each in tonight if each.rack in there]
        whys = off_class(whole, history, self.limit)
        # What is off would become the past that excuses it.
        history.write(self.workspace, [each for each in whole if each.rack not in whys])
        for name, why in sorted(whys.items()):
            self.shows.say(f"warning: rack {name} is quarantined tonight: {why}")
        self.racks[:] = [each for each in self.racks if each.name not in whys]
        if not self.racks:
            raise HostError("no rack is left: all failed, or are off their class")

    def _reference_rate(self, end: SessionEnd) -> tuple[float | None, str]:
        """Return the figure of a reference; without one, why."""
        try:
            with self.results(end) as unpacked:
                rates = [rate_of(each.record) for each in unpacked.records()]
        except DamagedError as error:
            return None, str(error)
        return next(iter(rates), None), end.why


@dataclass
class RackBlocks(Blocks):
    """Makes the blocks on racks: each rack makes whole blocks, one after another."""

    runner: RackRunner

    def __post_init__(self) -> None:
        self._waiting = deque(self._blocks())

    def run(self) -> None:
        """Make the blocks; HostError if no rack is left, or this host cannot save something."""
        try:
            spread(self.runner.racks, self._take, self._ended)
        finally:
            for load in self.planned.loads:
                self.load_ended(load)
        if any((load.load, block) not in self.log.ended for load, block in self._waiting):
            raise HostError(self.runner.cannot)

    def _take(self, rack: Rack) -> tuple[Asked, Event] | None:
        while self._waiting:
            load, block = self._waiting.popleft()
            if self._may_begin(load, block, self._slots(load)):
                return self._begin(rack, load, block)
        return None

    def _begin(self, rack: Rack, load: PlannedLoad, block: int) -> tuple[Asked, Event]:
        attempt = self.log.next_attempt(load.load, block)
        begun = Event(event="block", load=load.load, block=block, attempt=attempt)
        request = self.runner.request_for(
            self.plans[load.load][load.frameworks[0]], load.frameworks, blocks=load.blocks
        )
        # A session has failed on its host if it failed for each of its own frameworks.
        sources = {name: self.planned.sources[name] for name in load.frameworks}
        asked = AskedBlock(
            number=block,
            planned=self.planned.changed(loads=(load,), sources=sources),
            before=tuple(each for each in self.log.events if each.load == load.load),
        )
        ahead_s = self.expected.block_s(load, block, self._slots(load))
        ahead_s += self._ahead_s(self._waiting) / self.runner.width
        self.shows.say(
            f"rack {rack.name}: {self._words(load, block)}, about {minutes_words(ahead_s)} left"
        )
        self.log.note(begun)
        return Asked(request=request, night=self.night, block=asked), begun

    def _of(self, begun: Event) -> tuple[PlannedLoad, Plan]:
        """Return the load of a block, and the plan of its first framework."""
        load = next(each for each in self.planned.loads if each.load == begun.load)
        return load, self.plans[load.load][load.frameworks[0]]

    def _ended(self, rack: Rack, begun: Event, end: SessionEnd) -> bool:
        """Take in a block; return whether its rack may have another one.

        A block that had begun is lost with its rack. One of which nothing was measured goes back.
        HostError if this host cannot save the records: `--resume` repeats the block.
        """
        if end.is_lost:
            return self._lose(rack, begun, end.error)
        load, plan = self._of(begun)
        # Its night ends there, and this one goes on.
        why = end.error.partition(ENDS)[0] or end.why
        try:
            with self.runner.results(end) as unpacked:
                broke = next(filter(_is_hosts, end.events), None)
                if broke and any(unpacked.records()):
                    return self._lose(rack, begun, f"{broke.framework}: {broke.why}", ends=False)
                records = [each.record for each in unpacked.adopt()]
        except DamagedError as error:
            return self._lose(rack, begun, str(error))
        if not records:
            self.shows.say(f"rack {rack.name}: {why}: {self._words(load, begun.block)} goes back")
            self._waiting.appendleft((load, begun.block))
            return self.runner.goes_on(rack, Outcome(plan, end.code, is_hosts=True))
        for event in end.events:
            if event.event != "block":
                self.log.note(event)
        for record in records:
            self.expected.note(load.load, record)
        if (load.load, begun.block) in self.log.ended:
            return self.runner.goes_on(rack, Outcome(plan, 0, record=records[-1]))
        return self._lose(rack, begun, why)

    def _lose(self, rack: Rack, begun: Event, why: str, *, ends: bool = True) -> bool:
        """Report a block that is not whole and is not made again; return whether its rack goes on.

        It `ends`, or does so if this happens three times in a row.
        """
        load, plan = self._of(begun)
        self.log.note(begun.changed(event="lost", why=f"rack {rack.name}: {why}"))
        lost = f"{why}; {self._words(load, begun.block)} is lost, and is not repeated"
        if ends:
            self.runner.end(rack, lost)
            return False
        self.runner.fail(f"rack {rack.name}: {lost}")
        return self.runner.goes_on(rack, Outcome(plan, HostError.exit_code, is_hosts=True))


def _is_hosts(event: Event) -> bool:
    """Return whether a framework was dropped because of its rack: others may measure it."""
    return event.event == "dropped" and event.code == HostError.exit_code


def class_of_racks(
    racks: Sequence[Rack],
    frameworks: Sequence[Framework],
    workspace: Workspace,
    runtime: str,
    shows: Progress,
) -> tuple[list[Rack], dict[str, Offer]]:
    """Return the racks that can make one night together, and what they offer.

    Those that do not answer, have other frameworks than this checkout, or are of another class or
    have another volley than most of them, are left out with a warning. HostError if none is left,
    or if no class has most of them.
    """
    own = {
        name: source_sha256(workspace.framework(name))
        for name in {FRAMEWORK, *(each.name for each in frameworks)}
        if workspace.framework(name).exists()
    }
    offers: dict[str, Offer] = {}

    def leave_out(rack: str, why: object) -> None:
        shows.say(f"warning: rack {rack} is left out: {why}")
        offers.pop(rack, None)

    for rack in racks:
        try:
            offers[rack.name] = offer = rack.offer(runtime, sorted(own))
        except HostError as error:
            leave_out(rack.name, error)
            continue
        if other := [name for name, sha256 in offer.sources.items() if sha256 != own.get(name)]:
            why = "is not as in this checkout: use the same commit on all hosts"
            leave_out(rack.name, f"{', '.join(other)} {why}")
    if not offers:
        raise HostError("no rack can measure (./scripts/fleet.sh status shows all hosts)")
    kinds = Counter(each.kind for each in offers.values()).most_common()
    if len(kinds) > 1 and kinds[0][1] == kinds[1][1]:
        words = " and ".join(
            f"{name}: {offer.kind_words}" for name, offer in sorted(offers.items())
        )
        raise HostError(
            f"the racks are of different classes, and no class has most of them ({words}): use one "
            "volley on all hosts, or name the classes (worker --class) and choose one (--class)"
        )
    usual = next(each for each in offers.values() if each.kind == kinds[0][0])
    for name, offer in list(offers.items()):
        if offer.kind != usual.kind:
            leave_out(name, f"it is {offer.kind_words}, and others {usual.kind_words}")
    shows.say(f"racks of the night: {', '.join(sorted(offers))} ({usual.words})")
    return [each for each in racks if each.name in offers], offers
