"""Planning a night of blocks: which loads, how many blocks of each, which twins and warm-ups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from arena.base.text import columns
from arena.base.units import format_duration
from arena.judge.load_key import text_of
from arena.judge.ranking import RANKED_BLOCKS
from arena.night import schedule
from arena.night.expected import Expected, minutes_words
from arena.night.history import History
from arena.night.schedule import PlannedLoad, PlannedNight, name_of
from arena.night.warm_ups import Subject, WarmUps
from arena.run.plan import Plan
from arena.run.request import Request
from arena.what.loads import Share

# The plans of a night, by load and framework.
Plans = Mapping[str, Mapping[str, Plan]]


def by_load(plans: Sequence[Plan]) -> dict[str, dict[str, Plan]]:
    """Return plans by the name of their load (`stream-grpc/64`) and by framework."""
    found: dict[str, dict[str, Plan]] = {}
    for each in plans:
        found.setdefault(name_of(each.profile), {})[each.framework.name] = each
    return found


def at_own_rates(
    plans: Sequence[Plan], history: History, planned: PlannedNight | None
) -> tuple[list[Plan], list[Plan]]:
    """Return plans with the rates of those that have their own, and plans whose rate is unknown.

    A resumed night has the rates that were `planned`.
    """
    known, unknown = [], []
    of_night = {each.load: each.rates for each in planned.loads} if planned else {}
    for plan in plans:
        name, load = plan.framework.name, plan.profile.load
        if not isinstance(load, Share):
            known.append(plan)
            continue
        rate = of_night.get(name_of(plan.profile), {}).get(name) or round(
            load.share * (history.calls_per_s(name, load.of) or 0.0)
        )
        if rate:
            profile = plan.profile.changed(load=load.changed(rate=rate))
            known.append(replace(plan, profile=profile))
        else:
            unknown.append(plan)
    return known, unknown


def plan_night(
    plans: Plans,
    request: Request,
    seed: str,
    sources: Mapping[str, str],
    host_class: str,
    warm_ups: WarmUps,
) -> PlannedNight:
    """Return a night that measures every block of every load."""
    named = request.twins_of({name: each for own in plans.values() for name, each in own.items()})
    loads = []
    for load, own in plans.items():
        exactly = text_of(next(iter(own.values())).profile)
        twins = named if named is not None else (schedule.twin_of(seed, load, own),)
        loads.append(
            PlannedLoad(
                load=load,
                exactly=exactly,
                blocks=request.blocks or 1,
                frameworks=tuple(own),
                twins=tuple(name for name in twins if name in own),
                rates={
                    name: rate
                    for name, plan in own.items()
                    if (rate := plan.profile.load.own_rate) is not None
                },
                warm_ups_s={
                    name: 0.0
                    if plan.profile.load.is_start
                    else request.block_warm_up
                    or warm_ups.seconds(Subject(name, sources[name], exactly, host_class))
                    for name, plan in own.items()
                },
            )
        )
    return PlannedNight(
        seed=seed, host_class=host_class, loads=tuple(loads), left_out={}, sources=dict(sources)
    )


def within(
    budget_s: float, night: PlannedNight, expected: Expected, last: Callable[[PlannedLoad], str]
) -> PlannedNight:
    """Return the night without the blocks that do not fit into a budget.

    The load that has waited longest, by the night that `last` measured it, comes first. It has as
    many blocks as fit, if these are enough for ranks; other loads may have the rest.
    """
    kept: dict[str, PlannedLoad] = {}
    left_out = {}
    left_s = budget_s - expected.builds_s(night.loads)
    for load in sorted(night.loads, key=lambda each: (last(each), each.load)):
        blocks = load.blocks
        while blocks and expected.load_s(load.changed(blocks=blocks)) > left_s:
            blocks -= 1
        if blocks < min(load.blocks, RANKED_BLOCKS):
            needed = expected.load_s(load)
            left_out[load.load] = f"its {load.blocks} blocks take about {minutes_words(needed)}"
            continue
        kept[load.load] = load.changed(blocks=blocks)
        if blocks < load.blocks:
            left_out[load.load] = f"blocks {blocks + 1} to {load.blocks}: no time left"
        left_s -= expected.load_s(kept[load.load])
    loads = tuple(kept[each.load] for each in night.loads if each.load in kept)
    return night.changed(loads=loads, left_out=left_out)


def last_night_of(plans: Plans, history: History) -> Callable[[PlannedLoad], str]:
    """Return a function that tells which night measured a load last; empty if none did."""

    def last(load: PlannedLoad) -> str:
        visits = [each for plan in plans[load.load].values() for each in history.visits(plan)[:1]]
        return max((each.visit.night for each in visits if each.visit), default="")

    return last


def problem_of(night: PlannedNight, plans: Plans, sources: Mapping[str, str]) -> str:
    """Return why a night cannot be resumed with these plans; empty if it can be."""
    for load in night.loads:
        own = plans.get(load.load, {})
        for name in load.frameworks:
            if name not in own:
                return f"{name} cannot be measured under {load.load} now"
            if sources[name] != night.sources[name]:
                return f"{name} has changed since"
            if text_of(own[name].profile) != load.exactly:
                return f"the load of {load.load} has changed since"
    return ""


def words_of(night: PlannedNight, plans: Plans, expected: Expected) -> list[str]:
    """Return the plan of a night as lines, with the order of each load's first block."""
    lines = [f"seed: {night.seed}"]
    for load in night.loads:
        profile = next(iter(plans[load.load].values())).profile
        size = f"{load.blocks} blocks x {len(load.slots)} visits by {profile.generator}"
        lines.append(f"{profile.label}: {size}, {minutes_words(expected.load_s(load))}")
        rows = [
            [
                f"  {name}",
                (f"warm-up {format_duration(warm_up_s)}" if warm_up_s else "no warm-up")
                + (f", {load.rates[name]:,} calls a second" if load.rates else ""),
                "and its twin" if name in load.twins else "",
            ]
            for name in load.frameworks
            for warm_up_s in [load.warm_ups_s[name]]
        ]
        lines += columns(rows)
        first = schedule.visits_of(night.seed, load.load, 1, load.slots)
        lines.append(f"  first block: {', '.join(map(str, first))}")
    lines += [f"left out: {load}: {why}" for load, why in night.left_out.items()]
    total = sum(map(expected.load_s, night.loads)) + expected.builds_s(night.loads)
    lines.append(f"blocks: about {minutes_words(total)} in all")
    return lines
