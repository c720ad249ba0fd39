"""What a night of blocks says of the frameworks of a board: estimates and ranks by every figure."""

import operator
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import median

from pydantic import Field

from arena.base.model import Frozen
from arena.judge.beside import LATENCIES, Beside, FigureEstimate, over_blocks
from arena.judge.entry import Turn
from arena.judge.figures import FAR, bounded, knows_p999, pooled_p999, step_key
from arena.judge.levels import Level, levels_of
from arena.judge.nights import (
    HEADLINE,
    LEAST_RANKED,
    MOST_VOID,
    Night,
    Samples,
    known_in,
    ranking_of,
    steady_of,
)
from arena.judge.ranking import RANKED_BLOCKS, Estimate, Ranking
from arena.judge.steady import SteadyAfter, steady_after
from arena.judge.twins import Twin, TwinHistory, twins_in
from arena.what.metrics import Metric
from parsers.common.figures import Whole

SUSPENDED = (
    "Ranks are suspended: in two nights in a row, this load showed a difference between a server "
    "and its twin, which are the same. Look for the reason; `arena twins --looked` ends it."
)


class BlockEstimate(Frozen):
    """A framework's estimate over the whole blocks of a night, in the board's metric.

    `low` to `high` is the simultaneous 95 % interval. If blocks are on two `levels`, there is no
    estimate: `value` is only there to sort by, and ranks are over both. `rates` has the figure of
    each of the `blocks`, in their order, and `records` the paths of their records. `voids` counts
    the framework's void visits. `drift_low` is the lower end of the 95 % interval of log(rate of a
    run's second half / first half); None if the generator reports no seconds.
    `messages_per_data_frame` is that under load, over all blocks. `client_bound`: in most blocks
    the generator was the limit. `cannot_keep` the load's fixed rate: in more than a quarter of its
    visits too few calls were answered. `beside` has latencies, costs and memory by name, over the
    same blocks, and `steps` the p99 latency of each step (ns); those that can be ranked have
    estimates. `steady` is over the starts of all blocks, if starts were measured, and enough.
    """

    value: float
    low: float
    high: float
    levels: tuple[Level, ...] = Field(default=(), exclude_if=operator.not_)
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
    the newest night, if that is not the one shown. `twins` are judged by the headline,
    `figure_twins` by the others; `suspended` names those of the others that have no ranks.
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
    figure_twins: tuple[Twin, ...] = Field(default=(), exclude_if=operator.not_)
    suspended: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    fuller: OtherNight | None = None
    newer: OtherNight | None = None


def other_nights(
    nights: Sequence[Night], shown: Night, frameworks: Collection[str]
) -> dict[str, OtherNight | None]:
    """Return what a reader must know of nights that a board does not show: `fuller` and `newer`.

    The newest come first.
    """
    count = known_in(shown, frameworks)
    fuller = (
        each
        for each in nights
        if each.id < shown.id and known_in(each, frameworks) > count and each.has_enough
    )
    newer = (each for each in nights if each.id > shown.id and known_in(each, frameworks))
    return {
        name: OtherNight(night=it.id, frameworks=known_in(it, frameworks)) if it else None
        for name, it in (("fuller", next(fuller, None)), ("newer", next(newer, None)))
    }


@dataclass(frozen=True)
class Verdict:
    """What a night says of some frameworks, by name; `rank_sets` and `letters` only if ranked."""

    summary: BoardNight
    estimates: Mapping[str, BlockEstimate]
    rank_sets: Mapping[str, tuple[int, int]]
    letters: Mapping[str, str]


@dataclass(frozen=True)
class _Judged:
    """What one figure of a night says: `ranking` has those of the frameworks that can be ranked.

    `every` has all that have the figure, if some of these cannot be ranked: those that are `flat`,
    whose interval has no width, so that it cannot tell them from others, and those that are unfit.
    """

    names: AbstractSet[str]
    fit: AbstractSet[str]
    flat: AbstractSet[str]
    ranking: Ranking | None
    every: Ranking | None

    @classmethod
    def of(
        cls, night: Night, samples: Samples, names: AbstractSet[str], fit: AbstractSet[str]
    ) -> "_Judged":
        """Judge a figure; only those that are `fit`, and are not flat, are ranked."""
        names, fit = names & samples.keys(), fit & samples.keys()
        ranking = ranking_of(samples, fit)
        flat = _flat(ranking, fit) if ranking and night.has_enough else set()
        if flat:
            ranking = ranking_of(samples, fit - flat)
        every = ranking_of(samples, names) if names - fit or flat else None
        return cls(names, fit - flat, flat, ranking, every)

    def estimate(self, name: str, *, is_inverted: bool) -> Estimate | None:
        """Return the estimate of a name, in the unit of the figure; None if it has none."""
        found = self.ranking if name in self.fit else self.every
        if found is None or name not in self.names:
            return None
        it = found.estimates[name]
        return Estimate(1 / it.value, 1 / it.high, 1 / it.low, it.blocks) if is_inverted else it


def judged(night: Night, frameworks: Collection[str], history: TwinHistory | None) -> Verdict:
    """Return what a night says of those frameworks; one at least must be in its whole blocks.

    A framework that is still warming up, or cannot keep a fixed rate, has estimates, but is left
    out of the others' ranks. So is one whose interval has no width, in a night with enough blocks.
    `history` is that of the load's twins, which may suspend the ranks by any figure.
    """
    drifts, steady = steady_of(night, frameworks)
    failing = {name for name in drifts if night.cannot_keep(name)}
    warming = drifts.keys() - steady - failing
    by_figure = {
        figure: _Judged.of(night, samples, drifts.keys(), steady)
        for figure, samples in night.samples.items()
    }
    suspended = {figure for figure in by_figure if history and history.suspends(figure)}
    headline = by_figure[HEADLINE]
    which = (
        ", and not still warming up" * bool(warming)
        + ", with blocks that differ" * bool(headline.flat)
        + ", that keep the rate" * bool(failing)
    )
    why_not = _why_not(night, headline, which) or SUSPENDED * (HEADLINE in suspended)
    ranked = {
        figure: it.ranking
        for figure, it in by_figure.items()
        if it.ranking and not (figure in suspended or _why_not(night, it, ""))
    }
    estimates = {
        name: _estimate(
            night, name, it, low, is_warming=name in warming, cannot_keep=name in failing
        )
        for name, low in drifts.items()
        if (it := headline.estimate(name, is_inverted=night.lower_is_better))
    }
    besides = _Besides(night, by_figure, ranked)
    estimates = {name: besides.added_to(name, it) for name, it in estimates.items()}
    twins = [
        twin
        for figure, it in by_figure.items()
        if it.ranking
        for twin in twins_in(night, it.ranking, figure)
    ]
    summary = BoardNight(
        night=night.id,
        planned=max(turn.blocks for _, turn in night.visits),
        blocks=len(night.blocks),
        visits=len(night.visits),
        voids=night.voids,
        disturbed=sum(turn.disturbed for _, turn in night.visits),
        frameworks=len(estimates),
        is_ranked=HEADLINE in ranked,
        why_not=why_not,
        detectable=headline.ranking.detectable if headline.ranking else None,
        twins=tuple(twin for twin in twins if twin.figure == HEADLINE),
        figure_twins=tuple(twin for twin in twins if twin.figure != HEADLINE),
        suspended=tuple(sorted(suspended - {HEADLINE})),
    )
    found = ranked.get(HEADLINE)
    rank_sets, letters = (found.rank_sets, found.letters) if found else (None, None)
    return Verdict(summary, estimates, rank_sets or {}, letters or {})


def _flat(ranking: Ranking, frameworks: AbstractSet[str]) -> AbstractSet[str]:
    found = ranking.estimates
    return {name for name in frameworks if found[name].low == found[name].high}


@dataclass(frozen=True)
class _Besides:
    """What a night says by the figures beside the headline; those in `ranked` rank."""

    night: Night
    by_figure: Mapping[str, _Judged]
    ranked: Mapping[str, Ranking]

    def added_to(self, name: str, estimate: BlockEstimate) -> BlockEstimate:
        """Return a framework's estimate with those of its other figures."""
        changes = {
            "beside": {key: self._with(name, key, it) for key, it in estimate.beside.items()},
            "steps": {
                step: self._with(name, step_key(step), it) for step, it in estimate.steps.items()
            },
        }
        return estimate.model_copy(update=changes)

    def _with(self, name: str, figure: str, it: Beside) -> Beside:
        """Return a figure with its estimate, if it can be ranked at all."""
        own = self.by_figure.get(figure)
        is_inverted = self.night.is_inverted(figure)
        found = own.estimate(name, is_inverted=is_inverted) if own else None
        if found is None:
            return it
        rates = [each.value for each in self.night.samples[figure][name]]
        ranking = self.ranked.get(figure)
        estimate = FigureEstimate(
            value=bounded(found.value),
            low=bounded(found.low),
            high=bounded(found.high) if found.high < FAR else None,
            levels=levels_of([1 / each for each in rates] if is_inverted else rates),
            rank_set=((ranking and ranking.rank_sets) or {}).get(name),
            letters=((ranking and ranking.letters) or {}).get(name),
        )
        return it.model_copy(update={"estimate": estimate})


def _why_not(night: Night, it: _Judged, which: str) -> str:
    """Return why the night ranks nobody by a figure, as a sentence, or nothing.

    `which` says why some frameworks cannot be ranked.
    """
    if len(it.fit) < LEAST_RANKED:
        return f"Ranks need two frameworks at least in the same night{which}."
    if not night.has_enough:
        whole = len(night.blocks)
        return f"Ranks need {RANKED_BLOCKS} whole blocks at least; this night has {whole}."
    if night.is_noisy:
        return (
            f"This was a noisy night: {night.voids} of {len(night.visits)} visits are void, more "
            f"than {100 * MOST_VOID:.0f} %. Its ranks are not published."
        )
    return ""


def _pooled(p999: Beside, turns: Sequence[Turn]) -> Beside:
    """Return the p99.9 of all calls of the blocks; its median if it has bounds, or no tails."""
    found = pooled_p999(sum(it.timed for it in turns), [it.tail for it in turns])
    if found is None or p999.is_bound:
        return p999
    return p999.model_copy(update={"at_least": found, "at_most": found})


def _estimate(
    night: Night,
    name: str,
    found: Estimate,
    drift_low: float | None,
    *,
    is_warming: bool,
    cannot_keep: bool,
) -> BlockEstimate:
    """Return the estimate of the headline, with the medians of the other figures."""
    turns = night.turns(name)
    rates = tuple(value for _, value, _ in night.figures(name))
    beside = over_blocks([turn.beside for turn in turns])
    p999 = LATENCIES["p999"]
    if not knows_p999(turn.timed for turn in turns):
        beside.pop(p999, None)
    elif p999 in beside:
        beside[p999] = _pooled(beside[p999], turns)
    packed = [each for turn in turns if (each := turn.messages_per_data_frame) is not None]
    visits = [block[name][0] for block in night.blocks]
    return BlockEstimate(
        value=found.value,
        low=found.low,
        high=found.high,
        levels=levels_of(rates),
        blocks=found.blocks,
        rates=rates,
        voids=sum(entry.name == name and turn.is_void for entry, turn in night.visits),
        drift_low=drift_low,
        still_warming=is_warming,
        messages_per_data_frame=median(packed) if packed else None,
        cannot_keep=cannot_keep,
        client_bound=2 * sum("client-bound" in each.flags for each in visits) > len(visits),
        beside=beside,
        steps=over_blocks([turn.steps for turn in turns]),
        steady=steady_after(tuple(turn.start for turn in turns if turn.start)),
        records=tuple(entry.path for entry in visits),
    )
