"""Running sessions on racks, and taking in their records."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import click

from arena.base.errors import HostError
from arena.base.progress import Progress, report_error
from arena.base.workspace import Workspace
from arena.judge.store import Draft, clear_drafts
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine import lock
from arena.record.times import utc_now
from arena.run.announce import headline_line
from arena.run.plan import Plan
from arena.run.request import Request
from arena.run.runner import Outcome, Streak
from arena.what.framework import Framework, source_sha256
from arena_fleet.archive import DamagedError, Unpacked
from arena_fleet.rack import Asked, Ended, LostRackError, Offer, Rack
from arena_fleet.references import (
    FRAMEWORK,
    History,
    Measured,
    off_class,
    rate_of,
    sessions,
)
from arena_fleet.spread import spread

# Where the figures of the references are kept, below results/host/.
_HISTORY = "racks.json"

# The lock of nights on racks, below .tools/.
_LOCK = "nights.lock"


@dataclass(frozen=True)
class _Piece:
    """A planned session on its way to a rack."""

    asked: Asked
    plan: Plan


@dataclass(frozen=True)
class _Reference:
    """A reference that a rack is to measure."""

    asked: Asked
    name: str


@dataclass
class RackRunner:
    """Runs planned sessions on racks of one class.

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

    def runnable(
        self, plans: Sequence[Plan], skipped: Callable[[Plan], None] = lambda _: None
    ) -> list[Plan]:
        """Return the plans that all racks can run; report the others, and call `skipped` for each.

        HostError if there is none.
        """
        problems: dict[str, str] = {}
        wanted = {each.framework.name for each in plans}
        for rack in self.racks:
            unavailable = self.offers[rack.name].unavailable
            for framework in sorted(wanted & unavailable.keys()):
                problems.setdefault(framework, f"rack {rack.name}: {unavailable[framework]}")
        for framework, why in problems.items():
            self.shows.say(f"skipped {framework}: {why}")
        for each in plans:
            if each.framework.name in problems:
                skipped(each)
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

        def take(rack: Rack) -> _Piece | None:
            while left:
                begins, plan = may_begin(left[0]), left.popleft()
                if begins:
                    in_hand[rack.name] = plan
                    self.shows.say(f"rack {rack.name}: {plan.title}")
                    asked = self.request_for(plan, [plan.framework.name])
                    return _Piece(Asked(request=asked, night=utc_now()), plan)
            return None

        def over(rack: Rack, piece: _Piece, end: Ended | LostRackError) -> bool:
            plan = piece.plan
            if isinstance(end, Ended) and not end.archive:
                self.shows.say(f"rack {rack.name}: {end.error}: {plan.title} was not begun")
                left.appendleft(in_hand.pop(rack.name))
                return self.goes_on(rack, Outcome(plan, end.code, is_hosts=True))
            outcome = self._outcome(rack, plan, end)
            del in_hand[rack.name]
            ended(outcome)
            return not isinstance(end, LostRackError) and self.goes_on(rack, outcome)

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
    def results(self, end: Ended) -> Iterator[Unpacked]:
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

    def _outcome(self, rack: Rack, plan: Plan, end: Ended | LostRackError) -> Outcome:
        """Take in the record of a session, and print what came of it."""
        error = HostError.exit_code
        if isinstance(end, LostRackError):
            self.end(rack, f"{end}; {plan.title} was in hand, and counts as failed")
            return Outcome(plan, error, is_hosts=True)
        try:
            with self.results(end) as unpacked:
                for each in unpacked.adopt():
                    if each.record.failure:
                        report_error(
                            f"rack {rack.name}: {plan.title}: {each.record.failure.reason}"
                        )
                    else:
                        click.echo(f"rack {rack.name}: {headline_line(each.record)}")
                    return Outcome(plan, end.code, each.path, each.record)
            why = end.error or f"it ended with exit code {end.code}, and left no record"
        except DamagedError as broken:
            why = str(broken)
        report_error(f"rack {rack.name}: {plan.title}: {why}")
        return Outcome(plan, error, is_hosts=True)

    def _measure_references(self) -> None:
        """Leave out the racks that are off their class; HostError if none is left."""
        night, tonight = utc_now(), list[Measured]()
        path = self.workspace.host / _HISTORY
        history = History.read(path)
        waiting = {
            rack.name: [
                _Reference(Asked(request=request, night=night), name)
                for name, request in sessions(self.offers[rack.name], wait=self.request.wait)
            ]
            for rack in self.racks
        }

        def take(rack: Rack) -> _Reference | None:
            if not waiting[rack.name]:
                return None
            reference = waiting[rack.name].pop(0)
            self.shows.say(f"rack {rack.name}: reference {reference.name}")
            return reference

        def over(rack: Rack, reference: _Reference, end: Ended | LostRackError) -> bool:
            rate, why = self._reference_rate(end)
            if not rate:
                self.end(rack, f"its reference {reference.name} failed: {why}")
                return False
            tonight.append(
                Measured(
                    night=night, host_class=self.host_class(), rack=rack.name,
                    reference=reference.name, rate=rate,
                )
            )  # fmt: skip
            return True

        spread(self.racks, take, over)
        there = {each.name for each in self.racks}
        whole = [each for each in tonight if each.rack in there]
        whys = off_class(whole, history, self.limit)
        # What is off would become the past that excuses it.
        history.write(path, [each for each in whole if each.rack not in whys])
        for name, why in sorted(whys.items()):
            self.shows.say(f"warning: rack {name} is quarantined tonight: {why}")
        self.racks[:] = [each for each in self.racks if each.name not in whys]
        if not self.racks:
            raise HostError("no rack is left: all failed, or are off their class")

    def _reference_rate(self, end: Ended | LostRackError) -> tuple[float | None, str]:
        """Return the figure of a reference; without one, why."""
        if isinstance(end, LostRackError):
            return None, str(end)
        try:
            with self.results(end) as unpacked:
                rates = [rate_of(record) for _, record in unpacked.records()]
        except DamagedError as error:
            return None, str(error)
        return next(iter(rates), None), end.error or f"exit code {end.code}"


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
    for rack in racks:
        try:
            offer = rack.offer(runtime, sorted(own))
        except LostRackError as error:
            shows.say(f"warning: rack {rack.name} is left out: {error}")
            continue
        other = [name for name, sha256 in offer.sources.items() if sha256 != own[name]]
        if other:
            shows.say(
                f"warning: rack {rack.name} is left out: {', '.join(other)} is not as in this "
                "checkout: use the same commit on all hosts"
            )
        else:
            offers[rack.name] = offer
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
            shows.say(
                f"warning: rack {name} is left out: it is {offer.kind_words}, and others "
                f"{usual.kind_words}"
            )
            del offers[name]
    shows.say(f"racks of the night: {', '.join(sorted(offers))} ({usual.words})")
    return [each for each in racks if each.name in offers], offers
