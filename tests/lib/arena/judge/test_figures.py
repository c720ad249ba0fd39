"""From runs to figures: the headline, the spread, the flags, and how they are said."""

from dataclasses import replace

import pytest

from arena.judge.flags import flags_of, missed
from arena.judge.headline import headline_of, spread_of
from arena.judge.words import bar_of, figure_words, rounded_words, value_words
from arena.record.figures import interval_of
from arena.record.measurement import BlastPoint, Latency, Run, Second, Unchecked
from arena.what.metrics import Metric
from tests.fakes import MEAN_NS, a_profile, a_run


@pytest.mark.parametrize(
    ("rates", "value", "run", "rule"),
    [
        ([5.0], 5.0, 1, "one run"),
        ([5.0, 7.0], 7.0, 2, "best of 2 runs"),
        ([5.0, 7.0, 6.0], 7.0, 2, "best of 3 runs"),
        ([5.0, 7.0, 6.0, 9.0], 7.0, 2, "best of the first 3 of 4 runs"),
        ([5.0, 6.0, 7.0, 9.0, 9.0, 9.0, 9.0, 9.0], 7.0, 3, "best of the first 3 of 8 runs"),
        ([7.0, 7.0, 7.0], 7.0, 1, "best of 3 runs"),
    ],
)
def test_the_headline_is_the_best_of_the_first_three(
    rates: list[float], value: float, run: int, rule: str
) -> None:
    headline = headline_of(a_profile(), [a_run(rate, cut=2) for rate in rates])
    assert headline
    assert (headline.value, headline.run, headline.rule) == (value, run, rule)
    assert (headline.at_least, headline.at_most) == (value, value + 2000)
    assert headline.metric == "messages/s"


def test_without_a_run_there_is_nothing_to_say() -> None:
    assert headline_of(a_profile(), []) is None
    assert spread_of(Metric.MESSAGES, []) is None
    assert flags_of(a_profile(), [], None, None) == ()


def test_the_spread_is_that_of_all_runs() -> None:
    spread = spread_of(Metric.MESSAGES, [a_run(rate) for rate in (1.0, 2.0, 3.0, 10.0)])
    assert spread
    assert (spread.median, spread.min, spread.max) == (2.5, 1.0, 10.0)
    assert spread.cv == pytest.approx(4.0824829 / 4)


@pytest.mark.parametrize("rates", [[4.0], [0.0, 0.0]])
def test_where_there_is_no_spread_to_tell_none_is_told(rates: list[float]) -> None:
    spread = spread_of(Metric.MESSAGES, [a_run(rate) for rate in rates])
    assert spread
    assert spread.cv is None


def flags(run: Run, *more: Run, cpus: int | None = 2) -> tuple[str, ...]:
    runs = [run, *more]
    return flags_of(a_profile(), runs, headline_of(a_profile(), runs), cpus)


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


# ---- loads that are not closed


def a_second(intended: int | None, sent: int | None) -> Second:
    return Second(intended=intended, sent=sent, ok=0, failed=0, messages=0)


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


SCHEDULED = a_profile(
    kind="scheduled", metric="p99 latency", messages_per_call=1, concurrency=10, connections=(1,)
)


KEPT = a_second(200, 200)


def a_timed_run(p99_ns: float, *seconds: Second, **changes: object) -> Run:
    run = a_run(kind="response", **changes)  # type: ignore[arg-type]
    latency = replace(run.latency_ns, p99=p99_ns)
    return run.model_copy(update={"latency_ns": latency, "seconds": seconds})


def test_a_latency_is_best_when_it_is_lowest() -> None:
    runs = [a_timed_run(each, KEPT) for each in (3e6, 1e6, 2e6, 0.5e6)]
    headline = headline_of(SCHEDULED, runs)
    assert headline
    assert (headline.metric, headline.value, headline.run) == ("p99 latency", 1e6, 2)
    assert headline.at_least == headline.at_most == headline.value
    assert (headline.low, headline.high) == (1e6, 3e6)
    spread = spread_of(Metric.P99, runs)
    assert spread
    assert (spread.min, spread.median, spread.max) == (0.5e6, 1.5e6, 3e6)


def test_a_run_that_missed_its_schedule_is_not_the_best_and_one_without_a_latency_neither() -> None:
    runs = [a_timed_run(0, KEPT), a_timed_run(1e3, a_second(200, 100)), a_timed_run(9e6, KEPT)]
    headline = headline_of(SCHEDULED, runs)
    assert headline
    assert (headline.value, headline.run) == (9e6, 3)
    assert flags_of(SCHEDULED, runs, headline, 2) == ()


def test_the_interval_of_a_latency_is_that_of_the_runs_that_have_one() -> None:
    runs = [a_timed_run(9e6, KEPT), a_timed_run(0, KEPT), a_timed_run(8e6, KEPT)]
    assert interval_of(Metric.P99, runs) == (8e6, 9e6)
    assert interval_of(Metric.P99, runs[1:2]) == (0, 0)
    assert interval_of(Metric.MESSAGES, [a_run(0.0, ok=0, mean_ns=None), a_run(2.0)])[0] == 0


def test_a_schedule_that_nobody_looked_at_was_not_kept() -> None:
    runs = [a_timed_run(1e6)]
    assert flags_of(SCHEDULED, runs, headline_of(SCHEDULED, runs), 2) == ("missed-schedule",)


def test_a_schedule_is_missed_if_one_second_of_the_best_run_is() -> None:
    def said(*seconds: Second) -> tuple[str, ...]:
        runs = [a_timed_run(1e6, *seconds), a_timed_run(2e6, a_second(200, 0))]
        return flags_of(SCHEDULED, runs, headline_of(SCHEDULED, runs), 2)

    assert said(a_second(200, 200), a_second(200, 200)) == ()
    assert said(a_second(200, 200), a_second(200, 180)) == ("missed-schedule",)


def test_a_scheduled_load_is_never_bound_by_a_busy_generator_nor_littles_law() -> None:
    runs = [a_timed_run(1e6, KEPT, generator_cpu_s=9.9, mean_ns=1.0)]
    assert flags_of(SCHEDULED, runs, headline_of(SCHEDULED, runs), None) == ("unpinned",)


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


BLAST = a_profile(
    kind="blast", messages_per_call=1, metric="requests/s", connections=(1, 8), sweep=(1, 20),
    repetitions=10,
)  # fmt: skip


def a_point(connections: int, requests: int, rate: float, repetitions: int = 10) -> BlastPoint:
    return BlastPoint(
        connections=connections, requests=requests, repetitions=repetitions, rate=rate,
        rate_at_least=rate, rate_at_most=rate, latency_ns=Latency(kind="response", samples=1), ok=1,
        failed={},
    )  # fmt: skip


POINTS = (a_point(1, 1, 10.0), a_point(1, 20, 20.0), a_point(8, 1, 15.0), a_point(8, 20, 40.0))


def swept(*points: BlastPoint) -> Run:
    rate = max(point.rate for point in points)
    return a_run(rate, mean_ns=None).model_copy(update={"points": points, "rate": rate})


def test_a_blast_is_known_by_its_fastest_point() -> None:
    headline = headline_of(BLAST, [swept(*POINTS)])
    assert headline
    assert headline.rule == "20 calls at once over 8 connections, the fastest point of one run"
    several = headline_of(BLAST, [swept(*POINTS)] * 2)
    assert several
    assert several.rule.endswith(", the fastest point of the best of 2 runs")
    alone = headline_of(BLAST, [swept(a_point(8, 1, 90.0), *POINTS)])
    assert alone
    assert alone.rule == "1 call at once over 1 connection, the fastest point of one run"


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
    assert flags_of(blast, runs, headline_of(blast, runs), 2) == expected


def test_figures_are_said_with_their_metric() -> None:
    assert figure_words(Metric.MESSAGES, 1.02e6, 2e6) == "1.02 M messages/s"
    assert figure_words(Metric.REQUESTS, 1.02e6, 2e6, ["client-bound"]) == "≥ 1.02 M requests/s"
    assert figure_words(Metric.MESSAGES, 0, 256e3) == "< 256 k messages/s"
    assert figure_words(Metric.P99, 1.2e6, 1.2e6) == "p99 latency 1.20 ms"
    assert value_words(Metric.P99, 1.2e6, 1.2e6) == "1.20 ms"


def test_an_error_bar_is_said_as_what_it_is() -> None:
    assert bar_of(Metric.MESSAGES, a_profile().load, 1e6, 2e6) == "1.00 M to 2.00 M"
    assert bar_of(Metric.MESSAGES, a_profile().load, 1e6, 1e6) == "counted"
    assert bar_of(Metric.REQUESTS, BLAST.load, 1e6, 2e6) == "median within 1.00 M to 2.00 M"
    assert bar_of(Metric.REQUESTS, BLAST.load, 1e6, 1e6) == ""
    assert bar_of(Metric.P99, SCHEDULED.load, 1e6, 1e6) == ""


@pytest.mark.parametrize(
    ("value", "low", "high", "flags", "words"),
    [
        (825e3, 825e3, 929e3, [], "0.82 M"),
        (829e3, 829e3, 929e3, ["client-bound"], "≥ 0.82 M"),
        (829e3, 829e3, 929e3, ["unpinned"], "0.83 M"),
        (0.0, 0.0, 256e3, ["none-finished"], "< 256 k"),
        (0.0, 0.0, 0.0, [], "0"),
    ],
)
def test_a_rate_is_said_with_the_digits_of_its_interval(
    value: float, low: float, high: float, flags: list[str], words: str
) -> None:
    assert rounded_words(Metric.MESSAGES, value, low, high, flags) == words


def test_a_latency_is_said_with_the_digits_of_its_interval() -> None:
    assert rounded_words(Metric.P99, 2.34e6, 2.34e6, 2.34e6) == "2.34 ms"
    assert rounded_words(Metric.P99, 2.34e6, 2.1e6, 2.5e6) == "2.3 ms"
