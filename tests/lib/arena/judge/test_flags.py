"""What a reader must know before trusting a headline."""

from dataclasses import replace

import pytest

from arena.judge.derive import Derived, derive
from arena.judge.flags import UNRANKED, disturbed_words, missed, stalled_words
from arena.judge.headline import headline_of
from arena.record.measurement import (
    BlastPoint,
    Cost,
    Run,
    Second,
    Unchecked,
    Watch,
)
from arena.record.record import Cpus
from arena.what.profile import MeasuredProfile
from tests.fakes import ITEMS, MEAN_NS, a_generator, a_profile, a_record, a_run
from tests.lib.arena.judge.runs import (
    BLAST,
    KEPT,
    POINTS,
    SCHEDULED,
    a_point,
    a_second,
    a_timed_run,
    swept,
)

STOLEN = {"steal": 0.031}


def judged(*runs: Run, cpus: int | None = 2, of: MeasuredProfile | None = None) -> Derived:
    """Return what is judged of runs whose generator had so many CPUs for itself."""
    record = a_record(runs=runs, failure=None if runs else "it fell", flags=["unpinned"])
    pinned = Cpus(policy="pinned", server="0", generator="1-2")
    given = {None: record.provenance.cpus, 0: Cpus(policy="fleet", server=None, generator=None)}
    provenance = record.provenance.changed(cpus=given.get(cpus, pinned))
    return derive(record.changed(provenance=provenance, profile=of or record.profile))


def flags(*runs: Run, cpus: int | None = 2, of: MeasuredProfile | None = None) -> tuple[str, ...]:
    return judged(*runs, cpus=cpus, of=of).flags


def test_without_a_run_there_is_nothing_to_say() -> None:
    found = judged()
    assert (found.headline, found.spread, found.flags, found.disturbed) == (None, None, (), [])


@pytest.mark.parametrize(
    ("source", "foreign", "cpu_s", "is_unknown"),
    [
        ("process-tree", 0.011, 1.0, True),
        ("process-tree", 0.009, 1.0, False),
        ("process-tree", None, 1.0, False),
        ("control-group", 0.5, 1.0, False),
        # Older records do not say what counted.
        (None, 0.5, 1.0, False),
        (None, None, 0.0, True),
        ("process-tree", 0.0, 0.0, True),
    ],
)
def test_a_cost_that_may_lie_elsewhere_is_not_known(
    source: str | None, foreign: float | None, cpu_s: float, *, is_unknown: bool
) -> None:
    cost = Cost(cpu_s=cpu_s, peak_bytes=1, source=source)
    run = a_run().changed(server=cost, watch=Watch(elapsed_s=5, foreign=foreign))
    assert ("cost-unknown" in flags(run)) == is_unknown
    # Nothing is known of the server, so nothing is said of the generator.
    assert "client-bound" not in flags(run, cpus=None) or cpu_s


@pytest.mark.parametrize(
    ("run", "cpus", "expected"),
    [
        (a_run(), 2, ()),
        # Five seconds on two CPUs are ten; 90 % of them are the limit.
        (a_run(generator_cpu_s=8.99), 2, ()),
        (a_run(generator_cpu_s=9.0), 2, ("client-bound",)),
        (a_run(generator_cpu_s=4.0, server_cpu_s=1.0), 2, ()),
        # On shared CPUs it is the one that uses more.
        (a_run(generator_cpu_s=4.0, server_cpu_s=4.0), None, ("unpinned",)),
        (a_run(generator_cpu_s=4.01, server_cpu_s=4.0), None, ("client-bound", "unpinned")),
        (a_run(mean_ns=MEAN_NS * 1.149), 2, ()),
        (a_run(mean_ns=MEAN_NS * 1.151), 2, ("littles-law",)),
        (a_run(mean_ns=MEAN_NS * 0.851), 2, ()),
        (a_run(mean_ns=MEAN_NS * 0.849), 2, ("littles-law",)),
        (a_run(mean_ns=None), 2, ()),
        (a_run(cut=1), 2, ("cut-calls",)),
        (a_run(ok=0, cut=9, mean_ns=None), 2, ("cut-calls", "none-finished")),
        (a_run(failed={"Internal": 1}), 2, ("failed-calls",)),
        (a_run(seen=STOLEN), 2, ("disturbed",)),
        # Messages that were counted are certain, whatever was cut.
        (a_run(ok=900, cut=256, counted=5_000_000), 2, ()),
        (a_run(ok=0, cut=256, counted=5_000_000, mean_ns=None), 2, ("none-finished",)),
        # And they say how much of the cut calls was done: 1000 calls' worth, though 800 ended.
        (a_run(ok=800, cut=256, counted=5_000_000), 2, ()),
        (a_run(ok=800, cut=256, counted=4_200_000), 2, ("littles-law",)),
        # An open loop has as many calls in flight as it must.
        (a_run(mean_ns=MEAN_NS / 9, kind="response"), 2, ()),
    ],
)
def test_every_flag_begins_at_its_limit(
    run: Run, cpus: int | None, expected: tuple[str, ...]
) -> None:
    assert flags(run, cpus=cpus) == expected


def test_flags_are_of_the_best_run_but_a_failed_call_anywhere_counts() -> None:
    best, other = a_run(2e6), a_run(1e6, cut=5, failed={"Internal": 1}, generator_cpu_s=10.0)
    assert flags(best, other) == ("failed-calls",)


@pytest.mark.parametrize(
    ("intended", "sent", "expected"),
    [
        (200, 200, False),
        (200, 190, False),
        (200, 210, False),
        (200, 189, True),
        (200, 211, True),
        # One call may fall on the other side of the second's edge.
        (5, 4, False),
        (5, 6, False),
        (5, 3, True),
        (0, 1, False),
        (0, 2, True),
        (40, 38, False),
        (40, 37, True),
        (None, 7, False),
        (7, None, False),
    ],
)
def test_a_second_is_missed_from_5_percent_on(
    intended: int | None, sent: int | None, *, expected: bool
) -> None:
    assert missed(a_second(intended, sent)) is expected


def test_a_run_that_missed_its_schedule_is_not_the_best_and_one_without_a_latency_neither() -> None:
    runs = [a_timed_run(0, KEPT), a_timed_run(1e3, a_second(200, 100)), a_timed_run(9e6, KEPT)]
    headline = headline_of(SCHEDULED, runs)
    assert headline
    assert (headline.value, headline.run) == (9e6, 3)
    assert flags(*runs, of=SCHEDULED) == ()


def test_a_schedule_that_nobody_looked_at_was_not_kept() -> None:
    runs = [a_timed_run(1e6)]
    assert flags(*runs, of=SCHEDULED) == ("missed-schedule",)


def test_a_schedule_is_missed_if_one_second_of_the_best_run_is() -> None:
    def said(*seconds: Second) -> tuple[str, ...]:
        runs = [a_timed_run(1e6, *seconds), a_timed_run(2e6, a_second(200, 0))]
        return flags(*runs, of=SCHEDULED)

    assert said(a_second(200, 200), a_second(200, 200)) == ()
    assert said(a_second(200, 200), a_second(200, 180)) == ("missed-schedule",)


def test_a_scheduled_load_is_never_bound_by_a_busy_generator_nor_littles_law() -> None:
    runs = [a_timed_run(1e6, KEPT, generator_cpu_s=9.9, mean_ns=1.0)]
    assert flags(*runs, of=SCHEDULED, cpus=None) == ("unpinned",)


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"unchecked": Unchecked(status=9, replies=9)}, "status-unchecked"),
        ({"unchecked": Unchecked(status=0, replies=9)}, None),
        ({"unchecked": None}, None),
        ({"approximate": True}, "approximate"),
    ],
)
def test_what_the_generator_did_not_do_is_said(
    changes: dict[str, object], flag: str | None
) -> None:
    run = a_run().model_copy(update=changes)
    assert flags(run) == ((flag,) if flag else ())


@pytest.mark.parametrize(
    ("points", "repetitions", "expected"),
    [
        (POINTS, 10, ()),
        (POINTS[:3], 10, ("cut-short",)),
        ((*POINTS[:3], a_point(8, 20, 40.0, repetitions=6)), 10, ()),
        ((*POINTS[:3], a_point(8, 20, 40.0, repetitions=5)), 10, ("cut-short",)),
        ((*POINTS[:3], a_point(8, 20, 40.0, repetitions=5)), 5, ()),
    ],
)
def test_a_sweep_without_enough_shots_of_each_point_was_cut_short(
    points: tuple[BlastPoint, ...], repetitions: int, expected: tuple[str, ...]
) -> None:
    blast = BLAST.changed(load=BLAST.load.changed(repetitions=repetitions))
    runs = [swept(*points)]
    assert flags(*runs, of=blast) == expected


def test_a_disturbed_run_that_is_not_the_best_flags_its_record_too() -> None:
    assert flags(a_run(2e6), a_run(1e6, seen=STOLEN)) == ("disturbed",)


def test_which_runs_were_disturbed_is_told() -> None:
    assert not disturbed_words(judged(a_run(), a_run()).disturbed)
    assert disturbed_words(judged(a_run(), a_run(seen=STOLEN)).disturbed) == (
        "1 of 2 runs: run 2: steal 3.1 % (limit 1 %)"
    )


@pytest.mark.parametrize(
    ("rates", "is_warming"),
    [
        ((1.0, 1.06, 1.12), True),
        ((1.0, 1.06, 1.12, 1.18), True),
        ((1.0, 1.06), False),
        ((1.0, 1.06, 1.11), False),
        ((1.12, 1.0, 1.2), False),
        ((1.2, 1.1, 1.0), False),
    ],
)
def test_runs_that_get_faster_and_faster_are_a_server_that_still_warms_up(
    rates: tuple[float, ...], is_warming: bool
) -> None:
    expected = ("still-warming",) if is_warming else ()
    assert flags(*(a_run(rate * 1e6) for rate in rates)) == expected


EMPTY = a_second(None, None)


@pytest.mark.parametrize(
    ("second", "has_stalled"),
    [
        (EMPTY, True),
        (replace(EMPTY, length_s=0.9), False),
        (replace(EMPTY, ok=1), False),
        (replace(EMPTY, failed=1), False),
        (replace(EMPTY, messages=1), False),
    ],
)
def test_a_closed_load_without_a_reply_for_a_second_has_stalled(
    second: Second, has_stalled: bool
) -> None:
    run = a_run(1e6).model_copy(update={"seconds": (replace(EMPTY, messages=1), second)})
    assert flags(a_run(2e6), run) == (("stalled",) if has_stalled else ())
    assert stalled_words([a_run(), run]) == ("run 2: 1 of 2 seconds" if has_stalled else "")


def test_a_schedule_may_have_a_second_without_a_call() -> None:
    runs = [a_timed_run(1e6, a_second(0, 0))]
    assert flags(*runs, of=SCHEDULED) == ()


def test_a_p99_that_is_a_lower_bound_in_any_run_takes_the_rank_of_a_schedule() -> None:
    runs = [a_timed_run(1e6, KEPT), a_timed_run(2e6, KEPT, is_bound=True)]
    assert flags(*runs[:1], of=SCHEDULED) == ()
    found = flags(*runs, of=SCHEDULED)
    assert found == ("stalled", "unreached")
    assert UNRANKED.intersection(found) == {"unreached"}
    # Where a rate ranks, it is only a remark on the latency.
    assert "unreached" not in flags(*runs, of=a_profile())


def test_latencies_that_fall_are_no_warm_up() -> None:
    runs = [a_timed_run(rate, KEPT) for rate in (1e6, 2e6, 3e6)]
    runs = [run.model_copy(update={"rate": 1e3 * n}) for n, run in enumerate(runs, 1)]
    assert "still-warming" not in flags(*runs, of=SCHEDULED)


def test_a_generator_with_fewer_threads_than_cpus_is_at_its_limit_sooner() -> None:
    run = a_run(generator_cpu_s=4.6, mean_ns=None)
    for threads, expected in ((1, ("client-bound",)), (2, ())):
        users = a_profile(**ITEMS | {"threads": threads})
        assert flags(run, of=users) == expected


def test_iterations_at_a_given_rate_are_a_schedule_and_users_are_not() -> None:
    paced = a_profile(**ITEMS | {"rate": 100.0, "metric": "p99 latency"})
    late = a_timed_run(5e6, a_second(100, 100), a_second(100, 80), generator_cpu_s=9.9)
    assert flags(late, of=paced) == ("missed-schedule",)
    users = a_profile(**ITEMS)
    run = a_timed_run(5e6, a_second(None, 100), generator_cpu_s=1.0)
    assert "missed-schedule" not in flags(run, of=users)


@pytest.mark.parametrize("shared", [0, None])
def test_one_generator_host_at_its_limit_makes_a_record_client_bound(shared: int | None) -> None:
    for used, expected in (
        ({}, False),
        ({"cpu_s": 35.9, "busiest_thread_s": 4.49}, False),
        ({"cpu_s": 36.0}, True),
        ({"busiest_thread_s": 4.5}, True),
        ({"cpu_s": 18.0, "cpus": 4}, True),
        ({"cpu_s": 18.0, "threads": 4}, True),
        ({"cpu_s": 40.0, "busiest_thread_s": None}, False),
    ):
        hosts = (a_generator(1), a_generator(2, **used), a_generator(3))
        run = a_run(generator_cpu_s=1.0).changed(generators=hosts)
        assert judged(run, cpus=shared).saturated == [[2] if expected else []]
        found = flags(run, cpus=shared)
        assert ("client-bound" in found) == expected
        assert ("unpinned" in found) == (shared is None)
