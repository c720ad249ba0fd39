"""What one run measured, and the shape it has in a file."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from arena.record.measurement import Calls, Cost, Latency, Measurement, Run
from tests.fakes import a_measurement, a_run
from tests.lib.parsers.changes import put

# A run that has any is not kept.
NEVER_KEPT = {"wrong"}

# What is written only if there is any.
LEFT_OUT = {"search", "streams", "tail", "written_ns"}


def test_a_run_is_its_measurement_and_what_it_cost_and_where_it_is_from() -> None:
    measured = a_measurement(1e6, cut=3, failed={"Internal": 2})
    run = a_run(1e6, cut=3, failed={"Internal": 2})
    shared = run.model_dump(include=set(type(measured).model_fields))
    assert shared == measured.model_dump()
    own = {
        "started_at", "server", "generator", "generators", "raw", "watch", "sampled",
        "started",
    }  # fmt: skip
    assert set(Run.model_fields) - set(shared) == own | NEVER_KEPT | LEFT_OUT


def test_a_run_reads_back_as_it_was_written() -> None:
    run = a_run(1234567.891, mean_ns=None)
    assert Run.model_validate_json(run.model_dump_json()) == run


def a_read_run(**changes: Any) -> Run:
    """Return what a file holds with these changes."""
    return Run.model_validate_json(json.dumps({**a_run().model_dump(), **changes}))


# What only some generators, or some kinds of load, can tell.
OPTIONAL = {
    "unchecked", "seconds", "points", "steps", "data_frames", "warm_up", "approximate", "watch",
    "generators", "sampled", "started", "streams", "tail",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(Run.model_fields) - OPTIONAL - NEVER_KEPT - LEFT_OUT))
def test_a_run_without_one_of_its_facts_is_none(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        Run.model_validate(a_run().model_dump(exclude={name}))


def test_a_run_of_an_older_runner_has_none_of_what_it_did_not_know() -> None:
    old = Run.model_validate(a_run().model_dump(exclude=OPTIONAL))
    assert (old.unchecked, old.seconds, old.points, old.approximate) == (None, (), (), False)
    assert old.steps == ()
    assert (old.data_frames, old.warm_up, old.watch) == (None, (), None)


@pytest.mark.parametrize(
    ("key", "value"), [("length_s", 0), ("length_s", 1.5), ("sent", -1), ("ok", -1), ("p99_ns", -1)]
)
def test_a_second_that_cannot_have_been_is_none(key: str, value: float) -> None:
    second = {"ok": 1, "failed": 0, "messages": 1}
    assert a_read_run(seconds=[second]).seconds[0].length_s == 1.0
    with pytest.raises(ValidationError, match=rf"seconds\.0\.{key}"):
        a_read_run(seconds=[{**second, key: value}])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_no_measurement(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Cost(cpu_s=value, peak_bytes=1)


LATENCY = {"kind": "service", "samples": 0}


def test_a_latency_the_generator_cannot_know_is_absent() -> None:
    assert a_read_run(latency_ns=LATENCY).latency_ns == Latency(kind="service", samples=0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("latency_ns.kind", None),
        ("latency_ns.kind", "guess"),
        ("latency_ns.samples", 2**63),
        ("latency_ns.p99", -1),
        ("latency_ns.p99", 1.1e15),
        ("latency_ns.p99", float("nan")),
        ("latency_ns.p98", 1),
        ("calls.ok", -1),
        ("calls.ok", 2**63),
        ("calls.cut", 0.5),
        ("calls.failed.Internal", "many"),
    ],
)
def test_a_hostile_figure_is_refused_by_its_name(path: str, value: object) -> None:
    told: dict[str, Any] = {
        "latency_ns": dict(LATENCY),
        "calls": {"ok": 1, "failed": {"Internal": 1}, "cut": 0},
    }
    assert a_read_run(**told).calls == Calls(1, {"Internal": 1}, 0)
    put(told, path.split("."), value)
    with pytest.raises(ValidationError, match=rf"(?m)^{path}$"):
        a_read_run(**told)


def test_what_a_reader_returns_is_held_to_the_bounds_of_a_record() -> None:
    measured = dict(a_measurement())
    assert Measurement(**measured) == a_measurement()
    hostile = Latency(kind="service", p99=2**62, samples=1)
    with pytest.raises(ValidationError, match=r"latency_ns\.p99"):
        Measurement(**{**measured, "latency_ns": hostile})
    exact = Measurement(**{**measured, "latency_ns": Latency(kind="service", p99=3, samples=1)})
    assert '"p99":3.0' in exact.model_dump_json()


def test_the_schema_of_a_record_has_the_bounds() -> None:
    schema = Run.model_json_schema()["$defs"]
    p99, _ = schema["Latency"]["properties"]["p99"]["anyOf"]
    assert p99 == {"type": "number", "minimum": 0, "maximum": 1e15}
    assert schema["Calls"]["properties"]["ok"]["maximum"] == 2**63 - 1
