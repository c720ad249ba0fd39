"""What each kind of load answers, and load schedules, by hand."""

from typing import Any

import pytest
from pydantic import ValidationError

from arena.base.errors import UsageError
from arena.site.kinds import SHOWN
from arena.what.loads import (
    KINDS,
    Blast,
    Capacity,
    Closed,
    Cold,
    Live,
    LoadShape,
    Paced,
    Scenario,
    Scheduled,
    Share,
)
from arena.what.metrics import Metric
from arena.what.scenarios import ScenarioFile
from arena.what.schedule import SECOND_NS, Schedule
from tests.fakes import UNARY, a_profile

CLOSED = Closed(streams_per_connection=4, duration_s=5.0)
SCHEDULED = Scheduled(schedule=Schedule(shape="const", rps=40), requests=100, concurrency=7)
BLAST = Blast(sweep=(1, 20, 300), repetitions=10, duration_s=60.0)
FILE = ScenarioFile(file="requests/crud.yaml", sha256="0" * 64)
USERS = Scenario(scenario=FILE, streams_per_connection=4, duration_s=5.0)
ITERATIONS = Scenario(
    scenario=FILE, streams_per_connection=4, duration_s=5.0, rate=1200.0, threads=1
)
PACED = Paced(rate=500, duration_s=2.5, streams_per_connection=10)
LIVE = Live(streams=1000, rate=10, duration_s=2.5)
CAPACITY = Capacity(limit_s=0.01, duration_s=60.0)
COLD = Cold(rate=500, duration_s=40.0, streams_per_connection=10)
SHARE = Share(share=0.5, of="unary-grpc", duration_s=2.5, streams_per_connection=10)
LOADS = (CLOSED, SCHEDULED, PACED, SHARE, LIVE, CAPACITY, COLD, BLAST, USERS)


def test_every_kind_is_known_by_its_name_and_has_a_place_on_the_pages() -> None:
    assert list(KINDS) == [
        "closed", "scheduled", "paced", "share", "live", "capacity", "cold", "blast", "scenario",
    ]  # fmt: skip
    assert set(SHOWN) == set(KINDS.values()) == {type(each) for each in LOADS}


@pytest.mark.parametrize(
    ("load", "in_flight", "window_s", "warm_up"),
    [
        (CLOSED, 32, 5.0, Closed(streams_per_connection=4, duration_s=2.0)),
        (SCHEDULED, 7, 2.475, Closed(concurrency=7, duration_s=2.0)),
        (BLAST, 300, 60.0, Closed(concurrency=100, duration_s=2.0)),
        (USERS, 32, 5.0, Scenario(scenario=FILE, streams_per_connection=4, duration_s=2.0)),
        (CAPACITY, 800, 60.0, Closed(concurrency=100, duration_s=2.0)),
        (PACED, 80, 2.5, Closed(concurrency=80, duration_s=2.0)),
        (SHARE, 80, 2.5, Closed(concurrency=80, duration_s=2.0)),
        (LIVE, 1000, 2.5, Closed(concurrency=100, duration_s=2.0)),
        (ITERATIONS, 32, 5.0, ITERATIONS.overridden(2.0, None)),
    ],
)
def test_what_a_load_keeps_open_how_long_and_how_it_warms_up(
    load: LoadShape, in_flight: int, window_s: float, warm_up: LoadShape
) -> None:
    assert (load.in_flight(8), load.window_s) == (in_flight, window_s)
    assert load.warm_up(8, 2.0) == warm_up


def test_a_fixed_rate_has_calls_due_in_each_second() -> None:
    assert SHARE.changed(rate=500).due() == PACED.due()
    assert PACED.due() == [500, 500, 250]
    assert PACED.changed(duration_s=2.0).due() == [500, 500]
    assert PACED.has_blocks
    assert PACED.follows_schedule


def test_a_cold_start_is_ranked_in_blocks_by_its_first_reply_and_has_one_run() -> None:
    assert (COLD.has_blocks, COLD.is_start, COLD.steadies) == (True, True, False)
    assert COLD.words == "a start, then 500 calls a second"
    assert COLD.metrics == {Metric.START}
    profile = a_profile(
        kind="cold", runs=1, warmup_s=0.0, **UNARY | {"metric": "time to first reply"}
    )
    assert profile.overridden(duration_s=2.0).window_s == 2.0
    assert profile.overridden(runs=3).runs == 1


def test_a_search_that_is_to_be_shorter_is_as_short_as_one_can_be() -> None:
    assert CAPACITY.overridden(1.0, None).duration_s == 20.0
    assert CAPACITY.overridden(30.0, None).duration_s == 30.0
    assert CAPACITY.overridden(None, 7) == CAPACITY


def test_streams_that_live_have_messages_due_in_each_second() -> None:
    assert LIVE.due() == [10_000, 10_000, 5_000]
    assert LIVE.has_blocks
    assert LIVE.follows_schedule
    assert LIVE.words == "1,000 streams, 10 messages a second on each"
    assert LIVE.changed(rate=1).words == "1,000 streams, a message a second on each"


def test_a_warm_up_has_no_more_connections_than_calls() -> None:
    warm = a_profile(kind="scheduled", concurrency=7, connection_count=64).warm_up()
    assert (warm.connection_count, warm.in_flight) == (7, 7)


def test_a_load_takes_only_its_own_overrides_and_checks_them() -> None:
    assert CLOSED.overridden(1.0, 9) == Closed(streams_per_connection=4, duration_s=1.0)
    assert SCHEDULED.overridden(1.0, 9).window_s == 0.2
    assert BLAST.overridden(1.0, 50) == Blast(sweep=(1, 20), repetitions=10, duration_s=1.0)
    assert BLAST.overridden(None, 3).sweep == (1,)
    assert Blast(sweep=(5,), repetitions=1, duration_s=1.0).overridden(None, 3).sweep == (3,)
    for load in LOADS:
        assert load.overridden(None, None) == load
    with pytest.raises(ValidationError, match="duration_s"):
        CLOSED.overridden(-1.0, None)


def test_an_override_that_leaves_no_load_is_refused() -> None:
    profile = a_profile(kind="scheduled", metric="p99 latency", connections=(5,))
    with pytest.raises(UsageError, match="with 3 requests: connections: 5 is more than the 3"):
        profile.overridden(requests=3)


def test_what_is_due_and_what_is_swept() -> None:
    assert SCHEDULED.due() == [40, 40, 20]
    assert CLOSED.due() == BLAST.due() == []
    assert BLAST.points((8, 1)) == [(ways, n) for ways in (1, 8) for n in (1, 20, 300)]
    assert (BLAST.record_connections((1, 8)), CLOSED.record_connections((1, 8))) == ((8,), (1, 8))


def test_how_long_a_run_is_in_words() -> None:
    said = [each.run_words for each in LOADS]
    assert said == [
        "5s", "100 requests in 2.5 s", "2500ms", "2500ms", "2500ms", "60s", "40s", "at most 60s",
        "5s",
    ]  # fmt: skip


def test_a_rate_makes_a_scenario_a_load_by_a_schedule() -> None:
    assert (USERS.words, ITERATIONS.words) == (
        "4 users on each connection", "1,200 iterations a second",
    )  # fmt: skip
    assert [[*each.metrics] for each in (USERS, ITERATIONS)] == [[Metric.REQUESTS], [Metric.P99]]
    assert [each.keeps_in_flight for each in (CLOSED, USERS, ITERATIONS, SCHEDULED)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert [each.follows_schedule for each in (CLOSED, USERS, ITERATIONS, SCHEDULED)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_a_generator_uses_no_more_cpus_than_it_has_threads() -> None:
    assert [each.generator_cpus(4) for each in (CLOSED, USERS, ITERATIONS)] == [4, 4, 1]


@pytest.mark.parametrize(
    ("metric", "unit", "column", "words"),
    [
        (Metric.MESSAGES, "messages", "messages_per_s", "7 messages/s"),
        (Metric.REQUESTS, "requests", "requests_per_s", "7 requests/s"),
        (Metric.P99, "requests", "p99_ns", "p99 latency 7"),
        (Metric.CPU_MESSAGE, "messages", "cpu_ns_per_message", "CPU a message 7"),
    ],
)
def test_a_metric_knows_its_unit_its_column_and_its_words(
    metric: Metric, unit: str, column: str, words: str
) -> None:
    assert (metric.unit, metric.column, metric.of("7")) == (unit, column, words)
    assert metric.lower_is_better == metric.is_time


def test_a_load_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="is a closed load, not a blast one"):
        a_profile().load_as(Blast)


def due(schedule: Schedule, *seconds: float) -> list[int]:
    return list(schedule.due_before(round(each * SECOND_NS) for each in seconds))


def rates(schedule: Schedule, *seconds: int) -> list[int]:
    """Return how many calls are due in the second that begins at each moment."""
    return [after - before for at in seconds for before, after in [due(schedule, at, at + 1)]]


CONST = Schedule(shape="const", rps=200)
STEP_UP = Schedule(shape="step", start=50, step=10, step_duration_s=5, end=150)
STEP_DOWN = Schedule(shape="step", start=200, step=-10, step_duration_s=5, max_duration_s=40)
LINE_UP = Schedule(shape="line", start=5, step=5)
LINE_DOWN = Schedule(shape="line", start=200, step=-2, end=100)


def test_a_constant_rate_has_its_first_call_at_once() -> None:
    assert due(CONST, 0, 1e-9, 0.005, 0.005001, 1, 50) == [0, 1, 1, 2, 200, 10_000]


@pytest.mark.parametrize(
    ("schedule", "seconds", "expected"),
    [
        (STEP_UP, (0, 4, 5, 49, 50, 1000), [50, 50, 60, 140, 150, 150]),
        # Held where the longest time finds it, although it has no end.
        (STEP_DOWN, (0, 4, 5, 39, 40, 1000), [200, 200, 190, 130, 120, 120]),
        (LINE_UP, (0, 1, 2, 99, 1000), [5, 10, 15, 500, 5005]),
        (LINE_DOWN, (0, 1, 49, 50, 1000), [200, 198, 102, 100, 100]),
        # The last step is cut short rather than going past the end.
        (Schedule(shape="line", start=50, step=30, end=100), (0, 1, 2, 3), [50, 80, 100, 100]),
        # A descent without an end stops at 0.
        (Schedule(shape="line", start=20, step=-15), (0, 1, 2, 9), [20, 5, 0, 0]),
    ],
)
def test_the_rate_changes_in_steps_and_is_held_then(
    schedule: Schedule, seconds: tuple[int, ...], expected: list[int]
) -> None:
    assert rates(schedule, *seconds) == expected


def test_a_longest_time_in_the_middle_of_a_step_holds_that_steps_rate() -> None:
    schedule = Schedule(shape="step", start=20, step=10, step_duration_s=2, max_duration_s=3)
    assert rates(schedule, 0, 1, 2, 3, 4, 50) == [20, 20, 30, 30, 30, 30]


@pytest.mark.parametrize(
    ("schedule", "calls", "last_s"),
    [
        (CONST, 1, 0.0),
        (CONST, 10_000, 49.995),
        # 4,750 calls in 50 s of steps, the other 5,250 at 150 a second.
        (STEP_UP, 10_000, 50 + 5249 / 150),
        (STEP_DOWN, 10_000, 40 + 3399 / 120),
        (LINE_UP, 15, 1.9),
        (LINE_DOWN, 201, 1.0),
    ],
)
def test_the_last_call_is_due_when_the_area_below_the_rate_reaches_it(
    schedule: Schedule, calls: int, last_s: float
) -> None:
    assert schedule.length_ns(calls) == int(last_s * SECOND_NS)
    # A moment later it is counted, and none after it.
    assert list(schedule.due_before([int(last_s * SECOND_NS) + 1])) == [calls]


def test_a_descent_to_nothing_never_sends_more() -> None:
    schedule = Schedule(shape="line", start=20, step=-15)
    assert schedule.length_ns(25) == 1_800_000_000
    assert schedule.length_ns(26) is None
    assert list(schedule.due_before([10**15])) == [25]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"shape": "const"}, ("rps", "is missing")),
        ({"shape": "const", "rps": None}, ("rps", "is missing")),
        ({"shape": "line", "start": 5, "step": None}, ("step", "is missing")),
        ({"shape": "line", "start": 5, "step": 5, "end": 9, "max_duration_s": 1.0},
         ("max_duration", "write either this or end")),
        ({"shape": "const", "rps": 5, "start": 5}, ("start", "is not for a const schedule")),
        ({"shape": "line", "start": 5, "step": 5, "rps": 5}, ("rps", "is not for a line")),
        ({"shape": "line", "start": 5}, ("step", "is missing")),
        ({"shape": "step", "start": 5, "step": 5}, ("step_duration", "is missing")),
        ({"shape": "line", "start": 5, "step": 5, "step_duration_s": 1.0},
         ("step_duration", "is not for a line")),
        ({"shape": "line", "start": 5, "step": 0}, ("step", "is 0, so the rate never changes")),
        ({"shape": "line", "start": 5, "step": 5, "end": 4}, ("end", "is on the wrong side")),
        ({"shape": "line", "start": 5, "step": -5, "end": 9}, ("end", "is on the wrong side")),
        ({"shape": "line", "start": 5, "step": 5, "end": 5}, ("end", "is on the wrong side")),
    ],
)  # fmt: skip
def test_what_is_no_schedule_says_which_key_is_wrong(
    keys: dict[str, Any], problem: tuple[str, str]
) -> None:
    found = Schedule(**keys).problem()
    assert found
    assert found[0] == problem[0]
    assert found[1].startswith(problem[1])


@pytest.mark.parametrize("schedule", [CONST, STEP_UP, STEP_DOWN, LINE_UP, LINE_DOWN])
def test_the_classic_schedules_are_schedules(schedule: Schedule) -> None:
    assert schedule.problem() is None


@pytest.mark.parametrize("key", ["rps", "start", "end"])
def test_a_rate_of_nothing_is_refused(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        Schedule.model_validate({"shape": "line", key: 0})
