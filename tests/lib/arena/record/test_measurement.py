"""What one run measured, and the shape it has in a file."""

import pytest
from pydantic import ValidationError

from arena.record.measurement import Cost, Latency, Run, Second
from tests.fakes import a_measurement, a_run


def test_a_run_is_its_measurement_and_what_it_cost_and_where_it_is_from() -> None:
    measured = a_measurement(1e6, cut=3, failed={"Internal": 2})
    run = a_run(1e6, cut=3, failed={"Internal": 2})
    shared = run.model_dump(include=set(type(measured).model_fields))
    assert shared == measured.model_dump()
    assert set(Run.model_fields) - set(shared) == {"started_at", "server", "generator", "raw"}


def test_a_run_reads_back_as_it_was_written() -> None:
    run = a_run(1234567.891, mean_ns=None)
    assert Run.model_validate_json(run.model_dump_json()) == run


# What only some generators, or some kinds of load, can tell.
OPTIONAL = {"unchecked", "seconds", "points", "approximate"}


@pytest.mark.parametrize("name", sorted(set(Run.model_fields) - OPTIONAL))
def test_a_run_without_one_of_its_facts_is_none(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        Run.model_validate(a_run().model_dump(exclude={name}))


def test_a_run_of_an_older_runner_has_none_of_what_it_did_not_know() -> None:
    old = Run.model_validate(a_run().model_dump(exclude=OPTIONAL))
    assert (old.unchecked, old.seconds, old.points, old.approximate) == (None, (), (), False)


@pytest.mark.parametrize(
    ("key", "value"), [("length_s", 0), ("length_s", 1.5), ("sent", -1), ("ok", -1), ("p99_ns", -1)]
)
def test_a_second_that_cannot_have_been_is_none(key: str, value: float) -> None:
    second = {"ok": 1, "failed": 0, "messages": 1}
    assert Second.model_validate(second).length_s == 1.0
    with pytest.raises(ValidationError, match=key):
        Second.model_validate({**second, key: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_no_measurement(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Cost(cpu_s=value, peak_bytes=1)


def test_a_latency_the_generator_cannot_know_is_absent_and_its_kind_is_not() -> None:
    assert Latency(kind="service", samples=0).p99 is None
    with pytest.raises(ValidationError, match="kind"):
        Latency.model_validate({"samples": 0})
    with pytest.raises(ValidationError, match="kind"):
        Latency.model_validate({"kind": "guess", "samples": 0})
