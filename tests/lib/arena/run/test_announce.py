"""What a terminal says of a record."""

from arena.judge.derive import derive
from arena.record.measurement import Second
from arena.record.record import Record
from arena.run.announce import headline_line, notes, run_line
from arena.what.metrics import Metric
from tests.fakes import a_generator, a_record, a_run
from tests.lib.arena.judge.runs import a_timed_run
from tests.lib.arena.site.loads import SCHEDULED, a_second


def said_of(record: Record) -> list[str]:
    return list(notes(record, derive(record)))


def test_hosts_at_their_limit_are_numbered_where_they_are_the_bound() -> None:
    hosts = (a_generator(1), a_generator(2, busiest_thread_s=4.9))
    runs = [a_run().changed(generators=hosts)]
    bound = "client-bound: of 2 generators, at their limit: 2"
    assert bound in said_of(a_record(runs=runs))
    # A schedule's rate is given, and no host bounds it.
    assert bound not in said_of(a_record(runs=runs, profile=SCHEDULED))


def test_a_stalled_run_is_named() -> None:
    runs = [a_run(), a_run().changed(seconds=(Second(ok=0, failed=0, messages=0),))]
    assert said_of(a_record(runs=runs)) == [
        "stalled: nothing arrived for whole seconds: run 2: 1 of 1 seconds"
    ]
    # A schedule may have empty seconds.
    assert not any("stalled" in each for each in said_of(a_record(runs=runs, profile=SCHEDULED)))


def test_a_latency_that_is_a_lower_bound_is_announced_as_one() -> None:
    runs = [a_timed_run(each, a_second(), is_bound=True) for each in (2e9, 3e9)]
    assert run_line(runs[0], Metric.P99).startswith("p99 latency ≥ 2.00 s; CPU")
    assert "messages/s; p99 ≥ 2.00 s; CPU" in run_line(runs[0], Metric.MESSAGES)
    assert "messages/s; p99 2.10 s; CPU" in run_line(a_run(), Metric.MESSAGES)
    record = a_record(runs=runs, profile=SCHEDULED)
    line = headline_line(record, derive(record))
    assert "p99 latency ≥ 2.00 s (" in line
    assert "median ≥ 2.50 s; " in line
    # No second was empty, so none is named.
    assert [each.partition(":")[0] for each in said_of(record)] == ["unreached"]
