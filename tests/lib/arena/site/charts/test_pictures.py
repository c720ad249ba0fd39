"""What the pictures of boards and records show and say, as numbers and words."""

from dataclasses import replace

import pytest

from arena.judge.leaderboard import rank
from arena.record.measurement import Run
from arena.record.record import Cpus, GeneratorInfo, Record
from arena.site.charts.blast import ways_of
from arena.site.charts.picture import MOST, Picture
from arena.site.charts.tax import MOST_SERVERS, TaxedLoad, taxed_loads
from arena.site.kinds import SHOWN
from tests.fakes import a_provenance, a_record, a_run
from tests.lib.arena.judge.visits import blocks
from tests.lib.arena.site.drawn import Drawn, course_of, heights, latency_of
from tests.lib.arena.site.loads import (
    POINTS,
    a_point,
    a_second,
    blast,
    items,
    lasting,
    made,
    paced,
    scheduled,
    under,
    with_latency,
)


def pictures(*records: Record, profile: str) -> list[Picture]:
    boards = rank(records).boards
    return [
        picture
        for board in boards
        if board.profile == profile
        for picture in SHOWN[board.shape].of_board(board, boards)
    ]


@pytest.mark.parametrize(
    ("points", "full"),
    [
        ([(1, 100.0), (10, 949.0), (100, 1000.0)], None),
        ([(1, 100.0), (10, 950.0), (100, 1000.0)], 10),
        ([(1, 100.0), (10, 1000.0), (100, 400.0)], 10),
        ([(100, 960.0), (10, 1000.0), (1, 100.0)], 10),
        ([(1, 100.0)], None),
        ([(1, 0.0), (10, 0.0)], None),
    ],
)
def test_a_way_stops_growing_at_the_first_n_near_its_highest(
    points: list[tuple[int, float]], full: int | None
) -> None:
    (way,) = ways_of([a_point(1, n, rate) for n, rate in points], {})
    assert way.full_at == full


def test_the_first_failure_is_that_of_the_smallest_n() -> None:
    points = [
        a_point(1, 100, 900.0, {"Unavailable": 2}),
        a_point(1, 10, 900.0, {"Internal": 1}),
        a_point(1, 1, 100.0, {"Internal": 0}),
        a_point(8, 100, 900.0),
    ]
    assert [way.fails_at for way in ways_of(points, {})] == [10, None]


def test_the_words_of_a_blast_say_where_it_is_full_and_where_it_fails() -> None:
    (picture,) = pictures(blast("a", POINTS), profile="bang")
    assert picture.words == (
        "1 connection: best 10.0 k requests/s, stops growing at N = 10.",
        "8 connections: best 20.0 k requests/s, still growing at N = 100.",
        "No call failed.",
    )
    failing = [*POINTS[:2], a_point(1, 100, 10_000.0, {"Unavailable": 3})]
    (picture,) = pictures(blast("a", failing), profile="bang")
    (words,) = picture.words
    assert words.endswith("requests/s, stops growing at N = 10, first failure at N = 100.")
    (picture,) = pictures(blast("a", [a_point(1, 5, 0.0, {"Internal": 50})]), profile="bang")
    assert picture.words == ("1 connection: no call succeeded.",)


def test_a_way_is_named_by_what_it_is_for_most_of_the_sweep() -> None:
    points = [a_point(c, n, 1.0) for c in (1, 8, 1000) for n in (1, 10, 100, 1000, 10_000)]
    names = [way.series.name for way in ways_of(points, {})]
    assert names == ["1 connection", "8 connections", "one per request, up to 1,000"]


def test_a_lower_bound_of_a_latency_is_one_in_every_table_of_a_picture() -> None:
    point = a_point(8, 1000, 20_000.0)
    unsure = point.changed(latency_ns=replace(point.latency_ns, at_least=("p99",)))
    (picture,) = pictures(blast("a", [unsure]), profile="bang")
    assert picture.table.rows[0][4:6] == ("1.00 ms", "≥ 2.00 ms")
    known, bound = (
        latency_of(a_record(runs=[with_latency(p50=1e6, p99=2e6, at_least=at_least)]))
        for at_least in ((), ("p99",))
    )
    assert known
    assert bound
    assert [picture.table.rows[0][6] for picture in (known, bound)] == ["2.00 ms", "≥ 2.00 ms"]
    assert "≥ marks a lower bound" in bound.words[-1]
    assert bound.words[:-1] == known.words


def test_the_numbers_of_a_blast_are_in_its_table() -> None:
    points = [a_point(8, 1000, 20_000.0, {"Unavailable": 1200, "Internal": 1})]
    (picture,) = pictures(blast("a", points), profile="bang")
    assert picture.table.rows == (
        ("8", "1,000", "20.0 k", "18.0 k – 22.0 k", "1.00 ms", "2.00 ms",
         "1 Internal, 1,200 Unavailable"),
    )  # fmt: skip


def test_what_the_same_connections_sustain_stands_beside_the_blast() -> None:
    assert sustained(lasting("a", 15_000.0, 8), lasting("a", 5000.0, 64)) == ["sustained 15.0 k"]


def sustained(*others: Record) -> list[str]:
    (picture,) = pictures(blast("a"), *others, profile="bang")
    return [words for words in Drawn(picture).words if words.startswith("sustained")]


OTHER = GeneratorInfo(name="volley", version="v2", found="PATH", argv=("volley",))
CPUS = Cpus(policy="override", server="0", generator="1")
HOST = a_provenance().host.model_copy(update={"cpu": "another CPU"})


@pytest.mark.parametrize(
    "other",
    [
        lasting("b", 15_000.0),
        lasting("a", 15_000.0, count=6),
        lasting("a", 15_000.0, profile={"call": "benchmark.BenchmarkService/CollectSum"}),
        lasting("a", 15_000.0, profile={"tls": True}),
        lasting("a", 15_000.0, profile={"generator": "ghz"}),
        lasting("a", 15_000.0, profile={"metric": "messages/s"}),
        made(lasting("a", 15_000.0), cpus=CPUS),
        made(lasting("a", 15_000.0), host=HOST),
        made(lasting("a", 15_000.0), generator=OTHER),
        made(lasting("a", 15_000.0), runtime=None),
        scheduled("a", [a_second()] * 9, profile={"connection_count": 8}),
    ],
)
def test_what_was_measured_otherwise_does_not_stand_beside_the_blast(other: Record) -> None:
    assert sustained(other) == []


def test_a_missed_second_is_counted_and_marked_in_the_table() -> None:
    seconds = [a_second(100), a_second(94), a_second(106), a_second(95), a_second(2, 1)]
    (picture,) = pictures(scheduled("a", seconds), profile="steady")
    (words,) = picture.words
    assert words.startswith("✕ 2 of 5 seconds missed the schedule: the calls sent differ from the ")
    assert words.endswith("calls due by more than 5 %, and by more than one call.")
    sent = [cells[2] for cells in picture.table.rows]
    assert sent == ["100", "94 ✕ missed", "106 ✕ missed", "95", "2"]
    (kept,) = pictures(scheduled("a", [a_second()]), profile="steady")
    assert kept.words == ("Every second kept the schedule.",)


def test_the_table_of_seconds_says_what_is_not_known_and_what_is_only_a_part() -> None:
    seconds = [
        a_second(None, None, ok=3, failed=1, p50_ns=None, p99_ns=None),
        a_second(1234, 1234, length_s=0.25),
    ]
    (picture,) = pictures(scheduled("a", seconds), profile="steady")
    assert picture.table.rows == (
        ("1", "–", "–", "3", "1", "–", "–"),
        ("2 (0.25 s long)", "1,234", "1,234", "1,234", "0", "400 µs", "1.50 ms"),
    )


def test_latencies_of_a_board_have_one_axis() -> None:
    slow = a_second(p50_ns=3e7, p99_ns=6e7)
    shown = pictures(scheduled("a", [a_second()]), scheduled("b", [slow]), profile="steady")
    labels = [{word for word in Drawn(each).words if word.endswith("s")} for each in shown]
    assert labels[0] == labels[1] >= {"1 ms", "10 ms", "100 ms"}


def test_a_board_shows_its_first_rows_that_have_something_to_draw() -> None:
    names = "abcdefgh"
    records = [blast(name, [a_point(1, 5, 1000.0 - ord(name))]) for name in names]
    shown = pictures(*records, profile="bang")
    assert [each.title for each in shown] == list(names[:MOST])
    failed = a_record("c", failure="broke", profile={"name": "bang"})
    shown = pictures(blast("a", []), blast("b"), failed, profile="bang")
    assert [each.title for each in shown] == ["b"]


@pytest.mark.parametrize(("count", "drawn"), [(0, 0), (6, 0), (7, 1), (60, 1)])
def test_a_closed_load_is_drawn_if_it_lasts(count: int, drawn: int) -> None:
    shown = pictures(lasting("a", 1000.0, count=count), profile="lasting")
    assert len(shown) == drawn
    assert all(len(each.table.rows) == count for each in shown)


def test_no_name_gets_into_a_drawing() -> None:
    name = "<script>"
    for record, profile in (
        (blast("a", display_name=name), "bang"),
        (scheduled("a", [a_second()], display_name=name), "steady"),
        (lasting("a", 1.0, display_name=name), "lasting"),
    ):
        (picture,) = pictures(record, profile=profile)
        assert name in picture.label
        assert name not in picture.svg


def test_a_plain_load_has_no_picture() -> None:
    assert pictures(a_record("a", runs=[a_run()]), profile="stream-grpc") == []


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
    assert latency_of(a_record(runs=runs, failure="broke")) is None


def test_a_run_without_percentiles_is_only_in_the_table() -> None:
    picture = latency_of(a_record(runs=[with_latency(mean=5e6), with_latency(p50=1e6, p99=2e6)]))
    assert picture
    # The first is as good, so it is the headline's.
    drawn = Drawn(picture)
    assert (len(drawn.marks("line", "accent")), len(drawn.marks("line", "quiet"))) == (0, 1)
    assert picture.table.rows[0] == ("1", "5.00 ms", *["–"] * 7, "100")
    assert picture.table.rows[1][2] == "1.00 ms"


def test_a_curve_says_what_its_latency_counts_from() -> None:
    for kind in ("service", "response"):
        picture = latency_of(a_record(runs=[a_run(kind=kind)]))
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
    picture = course_of(record)
    assert (picture.title if picture else None) == title


def test_of_several_runs_the_course_says_whose_it_is() -> None:
    (run,) = lasting("a", 1000.0).runs
    better = run.model_copy(update={"rate": 2000.0})
    record = a_record(runs=[run, better], profile=lasting("a", 1.0).profile.model_dump())
    picture = course_of(record)
    assert picture
    assert picture.title == "Second by second, run 2"
    # The whole run's line is at the top of its axis.
    assert heights(Drawn(picture).places("line", "quiet")[0]) == [0, 0]


def test_users_have_the_picture_of_a_closed_load() -> None:
    seconds = (a_second(3000, None),) * 7
    record = items("a")
    record = record.model_copy(
        update={"runs": tuple(run.model_copy(update={"seconds": seconds}) for run in record.runs)}
    )
    (picture,) = pictures(record, profile="crud-h2c")
    assert picture.label == "a: requests/s in each of 7 seconds"
    assert pictures(items("a"), profile="crud-h2c") == []
    assert course_of(record) is not None
    assert course_of(items("a")) is None


def test_iterations_that_were_due_and_did_not_begin_are_marked() -> None:
    record = paced("a", [a_second(100), a_second(90), a_second(100)])
    (picture,) = pictures(record, profile="crud-paced")
    assert picture.label.startswith("a: iterations due and iterations sent per second")
    (words,) = picture.words
    assert words == (
        "✕ 1 of 3 seconds missed the schedule: the iterations sent differ from the iterations due "
        "by more than 5 %, and by more than one iteration."
    )
    assert picture.table.head[1:4] == ("Due", "Begun", "OK requests")
    assert "iterations per second" in Drawn(picture).words
    own = course_of(record)
    assert own
    assert own.words == picture.words


def taxed(*records: Record) -> list[TaxedLoad]:
    return taxed_loads(rank(records).boards)


def test_a_server_under_two_generators_has_the_cost_of_both_under_each() -> None:
    (load,) = taxed(under("volley", own_s=0.05), under("ghz"))
    (tolls,) = load.servers
    assert [toll.cells for toll in tolls] == [
        ("ghz", "0.80", "0.40", "0.50 ×"),
        ("volley", "0.80", "0.010", "0.013 ×"),
    ]
    assert [toll.result.generator for toll in tolls] == ["ghz v1"] * 2
    assert load.unit == "messages"


@pytest.mark.parametrize(
    "other",
    [
        under("ghz", "b"),
        under("volley", "b"),
        under("volley", profile={"connection_count": 1}),
        under("volley", profile={"name": "other"}),
        made(under("volley"), runtime=None),
        under("<script>"),
        made(under("volley"), cpus=Cpus(policy="override", server="0", generator="1")),
        under("volley", overrides={"RUNS": "1"}, profile={"runs": 1}),
        a_record("a", minute=1, failure="broke", profile={"generator": "volley"}),
        a_record("a", minute=1, runs=[a_run(0.0, ok=0)], profile={"generator": "volley"}),
    ],
)
def test_what_was_measured_otherwise_is_no_pair(other: Record) -> None:
    assert taxed(under("ghz"), other) == []


def test_each_picture_has_a_scale_that_its_longest_bar_fills() -> None:
    records = [
        under(generator, name, own_s)
        for name, own_s in (("a", 1.0), ("b", 50.0))
        for generator in ("ghz", "volley")
    ]
    (load,) = taxed(*records)
    # The longest bars are 0.8 and 10 seconds per million; the axis has room for their figures.
    ends = {Drawn(picture).words[-len(picture.table.rows) * 2 - 2] for picture in load.pictures}
    assert ends == {"1.2", "15"}


def test_of_many_servers_all_are_found_and_the_first_have_a_picture() -> None:
    names = [f"f{number}" for number in range(MOST_SERVERS + 1)]
    records = [under(generator, name) for name in names for generator in ("ghz", "volley")]
    (load,) = taxed(*records)
    assert len(load.servers) == MOST_SERVERS + 1
    assert len(load.pictures) == MOST_SERVERS


def test_a_servers_name_is_no_part_of_the_drawing() -> None:
    records = [under(each, display_name="<script>") for each in ("ghz", "volley")]
    (picture,) = taxed(*records)[0].pictures
    assert picture.title == "<script>"
    assert "<script>" not in picture.svg


def test_a_generator_with_and_without_a_warm_up_of_its_own_is_one_generator() -> None:
    def h2load(minute: int, *more: str) -> Record:
        info = GeneratorInfo(name="h2load", version="1", found="PATH", argv=("h2load", *more))
        return made(under("h2load", minute=minute), generator=info)

    old, new = h2load(1), h2load(2, "--warm-up-time=3s")
    assert taxed(old, new) == []
    (load,) = taxed(old, new, under("volley"))
    assert load.servers[0][0].result.record == new.path


def test_on_a_board_of_blocks_the_cost_is_that_of_its_blocks() -> None:
    costs = (40.0, 5.0, 6.0, 7.0, 5.0, 6.0, 7.0, 6.0)
    visits = []
    for record in blocks({"a": 1e6, "b": 1e6}):
        cpu_s = costs[record.visit.block - 1] if record.visit else 0.0
        runs = tuple(a_run(1e6, server_cpu_s=cpu_s) for _ in record.runs)
        visits.append(record.model_copy(update={"runs": runs}))
    (load,) = taxed(*visits, under("volley", minute=900))
    assert load.servers[0][0].cells[1] == "1.20"
