"""A board's page: complete without a script, and honest about what its figures leave unknown."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from arena.judge.flags import FLAGS
from arena.judge.load_key import Key
from arena.judge.rounds import Round
from arena.record.measurement import Run
from arena.record.record import Check, Record, RuntimeInfo
from arena.site.edition import Edition
from arena.site.pages import boards
from arena.site.pages.boards import switches
from tests.fakes import PASSED, WARNED, a_provenance, a_record, a_run, a_trial
from tests.lib.arena.site.editions import (
    HOST,
    HOSTILE,
    a_round,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    site_of,
    text_of,
)
from tests.lib.arena.site.editions import page as made_page
from tests.lib.arena.site.loads import (
    SCHEDULED,
    STEPS,
    a_second,
    a_step,
    blast,
    items,
    lasting,
    made,
    released,
    scheduled,
)

PATH = f"boards/stream-grpc/64/ghz/{HOST}/index.html"


def of_latency(**changes: Any) -> Run:
    """Return a run whose latency has other figures."""
    run = a_run()
    return run.model_copy(update={"latency_ns": replace(run.latency_ns, **changes)})


def page(*records: Record) -> str:
    """Return the only board's page, or the first."""
    return next(iter(pages_of(a_site(*records), boards).values()))


def cells(html: str, name: str, table: str = "board") -> list[str]:
    """Return the words of a framework's cells in a table of the page."""
    (body,) = re.findall(f'<table id="{table}".*?</table>', html, re.DOTALL)
    (row,) = re.findall(f'<tr data-fw="{name}".*?</tr>', body, re.DOTALL)
    return [text_of(cell) for cell in re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL)]


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (a_record("a", 1.23e6), "1.23 M"),
        (a_record("a", 1.239e6, flags=["client-bound"]), "≥ 1.23 M"),
        (a_record("a", runs=[a_run(0.0, ok=0, cut=256)]), "&lt; 256 k"),
        (a_record("a", 1e6, 1.3e6), "1.3 M"),
        (a_record("a", 1e6, 1.3e6), "1.0 M to 1.3 M"),
        (a_record("a", 1.0, 3.0), "± 71 %"),
        (a_record("a", 1.0, overrides={"DURATION": "1s"}), "DURATION=1s"),
        (a_record("a", 1.0, type="engine"), "engines"),
        (released(a_record("a", 1.0), "grpc-go 1.85.0"), "grpc-go 1.85.0"),
        (a_record("a", runs=[a_run(mean_ns=None)]), "50.0"),
        (a_record("a", runs=[a_run(1e6)]), "0.80"),
        (a_record("a", runs=[a_run(1e6, cut=1000)]), "0.40–0.80"),
        (a_record("a", runs=[a_run(0.0, ok=0, cut=256)]), "&gt; 3.12"),
        (a_record("a", runs=[a_run(9e3, ok=0, counted=45_000)]), "9.00 k"),
        (a_record("a", 1.0, packed=1.0), "Messages per DATA frame"),
        (a_record("a", 1.0, packed=812.345), "812"),
        (a_record("a", 1.0), "s per million messages"),
        (a_record("a", 1.0, profile={"metric": "requests/s"}), "s per million requests"),
        (a_record("a", 1.0, profile={"connection_count": 1}), "1 connection ·"),
        (a_record("a", 1.0, profile={"connection_count": 1024}), "1,024 connections ·"),
        (blast("a"), "up to 8 connections ·"),
        (blast("a"), "100 × 8"),
        (a_record("a", runs=[of_latency(p999=3e9)]), "p99.9 s"),
        (scheduled("a", []), "p99 latency"),
        (scheduled("a", []), "2.10 s"),
        (scheduled("a", []), "response latency"),
        (scheduled("a", []), "s per million requests"),
        # A trial without a full record stands in its place.
        (a_trial("a", 2e6), "Trials only."),
        (a_record("a", 1.0, contract=[PASSED, WARNED]), "1 of 2"),
        (a_record("a", runs=[of_latency(p50=2e8, p99=9e8, p999=3e9)]), "p50 ms p99 ms p99.9 ms"),
        (a_record("a", runs=[of_latency(p50=2e8, p99=9e8, p999=3e9)]), "200 900 3,000"),
        (a_record("a", failure="it broke"), "No framework has a good record here yet."),
        (a_record("a", profile={"generator": "ghz"}), "a call without an end is in none of its"),
        (a_record("a", profile={"generator": "h2load"}), "a call without an end is in none of its"),
        (a_record("a", profile={"generator": "ghz"}), "ghz checks no reply"),
        (a_record("a", profile={"generator": "h2load"}), "h2load checks no reply"),
        (items("a"), "The steps of the scenario : create , change , remove . Each"),
    ],
)
def test_each_state_of_a_row_is_shown(record: Record, shown: str) -> None:
    assert shown in text_of(page(record)).replace("&#39;", "'")


def test_of_what_a_board_has_nothing_nothing_is_said() -> None:
    html = page(a_record("a", 1e6, profile={"generator": "volley"}))
    steps, bounds = "The steps of", "marks a lower bound"
    for words in (steps, "without an end", "checks no reply", 'class="switches"', bounds):
        assert words not in html


@pytest.mark.parametrize(
    ("kind", "packed", "p999", "columns"),
    [
        ({}, None, None, 12),
        ({}, 1.5, None, 13),
        ({}, None, 3e9, 13),
        ({}, 1.5, 3e9, 14),
        (SCHEDULED, None, None, 11),
        (SCHEDULED, None, 3e9, 12),
    ],
)
def test_every_row_is_as_wide_as_the_table(
    kind: dict[str, Any], packed: float | None, p999: float | None, columns: int
) -> None:
    good = a_record("a", packed=packed, profile=kind, runs=[of_latency(p999=p999)])
    text = page(good, a_record("b", profile=kind, runs=[of_latency()]))
    (table,) = re.findall('<table id="board".*?</table>', text, re.DOTALL)
    assert ("Messages per DATA frame" in table) == (packed is not None)
    # Where the p99 is the headline, it has no second column.
    assert len(re.findall(r">p99( latency)?\b[^.]", table)) == 1
    rows = re.findall("<tr.*?</tr>", table, re.DOTALL)
    assert {len(re.findall(r"<t[hd]\b", row)) for row in rows} == {columns}


def test_a_column_that_nobody_has_anything_in_is_left_out() -> None:
    once = page(a_record("a", runs=[a_run(1.0)]))
    assert "Median of runs" not in once
    assert "Median of runs" in page(a_record("a", 1.0, 2.0), a_record("b", 1.0))
    assert ">p50" not in page(a_record("a", runs=[of_latency(p50=None, p99=None)]))


def test_a_row_that_does_not_know_how_it_packs_says_so_beside_one_that_does() -> None:
    text = page(a_record("a", 2.0), a_record("b", 1.0, packed=7.5))
    assert "–" in cells(text, "a")
    assert "7.50" in cells(text, "b")


def test_intervals_that_overlap_share_a_rank_and_the_page_says_what_that_means() -> None:
    text = page(a_record("a", 3e6, 2e6), a_record("b", 2.5e6), a_record("c", 1e6))
    assert [cells(text, name)[0] for name in "abc"] == ["1", "1", "3"]
    assert "A framework whose interval overlaps the leader's shares its rank." in text


def test_what_cannot_be_ranked_has_a_dash_and_its_value() -> None:
    found = cells(page(scheduled("late", [a_second(50)] * 3)), "late")
    assert (found[0], "2.10 s" in found) == ("–", True)


def test_numbers_have_a_short_value_to_sort_by() -> None:
    text = page(a_record("a", 1234567.0))
    assert 'data-v="1.235e6"><b>1.23 M<' in text
    keys = re.findall(r'data-key="(\w+)" aria-sort="(\w+)"', text)
    assert keys[0] == ("rank", "ascending")
    assert {sort for _, sort in keys[1:]} == {"none"}
    assert {name for name, _ in keys} >= {"framework", "language", "type", "value", "checks"}


def test_the_checks_that_warn_are_named() -> None:
    text = page(a_record("a", 1.0, contract=[PASSED, WARNED]))
    assert 'title="warned: content-type"' in text


def test_a_framework_without_a_good_record_stands_below_with_stage_and_reason() -> None:
    text = page(
        a_record("good", 1e6),
        a_record("bad", failure="it broke"),
        a_record("liar", failure="reply 0 is 4", status="invalid"),
    )
    assert cells(text, "bad", "failed")[1:5] == ["bad", "failed", "run 1 of 3", "it broke"]
    assert cells(text, "liar", "failed")[2] == "invalid"
    assert 'data-fw="bad"' not in text[: text.index('id="failed"')]


def test_a_board_of_failures_has_only_their_table() -> None:
    text = page(a_record("a", failure="it broke"))
    assert '<caption class="unseen">Frameworks without a good record</caption>' in text
    assert 'id="board"' not in text
    assert 'id="controls"' in text


def test_a_newer_failure_is_said_on_the_row_and_below_and_the_value_stays() -> None:
    text = page(a_record("a", 1.23e6), a_record("a", minute=2, failure="it broke"))
    (name,) = (cell for cell in cells(text, "a") if cell.startswith("a "))
    assert name.endswith("failed since")
    assert "1.23 M" in cells(text, "a")
    assert "it broke" in text[text.index('id="since"') :]
    assert 'id="failed"' not in text


def test_each_class_of_hosts_has_its_own_board_and_a_switch_leads_to_the_others() -> None:
    one = page(a_record("a", 1e6), a_record("b", 2e6))
    assert one.count("a CPU, 4 CPUs on 2 cores, 8 GiB, native, pinned 2 + 2") == 1
    host = a_provenance().host.model_copy(update={"cpu": "another CPU"})
    site = a_site(a_record("a", 1e6, minute=1), made(a_record("b", 2e6), host=host))
    edition = site.current
    here, there = edition.boards
    assert [row.framework for row in here.rows] == ["a"]
    assert [row.framework for row in there.rows] == ["b"]
    assert edition.board(here) == PATH
    assert edition.board(there) == PATH.replace(HOST, there.host_class.id)
    (switch,) = switches(edition, there)
    assert switch.label == "Host"
    assert switch.choices == (
        # What both have in common is left out.
        ("a CPU", PATH, False),
        ("another CPU", edition.board(there), True),
    )
    texts = pages_of(site, boards)
    assert "another CPU, 4 CPUs on 2 cores, 8 GiB" in text_of(texts[edition.board(there)])


def test_classes_of_hosts_in_equal_words_are_told_apart_by_the_kind_of_their_cpu() -> None:
    families = ["AuthenticAMD 26 2 1", "AuthenticAMD 25 17 1", None]
    host = a_provenance().host
    every = [
        made(
            a_record(f"f{number}", 1e6, minute=number),
            host=host.model_copy(update={"family": family}),
        )
        for number, family in enumerate(families)
    ]
    both = {"family 26, model 2", "family 25, model 17"}
    site = a_site(*every[:2])
    (switch,) = switches(site.current, site.current.boards[0])
    assert {label for label, *_ in switch.choices} == both
    found = re.findall('<small aria-hidden="true">(.*?)</small>', made_page(site, "index.html"))
    assert len(found) == 1
    assert set(found) < both
    edition = a_site(*every).current
    (switch,) = switches(edition, edition.boards[0])
    assert "family unknown" in {label for label, *_ in switch.choices}


def test_what_all_rows_say_is_said_once_above_them() -> None:
    flags, overrides = ["unpinned", "client-bound"], {"DURATION": "1s"}
    text = page(
        a_record("a", 1e6, flags=flags, overrides=overrides),
        a_record("b", 2e6, flags=["unpinned"], overrides=overrides),
    )
    above, _, table = text.partition('<table id="board"')
    assert above.count(">unpinned<") == 1
    assert "unpinned" not in table
    assert table.count(">client-bound<") == 1
    assert "DURATION=1s" in above
    assert "DURATION=1s" not in table
    alone = page(a_record("a", 1e6, flags=flags))
    assert alone.partition('<table id="board"')[2].count(">unpinned<") == 1


def flagged(*flags: str) -> Edition:
    """Return what boards by other rules may say: flags that this runner does not derive."""
    edition = an_edition(a_record("a", 1e6), a_record("b", 1.0))
    (board,) = edition.boards
    first, *rest = board.rows
    assert first.result
    first = first.model_copy(update={"result": first.result.model_copy(update={"flags": flags})})
    board = board.model_copy(update={"rows": (first, *rest)})
    return replace(edition, leaderboard=edition.leaderboard.model_copy(update={"boards": (board,)}))


def test_every_flag_leads_to_its_meaning() -> None:
    flags = [flag.name for flag in FLAGS]
    text = next(iter(pages_of(site_of(flagged(*flags)), boards).values()))
    assert all(f'href="../../../../../glossary/index.html#flag-{flag}"' in text for flag in flags)


def test_no_address_depends_on_which_hosts_were_measured_last() -> None:
    def on(runtime: str, minute: int, profile: str) -> Record:
        info = RuntimeInfo(name=runtime, argv=())
        record = a_record("a", minute=minute, profile={"name": profile})
        return record.model_copy(update={"provenance": a_provenance(runtime=info)})

    old = [on("native", 1, "one"), on("docker", 2, "one"), on("native", 3, "two")]
    newer = on("docker", 4, "two")

    def known(*records: Record, of: Round | None = None) -> tuple[dict[Key, str], set[str]]:
        edition = an_edition(*records, of=of)
        compare = json.loads(made_page(site_of(edition), "compare/compare.json")) if not of else {}
        ids = {each["id"] for each in compare.get("profiles", ())}
        return {each.key: edition.board(each) for each in edition.boards}, ids

    before, ids = known(*old)
    after, others = known(*old, newer)
    assert len(set(after.values())) == 4
    assert before.items() < after.items()
    assert ids < others
    # A round never changes, so its usual addresses are short.
    assert "rounds/first/boards/one/64/ghz/index.html" in known(*old, of=a_round())[0].values()


def test_a_flag_of_a_newer_runner_is_named_and_leads_nowhere() -> None:
    edition = flagged("heard-of-later")
    assert edition.boards[0].rows[0].rank == 1
    text = next(iter(pages_of(site_of(edition), boards).values()))
    assert ">heard-of-later<" in text
    assert "#flag-heard-of-later" not in text


def test_strips_have_one_scale_and_are_logarithmic_if_they_must() -> None:
    text = page(a_record("a", 2e6, 3e6), a_record("b", runs=[a_run(1e6)]))
    assert "0 to 3.00 M" in text
    assert "logarithmic" not in text
    bars = re.findall(r'<path class="b" d="M(\d+) 14h(\d+)"/>', text)
    # Of 380 places 3 M is the last, from a margin of 10 on.
    assert bars == [("263", "127")]
    far = page(a_record("a", 1e6), a_record("b", 1e4))
    assert "10.0 k to 1.00 M, logarithmic" in text_of(far)


def test_a_board_links_to_its_like_and_says_which_one_it_is() -> None:
    volley = {"generator": "volley"}
    site = a_site(
        a_record("a", 1e6),
        a_record("a", 1e6, profile={"connection_count": 8}),
        a_record("a", 1e6, profile=volley, minute=1),
        a_record("e", 1e6, profile=volley, type="engine"),
    )
    texts = pages_of(site, boards)
    (nav,) = re.findall(r'<nav class="switches".*?</nav>', texts[PATH], re.DOTALL)
    assert re.findall(r'aria-current="page">([^<]+)<', nav) == ["64", "ghz", "production and tuned"]
    assert f'href="../../../8/ghz/{HOST}/index.html"' in nav
    assert f'href="../../volley/{HOST}/index.html"' in nav
    (engines,) = (each for each in site.current.boards if each.division == "engine")
    labels = {each.label: each.choices for each in switches(site.current, engines)}
    path = f"boards/stream-grpc/64/volley/{HOST}/index.html"
    assert ("production and tuned", path, False) in labels["Type"]


def test_a_trial_is_a_page_of_its_own_that_names_what_differs_from_the_full_load() -> None:
    site = a_site(a_record("a", 1e6), a_trial("a", 2e6, minute=1))
    texts = pages_of(site, boards)
    trial = f"{PATH.removesuffix('index.html')}5s-x-1/index.html"
    assert list(texts) == [PATH, trial]
    assert "A trial. The current load differs: runs is 1 here and 3 there." in text_of(texts[trial])
    assert 'href="../index.html">The current load' in texts[trial]
    for text in texts.values():
        assert "Load 5s × 3 5s × 1" in text_of(text)
    assert "trial" not in text_of(texts[PATH]).lower()


def test_an_older_load_is_called_so() -> None:
    records = a_record("a", 1e6), a_record("a", 2e6, minute=1, profile={"warmup_s": 3.0})
    _, older = pages_of(a_site(*records), boards).values()
    assert "An older load. The current load differs: warmup_s is 2.0 here" in text_of(older)


def test_boards_of_a_round_stay_in_it_and_say_its_name() -> None:
    of = an_edition(a_record("a", 1e6), of=a_round("first"))
    site = a_site(rounds=[of])
    text = pages_of(site, boards, of)["rounds/first/boards/stream-grpc/64/ghz/index.html"]
    assert "frozen on 2026-02-03" in text
    assert 'href="../../../../frameworks/a/index.html"' in text


def test_the_page_loads_its_own_files_and_runs_nothing_else() -> None:
    text = page(a_record("a", 1.0), a_record("b", failure="it broke"))
    assert re.findall(r'<script[^>]*src="([^"]*)"', text) == ["../../../../../static/board.js"]
    assert not re.findall(r"https?:|@import|url\(|<script>|<style|\sstyle=|\son\w+=", text)
    assert "default-src 'none'" in text
    ids = re.findall(r'\sid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert text.count("<h1") == 1


KINDS = [scheduled("a", [a_second()] * 3), blast("b"), lasting("c", 1000.0)]


def test_pictures_are_described_and_have_their_numbers_folded_below_them() -> None:
    texts = pages_of(a_site(*KINDS, a_record("d", 1.0)), boards).values()
    figures = re.findall("<figure.*?</figure>", "".join(texts), re.DOTALL)
    assert len(figures) == 3
    for figure, name, rows in zip(figures, "bca", (6, 7, 3), strict=True):
        assert re.search(f"<figcaption>.*{name}.*</figcaption>", figure)
        assert re.search(f'<svg role="img" aria-label="{name}: ', figure)
        assert figure.partition("<details>")[2].count("<tr><td") == rows


def test_a_board_of_many_rows_says_that_only_the_first_have_a_picture() -> None:
    text = page(*(lasting(name, 1000.0) for name in "abcdefgh"))
    assert text.count("<figure") == 6
    assert "Only the first 6 rows have one." in text


def test_where_nothing_can_be_drawn_nothing_is_said_of_pictures() -> None:
    records = blast("a", []), scheduled("b", []), lasting("c", 1.0, count=6)
    texts = pages_of(a_site(*records), boards).values()
    assert len(texts) == 3
    assert not any("<figure" in text or "second by second" in text for text in texts)


@pytest.mark.parametrize(
    ("record", "is_shown"),
    [
        (a_record("a", 1.0, display_name=HOSTILE), True),
        (a_record("a", 1.0, language=HOSTILE), True),
        (released(a_record("a", 1.0), HOSTILE), True),
        (a_record("a", failure=HOSTILE), True),
        (a_record("a", 1.0, profile={"title": HOSTILE}), True),
        (a_record("a", 1.0, contract=[Check(check=HOSTILE, status="warn")]), True),
        (a_record("a", 1.0, overrides={"DURATION": HOSTILE}), False),
        (a_record("a", 1.0, contract=[Check(check="x", status="warn", detail=HOSTILE)]), False),
        (items("a", 3000.0, a_step(f"{HOSTILE}\u202e", 1e6)), True),
    ],
)
def test_hostile_words_are_only_words(record: Record, is_shown: bool) -> None:
    text = page(record)
    assert "<script>" not in text
    assert "\u202e" not in text
    if is_shown:
        assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&#34;&amp;{{ 7*7 }}" in text


def test_names_that_steer_the_screen_do_not_and_long_ones_are_cut() -> None:
    text = page(a_record("a", 1.0, display_name="abc\u202egnp.exe\x07" + "x" * 500))
    assert "abcgnp.exe" in text
    assert not {"\u202e", "\x07"} & set(text)
    assert "x" * 100 not in text


def test_the_same_records_make_the_same_page_and_key() -> None:
    records = [
        a_record("a", 1.0, overrides={"RUNS": "1", "DURATION": "1s"}, flags=["unpinned"]),
        a_record("b", failure="it broke"),
        a_record("c", 2.0, type="engine"),
        *KINDS,
    ]
    there, back = a_site(*records), a_site(*reversed(records))
    assert pages_of(there, boards) == pages_of(back, boards)
    assert keys_of(there, boards) == keys_of(back, boards)


def test_a_pages_key_changes_with_its_rows_and_its_switches() -> None:
    one, other = a_record("a", 1e6), a_record("a", 1.5e6)
    beside = a_record("a", 1e6, profile={"connection_count": 8})
    sites = a_site(one), a_site(other), a_site(one, beside)
    assert len({keys_of(each, boards)[PATH] for each in sites}) == 3


def test_a_latency_that_is_a_lower_bound_is_shown_as_one_and_sorts_after_the_same_figure() -> None:
    bound = of_latency(p99=2.1e9, p999=3e9, at_least=("p99", "p999"))
    html = page(a_record("exact", runs=[of_latency(p999=3e9)]), a_record("open", runs=[bound]))
    assert {"2.10", "3.00"} <= set(cells(html, "exact"))
    assert {"≥ 2.10", "≥ 3.00"} <= set(cells(html, "open"))
    exact, after = re.findall(r'data-v="([^"]*)">(?:≥ )?2\.10<', html)
    # The next figure that differs in four digits still comes later.
    assert float(exact) < float(after) < 2.101e9
    assert "≥ before a latency marks a lower bound" in text_of(html)


def test_a_headline_that_is_a_lower_bound_has_no_rank_and_no_end() -> None:
    run = a_run(kind="response")
    latency = replace(run.latency_ns, at_least=("p99",))
    bound = run.model_copy(update={"latency_ns": latency})
    record = a_record("a", runs=[bound, run], profile=SCHEDULED)
    html = page(record, scheduled("b", [a_second()]))
    assert cells(html, "a")[0] == "–"
    assert cells(html, "a")[2:5] == ["≥ 2.10 s", "2.10 s or more", "≥ 2.10 s ± 0.0 %"]
    exact, headline, median = sorted(map(float, re.findall(r'data-v="(2\.1[^"]*)"', html)))
    assert exact < headline == median
    assert "marks a lower bound" in text_of(html)
    assert "the generator may have been the limit" not in text_of(html)


def test_a_single_run_without_an_error_bar_says_that_nothing_is_known_of_another() -> None:
    text = text_of(page(a_record("a", runs=[a_run(2e6)])))
    assert "Each headline is a single run" in text
    assert "No ranks. They need two frameworks at least, each with several runs" in text
    assert "nothing is known about the spread between runs" in text
    assert "one run" in text
    several = text_of(page(a_record("a", 2e6, 1e6)))
    assert "The headline is the best run" in several
    assert "another run would be" not in several
    assert "one run" not in several


def test_a_headline_that_is_rounded_down_is_not_below_its_median() -> None:
    runs = [a_run(rate) for rate in (828_000.0, 829_000.0, 829_900.0)]
    found = cells(page(a_record("a", runs=runs, flags=["client-bound"])), "a")
    assert found[2] == "≥ 829 k"
    assert found[4].startswith("829 k")
    runs = [a_run(rate) for rate in (800_000.0, 827_000.0, 828_000.0)]
    found = cells(page(a_record("a", runs=runs, flags=["client-bound"])), "a")
    assert (found[2], found[4].split(" ±")[0]) == ("≥ 0.82 M", "0.82 M")


def test_a_board_of_a_scenario_has_a_column_a_step_all_in_one_unit() -> None:
    html = page(items("a", 3000.0), items("b", 2000.0, a_step("create", None), *STEPS[1:]))
    heads = [text_of(each) for each in re.findall(r"<th scope=.*?</th>", html)]
    at = heads.index("create p99, ms")
    assert heads[at : at + 3] == ["create p99, ms", "change p99, ms", "remove p99, ms"]
    assert cells(html, "a")[at : at + 3] == ["12.0", "3.40", "5.00"]
    assert cells(html, "b")[at : at + 3] == ["–", "3.40", "5.00"]
    assert 'data-key="step-1"' in html


def test_a_p99_of_a_step_that_is_a_lower_bound_is_shown_as_one() -> None:
    html = page(items("a", 3000.0, a_step("create", 12e6, None, "p99"), *STEPS[1:]))
    assert {"≥ 12.0", "3.40", "5.00"} <= set(cells(html, "a"))
    assert "marks a lower bound" in text_of(html)
