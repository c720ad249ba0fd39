"""What is judged of a record: a pure function of what was observed."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from arena.base.model import to_json
from arena.judge.derive import RULES, Derived, derive
from arena.machine.sentinel.limits import FIRST
from arena.record.measurement import Disturbance, LimitsInForce, Run, Unchecked
from arena.record.reading import parse_record
from arena.record.record import Cpus, Noted, Record
from parsers.common.figures import MOST, Calls, Latency, Second
from tests.fakes import (
    ITEMS,
    LIMITS,
    UNARY,
    a_generator,
    a_provenance,
    a_record,
    a_run,
    a_visit,
)
from tests.lib.arena.site.loads import BLAST, PACED, SCHEDULED, a_point


def test_only_the_newest_rules_are_code() -> None:
    record = a_record("a")
    assert derive(record, RULES) == derive(record)
    for rules in (RULES - 1, RULES + 1):
        with pytest.raises(ValueError, match="by older rules are kept in the files of the rounds"):
            derive(record, rules)


def test_what_is_judged_says_by_which_rules() -> None:
    assert derive(a_record("a")).rules == RULES


def judged_with(runs: list[Run], **changes: Any) -> Derived:
    return derive(a_record("a", runs=runs).changed(**changes))


STOLEN = a_run(seen={"steal": 0.05})


def test_the_limits_of_the_record_decide_what_was_disturbed() -> None:
    for most, signals in (({"steal": 0.049}, ["steal"]), ({"steal": 0.05}, []), ({}, [])):
        found = judged_with([a_run(), STOLEN], limits=LimitsInForce(most=most))
        assert [[each.signal for each in own] for own in found.disturbed] == [[], signals]
        assert ("disturbed" in found.flags) == bool(signals)
    assert judged_with([STOLEN], limits=None).disturbed == [()]


def test_how_the_kernel_counts_softirq_is_a_limit_too() -> None:
    run = a_run(seen={"foreign": 0.03, "softirq": 0.025})
    for in_tasks, is_disturbed in ((True, True), (False, False)):
        limits = LIMITS.changed(softirq_in_tasks=in_tasks)
        assert bool(judged_with([run], limits=limits).disturbed[0]) == is_disturbed


def test_without_limits_what_was_noted_on_the_day_stands() -> None:
    noted = Noted(
        disturbed=((), (Disturbance(signal="io", value=0.5, limit=0.1),)), saturated=((1,), ())
    )
    found = judged_with([a_run(2e6), STOLEN], limits=None, noted=noted)
    assert (found.disturbed, found.saturated) == (noted.disturbed, noted.saturated)
    assert {"disturbed", "client-bound"} <= {*found.flags}
    # The best run's hosts are the ones that count.
    found = judged_with([a_run(1e6), a_run(2e6)], limits=None, noted=noted)
    assert "client-bound" not in found.flags


@pytest.mark.parametrize(
    ("runs", "is_void"),
    [
        ([STOLEN], True),
        ([STOLEN, a_run(), a_run()], True),
        ([a_run(), STOLEN, STOLEN], False),
        ([a_run()], False),
        ([], False),
    ],
)
def test_a_visit_is_void_by_its_first_run_alone(runs: list[Run], *, is_void: bool) -> None:
    failure = None if runs else "it fell"
    assert derive(a_record("a", runs=runs, visit=a_visit(), failure=failure)).is_void == is_void
    # One that is no visit is never void.
    assert not derive(a_record("a", runs=runs, failure=failure)).is_void


def test_a_failed_record_has_a_spread_and_no_headline() -> None:
    found = derive(a_record("a", runs=[a_run(1e6), STOLEN], failure="it fell", visit=a_visit()))
    assert (found.headline, found.flags, found.is_void) == (None, (), False)
    assert found.spread
    assert [bool(each) for each in found.disturbed] == [False, True]


# ---- any record


FIGURES = some.one_of(
    some.just(0.0), some.floats(min_value=1e-30, max_value=1e9), some.just(float(MOST))
)
NANOSECONDS = some.none() | some.just(0.0) | some.floats(min_value=1e-30, max_value=1e15)
COUNTS = some.one_of(some.integers(0, 10**6), some.just(2**63 - 1))
SHARES = some.none() | some.floats(min_value=-1, max_value=2).map(lambda it: round(it, 9))
SECONDS = some.builds(
    Second,
    intended=some.none() | COUNTS, sent=some.none() | COUNTS, ok=COUNTS, failed=COUNTS,
    messages=COUNTS, length_s=some.floats(min_value=0.001, max_value=1),
)  # fmt: skip
HOSTS = some.builds(
    a_generator,
    some.integers(1, 9),
    cpu_s=some.integers(0, 50),
    cpus=some.none() | some.integers(1, 9),
    busiest_thread_s=some.none() | some.integers(0, 6),
)


@some.composite
def runs_of(draw: some.DrawFn) -> Run:
    low, rate, high = sorted(draw(some.tuples(FIGURES, FIGURES, FIGURES)))
    p99 = draw(NANOSECONDS)
    at_least = ("p99",) * (p99 is not None and draw(some.booleans()))
    signals = {name: value for name in ("steal", "foreign", "softirq", "io", "spin_off")
               if (value := draw(SHARES)) is not None}  # fmt: skip
    point = a_point(
        draw(some.integers(1, 9)), draw(some.integers(1, 100)), float(draw(some.integers(0, 10**9)))
    )
    return a_run(1.0, seen=signals).changed(
        rate=rate, rate_at_least=low, rate_at_most=high,
        elapsed_s=draw(some.floats(min_value=0.001, max_value=1e9)),
        calls=Calls(draw(COUNTS), draw(some.dictionaries(some.text("ab"), COUNTS)), draw(COUNTS)),
        messages=draw(COUNTS),
        latency_ns=Latency(
            kind=draw(some.sampled_from(("service", "response"))), samples=draw(COUNTS), p99=p99,
            mean=draw(NANOSECONDS), at_least=at_least,
        ),
        seconds=tuple(draw(some.lists(SECONDS, max_size=3))),
        points=(point,) * draw(some.integers(0, 2)),
        generators=tuple(draw(some.lists(HOSTS, max_size=2))),
        unchecked=draw(some.none() | some.just(Unchecked(status=1, replies=1))),
        approximate=draw(some.booleans()),
    )  # fmt: skip


CPUS = some.sampled_from(
    (
        Cpus(policy="pinned", server="0-1", generator="2"),
        Cpus(policy="unpinned", server=None, generator=None),
        Cpus(policy="override", server="0-1", generator="1-2"),
        Cpus(policy="fleet", server=None, generator=None),
    )
)
PROFILES = some.sampled_from(
    ({}, UNARY, SCHEDULED, BLAST, ITEMS, PACED, {"generator": "volley-fleet"})
)


@some.composite
def records_of(draw: some.DrawFn) -> Record:
    runs = draw(some.lists(runs_of(), max_size=4))
    most = draw(some.dictionaries(some.sampled_from([*FIRST, "unheard_of"]), FIGURES))
    limits = LimitsInForce(softirq_in_tasks=draw(some.none() | some.booleans()), most=most)
    burst = Disturbance(signal="steal", value=0.5, limit=0.1)
    noted = Noted(
        disturbed=tuple(draw(some.sampled_from(((), (burst,)))) for _ in runs),
        saturated=tuple(tuple(draw(some.lists(some.integers(1, 3), max_size=2))) for _ in runs),
    )
    by_limits = draw(some.booleans())
    has_failed = not runs or draw(some.booleans())
    return a_record(
        "a",
        runs=runs,
        failure="it fell" if has_failed else None,
        profile=draw(PROFILES),
        visit=draw(some.none() | some.just(a_visit())),
    ).changed(
        limits=limits if by_limits else None,
        noted=None if by_limits else noted,
        provenance=a_provenance(cpus=draw(CPUS)),
    )


@settings(max_examples=150, deadline=None)
@given(records_of())
def test_every_record_can_be_judged_and_written_and_read(record: Record) -> None:
    found = derive(record)
    assert (found.headline is None) == (record.status != "ok")
    assert len(found.disturbed) == len(found.saturated) == len(record.runs)
    again = parse_record(to_json(record).encode())
    assert again == record
    assert derive(again) == found


# The only flag that is about the order of runs.
_OF_ORDER = {"still-warming"}


@settings(max_examples=50, deadline=None)
@given(records_of())
def test_no_flag_but_one_depends_on_the_order_of_the_runs(record: Record) -> None:
    runs = record.runs[:3]
    # Of equal runs, the first one is the best.
    runs = tuple(run.changed(rate_at_most=MOST, rate=at + 1.0) for at, run in enumerate(runs))
    if record.profile.metric.is_latency or record.status != "ok":
        return
    found = set()
    for order in itertools.permutations(range(len(runs))):
        changes: dict[str, Any] = {"runs": tuple(runs[at] for at in order)}
        if noted := record.noted:
            changes["noted"] = Noted(
                disturbed=tuple(noted.disturbed[at] for at in order),
                saturated=tuple(noted.saturated[at] for at in order),
            )
        found.add(frozenset(derive(record.changed(**changes)).flags) - _OF_ORDER)
    assert len(found) == 1
