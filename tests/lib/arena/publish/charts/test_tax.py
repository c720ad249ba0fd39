"""The generator tax: which servers stand side by side, and what is said of them."""

import pytest

from arena.judge.leaderboard import rank
from arena.publish.charts.tax import MOST_SERVERS, TaxedLoad, taxed_loads
from arena.record.record import Cpus, GeneratorInfo, Record
from tests.fakes import a_record, a_run
from tests.lib.arena.judge.visits import blocks
from tests.lib.arena.publish.drawn import Drawn
from tests.lib.arena.publish.loads import made, under


def found(*records: Record) -> list[TaxedLoad]:
    return taxed_loads(rank(records).boards)


def test_a_server_under_two_generators_has_the_cost_of_both_under_each() -> None:
    (load,) = found(under("volley", own_s=0.05), under("ghz"))
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
    assert found(under("ghz"), other) == []


def test_each_picture_has_a_scale_that_its_longest_bar_fills() -> None:
    records = [
        under(generator, name, own_s)
        for name, own_s in (("a", 1.0), ("b", 50.0))
        for generator in ("ghz", "volley")
    ]
    (load,) = found(*records)
    # The longest bars are 0.8 and 10 seconds per million; the axis has room for their figures.
    ends = {Drawn(picture).words[-len(picture.table.rows) * 2 - 2] for picture in load.pictures}
    assert ends == {"1.2", "15"}


def test_of_many_servers_all_are_found_and_the_first_have_a_picture() -> None:
    names = [f"f{number}" for number in range(MOST_SERVERS + 1)]
    records = [under(generator, name) for name in names for generator in ("ghz", "volley")]
    (load,) = found(*records)
    assert len(load.servers) == MOST_SERVERS + 1
    assert len(load.pictures) == MOST_SERVERS


def test_a_servers_name_is_no_part_of_the_drawing() -> None:
    records = [under(each, display_name="<script>") for each in ("ghz", "volley")]
    (picture,) = found(*records)[0].pictures
    assert picture.title == "<script>"
    assert "<script>" not in picture.svg


def test_a_generator_with_and_without_a_warm_up_of_its_own_is_one_generator() -> None:
    def h2load(minute: int, *more: str) -> Record:
        info = GeneratorInfo(name="h2load", version="1", found="PATH", argv=("h2load", *more))
        return made(under("h2load", minute=minute), generator=info)

    old, new = h2load(1), h2load(2, "--warm-up-time=3s")
    assert found(old, new) == []
    (load,) = found(old, new, under("volley"))
    assert load.servers[0][0].result.record == new.path


def test_on_a_board_of_blocks_the_cost_is_that_of_its_blocks() -> None:
    costs = (40.0, 5.0, 6.0, 7.0, 5.0, 6.0, 7.0, 6.0)
    visits = []
    for record in blocks({"a": 1e6, "b": 1e6}):
        cpu_s = costs[record.visit.block - 1] if record.visit else 0.0
        runs = tuple(a_run(1e6, server_cpu_s=cpu_s) for _ in record.runs)
        visits.append(record.model_copy(update={"runs": runs}))
    (load,) = found(*visits, under("volley", minute=900))
    assert load.servers[0][0].cells[1] == "1.20"
