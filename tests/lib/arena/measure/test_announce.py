"""What a terminal says of a record."""

from arena.measure.announce import notes
from arena.record.measurement import Second
from tests.fakes import a_generator, a_record, a_run


def test_hosts_at_their_limit_are_numbered_where_they_are_the_bound() -> None:
    hosts = (a_generator(1), a_generator(2, flags=("saturated",)))
    runs = [a_run().changed(generators=hosts)]
    bound = "client-bound: of 2 generators, at their limit: 2"
    assert bound in list(notes(a_record(runs=runs, flags=["client-bound"])))
    # A schedule's rate is given, and no host bounds it.
    assert bound not in list(notes(a_record(runs=runs)))


def test_a_stalled_run_is_named() -> None:
    runs = [a_run(), a_run().changed(seconds=(Second(ok=0, failed=0, messages=0),))]
    assert list(notes(a_record(runs=runs, flags=["stalled"]))) == [
        "stalled: nothing arrived for whole seconds: run 2: 1 of 1 seconds"
    ]
    # A schedule may have empty seconds.
    assert list(notes(a_record(runs=runs))) == []
