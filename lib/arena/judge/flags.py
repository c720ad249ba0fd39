"""Flags: what a reader must know before trusting a headline."""

from collections.abc import Sequence

from arena.record.measurement import Run, Second
from arena.record.record import Flag, Headline
from arena.what.measured import MeasuredProfile

# Little's law holds in a closed loop; a record further off than this says so.
LITTLES_LAW_TOLERANCE = 0.15
# A generator that used this share of its CPUs had nothing left to give.
CLIENT_BOUND_SHARE = 0.90
# A scheduled load has missed a second if it sent so much more or less than was due in it; one
# call may always fall on the other side of its edge.
SCHEDULE_TOLERANCE = 0.05
# Fewer shots than this do not hold a median with 95 % confidence, and the fastest of many points
# with few shots is fast by chance.
LEAST_SHOTS = 6


def missed(second: Second) -> bool:
    """Return whether a second's load was not the one that was due by the schedule."""
    if second.intended is None or second.sent is None:
        return False
    allowed = max(SCHEDULE_TOLERANCE * second.intended, 1)
    return abs(second.sent - second.intended) > allowed


def kept_schedule(run: Run) -> bool:
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
        "missed-schedule": profile.kind == "scheduled" and not kept_schedule(best),
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
