"""What the pictures of a record show and say."""

from typing import Any

import pytest

from arena.publish.charts import course_picture, latency_picture
from arena.publish.charts.drawing import (
    BlastDrawing,
    LatencyDrawing,
    ScheduledDrawing,
    SustainedDrawing,
)
from arena.record.measurement import Latency, Run
from arena.record.record import Record
from tests.fakes import a_record, a_run
from tests.lib.arena.publish.charts.loads import a_second, blast, lasting, scheduled


def with_latency(rate: float = 1e6, **latency: Any) -> Run:
    values = {"kind": "service", "samples": 100, **latency}
    return a_run(rate).model_copy(update={"latency_ns": Latency.model_validate(values)})


def curves_of(record: Record) -> LatencyDrawing:
    picture = latency_picture(record)
    assert picture
    assert isinstance(picture.drawing, LatencyDrawing)
    return picture.drawing


def test_what_a_log_scale_does_not_have_is_left_out() -> None:
    run = with_latency(p50=0.0, p90=0.0, p99=1e6, p999=2e6, max=0.0)
    drawing = curves_of(a_record(runs=[run]))
    assert drawing.headline
    assert drawing.headline.points == ((0.01, 1e6), (0.001, 2e6))
    assert drawing.headline.max_ns is None


def test_each_run_has_a_curve_and_the_headlines_is_apart() -> None:
    slow, fast = with_latency(1.0, p50=3e6, p99=9e6), with_latency(2.0, p50=1e6, p99=2e6, max=4e6)
    drawing = curves_of(a_record(runs=[slow, fast, slow]))
    assert drawing.headline
    assert drawing.headline.points == ((0.5, 1e6), (0.01, 2e6))
    assert drawing.headline.max_ns == 4e6
    assert [curve.points for curve in drawing.others] == [((0.5, 3e6), (0.01, 9e6))] * 2


def test_a_curve_has_only_the_percentiles_that_are_known() -> None:
    drawing = curves_of(a_record(runs=[with_latency(p75=1e6, p95=2e6, p999=3e6)]))
    assert drawing.headline
    assert [share for share, _ in drawing.headline.points] == [0.25, 0.05, 0.001]


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [with_latency(mean=1e6, max=9e6)],
        [with_latency(p50=1e6)],
        [with_latency(p50=0.0, p99=0.0)],
    ],
)
def test_without_two_percentiles_there_is_no_curve(runs: list[Run]) -> None:
    assert latency_picture(a_record(runs=runs, failure="broke")) is None


def test_a_run_without_percentiles_is_only_in_the_table() -> None:
    picture = latency_picture(
        a_record(runs=[with_latency(mean=5e6), with_latency(p50=1e6, p99=2e6)])
    )
    assert picture
    assert isinstance(picture.drawing, LatencyDrawing)
    # The first is as good, so it is the headline's.
    assert picture.drawing.headline is None
    assert len(picture.drawing.others) == 1
    assert picture.table.rows[0] == ("1", "5.00 ms", *["–"] * 7, "100")
    assert picture.table.rows[1][2] == "1.00 ms"


def test_a_curve_says_what_its_latency_counts_from() -> None:
    service = latency_picture(a_record())
    response = latency_picture(a_record(runs=[a_run(kind="response")]))
    assert service
    assert response
    assert service.words[0].startswith("Service latency")
    assert response.words[0].startswith("Response latency")


@pytest.mark.parametrize(
    ("record", "drawing"),
    [
        (scheduled("a", [a_second()]), ScheduledDrawing),
        (blast("a"), BlastDrawing),
        (lasting("a", 1000.0), SustainedDrawing),
        (lasting("a", 1000.0, count=6), None),
        (scheduled("a", []), None),
        (blast("a", []), None),
        (a_record("a"), None),
        (a_record("a", failure="broke"), None),
    ],
)
def test_a_record_has_the_course_of_its_headlines_run(record: Record, drawing: type | None) -> None:
    picture = course_picture(record)
    assert (type(picture.drawing) if picture else None) is drawing


def test_of_several_runs_the_course_says_whose_it_is() -> None:
    (run,) = lasting("a", 1000.0).runs
    better = run.model_copy(update={"rate": 2000.0})
    record = a_record(runs=[run, better], profile=lasting("a", 1.0).profile.model_dump())
    picture = course_picture(record)
    assert picture
    assert picture.title == "Second by second, run 2"
    assert isinstance(picture.drawing, SustainedDrawing)
    assert picture.drawing.whole == 2000.0
