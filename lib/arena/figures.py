"""From runs to figures: the headline, its error bar, the spread, the flags, and their words."""

from collections.abc import Sequence
from statistics import fmean, median, stdev

from arena.measurement import Run, Second
from arena.profiles import LOWER_IS_BETTER, Kind, Metric
from arena.records import Flag, Headline, MeasuredProfile, Spread
from arena.units import (
    RATES,
    TIMES_NS,
    bar_words,
    format_ns,
    interval_words,
    place_of,
    rate_words,
    rounded,
)

# Little's law holds in a closed loop; a record further off than this says so.
LITTLES_LAW_TOLERANCE = 0.15
# A generator that used this share of its CPUs had nothing left to give.
CLIENT_BOUND_SHARE = 0.90
# HttpArena ranks by the best of this many runs.
BEST_OF = 3
# A scheduled load has missed a second if it sent so much more or less than was due in it; one
# call may always fall on the other side of its edge.
SCHEDULE_TOLERANCE = 0.05
# Fewer shots than this do not hold a median with 95 % confidence, and the fastest of many points
# with few shots is fast by chance.
LEAST_SHOTS = 6


def figure_of(metric: Metric, run: Run) -> tuple[float, float, float]:
    """Return what a run amounts to in a metric, and the ends of its error bar."""
    if metric == "p99 latency":
        p99_ns = run.latency_ns.p99 or 0.0
        return p99_ns, p99_ns, p99_ns
    return run.rate, run.rate_low, run.rate_high


def headline_of(profile: MeasuredProfile, runs: Sequence[Run]) -> Headline | None:
    """Pick the best of the first three runs, HttpArena's rule; None without a run."""
    first = runs[:BEST_OF]
    if not first:
        return None
    number, best = _best(profile.metric, first)
    value, low, high = figure_of(profile.metric, best)
    return Headline(
        metric=profile.metric,
        value=value,
        low=low,
        high=high,
        rule=_rule(len(runs), best),
        run=number,
    )


def _best(metric: Metric, runs: Sequence[Run]) -> tuple[int, Run]:
    """Return the best run and its number, from 1.

    By a latency, that is the lowest of those that have one; the less is sent, the lower it is, so
    a run that kept its schedule is better than any that did not.
    """

    def order(numbered: tuple[int, Run]) -> tuple[bool, bool, float]:
        value, _, _ = figure_of(metric, numbered[1])
        if metric in LOWER_IS_BETTER:
            return value > 0, _kept_schedule(numbered[1]), -value
        return True, True, value

    return max(enumerate(runs, 1), key=order)


def interval_of(metric: Metric, runs: Sequence[Run]) -> tuple[float, float]:
    """Return the interval of a record: the least and the greatest that any run leaves possible.

    It spans the error bars of the runs that the headline is picked from, so that it holds what
    the generator could not know and how far the runs scatter. There must be a run. One without a
    latency says nothing of the others' latencies: it is no best one.
    """
    every = [figure_of(metric, run) for run in runs[:BEST_OF]]
    known = [figure for figure in every if figure[0] > 0]
    figures = known if known and metric in LOWER_IS_BETTER else every
    return min(low for _, low, _ in figures), max(high for _, _, high in figures)


def _rule(runs: int, best: Run) -> str:
    of = ""
    for point in best.points:
        if point.rate == best.rate:
            most = min(point.connections, point.requests)
            over = f"{most:,} connection{'s' * (most != 1)}"
            calls = f"{point.requests:,} call{'s' * (point.requests != 1)}"
            of = f"{calls} at once over {over}, the fastest point of "
            break
    if runs == 1:
        return f"{of}one run"
    the = "the " if of else ""
    first = f"the first {BEST_OF} of " if runs > BEST_OF else ""
    return f"{of}{the}best of {first}{runs} runs"


def value_words(metric: Metric, value: float, high: float, flags: Sequence[Flag] = ()) -> str:
    """Return a figure as far as its flags let it be known: `≥ 1.02 M`, `1.20 ms`."""
    if metric == "p99 latency":
        return format_ns(value)
    return rate_words(value, high, client_bound="client-bound" in flags)


def rounded_words(
    metric: Metric, value: float, low: float, high: float, flags: Sequence[Flag] = ()
) -> str:
    """Return a figure with no finer digits than its interval justifies: `≥ 0.82 M`, `1.2 ms`.

    What is only known to be more is rounded down; with no value, it is only known to be less
    than `high`.
    """
    if not value and high:
        return value_words(metric, value, high, flags)
    place = place_of(value, low, high)
    if metric == "p99 latency":
        return rounded(value, place, TIMES_NS)
    bound = "client-bound" in flags
    return "≥ " * bound + rounded(value, place, RATES, down=bound)


def rounded_interval(metric: Metric, value: float, low: float, high: float) -> str:
    """Return a figure's interval with no finer digits than it justifies; empty without a width."""
    if low == high:
        return ""
    units = TIMES_NS if metric == "p99 latency" else RATES
    return interval_words(low, high, place_of(value or high, low, high), units)


def figure_words(metric: Metric, value: float, high: float, flags: Sequence[Flag] = ()) -> str:
    """Return a figure with its metric: `≥ 1.02 M messages/s`, `p99 latency 1.20 ms`."""
    return with_metric(metric, value_words(metric, value, high, flags))


def with_metric(metric: Metric, words: str) -> str:
    """Return a figure's words with what they are of."""
    return f"{metric} {words}" if metric in LOWER_IS_BETTER else f"{words} {metric}"


def bar_of(metric: Metric, kind: Kind, low: float, high: float) -> str:
    """Return an error bar in words; empty where the metric has none."""
    if metric == "p99 latency":
        return ""
    if kind == "blast":
        return f"median within {bar_words(low, high)}" if low < high else ""
    return bar_words(low, high)


def spread_of(metric: Metric, runs: Sequence[Run]) -> Spread | None:
    """Describe how the figures of all runs lie; None without a run."""
    figures = [figure_of(metric, run)[0] for run in runs]
    if not figures:
        return None
    mean = fmean(figures)
    return Spread(
        median=median(figures),
        min=min(figures),
        max=max(figures),
        cv=stdev(figures) / mean if len(figures) > 1 and mean else None,
    )


def missed(second: Second) -> bool:
    """Return whether a second's load was not the one that was due by the schedule."""
    if second.intended is None or second.sent is None:
        return False
    allowed = max(SCHEDULE_TOLERANCE * second.intended, 1)
    return abs(second.sent - second.intended) > allowed


def _kept_schedule(run: Run) -> bool:
    """Return whether every second had the load that was due; not if there is none to look at."""
    return bool(run.seconds) and not any(map(missed, run.seconds))


def _is_cut_short(profile: MeasuredProfile, run: Run) -> bool:
    """Return whether a sweep's time was over before each point had enough shots for its median."""
    planned = len(profile.connections) * len(profile.sweep)
    enough = min(LEAST_SHOTS, profile.repetitions or 1)
    return len(run.points) < planned or any(each.repetitions < enough for each in run.points)


def flags_of(
    profile: MeasuredProfile,
    runs: Sequence[Run],
    headline: Headline | None,
    generator_cpus: int | None,
) -> tuple[Flag, ...]:
    """Say what a reader must know before trusting the headline, in the order of `Flag`.

    `generator_cpus` is how many CPUs the generator had for itself; None when it shared the
    server's.
    """
    if headline is None:
        return ()
    best = runs[headline.run - 1]
    # Cut calls matter only where they make the rate uncertain: not if messages were counted.
    holds: dict[Flag, bool] = {
        "client-bound": _is_client_bound(profile, best, generator_cpus),
        "littles-law": _misses_littles_law(profile, best),
        "missed-schedule": profile.kind == "scheduled" and not _kept_schedule(best),
        "cut-short": profile.kind == "blast" and _is_cut_short(profile, best),
        "cut-calls": bool(best.calls.cut) and best.rate_low < best.rate_high,
        "none-finished": not best.calls.ok,
        "failed-calls": any(run.calls.failed for run in runs),
        "status-unchecked": bool(best.unchecked and best.unchecked.status),
        "approximate": best.approximate,
        "unpinned": generator_cpus is None,
    }
    return tuple(flag for flag, held in holds.items() if held)


def _is_client_bound(profile: MeasuredProfile, best: Run, generator_cpus: int | None) -> bool:
    """Return whether the generator used 90 % of its own CPUs, or, sharing, more than the server.

    A scheduled load is not meant to use them: what it cannot keep up with, it misses.
    """
    if profile.kind == "scheduled":
        return False
    if generator_cpus is None:
        return best.generator.cpu_s > best.server.cpu_s
    return best.generator.cpu_s >= CLIENT_BOUND_SHARE * generator_cpus * best.elapsed_s


def _misses_littles_law(profile: MeasuredProfile, best: Run) -> bool:
    """Return whether calls/s x mean latency is not what a closed loop has in flight."""
    latency = best.latency_ns
    if profile.kind != "closed" or latency.mean is None or latency.kind != "service":
        return False
    # Calls/s by way of the messages: those that were counted of cut calls are work, too.
    calls_per_s = best.messages / profile.messages_per_call / best.elapsed_s
    in_flight = calls_per_s * latency.mean / 1e9
    return abs(in_flight / profile.in_flight - 1) > LITTLES_LAW_TOLERANCE
