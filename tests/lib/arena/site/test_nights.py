"""Pages of nights of blocks: rank sets, ties at a glance, and what the night could not tell."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from arena.judge.beside import MEMORY, Beside, FigureEstimate
from arena.judge.leaderboard import Altered, Board
from arena.judge.levels import Level
from arena.judge.verdicts import OtherNight
from arena.record.record import Record
from arena.site.edition import Edition
from arena.site.pages import boards, frameworks, home
from tests.fakes import PASSED, WARNED, a_record
from tests.lib.arena.judge.visits import blocks, drifting, packing, visited
from tests.lib.arena.site.editions import (
    HOST,
    HOSTILE,
    a_site,
    an_edition,
    keys_of,
    page,
    pages_of,
    rows_of,
    site_of,
    text_of,
)
from tests.lib.arena.site.loads import released
from tests.lib.arena.site.nights import a_history, a_night, a_twin, an_estimate, with_a_night

PATH = f"boards/stream-grpc/64/ghz/{HOST}/index.html"
ROWS: dict[str, dict[str, Any]] = {
    "a": {"estimate": an_estimate(2.0e6), "rank_set": (1, 2), "letters": "a"},
    "b": {"estimate": an_estimate(2.1e6, voids=1), "rank_set": (1, 2), "letters": "ab"},
    "c": {"estimate": an_estimate(1.0e6), "rank_set": (3, 3), "letters": "b"},
}
RECORDS = (a_record("a", 2.2e6), a_record("b", 2.0e6), a_record("c", 1.1e6))


def an_edition_of_blocks(*more: Any, rows: Any = ROWS, **changes: Any) -> Edition:
    return with_a_night(an_edition(*RECORDS, *more), rows, **changes)


def board(*more: Any, rows: Any = ROWS, **changes: Any) -> str:
    """Return the page of the board of three frameworks, and others that were not in the night."""
    edition = an_edition_of_blocks(*more, rows=rows, **changes)
    return pages_of(site_of(edition), boards)[PATH]


def csv_of(edition: Edition) -> dict[str, dict[str, str]]:
    """Return the rows of the board's CSV, by framework."""
    text = page(site_of(edition), PATH.replace("index.html", "board.csv"))
    return {row["framework"]: row for row in csv.DictReader(text.splitlines())}


def rows_in(html: str) -> dict[str, list[str]]:
    """Return the words of each row's cells, in the page's order, by framework."""
    (table,) = re.findall('<table id="board".*?</table>', html, re.DOTALL)
    found = re.findall(r'<tr data-fw="([^"]*)".*?</tr>', table, re.DOTALL)
    bodies = re.findall(r"<tr data-fw=.*?</tr>", table, re.DOTALL)
    return {
        name: [text_of(cell) for cell in re.findall(r"<t[hd]\b.*?</t[hd]>", body, re.DOTALL)]
        for name, body in zip(found, bodies, strict=True)
    }


def test_rows_are_ordered_by_the_estimate_and_have_rank_sets_letters_and_both_figures() -> None:
    text = board()
    found = rows_in(text)
    assert list(found) == ["b", "a", "c"]
    assert [cells[0] for cells in found.values()] == ["1–2", "1–2", "3"]
    assert [cells[2] for cells in found.values()] == ["a b", "a", "b"]
    assert found["b"][3:6] == ["2.10 M", "2.01 M to 2.19 M · 1 void", "2.00 M rank 2"]
    # One dot a block, and the tick of the estimate.
    (row,) = re.findall('<tr data-fw="a".*?</tr>', text, re.DOTALL)
    (dots,) = re.findall('<path class="d" d="([^"]*)"', row)
    assert dots.count("M") == 8
    assert 'class="m"' in row
    assert 'data-key="classic"' in text
    # The rank's column sorts by the estimate, the classic one by its own figure.
    assert re.findall(r'class="r" data-v="(\d+)"', text) == ["1", "2", "3"]


def test_every_row_is_as_wide_as_the_table() -> None:
    rows = {**ROWS, "a": {}, "c": {**ROWS["c"], "letters": None, "rank_set": None}}
    (table,) = re.findall('<table id="board".*?</table>', board(rows=rows), re.DOTALL)
    every = re.findall("<tr.*?</tr>", table, re.DOTALL)
    assert len({len(re.findall(r"<t[hd]\b", row)) for row in every}) == 1


def test_who_was_not_in_the_night_is_last_and_says_so() -> None:
    found = rows_in(board(a_record("fast", 9e6)))
    assert list(found) == ["b", "a", "c", "fast"]
    assert found["fast"][0] == "–"
    assert "not in this night" in found["fast"]
    assert any("9.00 M rank 1 2026-01-01" in cell for cell in found["fast"])


def test_a_row_that_still_warms_up_has_no_rank_and_stands_where_its_figure_puts_it() -> None:
    warming = {"estimate": an_estimate(5e6, still_warming=True)}
    rows = {**ROWS, "w": warming}
    text = board(a_record("w", 5e6), rows=rows)
    found = rows_in(text)
    assert list(found) == ["w", "b", "a", "c"]
    assert (found["w"][0], found["w"][3]) == ("–", "≥ 5.0 M")
    assert "still-warming" in found["w"][1]
    said = "w is the first with ≥ 5.0 M, but has no rank. First with a rank: b , 2.10 M."
    assert said in text_of(text)
    assert "but has no rank" not in text_of(board())
    edition = an_edition_of_blocks(a_record("w", 5e6), rows=rows)
    first = text_of(pages_of(site_of(edition), home)["index.html"])
    assert "w has no rank; first with a rank: b , a , 2.10 M ≥ 5.0 M messages/s 3" in first
    of = csv_of(edition)
    assert list(of) == list(found)
    assert (of["w"]["rank"], of["w"]["estimate_bound"]) == ("", ">=")


def test_a_row_without_a_classic_result_is_shown_and_one_without_anything_has_failed() -> None:
    broken = a_record("d", failure="it broke")
    text = board(broken, rows={**ROWS, "d": {"estimate": an_estimate(3e6), "rank_set": (1, 1)}})
    assert next(iter(rows_in(text))) == "d"
    assert 'id="failed"' not in text
    assert 'id="failed"' in board(broken)


def test_a_row_has_the_release_that_was_measured() -> None:
    found = rows_in(board(released(a_record("d", 1.0), "grpc-go 1.85.0")))
    assert found["d"][1].endswith(" · production · grpc-go 1.85.0")
    assert found["a"][1].endswith(" · production")


def test_warned_checks_are_counted_in_the_row() -> None:
    assert "1 warning" in rows_in(board(a_record("d", 1.0, contract=[PASSED, WARNED])))["d"][1]


def test_a_night_without_ranks_says_why_and_keeps_the_order() -> None:
    rows = {name: {"estimate": row["estimate"]} for name, row in ROWS.items()}
    night = a_night(is_ranked=False, why_not=f"It had 4 blocks. {HOSTILE}", blocks=4, planned=10)
    text = board(rows=rows, night=night)
    assert "No ranks. It had 4 blocks." in text_of(text)
    assert HOSTILE not in text
    found = rows_in(text)
    assert list(found) == ["b", "a", "c"]
    assert {cells[0] for cells in found.values()} == {"–"}
    assert "share a letter" not in text_of(text)
    assert "4 of 10 blocks" in text_of(text)


FULLER = OtherNight(night="2026-02-01T22-00-00.000000Z", frameworks=20)
NEWER = OtherNight(night="2026-02-05T22-00-00.000000Z", frameworks=2)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "tells two frameworks apart in 8 of 10 nights if one is 3.4 % slower."),
        ({}, "Night of 2026-02-03 22:00 UTC : 3 frameworks, 8 blocks."),
        ({}, "With twins and other divisions, the night had 27 starts."),
        ({}, "2 starts were void, because the host was disturbed, and were repeated, twice at"),
        ({"voids": 1, "disturbed": 1}, "1 start was void, because the host was disturbed, and was"),
        ({"voids": 1, "disturbed": 1}, "and was repeated, twice at most."),
        ({"voids": 0, "disturbed": 0}, "None was void."),
        ({"fuller": FULLER}, "An earlier night had more frameworks: 20, on 2026-02-01 22:00 UTC."),
        ({"fuller": FULLER}, "compare A B stream-grpc --night 2026-02-01T22-00-00.000000Z"),
        ({"newer": NEWER}, "This is the night of 2026-02-03 22:00 UTC, not the newest."),
        ({"newer": NEWER}, "The newest began on 2026-02-05 22:00 UTC and has 2 frameworks of this"),
        ({"newer": NEWER}, "compare A B stream-grpc --night 2026-02-05T22-00-00.000000Z"),
        ({"is_ranked": False, "why_not": "Two twins differ."}, "No ranks. Two twins differ."),
        ({"twins": (a_twin(is_tied=False),)}, "a told apart"),
        ({"voids": 2, "disturbed": 5}, "In all, the host was disturbed during 5 runs."),
    ],
)
def test_a_board_says_what_its_night_was_worth(changes: dict[str, Any], shown: str) -> None:
    assert shown in text_of(board(night=a_night(**changes)))


def test_the_panel_of_twins_has_this_night_and_all_nights() -> None:
    text = text_of(board())
    assert "Does this board invent differences?" in text
    assert "11 of 11 twins were tied, over all nights." in text
    assert "between 72 and 100 %" in text
    assert "a tied × 1.003 0.987 to 1.020" in text


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("apart in 8 of 10", {"night": a_night(detectable=None)}),
        ("Does this board", {"night": a_night(twins=()), "twin_history": None}),
        ("An earlier night", {}),
        ("not the newest", {}),
        ("told apart</b>", {}),
        ("classic board", {}),
    ],
)
def test_a_board_says_nothing_of_what_its_night_has_not(words: str, changes: Any) -> None:
    assert words not in board(**changes)


def test_what_somebody_reviews_changes_the_pages() -> None:
    before = keys_of(site_of(an_edition_of_blocks()), boards)
    after = keys_of(site_of(an_edition_of_blocks(twin_history=a_history(tied=10))), boards)
    assert before.keys() == after.keys()
    assert all(before[path] != after[path] for path in before)


def test_a_board_without_blocks_says_that_its_order_has_no_known_error() -> None:
    text = next(iter(pages_of(a_site(*RECORDS), boards).values()))
    assert "This is a classic board" in text_of(text)


def test_the_csv_has_the_estimates_and_ranks() -> None:
    edition = an_edition_of_blocks(a_record("fast", 9e6))
    found = csv_of(edition)
    of_b = found["b"]
    assert float(of_b["estimate_messages_per_s"]) == 2.1e6
    assert float(of_b["estimate_low_messages_per_s"]) < 2.1e6
    assert float(of_b["estimate_high_messages_per_s"]) > 2.1e6
    assert (of_b["blocks"], of_b["voids"]) == ("8", "1")
    assert (of_b["rank_low"], of_b["rank_high"], of_b["letters"]) == ("1", "2", "ab")
    # The rank is that of the page; the classic one stands apart.
    assert (of_b["rank"], of_b["classic_rank"]) == ("1–2", "3")
    assert of_b["value_messages_per_s"] == "2000000.0"
    rates = [float(of_b[f"block_{at}_messages_per_s"]) for at in range(1, 9)]
    assert rates == list(an_estimate(2.1e6).rates)
    of_fast = found["fast"]
    assert {of_fast[name] for name in ("blocks", "rank_low", "rank_high", "letters")} == {""}


MIB = 1 << 20
BESIDE = {
    MEMORY: Beside(at_least=167 * MIB, at_most=167 * MIB, low=160 * MIB, high=4400 * MIB),
    "p99_ns": Beside(at_least=2.5e6, at_most=None, low=2e6, high=None),
}


def test_latencies_costs_and_memory_are_those_of_the_blocks_with_their_spread() -> None:
    rows = {**ROWS, "a": {**ROWS["a"], "estimate": an_estimate(2.0e6, beside=BESIDE)}}
    edition = an_edition_of_blocks(a_record("late", 9e6), rows=rows)
    text = pages_of(site_of(edition), boards)[PATH]
    assert re.findall('<th scope="col"[^>]*data-key="(memory|p99|p50)"', text) == ["p99", "memory"]
    assert rows_in(text)["a"][6:] == ["≥ 2.50 2.00 or more", "167 160–4,400"]
    # The classic record of who was not in the night has both, but not from blocks.
    assert rows_in(text)["late"][6:] == ["–", "–"]
    of = csv_of(edition)
    names = ["server_peak_bytes", "server_peak_bytes_low", "server_peak_bytes_high"]
    assert [of["a"][name] for name in names] == [str(each * MIB) for each in (167, 160, 4400)]
    assert [of["late"][name] for name in names] == ["", "", ""]
    names = ["latency_p99_ns", "latency_p99_low_ns", "latency_p99_high_ns", "latency_at_least"]
    assert [of["a"][name] for name in names] == ["2500000.0", "2000000.0", "", "p99"]


LEVELS = (Level(value=160 * MIB, blocks=5), Level(value=4400 * MIB, blocks=3))
RANKED: dict[str, Beside] = {
    name: BESIDE[name].model_copy(update={"estimate": FigureEstimate(**fields)})
    for name, fields in {
        MEMORY: {"value": 900 * MIB, "low": 150 * MIB, "high": 4500 * MIB, "levels": LEVELS}
        | {"rank_set": (1, 3), "letters": "ab"},
        "p99_ns": {"value": 2.52e6, "low": 2.1e6, "high": 2.9e6, "rank_set": (2, 3)},
    }.items()
}
RANKED["p999_ns"] = Beside(at_least=9e6, at_most=9e6, low=8e6, high=11e6)


def a_ranked_edition(**changes: Any) -> Edition:
    estimate = an_estimate(2.0e6, beside=RANKED)
    return an_edition_of_blocks(rows={**ROWS, "a": {**ROWS["a"], "estimate": estimate}}, **changes)


def test_a_ranked_figure_has_the_digits_its_interval_justifies_its_interval_and_rank_set() -> None:
    text = pages_of(site_of(a_ranked_edition()), boards)[PATH]
    p99, p999, memory = rows_in(text)["a"][6:]
    assert p99 == "≥ 2.5 2.1–2.9, rank 2–3"
    assert p999 == "9.00 8.00–11.0"
    assert memory == "160 or 4,400 160 in 5 of 8 blocks, 4,400 in 3, rank 1–3"
    # Each column is ordered by the estimate.
    assert 'data-v="2.52003e6"' in text
    assert f'data-v="{900 * MIB:.4g}"'.replace("e+0", "e") in text


def test_a_ranked_time_between_two_bounds_shows_both() -> None:
    between = RANKED["p99_ns"].model_copy(update={"at_least": 2.2e6, "at_most": 2.8e6})
    estimate = an_estimate(2.0e6, beside={"p99_ns": between})
    edition = an_edition_of_blocks(rows={**ROWS, "a": {**ROWS["a"], "estimate": estimate}})
    cells = rows_in(pages_of(site_of(edition), boards)[PATH])["a"]
    assert cells[6] == "2.20–2.80 2.1–2.9, rank 2–3"


def test_a_board_says_that_the_error_rate_holds_for_each_figure_alone() -> None:
    said = "The error rate holds for each figure, not for all of them together"
    assert said in text_of(pages_of(site_of(a_ranked_edition()), boards)[PATH])
    # Boards by older rules have medians, and say so.
    older = text_of(board())
    assert said not in older
    assert "Latencies, CPU and memory are medians over the blocks" in older


def test_a_figure_without_ranks_is_named_with_the_reason() -> None:
    text = text_of(
        pages_of(site_of(a_ranked_edition(night=a_night(suspended=("p99_ns/a",)))), boards)[PATH]
    )
    assert "No ranks by p99 of a. In two nights in a row, a server and its twin" in text
    assert "No ranks by" not in text_of(board())


def test_the_panel_of_twins_says_on_how_many_pairs_a_share_rests_figure_by_figure() -> None:
    own = a_history(tied=3, of=4, low=0.19, high=0.99, is_suspended=True, by_pair=True)
    history = a_history(tied=10, by_pair=True, figures={"p99_ns": own, MEMORY: a_history()})
    twins = (a_twin(figure="p99_ns", is_tied=False),)
    text = text_of(board(twin_history=history, night=a_night(figure_twins=twins)))
    assert "10 of 11 pairs of a server and its twin were not told apart by the pair's own" in text
    assert "p99 3 of 4 pairs 19 to 99 % suspended" in text
    assert "Peak memory 11 of 11 pairs 72 to 100 %" in text
    assert "a, p99 told apart" in text


def test_the_csv_has_the_estimate_interval_ranks_and_levels_of_each_ranked_figure() -> None:
    of = csv_of(a_ranked_edition())
    names = [f"latency_p99_ns_{each}" for each in ("estimate", "estimate_low", "estimate_high")]
    assert [of["a"][name] for name in names] == ["2520000.0", "2100000.0", "2900000.0"]
    ends = ("rank_low", "rank_high", "letters", "levels")
    assert [of["a"][f"latency_p99_ns_{each}"] for each in ends] == ["2", "3", "", ""]
    assert [of["a"][f"{MEMORY}_{each}"] for each in ends] == [
        "1",
        "3",
        "ab",
        f"{160.0 * MIB}x5 {4400.0 * MIB}x3",
    ]
    assert of["a"][f"{MEMORY}_estimate"] == of["b"]["latency_p99_ns_estimate"] == ""
    assert "latency_p50_ns_estimate" not in of["a"]
    assert "latency_p99_ns_estimate" not in csv_of(an_edition_of_blocks())["a"]


def test_a_headline_on_two_levels_has_both_and_no_estimate() -> None:
    levels = (Level(value=1e6, blocks=5), Level(value=3e6, blocks=3))
    estimate = an_estimate(2.0e6, levels=levels)
    edition = an_edition_of_blocks(rows={**ROWS, "a": {**ROWS["a"], "estimate": estimate}})
    cells = rows_in(pages_of(site_of(edition), boards)[PATH])["a"]
    assert "1.00 M or 3.00 M 1.00 M in 5 of 8 blocks, 3.00 M in 3" in cells
    row = csv_of(edition)["a"]
    assert row["estimate_messages_per_s"] == ""
    assert row["estimate_levels"] == "1000000.0x5 3000000.0x3"


def test_the_json_of_a_board_has_no_empty_field_of_estimates() -> None:
    path = PATH.replace("index.html", "board.json")
    (a,) = (
        row
        for row in json.loads(page(site_of(a_ranked_edition()), path))["rows"]
        if row["framework"] == "a"
    )
    figures = a["estimate"]["beside"]
    assert figures[MEMORY]["estimate"]["rank_set"] == [1, 3]
    assert set(figures["p99_ns"]["estimate"]) == {"value", "low", "high", "rank_set"}
    assert "estimate" not in figures["p999_ns"]


def test_what_other_rules_make_of_a_row_is_about_what_ranks_the_board() -> None:
    def of(edition: Edition) -> Board:
        (found,) = edition.boards
        return found

    plain = of(an_edition_of_blocks())
    assert boards.changes(plain, of(a_ranked_edition())) == []
    better = {**ROWS, "a": {**ROWS["a"], "rank_set": (1, 1)}}
    assert boards.changes(plain, of(an_edition_of_blocks(rows=better))) == ["a: rank 1–2 is now 1"]
    slower = {**ROWS, "a": {**ROWS["a"], "estimate": an_estimate(1.9e6)}}
    assert boards.changes(plain, of(an_edition_of_blocks(rows=slower))) == [
        "a: a figure is another"
    ]


def test_home_names_all_that_may_lead_and_a_framework_s_page_has_its_rank_set() -> None:
    site = site_of(an_edition_of_blocks())
    assert "b , a 2.10 M messages/s 3" in text_of(pages_of(site, home)["index.html"])
    own = text_of(pages_of(site, frameworks)["frameworks/a/index.html"])
    assert "1–2 of 3 2.00 M messages/s" in own


def test_a_record_that_is_not_as_it_was_saved_is_named() -> None:
    altered = Altered(framework="a", record=RECORDS[0].path, problem=f"its sum {HOSTILE}")
    text = board(altered=(altered,))
    words = text_of(text)
    said = "1 record does not count : what is there cannot be read, or is not what was saved."
    assert said in words
    assert "a, 2026-01-01 : its sum" in words
    assert HOSTILE not in text


def test_a_record_that_cannot_be_read_is_named_without_a_link() -> None:
    path = f"stream-grpc/64/{HOSTILE}/odd name.json"
    text = board(altered=(Altered(framework=HOSTILE, record=path, problem="it cannot be read: x"),))
    (item,) = re.findall("<li>.*?it cannot be read: x</li>", text)
    assert "odd name.json : it cannot be read: x" in text_of(item)
    assert "<a " not in item
    assert HOSTILE not in text


def test_divisions_that_show_other_nights_are_compared_by_the_night_of_each() -> None:
    def engines(records: Iterable[Record]) -> Iterator[Record]:
        for each in records:
            kind = "engine" if each.framework.name in "xy" else "tuned"
            framework = each.framework.model_copy(update={"type": kind})
            yield each.model_copy(update={"framework": framework})

    first = blocks({"a": 1e6, "b": 2e6, "c": 3e6, "x": 1e6})
    second = blocks({"a": 2e6, "b": 1e6, "x": 4e6, "y": 5e6}, hour=10)
    (profile,) = compared(*engines(first), *engines(second))["profiles"]
    pairs = profile["pairs"]
    # The board of frameworks shows the first night, that of engines the second.
    assert (pairs["a"]["b"][0], pairs["a"]["c"][0]) == ("faster", "faster")
    assert pairs["x"]["y"][0] == "faster"
    assert pairs["a"]["x"][0] == "faster"
    assert pairs["c"]["x"][0] == "slower"


def test_every_visit_leads_to_its_record() -> None:
    rates = {"a": 1e6, "a~twin": 1e6, "b": 2e6}
    void = visited("b", 1e3, 2, minute=500, size=3, is_void=True)
    fell = visited("c", 0, 3, minute=501, size=3, failure="it fell")
    other = a_record("a", 3e6, minute=900)
    made = list(blocks(rates, 7))
    edition = an_edition(*made, void, fell, other)
    text = pages_of(site_of(edition), boards)[PATH]
    (part,) = re.findall("<details>.*?</details>", text, re.DOTALL)
    assert "Every visit of this night: 23 records" in text_of(part)
    rows = [row.partition(" ")[0] for row in rows_of(part)[1:]]
    assert rows == ["b", "a", "a", "c"]
    links = set(re.findall('href="../../../../../([^"]*)"', part))
    assert links == {edition.page_or_json(each.path) for each in (*made, void, fell)}
    assert sum(link.endswith("record.json") for link in links) > 15
    assert f'{edition.record_json(void.path)}">void</a>' in part
    assert '">failed</a>' in part


def test_streams_have_a_board_of_servers_that_send_one_message_a_frame() -> None:
    rates = {"a": 1e6, "b": 2e6}
    records = [
        each.model_copy(update={"runs": tuple(packing(run, packed[name]) for run in each.runs)})
        for packed in ({"a": 1.0, "b": 11.5},)
        for each in blocks(rates)
        for name in (each.framework.name,)
    ]
    site = site_of(an_edition(*records))
    made = pages_of(site, boards)
    single = PATH.replace("index.html", "one-per-frame/index.html")
    assert list(rows_in(made[PATH])) == ["b", "a"]
    assert list(rows_in(made[single])) == ["a"]
    assert [cells[-1] for cells in rows_in(made[PATH]).values()] == ["11.5", "1.00"]
    links = re.findall(r"Framing (.*?)</p>", made[single], re.DOTALL)
    assert [text_of(each) for each in links] == ["all one message a frame"]
    assert "one message a frame" in text_of(made[single]).partition("Framing")[0]


@pytest.mark.parametrize(
    ("letters", "lanes"),
    [
        ([], []),
        ([None, None], [(), ()]),
        (["a", "a"], [("a",), ("a",)]),
        # Groups that touch have lanes of their own; the third finds the first one free.
        (["a", "b", "c"], [("a", ""), ("", "b"), ("c", "")]),
        (["a", "ab", "b"], [("a", ""), ("a", "b"), ("", "b")]),
        (["a", None, "a"], [("a",), ("",), ("a",)]),
    ],
)
def test_letters_have_lanes(letters: list[str | None], lanes: list[tuple[str, ...]]) -> None:
    assert boards.lanes(letters) == lanes


def test_a_row_has_a_bar_in_each_lane_of_its_letters() -> None:
    assert boards.bars(("a", "", "c")) == "M0.1 0h.8v1h-.8zM2.1 0h.8v1h-.8z"


def compared(*records: Record) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(site_of(an_edition(*records)), "compare/compare.json"))
    return found


def test_pairs_with_blocks_in_common_have_a_verdict_of_their_own() -> None:
    found = compared(*blocks({"b": 1e6, "a": 1.2e6, "c": 1.2e6}), a_record("late", 2e6, minute=90))
    (profile,) = found["profiles"]
    assert {one: [*others] for one, others in profile["pairs"].items()} == {
        "a": ["b", "c"],
        "b": ["c"],
    }
    verdict, ratio, low, high, count = profile["pairs"]["a"]["b"]
    assert (verdict, count) == ("slower", 8)
    assert low < ratio < high < 1
    assert ratio == pytest.approx(1 / 1.2, rel=0.01)
    assert profile["pairs"]["a"]["c"][0] == "not told apart"
    assert profile["pairs"]["b"]["c"][0] == "faster"
    estimates = {each["name"]: each["estimates"] for each in found["frameworks"]}
    assert estimates["late"] is None
    assert estimates["b"]["0"][0].endswith("M")


def test_who_still_warms_up_cannot_be_compared() -> None:
    cold = [
        each.model_copy(update={"runs": tuple(drifting(run.rate, 1.1) for run in each.runs)})
        for each in blocks({"a": 1e6, "b": 1e6})
        if each.framework.name == "b"
    ]
    steady = [each for each in blocks({"a": 1e6, "b": 1e6}) if each.framework.name == "a"]
    (profile,) = compared(*steady, *cold)["profiles"]
    why = "not comparable: still warming up"
    assert profile["pairs"]["a"]["b"] == [why, None, None, None, 8]


def test_who_has_an_estimate_and_no_classic_record_is_compared_by_it() -> None:
    records = [*blocks({"a": 1e6, "b": 2e6})]
    void = visited("a", 1e6, 1, minute=1, is_void=True)
    again = visited("a", 1e6, 1, minute=400, repeat=1, runs=[records[1].runs[0]])
    found = compared(*records[1:], void, again)
    assert {each["name"]: each["figures"] == {} for each in found["frameworks"]} == {
        "a": True,
        "b": False,
    }
    assert {*found["frameworks"][0]["estimates"]} == {"0"}


def test_a_noisy_night_is_said_beside_its_verdicts() -> None:
    voids = [visited("a", 1.0, 2, minute=500 + n, is_void=True, repeat=1) for n in range(5)]
    (profile,) = compared(*blocks({"a": 1e6, "b": 1e6}), *voids)["profiles"]
    assert profile["note"] == "It was a noisy night: 5 of 21 visits are void."
    assert profile["pairs"]["a"]["b"][0] == "not told apart"


def test_two_blocks_that_have_nothing_in_common_are_drawn() -> None:
    names = {f"f{number}": 1e6 for number in range(20)}
    one, two = [*blocks(names, 1)], [*blocks({**names, "f0": 1e3}, 2)][20:]
    text = text_of(pages_of(a_site(*one, *two), boards)[PATH])
    assert " or more " in text


def test_what_a_board_claims_of_differences_needs_ranks() -> None:
    night = a_night(is_ranked=False, why_not="It was a noisy night.", detectable=0.05)
    text = text_of(board(night=night))
    assert "It was a noisy night." in text
    assert "in 8 of 10 nights" not in text


def test_without_blocks_there_are_no_verdicts() -> None:
    (profile,) = compared(*RECORDS)["profiles"]
    assert profile["pairs"] is None


@pytest.mark.parametrize("only", [{"is_twin": True}, {"is_void": True}])
def test_who_has_nothing_yet_is_named_and_has_not_failed(only: dict[str, Any]) -> None:
    begun = visited("new", 1e6, minute=1, size=2, **only)
    for more in ((), (a_record("a"),)):
        site = a_site(begun, *more)
        text = text_of(pages_of(site, boards)[PATH])
        said = "begun in a night, but are in no whole block yet and have no good classic record"
        assert f"These were {said}: new ." in text
        assert "Failed and invalid" not in text
        assert "failed" not in text_of(pages_of(site, home)["index.html"])
