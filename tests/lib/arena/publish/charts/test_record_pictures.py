"""What the pictures of a record show and say."""

import pytest

from arena.publish.charts.latency import latency_picture
from arena.publish.kinds import run_picture
from arena.record.measurement import Run
from arena.record.record import Record
from tests.fakes import a_record, a_run
from tests.lib.arena.publish.drawn import Drawn, heights
from tests.lib.arena.publish.loads import a_second, blast, lasting, scheduled, with_latency


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
    # The first is as good, so it is the headline's.
    drawn = Drawn(picture)
    assert (len(drawn.marks("line", "accent")), len(drawn.marks("line", "quiet"))) == (0, 1)
    assert picture.table.rows[0] == ("1", "5.00 ms", *["–"] * 7, "100")
    assert picture.table.rows[1][2] == "1.00 ms"


def test_a_curve_says_what_its_latency_counts_from() -> None:
    for kind in ("service", "response"):
        picture = latency_picture(a_record(runs=[a_run(kind=kind)]))
        assert picture
        assert picture.words[0].startswith(f"{kind.capitalize()} latency")


@pytest.mark.parametrize(
    ("record", "title"),
    [
        (scheduled("a", [a_second()]), "Second by second"),
        (blast("a"), "Calls at once"),
        (lasting("a", 1000.0), "Second by second"),
        (lasting("a", 1000.0, count=6), None),
        (scheduled("a", []), None),
        (blast("a", []), None),
        (a_record("a"), None),
        (a_record("a", failure="broke"), None),
    ],
)
def test_a_record_has_the_course_of_its_headlines_run(record: Record, title: str | None) -> None:
    picture = run_picture(record)
    assert (picture.title if picture else None) == title


def test_of_several_runs_the_course_says_whose_it_is() -> None:
    (run,) = lasting("a", 1000.0).runs
    better = run.model_copy(update={"rate": 2000.0})
    record = a_record(runs=[run, better], profile=lasting("a", 1.0).profile.model_dump())
    picture = run_picture(record)
    assert picture
    assert picture.title == "Second by second, run 2"
    # The whole run's line is at the top of its axis.
    assert heights(Drawn(picture).places("line", "quiet")[0]) == [0, 0]
