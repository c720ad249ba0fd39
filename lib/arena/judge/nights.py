"""Nights of blocks: which one of its load a board shows, what it says, and the twins of all nights.

Only whole blocks count: those in which every visit has one good record that is not void. A
framework that failed in a night is out of that night. docs/measuring.md explains the rest.
"""

import operator
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median

from pydantic import Field

from arena.base.model import Frozen, Number
from arena.judge.beside import Beside, over_blocks
from arena.judge.distributions import share_interval
from arena.judge.entry import DIVISIONS, TWIN, Division, Entry, Turn
from arena.judge.flags import CANNOT_KEEP
from arena.judge.ranking import (
    RANKED_BLOCKS,
    Figure,
    PairVerdict,
    Ranking,
    compare_pair,
    drift_of,
    rank_blocks,
)
from arena.judge.steady import SteadyAfter, steady_after
from arena.record.times import parse_utc
from arena.what.metrics import Metric
from parsers.common.figures import Whole

# A night with a larger share of void visits is noisy, and has no ranks.
_MOST_VOID = 0.10

# A framework that could not keep a fixed rate in a larger share of its visits has no rank.
_MOST_MISSED = 0.25

# A framework whose drift is certainly above this is still warming up, and has no rank.
_MOST_DRIFT = 0.02

SUSPENDED = (
    "Ranks are suspended: in two nights in a row, this load showed a difference between a server "
    "and its twin, which are the same. Look for the reason; `arena twins --looked` ends it."
)

# A board shows the fullest of the nights that are at most so much older than the newest.
_RECENT = timedelta(days=30)

# The least number of frameworks that can be ranked.
LEAST_RANKED = 2


class BlockEstimate(Frozen):
    """A framework's estimate over the whole blocks of a night, in the board's metric.

    `low` to `high` is the simultaneous 95 % interval. `rates` has the figure of each of the
    `blocks`, in their order, and `records` the paths of their records. `voids` counts the
    framework's void visits. `drift_low` is the lower end of the 95 % interval of log(rate of a
    run's second half / first half); None if the generator reports no seconds.
    `messages_per_data_frame` is that under load, over all blocks. `client_bound`: in most blocks
    the generator was the limit. `cannot_keep` the load's fixed rate: in more than a quarter of its
    visits too few calls were answered. `beside` has latencies, costs and memory by name, over the
    same blocks, and `steps` the p99 latency of each step (ns). `steady` is over the starts of all
    of them, if starts were measured, and enough.
    """

    value: float
    low: float
    high: float
    blocks: int
    rates: tuple[float, ...]
    voids: int = 0
    drift_low: float | None = None
    still_warming: bool = False
    messages_per_data_frame: float | None = None
    client_bound: bool = False
    cannot_keep: bool = Field(default=False, exclude_if=operator.not_)
    beside: dict[str, Beside] = Field(default_factory=dict)
    steps: dict[str, Beside] = Field(default_factory=dict)
    steady: SteadyAfter | None = Field(default=None, exclude_if=operator.not_)
    records: tuple[str, ...]

    @property
    def is_bound(self) -> bool:
        """Whether the framework may be faster than its estimate."""
        return self.client_bound or self.still_warming

    def order(self, metric: Metric) -> tuple[bool, float]:
        """Return its sort key: the best is first, and what cannot keep its rate is last."""
        return self.cannot_keep, self.value if metric.lower_is_better else -self.value


class Twin(Frozen):
    """A framework that was entered twice in a night, and whether its two names were tied.

    `ratio` is that of the twin to the original, with its own 95 % interval.
    """

    framework: str
    is_tied: bool
    ratio: float
    low: float
    high: float


class OtherNight(Frozen):
    """A night that a board does not show, and how many of its frameworks were in it."""

    night: str
    frameworks: Whole


class BoardNight(Frozen):
    """The night of blocks that a board shows.

    `planned` blocks, of which `blocks` are whole; `visits` in all, of which `voids` are void;
    `disturbed` runs. `frameworks` have an estimate. If the board is not ranked by blocks, `why_not`
    is a sentence. `detectable` is the smallest true difference that the board usually tells apart,
    as a share. `fuller` is the newest earlier night with enough blocks and more frameworks, `newer`
    the newest night, if that is not the one shown.
    """

    night: str
    planned: int
    blocks: int
    visits: int
    voids: int
    disturbed: int
    frameworks: int
    is_ranked: bool
    why_not: str = ""
    detectable: float | None = None
    twins: tuple[Twin, ...] = ()
    fuller: OtherNight | None = None
    newer: OtherNight | None = None


class TwinHistory(Frozen):
    """How many twins of all nights of a load were tied, with the share's 95 % interval.

    `is_suspended`: two nights in a row had a twin that was not tied, and nobody has looked since.
    """

    tied: Whole
    of: Whole
    low: Number
    high: Number
    is_suspended: bool = False


class Altered(Frozen):
    """A record that does not count because it is not as it was saved, and what is wrong with it."""

    framework: str
    record: str
    problem: str


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
    def voids(self) -> int:
        """The number of void visits."""
        return sum(turn.is_void and not entry.problem for entry, turn in self.visits)

    @property
    def is_noisy(self) -> bool:
        """Whether too many visits are void."""
        return self.voids > _MOST_VOID * len(self.visits)

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

    def ranked_figures(self, name: str) -> list[Figure]:
        """Return the same as rates: higher is better."""
        found = self.figures(name)
        return [each.inverted for each in found] if self.lower_is_better else found

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
    count = len(_steady(night, frameworks)[1])
    return count if count >= LEAST_RANKED else 0


def _can_be_ranked(night: Night, frameworks: Collection[str]) -> bool:
    return _known(night, frameworks) >= LEAST_RANKED and _has_enough(night)


def _known(night: Night, frameworks: Collection[str]) -> int:
    return len(night.frameworks & set(frameworks))


def other_nights(
    nights: Sequence[Night], shown: Night, frameworks: Collection[str]
) -> dict[str, OtherNight | None]:
    """Return what a reader must know of nights that a board does not show: `fuller` and `newer`.

    The newest come first.
    """
    count = _known(shown, frameworks)
    fuller = (
        each
        for each in nights
        if each.id < shown.id and _known(each, frameworks) > count and _has_enough(each)
    )
    newer = (each for each in nights if each.id > shown.id and _known(each, frameworks))
    return {
        name: OtherNight(night=it.id, frameworks=_known(it, frameworks)) if it else None
        for name, it in (("fuller", next(fuller, None)), ("newer", next(newer, None)))
    }


def _has_enough(night: Night) -> bool:
    return len(night.blocks) >= RANKED_BLOCKS


@dataclass(frozen=True)
class Verdict:
    """What a night says of some frameworks, by name; `rank_sets` and `letters` only if ranked."""

    summary: BoardNight
    estimates: Mapping[str, BlockEstimate]
    rank_sets: Mapping[str, tuple[int, int]]
    letters: Mapping[str, str]


def judged(night: Night, frameworks: Collection[str], history: TwinHistory | None) -> Verdict:
    """Return what a night says of those frameworks; one at least must be in its whole blocks.

    A framework that is still warming up, or cannot keep a fixed rate, has an estimate, but is left
    out of the others' ranks. So is one whose interval has no width, in a night with enough blocks.
    `history` is that of the load's twins, which may suspend the ranks.
    """
    drifts, steady = _steady(night, frameworks)
    failing = {name for name in drifts if night.cannot_keep(name)}
    warming = drifts.keys() - steady - failing
    ranking = _ranking(night, steady)
    flat = _flat(ranking, steady) if ranking and _has_enough(night) else set()
    if flat:
        ranking = _ranking(night, steady - flat)
    unranked = warming | flat | failing
    every = _ranking(night, drifts.keys()) if unranked else None
    estimates = {
        name: _estimate(
            night, name, it, drifts[name], is_warming=name in warming, cannot_keep=name in failing
        )
        for name in drifts
        if (it := every if name in unranked else ranking)
    }
    is_suspended = history is not None and history.is_suspended
    left = len(drifts.keys() - unranked)
    which = (
        ", and not still warming up" * bool(warming)
        + ", with blocks that differ" * bool(flat)
        + ", that keep the rate" * bool(failing)
    )
    why_not = _why_not(night, left, which, is_suspended=is_suspended)
    is_ranked = ranking is not None and not why_not
    summary = BoardNight(
        night=night.id,
        planned=max(turn.blocks for _, turn in night.visits),
        blocks=len(night.blocks),
        visits=len(night.visits),
        voids=night.voids,
        disturbed=sum(turn.disturbed for _, turn in night.visits),
        frameworks=len(estimates),
        is_ranked=is_ranked,
        why_not=why_not,
        detectable=ranking.detectable if ranking else None,
        twins=tuple(_twins(night, ranking)) if ranking else (),
    )
    rank_sets, letters = (
        (ranking.rank_sets, ranking.letters) if is_ranked and ranking else (None, None)
    )
    return Verdict(summary, estimates, rank_sets or {}, letters or {})


def _steady(
    night: Night, frameworks: Collection[str]
) -> tuple[Mapping[str, float | None], AbstractSet[str]]:
    """Return the drifts of those frameworks that are in the night, and which can be ranked.

    These neither warm up still, nor fail to keep a fixed rate.
    """
    drifts = {name: night.drift(name) for name in sorted(night.frameworks & set(frameworks))}
    left = {name for name, low in drifts.items() if not is_warming(low)}
    return drifts, {name for name in left if not night.cannot_keep(name)}


def _flat(ranking: Ranking, frameworks: AbstractSet[str]) -> AbstractSet[str]:
    """Return the frameworks whose interval has no width: it cannot tell them from others."""
    found = ranking.estimates
    return {name for name in frameworks if found[name].low == found[name].high}


def _why_not(night: Night, left: int, which: str, *, is_suspended: bool) -> str:
    """Return why the night ranks nobody, as a sentence, or nothing.

    `left` frameworks can be ranked, and `which` says why others cannot.
    """
    if left < LEAST_RANKED:
        return f"Ranks need two frameworks at least in the same night{which}."
    if not _has_enough(night):
        whole = len(night.blocks)
        return f"Ranks need {RANKED_BLOCKS} whole blocks at least; this night has {whole}."
    if night.is_noisy:
        return (
            f"This was a noisy night: {night.voids} of {len(night.visits)} visits are void, more "
            f"than {100 * _MOST_VOID:.0f} %. Its ranks are not published."
        )
    if is_suspended:
        return SUSPENDED
    return ""


def _ranking(night: Night, frameworks: Collection[str]) -> Ranking | None:
    names = [each for each in night.names if each.removesuffix(TWIN) in frameworks]
    if not names:
        return None
    figures = {name: night.ranked_figures(name) for name in names}
    blocks = [{name: figures[name][at] for name in names} for at in range(len(night.blocks))]
    twins = {name: name.removesuffix(TWIN) for name in names if name.endswith(TWIN)}
    return rank_blocks(blocks, twins)


def _estimate(
    night: Night,
    name: str,
    ranking: Ranking,
    drift_low: float | None,
    *,
    is_warming: bool,
    cannot_keep: bool,
) -> BlockEstimate:
    found = ranking.estimates[name]
    low, value, high = found.low, found.value, found.high
    if night.lower_is_better:
        low, value, high = 1 / high, 1 / value, 1 / low
    turns = night.turns(name)
    packed = [each for turn in turns if (each := turn.messages_per_data_frame) is not None]
    visits = [block[name][0] for block in night.blocks]
    return BlockEstimate(
        value=value,
        low=low,
        high=high,
        blocks=found.blocks,
        rates=tuple(value for _, value, _ in night.figures(name)),
        voids=sum(entry.name == name and turn.is_void for entry, turn in night.visits),
        drift_low=drift_low,
        still_warming=is_warming,
        messages_per_data_frame=median(packed) if packed else None,
        cannot_keep=cannot_keep,
        client_bound=2 * sum("client-bound" in each.flags for each in visits) > len(visits),
        beside=over_blocks([turn.beside for turn in turns]),
        steps=over_blocks([turn.steps for turn in turns]),
        steady=steady_after(tuple(turn.start for turn in turns if turn.start)),
        records=tuple(entry.path for entry in visits),
    )


def _twins(night: Night, ranking: Ranking) -> Iterator[Twin]:
    for name, is_tied in sorted(ranking.twins_tied.items()):
        original = name.removesuffix(TWIN)
        found = compared(night, name, original)
        if found.ratio is not None and found.low is not None and found.high is not None:
            yield Twin(
                framework=original,
                is_tied=is_tied,
                ratio=found.ratio,
                low=found.low,
                high=found.high,
            )


def compared(night: Night, one: str, other: str) -> PairVerdict:
    """Return how a name of a night compares to another one, by the pair's own statistics.

    The ratio is that of the figures, and the better one is `faster`, or `cheaper` for CPU time.
    """
    pairs = list(zip(night.ranked_figures(one), night.ranked_figures(other), strict=True))
    found = compare_pair(pairs)
    return found.inverted if night.lower_is_better else found


def twins_of(night: Night, groups: Iterable[Collection[str]]) -> list[Twin]:
    """Return the twins of a night whose groups of frameworks are ranked apart.

    There are none if the night has too few blocks to rank.
    """
    if not _has_enough(night) or not any(name.endswith(TWIN) for name in night.names):
        return []
    return [
        twin
        for group in groups
        if (ranking := _ranking(night, _steady(night, group)[1]))
        for twin in _twins(night, ranking)
    ]


def history_of(twins: Mapping[str, Sequence[Twin]], looked_at: str = "") -> TwinHistory | None:
    """Return the history of the twins of a load's nights, by the night; None without a twin.

    `looked_at` is when somebody last looked: earlier nights suspend nothing.
    """
    every = [twin for night in twins.values() for twin in night]
    if not every:
        return None
    tied = sum(twin.is_tied for twin in every)
    low, high = share_interval(tied, len(every))
    missed = [
        not all(twin.is_tied for twin in found)
        for night, found in sorted(twins.items())
        if found and night > looked_at
    ]
    return TwinHistory(
        tied=tied,
        of=len(every),
        low=low,
        high=high,
        is_suspended=any(a and b for a, b in pairwise(missed)),
    )
