"""A run of scenarios: its requests step by step, and its iterations.

It is what `volley run -O json` prints, schema 1: scenarios, their steps, and both second by second.
Some figures stand in several places, and they must agree. `parse_scenario` is the front. Standard
library only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from parsers.common.figures import Calls, Latency, Second, Wrong
from parsers.common.values import INT64_MAX, JsonObject, ParseError, load
from parsers.ghz.counted import ROUNDING, read_latency

_SCHEMA = 1

_LONGEST_NAME = 200

# The reasons of a failure that are about what a response says. A status is not one of them.
_WRONG = {
    "cannot be decoded",
    "each",
    "replies",
    "check",
    "missing value",
    "Lua check",
}


@dataclass(frozen=True)
class StepCounts:
    """One request of a scenario, as often as it was sent; `failed` counts by reason.

    The name has that of its scenario before it if there are several: `crud.create`.
    """

    name: str
    calls: Calls
    latency: Latency

    @property
    def count(self) -> int:
        """All requests of the step."""
        return self.calls.ok + sum(self.calls.failed.values()) + self.calls.cut


@dataclass(frozen=True)
class Iterations:
    """How the iterations of all scenarios ended; `dropped` ones were due and never begun.

    Those that are `cut` were still open at the end, or were ended early.
    """

    due: int
    ok: int
    failed: int
    cut: int
    dropped: int


@dataclass(frozen=True)
class ScenarioReport:
    """One run, without setup and teardown. The calls are requests; their sums are over all steps.

    In `seconds`, `intended` and `sent` are iterations that were due and that began, and the
    latencies are those of whole iterations; there are none if several scenarios ran. Each of the
    messages is a request that succeeded.
    """

    elapsed_s: float
    calls: Calls
    reported_calls_per_s: float
    latency: Latency
    iterations: Iterations
    steps: tuple[StepCounts, ...]
    seconds: tuple[Second, ...]
    wrong: Wrong

    @property
    def requests_per_s(self) -> float:
        """Requests that succeeded, per second."""
        return self.calls.ok / self.elapsed_s


def parse_run(text: str) -> ScenarioReport:
    """Read a run from its JSON. Raises ParseError, also if it contradicts itself."""
    run = load(text)
    if not {"scenarios", "steps", "iterations"} <= run.members.keys():
        raise ParseError("not what `volley run -O json` prints")
    schema = run.whole("schema")
    if schema != _SCHEMA:
        raise ParseError(f"`schema` is {schema}: only schema {_SCHEMA} can be read")
    elapsed_s = run.real("elapsed_s")
    if not elapsed_s:
        raise ParseError("the run took 0 s")
    scenarios, told = list(run.children("scenarios")), list(run.children("steps"))
    own = [each for each in told if each.members.get("scenario") is not None]
    steps = tuple(_step(each, has_several=len(scenarios) > 1) for each in own)
    calls = _sum(steps)
    requests = run.child("requests")
    if (calls.ok, sum(calls.failed.values()), calls.cut) != _counts(requests):
        raise ParseError("`requests` are not those of the steps")
    per_s = requests.real("ended_per_s")
    ended = calls.ok + sum(calls.failed.values())
    if abs(per_s - ended / elapsed_s) > ROUNDING * max(per_s, 1.0):
        raise ParseError("`requests.ended_per_s` is not `ok` and `failed` \u00f7 `elapsed_s`")
    return ScenarioReport(
        elapsed_s=elapsed_s,
        calls=calls,
        reported_calls_per_s=per_s,
        latency=read_latency(run.child("latency_ns"), calls.ok),
        iterations=_iterations(run.child("iterations")),
        steps=steps,
        seconds=_seconds(scenarios, own, elapsed_s),
        wrong=_wrong(own),
    )


def _step(told: JsonObject, *, has_several: bool) -> StepCounts:
    name = told.string("name")
    if has_several:
        name = f"{told.string('scenario')}.{name}"
    if not 0 < len(name) <= _LONGEST_NAME:
        raise ParseError(f"`{told.where}.name` has {len(name)} characters")
    failed: Counter[str] = Counter()
    for failure in told.children("failures"):
        failed[failure.string("reason")] += failure.whole("count", INT64_MAX)
    ok, count, cut = _counts(told.child("requests"))
    if failed.total() != count:
        raise ParseError(f"`{told.where}.failures` are not the {count} that failed")
    latency = read_latency(told.child("latency_ns"), ok)
    return StepCounts(name, Calls(ok=ok, failed=dict(sorted(failed.items())), cut=cut), latency)


def _wrong(steps: Sequence[JsonObject]) -> Wrong:
    """Count the requests whose response came, and was not what the file expects."""
    found = [
        each
        for step in steps
        for each in step.children("failures")
        if each.string("reason") in _WRONG
    ]
    samples = [sample for each in found for sample in each.strings("samples")]
    return Wrong(sum(each.whole("count") for each in found), samples[0] if samples else "")


def _counts(requests: JsonObject) -> tuple[int, int, int]:
    """Read how many requests succeeded, failed and were still open; together, all there were."""
    ok, failed, cut = (requests.whole(name, INT64_MAX) for name in ("ok", "failed", "open"))
    count = requests.whole("sent", INT64_MAX) + requests.whole("unsent", INT64_MAX)
    if ok + failed + cut != count:
        raise ParseError(f"`{requests.where}` has {ok + failed + cut} ends of {count} requests")
    return ok, failed, cut


def _sum(steps: Sequence[StepCounts]) -> Calls:
    failed: Counter[str] = Counter()
    for step in steps:
        failed.update(step.calls.failed)
    return Calls(
        ok=sum(step.calls.ok for step in steps),
        failed=dict(sorted(failed.items())),
        cut=sum(step.calls.cut for step in steps),
    )


def _iterations(told: JsonObject) -> Iterations:
    due, begun, ok, failed, ended, opened, dropped, unfed = (
        told.whole(name, INT64_MAX)
        for name in ("due", "begun", "ok", "failed", "cut_short", "open", "dropped", "unfed")
    )
    if (begun, due) != (ok + failed + ended + opened, begun + dropped + unfed):
        raise ParseError("`iterations` do not add up")
    return Iterations(due=due, ok=ok, failed=failed, cut=ended + opened, dropped=dropped + unfed)


def _seconds(
    scenarios: Sequence[JsonObject], steps: Sequence[JsonObject], elapsed_s: float
) -> tuple[Second, ...]:
    """Add the seconds up; none if the run was so long that its intervals are longer."""
    of_scenarios, of_steps = ([each.child("series") for each in own] for own in (scenarios, steps))
    if any(each.whole("interval_s") != 1 for each in (*of_scenarios, *of_steps)):
        return ()
    due, sent = (_added(of_scenarios, name) for name in ("due", "sent"))
    ok, failed = (_added(of_steps, name) for name in ("ok", "failed"))
    p50, p99 = (_latencies(of_scenarios, name) for name in ("p50_ns", "p99_ns"))
    found = zip_longest(due, sent, ok, failed, p50, p99)
    return tuple(
        Second(
            length_s=min(elapsed_s - place, 1.0) if place < elapsed_s else 1.0,
            intended=each[0] or 0,
            sent=each[1] or 0,
            ok=each[2] or 0,
            failed=each[3] or 0,
            messages=each[2] or 0,
            p50_ns=each[4],
            p99_ns=each[5],
        )
        for place, each in enumerate(found)
    )


def _added(series: Sequence[JsonObject], name: str) -> list[int]:
    return [sum(each) for each in zip_longest(*(it.wholes(name) for it in series), fillvalue=0)]


def _latencies(scenarios: Sequence[JsonObject], name: str) -> list[int | None]:
    """Read a latency of the iterations that ended in each second, in ns; none for several."""
    if len(scenarios) != 1:
        return []
    return [it if it is None else max(it, 1) for it in scenarios[0].wholes_or_nulls(name)]
