"""What is judged of a record: a function of what was observed, and of the rules.

Nothing of it is saved with the record. Rounds keep the boards that were made of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.judge.flags import FlagBasis, FlagName, flags_of, is_saturated
from arena.judge.headline import Headline, Spread, headline_of, spread_of
from arena.machine.sentinel import judged
from arena.record.measurement import Disturbance
from arena.record.record import Record

# The version of the rules by which records are judged: of headlines, flags, estimates and ranks.
# Raise it with any change that could change a board, and derive the rounds' boards anew.
RULES = 3


@dataclass(frozen=True)
class Derived:
    """What the rules of a version say of a record.

    `headline` is None unless it is ok, `spread` without a run. `disturbed` has, for each run, the
    signals over their limits, and `saturated` the numbers of the generator hosts at theirs.
    `is_void`: it is a visit, and the sentinel does not trust its run, which is the first.
    """

    rules: int
    headline: Headline | None
    spread: Spread | None
    flags: tuple[FlagName, ...]
    disturbed: Sequence[Sequence[Disturbance]]
    saturated: Sequence[Sequence[int]]
    is_void: bool


def derive(record: Record, rules: int = RULES) -> Derived:
    """Judge a record. ValueError for rules that are no longer code, or not yet."""
    if rules != RULES:
        raise ValueError(
            f"rules {rules} are not those of this runner, which are {RULES}: "
            "boards by older rules are kept in the files of the rounds"
        )
    profile, runs = record.profile, record.runs
    headline = headline_of(profile, runs) if record.status == "ok" else None
    disturbed, saturated = _verdicts(record)
    flags: tuple[FlagName, ...] = ()
    if headline:
        at = headline.run - 1
        flags = flags_of(
            FlagBasis(
                profile=profile,
                runs=runs,
                best=runs[at],
                generator_cpus=record.provenance.cpus.generator_count,
                saturated=saturated[at],
                is_disturbed=any(disturbed),
            )
        )
    return Derived(
        rules=rules,
        headline=headline,
        spread=spread_of(profile.metric, runs),
        flags=flags,
        disturbed=disturbed,
        saturated=saturated,
        is_void=record.visit is not None and any(disturbed[:1]),
    )


def _verdicts(record: Record) -> tuple[Sequence[Sequence[Disturbance]], Sequence[Sequence[int]]]:
    """Return what disturbed each run and who was saturated in it, or what was noted of that."""
    if noted := record.noted:
        return noted.disturbed, noted.saturated
    limits, runs = record.limits, record.runs
    disturbed = [judged(run.watch, limits) if run.watch and limits else () for run in runs]
    return disturbed, [[it.number for it in run.generators if is_saturated(it)] for run in runs]
