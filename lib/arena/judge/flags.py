"""Flags: what a reader must know before trusting a headline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from arena.machine.sentinel import words
from arena.machine.sentinel.limits import value_of
from arena.record.measurement import Disturbance, GeneratorHost, Run, Second
from arena.what.profile import MeasuredProfile

# The name of a flag. Boards by other rules may have flags that are not here.
FlagName = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=64)]

# A server that answers a smaller share of the calls that are due at a fixed rate cannot keep it.
KEPT_SHARE = 0.99

CANNOT_KEEP = "cannot-keep-rate"

# By how much a percentile from due and one from written may differ.
LATE_FACTOR = 1.2

# A server whose first good reply comes so long after its start is said to be slow to start.
SLOW_START_S = 10.0

# Little's law holds in a closed loop; a record with a larger relative error gets a flag.
LITTLES_LAW_TOLERANCE = 0.15
# A generator that used this share of its CPUs was at its limit.
CLIENT_BOUND_SHARE = 0.90
# A scheduled load missed a second if the calls sent differ from the calls due by more than this
# share. A difference of one call is always allowed.
SCHEDULE_TOLERANCE = 0.05
# A larger share of the CPUs that belongs to nobody known may be the server's.
MOST_UNKNOWN = 0.01
# Fewer shots than this give no 95 % confidence interval of the median, and the fastest of many
# points with few shots may be fast by chance.
LEAST_SHOTS = 6

# A second in which so many calls are sent at an even rate has an answer, unless the server stalls.
_MANY_SENT = 10

# The flag of a record whose proof is missing.
UNPROVEN = "unproven"

# A server still warms up if each of at least so many runs is faster than the one before by more
# than this factor.
_LEAST_RUNS = 3
_FASTER = 1.05


@dataclass(frozen=True)
class FlagBasis:
    """What decides flags: the load as it was run, its runs, and the headline's run.

    `generator_cpus` is how many CPUs the generator had for itself; None when it shared the
    server's. `saturated` generator hosts of the headline's run were at their limit. `is_disturbed`:
    some run was.
    """

    profile: MeasuredProfile
    runs: Sequence[Run]
    best: Run
    generator_cpus: int | None
    saturated: Sequence[int]
    is_disturbed: bool


@dataclass(frozen=True)
class Flag:
    """One flag: its name in records, when it holds, and what it means to a reader of a page.

    If it `takes_rank`, the result has no rank; one that `keeps_place` stands by its figure all the
    same, which is a lower bound. Of the others, the load was not the profile's.
    """

    name: str
    holds: Callable[[FlagBasis], bool]
    words: str
    takes_rank: bool = False
    keeps_place: bool = False


def missed(second: Second) -> bool:
    """Return whether a second's load differs from the schedule."""
    if second.intended is None or second.sent is None:
        return False
    allowed = max(SCHEDULE_TOLERANCE * second.intended, 1)
    return abs(second.sent - second.intended) > allowed


def kept_schedule(run: Run) -> bool:
    """Return whether every second had the scheduled load; False without seconds."""
    return bool(run.seconds) and not any(map(missed, run.seconds))


def _is_client_bound(it: FlagBasis) -> bool:
    """Return whether the generator used 90 % of its CPUs, or more than the server if they share.

    In a search for a capacity, it was the limit if calls were sent late where the limit was broken.

    Of a fleet, one host at its limit is enough. False for a load by a schedule, which is not meant
    to fill the generator.
    """
    if it.best.search:
        return it.best.search.answer == "at-least"
    if it.profile.load.follows_schedule:
        return False
    if it.saturated:
        return True
    if it.generator_cpus is None:
        return not has_unknown_cost(it.best) and it.best.generator.cpu_s > it.best.server.cpu_s
    if it.best.generators:
        return False
    available_s = it.profile.load.generator_cpus(it.generator_cpus) * it.best.elapsed_s
    return it.best.generator.cpu_s >= CLIENT_BOUND_SHARE * available_s


def is_saturated(host: GeneratorHost) -> bool:
    """Return whether a generator host used 90 % of the CPUs of its threads, or one of these did.

    False if a record is too old to tell.
    """
    if host.cpus is None or host.elapsed_s is None or host.busiest_thread_s is None:
        return False
    most_s = CLIENT_BOUND_SHARE * host.elapsed_s
    return host.cpu_s >= min(host.threads, host.cpus) * most_s or host.busiest_thread_s >= most_s


def _misses_littles_law(it: FlagBasis) -> bool:
    """Return whether calls/s x mean latency differs from the calls in flight of a closed loop."""
    latency = it.best.latency_ns
    if not it.profile.load.keeps_in_flight or latency.mean is None or latency.kind != "service":
        return False
    # Calls/s are derived from messages: the counted messages of cut calls are work, too.
    calls_per_s = it.best.messages / it.profile.messages_per_call / it.best.elapsed_s
    in_flight = calls_per_s * latency.mean / 1e9
    return abs(in_flight / it.profile.in_flight - 1) > LITTLES_LAW_TOLERANCE


def _has_missed_schedule(it: FlagBasis) -> bool:
    """Return whether a load that ranks by its latency was not the schedule's.

    At a fixed rate, the generator may be late: then a figure lies between bounds.
    """
    is_fixed = it.profile.load.steadies
    return it.profile.metric.is_latency and not (is_fixed or kept_schedule(it.best))


def _cannot_keep_rate(it: FlagBasis) -> bool:
    """Return whether a warm server answered too few of the calls of a fixed rate."""
    due = sum(it.profile.load.due()) if it.profile.load.steadies else 0
    return it.best.calls.ok < KEPT_SHARE * due


def is_late(run: Run, name: str) -> bool:
    """Return whether the generator itself was late: whether a percentile hangs on its lateness.

    It does if it is a fifth larger from when calls were due than from when they were written.
    """
    due, written = getattr(run.latency_ns, name), getattr(run.written_ns, name, None)
    return due is not None and written is not None and due > LATE_FACTOR * written


def _has_lost_streams(it: FlagBasis) -> bool:
    """Return whether streams that were to live did not, in any run."""
    return any(run.streams and run.streams.lost for run in it.runs)


def _is_cut_short(it: FlagBasis) -> bool:
    """Return whether time ran out before each point of a sweep had enough shots for a median."""
    planned = len(it.profile.load.points(it.profile.connections))
    enough = min(LEAST_SHOTS, it.profile.load.shots)
    points = it.best.points
    return len(points) < planned or any(each.repetitions < enough for each in points)


def _is_empty(second: Second) -> bool:
    return second.length_s == 1 and not (second.ok or second.failed or second.messages)


def _is_unreached(it: FlagBasis) -> bool:
    """Return whether the p99 that ranks is only a lower bound in some run."""
    return it.profile.metric.is_latency and any("p99" in run.latency_ns.at_least for run in it.runs)


def _has_stalled(it: FlagBasis) -> bool:
    """Return whether nothing arrived for a whole second of a run, in a closed loop.

    At a fixed rate, with calls that were sent. By a schedule, it is enough that too many calls were
    open at the end for a p99.
    """
    load = it.profile.load
    seconds = [second for run in it.runs for second in run.seconds if _is_empty(second)]
    in_closed = load.kind == "closed" and bool(seconds)
    at_rate = load.steadies and any((each.sent or 0) >= _MANY_SENT for each in seconds)
    return in_closed or at_rate or _is_unreached(it)


def _is_still_warming(it: FlagBasis) -> bool:
    """Return whether each run is faster than the one before; False for times."""
    if it.profile.metric.lower_is_better or len(it.runs) < _LEAST_RUNS:
        return False
    return all(after.rate > _FASTER * before.rate for before, after in pairwise(it.runs))


def has_unknown_cost(run: Run) -> bool:
    """Return whether some of the server's CPU time may belong to nobody known.

    A control group counts all of it. Without one, a program can hide processes from the tree.
    """
    if run.server.source == "control-group":
        return False
    unknown = None
    if run.watch and run.server.source:
        unknown = value_of("foreign", run.watch, softirq_in_tasks=None)
    return (unknown or 0.0) > MOST_UNKNOWN or (not run.server.cpu_s and bool(run.calls.ok))


# In the order in which boards and pages list them.
FLAGS: tuple[Flag, ...] = (
    Flag(
        "client-bound",
        _is_client_bound,
        "The generator used all of its CPUs, or more CPU time than the server; of a fleet, one "
        "host is enough. In a search for a capacity, it sent calls late where the limit was "
        "broken, or the limit never was. The server may be faster than this figure.",
    ),
    Flag(
        "littles-law",
        _misses_littles_law,
        "Calls per second × mean latency differs from the calls in flight by more than 15 %. "
        "The latencies cover only calls that finished; long calls that were cut are missing.",
    ),
    Flag(
        "missed-schedule",
        _has_missed_schedule,
        "In at least one second, the calls sent differ from the calls due by more than 5 % and "
        "by more than one call; in a scenario, iterations are compared. The load was not the "
        "schedule's, so the row has no rank. Its picture marks these seconds.",
        takes_rank=True,
    ),
    Flag(
        CANNOT_KEEP,
        _cannot_keep_rate,
        "Less than 99 % of the calls, or messages, that were due were answered by the end of the "
        "window and a second more. The server, or the host, cannot keep this rate, so the row has "
        "no rank.",
        takes_rank=True,
    ),
    Flag(
        "generator-late",
        lambda it: any(is_late(run, "p99") for run in it.runs),
        "The generator was late: in at least one run, the p99 latency from when calls were due is "
        "more than 20 % above that from when they were written. The figure lies between the two.",
    ),
    Flag(
        "below-lowest",
        lambda it: it.best.search is not None and it.best.search.answer == "below",
        "Not even the lowest rate that is tried, 100 calls a second, keeps the limit.",
    ),
    Flag(
        "slow-start",
        lambda it: it.best.started is not None and it.best.started.first_reply_s >= SLOW_START_S,
        "The first good reply came 10 s or more after the start of the server.",
    ),
    Flag(
        "cut-short",
        _is_cut_short,
        "Time ran out before each point of the sweep had six shots. With few shots, the fastest "
        "point may be fast by chance, so the row has no rank.",
        takes_rank=True,
    ),
    Flag(
        "cut-calls",
        # Cut calls matter only if they make the rate uncertain: not if messages were counted.
        lambda it: bool(it.best.calls.cut) and it.best.rate_at_least < it.best.rate_at_most,
        "Calls were still open when the window closed; the error bar covers them.",
    ),
    Flag(
        "none-finished",
        lambda it: not it.best.calls.ok,
        "No call finished inside the window. Latencies are lower bounds (≥, from the ages of open "
        "calls) or unknown, and a rate that is derived from calls is only an upper bound.",
    ),
    Flag(
        "lost-streams",
        _has_lost_streams,
        "In at least one run, streams that were to stay open broke, were refused, or were not open "
        "at the end. The record's page says how many.",
    ),
    Flag(
        "stalled",
        _has_stalled,
        "In at least one run, nothing arrived for at least one whole second, although calls were "
        "open, or too many calls of a schedule were open at the end. The record's page says in "
        "which run.",
    ),
    Flag(
        "unreached",
        _is_unreached,
        "In at least one run, so many calls were open at the end that its p99 is only a lower "
        "bound (≥), so the row has no rank.",
        takes_rank=True,
    ),
    Flag(
        "failed-calls",
        lambda it: any(run.calls.failed for run in it.runs),
        "Some calls failed; only those that succeeded are counted.",
    ),
    Flag(
        "status-unchecked",
        lambda it: bool(it.best.unchecked and it.best.unchecked.status),
        "The generator does not read the gRPC status: a call counts as a success if its HTTP "
        "status is 2xx, even if it failed. The server's replies were checked before and after "
        "the load.",
    ),
    Flag(
        "approximate",
        lambda it: it.best.approximate,
        "The generator can only approximate this load. The methodology explains how closely, "
        "and why.",
    ),
    Flag(
        "still-warming",
        _is_still_warming,
        "Each run was more than 5 % faster than the one before: the server had not reached its "
        "steady speed. The best run may be too low (≥), so the row stands by it and has no rank.",
        takes_rank=True,
        keeps_place=True,
    ),
    Flag(
        "disturbed",
        lambda it: it.is_disturbed,
        "The host was disturbed during at least one run: something else took or slowed its CPUs, "
        "or a clock jumped. The figure may be wrong. The record's page says what it was.",
    ),
    Flag(
        "cost-unknown",
        lambda it: any(map(has_unknown_cost, it.runs)),
        "The framework's own CPU time and memory are not known: in at least one run, its processes "
        "used no CPU, or processes that nobody knows used more than 1 % of the CPUs, and no "
        "control group counted it. So the row has neither figure.",
    ),
    Flag(
        UNPROVEN,
        lambda _: False,  # It is not of the runs: the archive looks at the files.
        "The sum that is saved with a record, or a generator's raw output, is missing, so nothing "
        "shows that this was measured. The row has no rank.",
        takes_rank=True,
    ),
    Flag("unpinned", lambda it: it.generator_cpus is None, "Server and generator shared the CPUs."),
)

# By name.
WORDS = {flag.name: flag.words for flag in FLAGS}
UNRANKED = frozenset(flag.name for flag in FLAGS if flag.takes_rank)
UNPLACED = frozenset(flag.name for flag in FLAGS if flag.takes_rank and not flag.keeps_place)


def disturbed_words(runs: Sequence[Sequence[Disturbance]]) -> str:
    """Return which runs were disturbed, and by what; empty if none was."""
    found = [f"run {number}: {words(own)}" for number, own in enumerate(runs, 1) if own]
    return f"{len(found)} of {len(runs)} runs: {'; '.join(found)}" if found else ""


def stalled_words(runs: Sequence[Run]) -> str:
    """Return how many seconds of which runs were empty; empty itself if none was."""
    return "; ".join(
        f"run {number}: {count} of {len(run.seconds)} seconds"
        for number, run in enumerate(runs, 1)
        if (count := sum(map(_is_empty, run.seconds)))
    )


def flags_of(judged: FlagBasis) -> tuple[FlagName, ...]:
    """Return the names of the flags that hold."""
    return tuple(flag.name for flag in FLAGS if flag.holds(judged))
