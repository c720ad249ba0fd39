"""One load of a fleet, from arming its hosts to their outputs. It is fired at most once.

Before the start, every fault ends with an error, and nothing was fired. After it, the load counts
as made: what a host does not hand over in time is a problem of this load, and nothing is repeated.
"""

import asyncio
import hashlib
import time
import uuid
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from arena.base.errors import HostError
from arena.base.text import printable
from arena_fleet.agent import AHEAD_NS, RefusedError, ShareReport
from arena_fleet.facts import MOST_BOUND_NS, Offset, bound_words, monotonic_ns
from arena_fleet.fleet import (
    Caller,
    LostError,
    Member,
    clock_of,
    of_all,
)

# Each step before the start takes so long at most; connections get the time that volley gives them.
_ARM_S = 5.0
_OPEN_S = 10.0
_DISARM_S = 2.0

# A host that has not handed over is told to end, if it can be reached by now.
_FREE_S = 0.5

# The start is so far ahead, or so many round trips of the slowest host.
_START_S = 1.0
_START_RTTS = 20

# All windows must open and close within this time.
MOST_APART_NS = 5_000_000

# The two least exact clocks may be wrong by this share of the window together.
MOST_BOUND_SHARE = 0.001

# What has not been handed over so long after the window is lost. With what follows, it is 10 s.
COLLECT_S = 9.0
_ASK_S = 3.0
_ASK_AGAIN_S = 0.1

# A longer report is no report.
_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Load:
    """What a fleet is to do: `parts` are volley's arguments for each part of each host.

    `lead_s` is the warm-up before the window, `drain_s` what volley may take after it.
    """

    parts: Sequence[Sequence[Sequence[str]]]
    connections: Sequence[int]
    lead_s: float
    window_s: float
    drain_s: float = 0.0


@dataclass(frozen=True)
class Part:
    """What a host handed over: its report, the hash of it, what it told of it, and its clock."""

    content: bytes
    sha256: str
    told: ShareReport
    before: Offset
    after: Offset | None


@dataclass(frozen=True)
class Problem:
    """Why a host handed nothing over.

    The words are for the record. `detail` has the host's name, and may have paths and addresses: it
    is for the terminal only.
    """

    words: str
    detail: str = ""


@dataclass(frozen=True)
class Made:
    """A load that was fired: the part of each host, or why there is none."""

    run: str
    parts: list[Part | Problem]


async def make(
    calls: Caller,
    members: Sequence[Member],
    load: Load,
    *,
    is_counted: bool,
    on_start: Callable[[int], None],
) -> Made:
    """Make a load; HostError if it was not fired, so that it may be tried again.

    `on_start` gets the moment at which the window opens, by this host's CLOCK_MONOTONIC, as soon as
    all hosts know it. A cancelled load is ended on all hosts.
    """
    offsets = await _clocks(calls, members, load.window_s if is_counted else None)
    run = uuid.uuid4().hex
    is_over = False
    try:
        await _open(calls, members, load, run)
        start_ns, silent = await _fire(calls, members, load, run, offsets)
        if silent:
            return Made(run, [Problem(silent)] * len(members))
        opens_ns = start_ns + round(load.lead_s * 1e9)
        on_start(opens_ns)
        await asyncio.sleep((opens_ns - monotonic_ns()) / 1e9 + load.window_s)
        deadline = time.monotonic() + load.drain_s + COLLECT_S
        handed = await asyncio.gather(*(_collect(calls, it, run, deadline) for it in members))
        is_over = True
    finally:
        if not is_over:
            await _disarm(calls, members, run)
    lost = [each for each, got in zip(members, handed, strict=True) if isinstance(got, Problem)]
    await _disarm(calls, lost, run, _FREE_S)
    parts = list[Part | Problem]()
    for got, offset, member in zip(handed, offsets, members, strict=True):
        if isinstance(got, Problem):
            parts.append(got)
            continue
        after = None
        with suppress(LostError):
            after = await clock_of(calls, member.facts.name)
        parts.append(Part(*got, offset, after))
    return Made(run, parts)


def bound_problem(offsets: Sequence[Offset], window_s: float) -> str:
    """Return why the clocks are not exact enough for a window; empty if they are."""
    together_ns = sum(sorted(each.bound_ns for each in offsets)[-2:])
    allowed_ns = MOST_BOUND_SHARE * window_s * 1e9
    if together_ns <= allowed_ns:
        return ""
    return (
        f"the clocks of two generators may differ by {together_ns / 1e6:.2f} ms, and a window of "
        f"{window_s:g} s allows {allowed_ns / 1e6:.2f} ms: use a longer window or a faster network"
    )


async def _clocks(calls: Caller, members: Sequence[Member], window_s: float | None) -> list[Offset]:
    """Estimate the clocks of all hosts, which must be there and exact enough."""
    offsets = []
    try:
        there = await calls.names()
    except LostError as error:
        raise HostError(f"the fleet: {error}; no load was made") from error
    for member in members:
        if member.facts.name not in there:
            raise member.not_ready("it is not in the fleet any more; no load was made")
        try:
            offset = await clock_of(calls, member.facts.name)
        except LostError as error:
            raise member.not_ready(f"{error}; no load was made") from error
        if offset.bound_ns > MOST_BOUND_NS:
            raise member.not_ready(bound_words(offset))
        offsets.append(offset)
    if window_s is not None and (why := bound_problem(offsets, window_s)):
        raise HostError(why)
    return offsets


async def _open(calls: Caller, members: Sequence[Member], load: Load, run: str) -> None:
    """Arm all hosts, and let them open their connections."""

    async def arm(member: Member) -> None:
        count = load.connections[member.number - 1]
        volley = member.facts.volley_sha256
        await calls.call(
            member.facts.name, "arm", _ARM_S, run=run, connections=count, volley=volley
        )

    async def open_(member: Member) -> None:
        parts = load.parts[member.number - 1]
        await calls.call(member.facts.name, "open", _OPEN_S, run=run, parts=parts)

    _require(members, "was not armed", await of_all(members, arm))
    _require(members, "is not ready", await of_all(members, open_))


async def _fire(
    calls: Caller, members: Sequence[Member], load: Load, run: str, offsets: Sequence[Offset]
) -> tuple[int, str]:
    """Tell all hosts when to start; return the moment, by this host's clock.

    If a host does not confirm it, all are called back. A host that does not confirm that either may
    have made its part: then the problem is returned, too.
    """
    rtt_ns = max(each.rtt_ns for each in offsets)
    ahead_ns = max(round(_START_S * 1e9), _START_RTTS * rtt_ns)
    start_ns = monotonic_ns() + ahead_ns
    lasts_s = ahead_ns / 1e9 + load.lead_s + load.window_s + load.drain_s

    async def fire(member: Member) -> None:
        await calls.call(
            member.facts.name,
            "fire",
            (ahead_ns - AHEAD_NS) / 1e9,
            run=run,
            start_ns=offsets[member.number - 1].there(start_ns),
            lasts_s=lasts_s,
        )

    answers = await of_all(members, fire)
    what = "did not confirm the start"
    if any(isinstance(each, Exception) for each in answers):
        undone = await _disarm(calls, members, run)
        if all(each is True for each in undone):
            _require(members, what, answers)
        left = next(each for each, did in zip(members, undone, strict=True) if did is not True)
        return start_ns, f"{left.words} {what}, nor its end"
    return start_ns, ""


def _require(members: Sequence[Member], what: str, answers: Sequence[object]) -> None:
    """Raise the first reason why a host cannot go on; nothing has started yet."""
    for member, answer in zip(members, answers, strict=True):
        if isinstance(answer, Exception):
            raise member.not_ready(f"{what}: {answer}; no load was made")


async def _collect(
    calls: Caller, member: Member, run: str, deadline: float
) -> tuple[bytes, str, ShareReport] | Problem:
    """Ask a host for its output until it comes, or until the deadline; return it, or why not."""
    words, name = member.words, member.facts.name
    problem = Problem(f"{words} did not end in time", name)
    while (left_s := deadline - time.monotonic()) > 0:
        try:
            wait_s = min(left_s, _ASK_S)
            said = await calls.call(name, "collect", wait_s, run=run)
            if said["state"] == "failed":
                why = f"{words} failed in the window: {printable(said['why'])[:100]}"
                return Problem(why, f"{name}: {printable(said['said'])}")
            if said["state"] == "done":
                content = zlib.decompressobj().decompress(said["content"], _MOST_BYTES)
                if hashlib.sha256(content).hexdigest() == said["sha256"]:
                    return content, said["sha256"], ShareReport.model_validate(said["told"])
                problem = Problem(f"{words}'s output was damaged on its way", name)
        except RefusedError as error:
            return Problem(f"{words} has no output", f"{name}: {printable(str(error))}")
        except LostError as error:
            what = f"{words} ended in the window, or cannot be reached"
            problem = Problem(f"{what}: {error.words}", f"{name}: {error}")
        except (TypeError, KeyError, ValueError, zlib.error) as error:
            return Problem(f"{words}'s answer cannot be read", f"{name}: {printable(repr(error))}")
        await asyncio.sleep(min(_ASK_AGAIN_S, max(deadline - time.monotonic(), 0)))
    return problem


async def _disarm(
    calls: Caller, members: Sequence[Member], run: str, within_s: float = _DISARM_S
) -> list[bool | Exception]:
    """End the run on all hosts that answer; return whether each had not begun its load.

    A host that is not reached ends a run that is never fired by itself.
    """

    async def disarm(member: Member) -> bool:
        return await calls.call(member.facts.name, "disarm", within_s, run=run) is True

    return await of_all(members, disarm)
