"""Nights of blocks: what counts of them, and which one of its load a board shows.

Only whole blocks count: those in which every visit has one good record that is not void. A
framework that failed in a night is out of that night. docs/measuring.md explains the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from arena.judge.entry import DIVISIONS, TWIN, Division, Entry, Turn
from arena.judge.figures import RANKED, STEP, sampled, step_key
from arena.judge.flags import CANNOT_KEEP
from arena.judge.levels import over_levels
from arena.judge.ranking import (
    RANKED_BLOCKS,
    Figure,
    PairVerdict,
    Ranking,
    compare_pair,
    drift_of,
    rank_blocks,
)
from arena.record.times import parse_utc

# A night with a larger share of void visits is noisy, and has no ranks.
MOST_VOID = 0.10

# A framework that could not keep a fixed rate in a larger share of its visits has no rank.
_MOST_MISSED = 0.25

# A framework whose drift is certainly above this is still warming up, and has no rank.
_MOST_DRIFT = 0.02

# A board shows the fullest of the nights that are at most so much older than the newest.
_RECENT = timedelta(days=30)

# The least number of frameworks that can be ranked.
LEAST_RANKED = 2

# The figure that ranks a load, among the names of all figures.
HEADLINE = ""

# The figures of each name, one a whole block, as rates: higher is better.
Samples = Mapping[str, Sequence[Figure]]

# An entry, and its turn in the night.
Visited = tuple[Entry, Turn]


@dataclass(frozen=True)
class Night:
    """The visits of one night under one load. A twin's name is its original's and `TWIN`."""

    id: str
    visits: Sequence[Visited]

    @cached_property
    def out(self) -> frozenset[str]:
        """The names that do not count in this night: they failed, or no call of theirs finished.

        A framework and its twin are one server: if one of them failed, both are out.
        """
        return _both(
            entry.framework
            for entry, turn in self.visits
            if not entry.problem
            and (turn.figure is None or (min(turn.figure) <= 0 and not turn.is_void))
        )

    @cached_property
    def blocks(self) -> Sequence[Mapping[str, Visited]]:
        """The whole blocks, each with its good visits by name; all have the same names.

        Of a block that was begun several times, the newest whole attempt counts. If the host could
        not measure a framework late in a night, blocks differ in their names: these are the most
        names that enough blocks for ranks have, or else those of most blocks.
        """
        attempts: dict[tuple[int, int], list[Visited]] = defaultdict(list)
        for visit in self.visits:
            attempts[visit[1].block, visit[1].attempt].append(visit)
        whole: dict[int, Mapping[str, Visited]] = {}
        for block, attempt in sorted(attempts):
            if found := self._whole(attempts[block, attempt]):
                whole[block] = found
        sets = [found for found, _ in Counter(map(frozenset, whole.values())).most_common()]
        enough = [
            found
            for found in sets
            if sum(each.keys() >= found for each in whole.values()) >= RANKED_BLOCKS
        ]
        names = max(enough, key=len) if enough else sets[0] if sets else frozenset()
        return [
            {name: each[name] for name in sorted(names)}
            for each in whole.values()
            if each.keys() >= names
        ]

    def _whole(self, visits: Sequence[Visited]) -> Mapping[str, Visited] | None:
        """Return the good visits of an attempt by name; None if one is missing."""
        good: dict[str, Visited] = {}
        for entry, turn in sorted(visits, key=lambda each: (each[1].repeat, each[0].path)):
            if entry.is_good and not turn.is_void and entry.is_proven:
                good.setdefault(entry.name, (entry, turn))
        visited = {entry.name for entry, _ in visits}
        seen = good.keys() | (visited & self.out)
        if visited == seen:
            # After a failure, the block goes on without the framework and its twin.
            seen |= self._never_visited(visits)
        is_whole = len(seen) >= max(turn.size for _, turn in visits)
        return {name: good[name] for name in good.keys() - self.out} if is_whole else None

    def _never_visited(self, visits: Sequence[Visited]) -> frozenset[str]:
        """Return the twins that a block has no visit of because their framework failed in it.

        Nothing says which frameworks have twins. In the newest block, which may have been cut, only
        twins that other blocks have are certain.
        """
        found = _both(entry.framework for entry, turn in visits if turn.figure is None)
        is_newest = visits[0][1].block == max(turn.block for _, turn in self.visits)
        return found & {entry.name for entry, _ in self.visits} if is_newest else found

    @property
    def names(self) -> Collection[str]:
        """The names in its whole blocks, twins included."""
        return self.blocks[0].keys() if self.blocks else ()

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks in its whole blocks."""
        return frozenset(name for name in self.names if not name.endswith(TWIN))

    @property
    def has_enough(self) -> bool:
        """Whether its whole blocks are enough for ranks."""
        return len(self.blocks) >= RANKED_BLOCKS

    @property
    def voids(self) -> int:
        """The number of void visits."""
        return sum(turn.is_void and not entry.problem for entry, turn in self.visits)

    @property
    def is_noisy(self) -> bool:
        """Whether too many visits are void."""
        return self.voids > MOST_VOID * len(self.visits)

    def turns(self, name: str) -> list[Turn]:
        """Return the turns of a name that count, one a whole block."""
        return [block[name][1] for block in self.blocks]

    @property
    def lower_is_better(self) -> bool:
        """Whether the lowest figure is the best: then ranks are made of 1 / figure."""
        return self.visits[0][0].load.metric.lower_is_better

    def figures(self, name: str) -> list[Figure]:
        """Return the figures of a name, one a whole block."""
        return [turn.figure for turn in self.turns(name) if turn.figure]

    @cached_property
    def samples(self) -> Mapping[str, Samples]:
        """What ranks the names, by the figure: the headline, and what a name has in all blocks.

        Figures of blocks on two levels reach over both.
        """
        found: dict[str, dict[str, Sequence[Figure]]] = defaultdict(dict)
        for name in self.names:
            turns, own = self.turns(name), self.figures(name)
            rates = [each.inverted for each in own] if self.lower_is_better else own
            found[HEADLINE][name] = over_levels(rates)
            besides, steps = [it.beside for it in turns], [it.steps for it in turns]
            every = [(key, figure, key, besides) for key, figure in RANKED.items()]
            every += [(step_key(it), STEP, it, steps) for it, *_ in turns[0].steps]
            for key, figure, where, blocks in every:
                if figures := sampled(figure, where, blocks):
                    found[key][name] = over_levels(figures)
        return found

    def is_inverted(self, figure: str) -> bool:
        """Return whether the rates of a figure are 1 / figure."""
        if figure == HEADLINE:
            return self.lower_is_better
        return RANKED.get(figure, STEP).lower_is_better

    def cannot_keep(self, name: str) -> bool:
        """Return whether too many visits of a name could not keep their fixed rate."""
        visits = [block[name][0] for block in self.blocks]
        missed = sum(CANNOT_KEEP in each.flags for each in visits)
        return missed > _MOST_MISSED * len(visits)

    def drift(self, framework: str) -> float | None:
        """Return the lower end of a framework's drift; None if no seconds were reported."""
        drifts = [turn.drift for turn in self.turns(framework) if turn.drift is not None]
        found = drift_of(drifts) if drifts else None
        return found.low if found else None

    def unfit(self, name: str) -> str:
        """Return why a name cannot be compared to others, or nothing."""
        if is_warming(self.drift(name)):
            return "still warming up"
        return "too slow for the rate" * self.cannot_keep(name)


def _both(frameworks: Iterable[str]) -> frozenset[str]:
    """Return the names of frameworks and of their twins, even if they have none."""
    return frozenset(name for each in frameworks for name in (each, each + TWIN))


def nights_of(entries: Collection[Entry]) -> list[Night]:
    """Return the nights of one load, the newest first.

    Trials that happen to have the load of full records do not count beside them.
    """
    found: dict[str, list[Visited]] = defaultdict(list)
    are_trials = all(entry.is_trial for entry in entries)
    for entry in entries:
        if entry.turn and entry.is_trial <= are_trials:
            found[entry.turn.night].append((entry, entry.turn))
    return [Night(night, found[night]) for night in sorted(found, reverse=True)]


def is_warming(drift_low: float | None) -> bool:
    """Return whether a drift's lower end shows that a server was still getting faster."""
    return drift_low is not None and drift_low > _MOST_DRIFT


def by_division(entries: Iterable[Entry]) -> dict[Division, set[str]]:
    """Return the frameworks that are ranked together; their newest entries decide."""
    in_time = sorted(entries, key=lambda each: each.started_at)
    of = {each.framework: DIVISIONS[each.type] for each in in_time}
    return {
        division: {name for name, own in of.items() if own == division}
        for division in DIVISIONS.values()
    }


def shown_night(nights: Iterable[Night], frameworks: Collection[str]) -> Night | None:
    """Return the night that a board of these frameworks shows; the newest come first.

    It is the one that ranks the most of them, among those of 30 days up to the newest that ranks
    any; of equals the newest. Without one, it is the newest with enough blocks and frameworks, or
    else with a whole block.
    """
    known = [each for each in nights if not each.frameworks.isdisjoint(frameworks)]
    best, most, since = None, 0, None
    for night in known:
        begun = parse_utc(night.id)
        if since and begun < since:
            break
        count = _ranked_in(night, frameworks)
        if count > most:
            best, most = night, count
            since = since or begun - _RECENT
    for night in known:
        if best is None and _can_be_ranked(night, frameworks):
            best = night
    return best or (known[0] if known else None)


def _ranked_in(night: Night, frameworks: Collection[str]) -> int:
    """Return how many of the frameworks a night ranks."""
    if night.is_noisy or not _can_be_ranked(night, frameworks):
        return 0
    count = len(steady_of(night, frameworks)[1])
    return count if count >= LEAST_RANKED else 0


def _can_be_ranked(night: Night, frameworks: Collection[str]) -> bool:
    return known_in(night, frameworks) >= LEAST_RANKED and night.has_enough


def known_in(night: Night, frameworks: Collection[str]) -> int:
    """Return how many of the frameworks are in a night's whole blocks."""
    return len(night.frameworks & set(frameworks))


def steady_of(
    night: Night, frameworks: Collection[str]
) -> tuple[Mapping[str, float | None], AbstractSet[str]]:
    """Return the drifts of those frameworks that are in the night, and which can be ranked.

    These neither warm up still, nor fail to keep a fixed rate.
    """
    drifts = {name: night.drift(name) for name in sorted(night.frameworks & set(frameworks))}
    left = {name for name, low in drifts.items() if not is_warming(low)}
    return drifts, {name for name in left if not night.cannot_keep(name)}


def ranking_of(samples: Samples, frameworks: Collection[str]) -> Ranking | None:
    """Rank those of the frameworks that have a figure, with their twins; None without one."""
    names = [
        name
        for name in samples
        if (framework := name.removesuffix(TWIN)) in frameworks and framework in samples
    ]
    if not names:
        return None
    blocks = [
        dict(zip(names, own, strict=True))
        for own in zip(*(samples[name] for name in names), strict=True)
    ]
    twins = {name: name.removesuffix(TWIN) for name in names if name.endswith(TWIN)}
    return rank_blocks(blocks, twins)


def compared(night: Night, one: str, other: str, figure: str = HEADLINE) -> PairVerdict:
    """Return how a name of a night compares to another one, by the pair's own statistics.

    The ratio is that of the figures, and the better one is `faster`, or `cheaper` for CPU time.
    """
    samples = night.samples[figure]
    found = compare_pair(list(zip(samples[one], samples[other], strict=True)))
    return found.inverted if night.is_inverted(figure) else found
