"""The past sessions of this host class: how old they are, and how long new ones should take."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from arena.base.errors import HostError
from arena.judge.archive import Archive
from arena.judge.entry import Entry
from arena.judge.load_key import generator_warm_up
from arena.load.find import Located
from arena.load.generators import Generator
from arena.record.record import Record
from arena.record.times import parse_utc
from arena.run.plan import Plan
from arena.what.framework import Framework

# What a session takes besides its windows, while no record shows it: an unchanged build, the
# start, both checks of the contract, and the generator's work before and after each window.
_AROUND_S = 30.0

# Between two sessions, the record is written and the ports are checked.
_BETWEEN_S = 2.0

# How much an exact figure, and one that is missing, count when what is due is found: as the widths
# of their intervals, relative to the figure.
_EXACT, _MISSING = 0.02, 0.1

_Key = tuple[str, str, int, str, str]


class History:
    """The full records of one class of hosts, named by its id; trials are left out.

    `found` are the generators that are ready.
    """

    def __init__(
        self, archive: Archive, host_class: str, found: Mapping[Located, Generator]
    ) -> None:
        self._archive = archive
        self._host_class = host_class
        self._found = found
        self._entries: dict[_Key, list[Entry]] = defaultdict(list)
        self._visits: dict[_Key, list[Entry]] = defaultdict(list)
        for entry in sorted(archive.entries.values(), key=lambda each: each.started_at):
            if entry.load.host_class == host_class and not entry.is_trial:
                key = (entry.framework, *entry.load.place)
                if entry.turn:
                    self._visits[key].append(entry)
                if entry.is_listed:
                    self._entries[key].append(entry)
        self._breadth = Counter(name for name, *_ in self._entries)

    def _of(self, plan: Plan) -> Sequence[Entry]:
        """Return the entries of a plan's sessions, the newest first."""
        return self._entries.get(self._key(plan), [])[::-1]

    def _key(self, plan: Plan) -> _Key:
        profile = plan.profile
        place = profile.name, profile.connection_count, profile.generator, self._host_class
        return plan.framework.name, *place

    def newest(self, plan: Plan) -> Entry | None:
        """Return the newest record, good or not."""
        return next(iter(self._of(plan)), None)

    def breadth(self, framework: Framework) -> int:
        """Return the number of different sessions of a framework that have been measured."""
        return self._breadth[framework.name]

    def expected_s(self, plan: Plan) -> float:
        """Return how long the session should take: as long as the last good session like it.

        Without one, its windows plus the usual time around them.
        """
        # A visit of a block has another warm-up, and waits for a quiet host.
        like = (entry for entry in self._of(plan) if entry.status == "ok" and not entry.turn)
        good = next(like, None)
        record = self._read(good) if good else None
        if record and record.profile == plan.profile:
            return sum(record.provenance.stages_s.values()) + _BETWEEN_S
        return windows_s(plan) + _AROUND_S

    def visits(self, plan: Plan) -> list[Record]:
        """Return the good visits of the newest night of blocks that measured this profile."""
        visits = [each for each in self._visits[self._key(plan)] if each.status == "ok"]
        newest = max((each.turn.night for each in visits if each.turn), default="")
        found = (self._read(each) for each in visits if each.turn and each.turn.night == newest)
        return [each for each in found if each and each.profile == plan.profile]

    def calls_per_s(self, framework: str, profile: str) -> float | None:
        """Return the median of a framework's visits in its newest night of blocks of a profile.

        That is the highest one of the profile's connection counts; None without such a night.
        """
        nights: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for (name, load, count, *_), own in self._visits.items():
            for each in own if (name, load) == (framework, profile) else ():
                turn = each.turn
                if each.is_good and turn and turn.figure and not turn.is_void:
                    nights[turn.night][count].append(turn.figure.value)
        return max(map(median, nights[max(nights)].values())) if nights else None

    def would_repeat(self, plan: Plan, source_sha256: str) -> bool:
        """Return whether another session would only repeat a good record.

        That record must be the newest one of the same source, generator, host class and profile.
        If the generator was not looked for, its version does not matter.
        """
        generator = self._found.get(plan.generator)
        info = generator.info(plan.profile) if generator else None
        made_by = f"{info.name} {info.version}" if info else None
        for entry in self._of(plan):
            if entry.source_sha256 != source_sha256 or made_by not in (None, entry.made_by):
                continue
            if info and entry.load.generator_warm_up != generator_warm_up(info.argv):
                continue
            record = self._read(entry)
            if record and record.profile == plan.profile:
                return entry.status == "ok"
        return False

    def _read(self, entry: Entry) -> Record | None:
        """Return a record in full; None if it was removed since the night began."""
        try:
            return self._archive.read(entry.path)
        except HostError:
            return None


def due_s(newest: Entry, now: str) -> float:
    """Return how urgent another session is: the newest record's age times its uncertainty.

    The uncertainty is the width of its interval, relative to its figure.
    """
    width = _MISSING
    if newest.is_good and newest.value and newest.low is not None and newest.high is not None:
        width = (newest.high - newest.low) / newest.value
    age = parse_utc(now) - parse_utc(newest.started_at)
    return age.total_seconds() * (_EXACT + width)


def windows_s(plan: Plan) -> float:
    """Return the longest time for which a session makes its load."""
    return plan.profile.warmup_s + plan.profile.runs * run_s(plan)


def run_s(plan: Plan) -> float:
    """Return the seconds of load of one run: those before its window, and the window."""
    return plan.generator.description.lead_s(plan.profile) + plan.profile.window_s


def in_order(plans: Sequence[Plan], history: History, now: str) -> list[Plan]:
    """Return the plans in an order in which the first ones give the widest picture.

    Those that were never measured are first. Then come those whose records are old and uncertain.
    """
    newest = [(plan, history.newest(plan)) for plan in plans]
    new = [plan for plan, entry in newest if entry is None]
    known = [(-due_s(entry, now), plan.title, plan) for plan, entry in newest if entry]
    return _in_turn(new, history) + [plan for *_, plan in sorted(known, key=lambda each: each[:2])]


def _in_turn(plans: Sequence[Plan], history: History) -> list[Plan]:
    """Return plans without a record: frameworks take turns, the one with the fewest records first.

    Each framework starts with its shortest plan; among equals, with the one that meta.json names
    first.
    """
    of_framework: dict[str, list[Plan]] = defaultdict(list)
    for plan in plans:
        of_framework[plan.framework.name].append(plan)

    def within(plan: Plan) -> tuple[float, int]:
        return windows_s(plan), _place(plan.framework, plan.profile.name)

    queues = {name: sorted(own, key=within) for name, own in of_framework.items()}
    ordered: list[Plan] = []
    while queues:
        turns = [queue.pop(0) for queue in queues.values()]
        ordered += sorted(turns, key=lambda plan: (history.breadth(plan.framework), plan.title))
        queues = {name: queue for name, queue in queues.items() if queue}
    return ordered


def _place(framework: Framework, profile: str) -> int:
    tests = framework.tests
    return tests.index(profile) if profile in tests else len(tests)
