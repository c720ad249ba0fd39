"""What each kind of load answers."""

import pytest
from pydantic import ValidationError

from arena.base.errors import UsageError
from arena.site.kinds import SHOWN
from arena.what.loads import KINDS, Blast, Closed, LoadShape, Scenario, Scheduled
from arena.what.loads.schedule import Schedule
from arena.what.metrics import Metric
from arena.what.scenarios import ScenarioFile
from tests.fakes import a_profile

CLOSED = Closed(streams_per_connection=4, duration_s=5.0)
SCHEDULED = Scheduled(schedule=Schedule(shape="const", rps=40), requests=100, concurrency=7)
BLAST = Blast(sweep=(1, 20, 300), repetitions=10, duration_s=60.0)
FILE = ScenarioFile(file="requests/crud.yaml", sha256="0" * 64)
USERS = Scenario(scenario=FILE, streams_per_connection=4, duration_s=5.0)
PACED = Scenario(scenario=FILE, streams_per_connection=4, duration_s=5.0, rate=1200.0, threads=1)
LOADS = (CLOSED, SCHEDULED, BLAST, USERS)


def test_every_kind_is_known_by_its_name_and_has_a_place_on_the_pages() -> None:
    assert list(KINDS) == ["closed", "scheduled", "blast", "scenario"]
    assert set(SHOWN) == set(KINDS.values()) == {type(each) for each in LOADS}


@pytest.mark.parametrize(
    ("load", "in_flight", "window_s", "warm_up"),
    [
        (CLOSED, 32, 5.0, Closed(streams_per_connection=4, duration_s=2.0)),
        (SCHEDULED, 7, 2.475, Closed(concurrency=7, duration_s=2.0)),
        (BLAST, 300, 60.0, Closed(concurrency=100, duration_s=2.0)),
        (USERS, 32, 5.0, Scenario(scenario=FILE, streams_per_connection=4, duration_s=2.0)),
        (PACED, 32, 5.0, PACED.overridden(2.0, None)),
    ],
)
def test_what_a_load_keeps_open_how_long_and_how_it_warms_up(
    load: LoadShape, in_flight: int, window_s: float, warm_up: LoadShape
) -> None:
    assert (load.in_flight(8), load.window_s) == (in_flight, window_s)
    assert load.warm_up(8, 2.0) == warm_up


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
    assert said == ["5s", "100 requests in 2.5 s", "at most 60s", "5s"]


def test_a_rate_makes_a_scenario_a_load_by_a_schedule() -> None:
    assert (USERS.words, PACED.words) == (
        "4 users on each connection", "1,200 iterations a second",
    )  # fmt: skip
    assert [[*each.metrics] for each in (USERS, PACED)] == [[Metric.REQUESTS], [Metric.P99]]
    assert [each.keeps_in_flight for each in (CLOSED, USERS, PACED, SCHEDULED)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert [each.follows_schedule for each in (CLOSED, USERS, PACED, SCHEDULED)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_a_generator_uses_no_more_cpus_than_it_has_threads() -> None:
    assert [each.generator_cpus(4) for each in (CLOSED, USERS, PACED)] == [4, 4, 1]


@pytest.mark.parametrize(
    ("metric", "unit", "column", "words"),
    [
        (Metric.MESSAGES, "messages", "messages_per_s", "7 messages/s"),
        (Metric.REQUESTS, "requests", "requests_per_s", "7 requests/s"),
        (Metric.P99, "requests", "p99_ns", "p99 latency 7"),
    ],
)
def test_a_metric_knows_its_unit_its_column_and_its_words(
    metric: Metric, unit: str, column: str, words: str
) -> None:
    assert (metric.unit, metric.column, metric.of("7")) == (unit, column, words)
    assert metric.lower_is_better == (metric is Metric.P99)


def test_a_load_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="is a closed load, not a blast one"):
        a_profile().load_as(Blast)
