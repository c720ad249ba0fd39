"""The page, rendered from a leaderboard alone."""

import re
from pathlib import Path
from typing import Any, get_args

import jinja2
import pytest
from tests.fakes import PASSED, WARNED, a_record, a_run
from tests.lib.arena.charts.loads import SCHEDULED, a_second, blast, lasting, scheduled

from arena.leaderboard import Leaderboard, rank
from arena.measurement import Run
from arena.records import Check, Flag, Record
from arena.site import FLAGS, render

TEMPLATES = Path(__file__).resolve().parents[3] / "site" / "templates"
HOSTILE = "<script>alert('1')</script>\"&{{ 7*7 }}"


def of_latency(**changes: float | None) -> Run:
    """Return a run whose latency has other figures."""
    run = a_run()
    return run.model_copy(update={"latency_ns": run.latency_ns.model_copy(update=changes)})


def page(*records: Record) -> str:
    return render(rank(records), TEMPLATES)


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (a_record("a", 1.23e6), ">1.23 M<"),
        (a_record("a", 1.23e6, flags=["client-bound"]), ">≥ 1.23 M<"),
        (a_record("a", runs=[a_run(0.0, ok=0, cut=256)], flags=["none-finished"]), ">&lt; 256 k<"),
        (a_record("a", failure="it broke"), "no good record yet"),
        (a_record("a", failure="it broke"), "it broke"),
        (a_record("a", failure="reply 0 is 4", status="invalid"), "<b>invalid</b> on 2026-01-01"),
        (a_record("a", 1.0), "<small>1 run<"),
        (a_record("a", 1.0, 3.0), "± 70.7 % of 2 runs"),
        (a_record("a", 1.0, overrides={"DURATION": "1s"}), "DURATION=1s"),
        (a_record("a", 1.0, type="engine"), "engines, ranked apart"),
        (a_record("a", runs=[a_run(mean_ns=None)]), "50.0 MiB"),
        (a_record("a", runs=[a_run(1e6)]), ">0.80 s<"),
        (a_record("a", runs=[a_run(1e6, cut=1)]), ">0.80 s<"),
        (a_record("a", runs=[a_run(1e6, cut=1000)]), ">0.40 – 0.80 s<"),
        (a_record("a", runs=[a_run(0.0, ok=0, cut=256)]), ">&gt; 3.12 s<"),
        (a_record("a", runs=[a_run(0.0, ok=0)]), ">–<"),
        (a_record("a", runs=[a_run(1e6, cut=256, counted=5_000_000)]), "<small>counted<"),
        (a_record("a", runs=[a_run(1e6, cut=256)]), "<small>1.00 M – 1.26 M<"),
        (
            a_record("a", runs=[a_run(9e3, ok=0, counted=45_000)], flags=["none-finished"]),
            ">9.00 k<",
        ),
        (a_record("a", 1.0, packed=1.0), "Messages per DATA frame"),
        (a_record("a", 1.0, packed=1.0), '<td class="num">1.00<'),
        (a_record("a", 1.0, packed=812.345), '<td class="num">812<'),
        (a_record("a", 1.0, contract=[PASSED]), " 1 check passed ·"),
        (a_record("a", 1.0, contract=[WARNED]), "warning: content-type</a> ·"),
        (a_record("a", 1.0, contract=[WARNED]), 'title="it is answered with 200, not 415"'),
        (a_record("a", 1.0), "Server CPU per million messages<"),
        (a_record("a", 1.0, profile={"metric": "requests/s"}), "Server CPU per million requests<"),
        (a_record("a", 1.0, profile={"metric": "requests/s"}), ">requests/s<"),
        (a_record("a", 1.0, profile={"connection_count": 1}), "· 1 connection ·"),
        (a_record("a", 1.0, profile={"connection_count": 1024}), "· 1,024 connections ·"),
        (blast("a"), "· up to 8 connections ·"),
        (a_record("a", runs=[of_latency(p50=None, p99=None)]), '<td class="num">–</td>'),
        (a_record("a", runs=[of_latency(p999=3e9)]), ">p99.9<"),
        (a_record("a", runs=[of_latency(p999=3e9)]), '<td class="num">3.00 s</td>'),
        (scheduled("a", []), ">p99 latency<"),
        (scheduled("a", []), "<b>2.10 s</b><small>response<"),
        (scheduled("a", []), "Server CPU per million requests<"),
    ],
)
def test_each_state_of_a_row_is_shown(record: Record, shown: str) -> None:
    assert shown in page(record)


@pytest.mark.parametrize(
    ("kind", "packed", "p999", "columns"),
    [
        ({}, None, None, 11),
        ({}, 1.5, None, 12),
        ({}, None, 3e9, 12),
        ({}, 1.5, 3e9, 13),
        (SCHEDULED, None, None, 10),
        (SCHEDULED, None, 3e9, 11),
    ],
)
def test_every_row_is_as_wide_as_the_table(
    kind: dict[str, Any], packed: float | None, p999: float | None, columns: int
) -> None:
    good = a_record("a", packed=packed, profile=kind, runs=[of_latency(p999=p999)])
    text = page(good, a_record("b", failure="it broke", profile=kind))
    (table,) = re.findall("<table>.*</table>", text, re.DOTALL)
    assert ("Messages per DATA frame" in table) == (packed is not None)
    # Where the p99 is the headline, it has no second column.
    assert len(re.findall(">p99( latency)?<", table)) == 1
    widths = {
        sum(int(span or 1) for span in re.findall(r'<t[hd]\b(?:[^>]*?colspan="(\d+)")?', row))
        for row in re.findall("<tr.*?</tr>", table, re.DOTALL)
    }
    assert widths == {columns}


def test_a_row_that_does_not_know_how_it_packs_says_so_beside_one_that_does() -> None:
    text = page(a_record("a", 2.0), a_record("b", 1.0, packed=7.5))
    assert text.index('<td class="num">–</td>') < text.index('<td class="num">7.50</td>')


def test_no_path_of_this_host_is_on_the_page() -> None:
    text = page(a_record("a", 1.0, overrides={"GHZ": "/home/me/ghz", "RUNS": "1"}))
    assert "RUNS=1" in text
    assert "/home/me" not in text


def test_a_failed_row_shows_no_figure_and_no_rank() -> None:
    text = page(a_record("a", failure="it broke"))
    assert 'class="num rank">–<' in text
    assert "headline" not in text.partition("</style>")[2]


def test_a_newer_failure_stands_beside_the_value() -> None:
    text = page(a_record("a", 1.23e6, minute=1), a_record("a", minute=2, failure="it broke"))
    assert ">1.23 M<" in text
    assert "it broke" in text


def test_when_nothing_is_measured_the_page_says_how_to_begin() -> None:
    text = page()
    assert "Nothing has been measured yet" in text
    assert "./scripts/benchmark.sh" in text
    assert "What the flags mean" not in text


def test_the_same_leaderboard_makes_the_same_bytes() -> None:
    records = [
        a_record("a", 1.0, overrides={"RUNS": "1", "DURATION": "1s"}, flags=["unpinned"]),
        a_record("b", failure="it broke"),
        a_record("c", 2.0, type="engine"),
    ]
    leaderboard = rank(records)
    again = Leaderboard.model_validate_json(leaderboard.model_dump_json(by_alias=True))
    assert render(leaderboard, TEMPLATES) == render(again, TEMPLATES)
    assert page(*records) == page(*reversed(records))


KINDS = [
    scheduled("a", [a_second()] * 3),
    blast("b"),
    lasting("c", 1000.0),
]


def test_pictures_are_described_and_have_their_numbers_folded_below_them() -> None:
    text = page(*KINDS, a_record("d", 1.0))
    figures = re.findall("<figure>.*?</figure>", text, re.DOTALL)
    assert len(figures) == 3
    for figure, name, rows in zip(figures, "bca", (6, 7, 3), strict=True):
        assert f"<figcaption>{name}</figcaption>" in figure
        assert re.search(f'<svg role="img" aria-label="{name}: ', figure)
        folded = figure.partition("<details>")[2]
        assert folded.count("<tr><td>") == rows
    assert text.count("Only the first 6 rows have one.") == 0


def test_a_board_of_many_rows_says_that_only_the_first_have_a_picture() -> None:
    text = page(*(lasting(name, 1000.0) for name in "abcdefgh"))
    assert text.count("<figure>") == 6
    assert "Only the first 6 rows have one." in text


def test_where_nothing_can_be_drawn_nothing_is_said_of_pictures() -> None:
    text = page(blast("a", []), scheduled("b", []), lasting("c", 1.0, count=6))
    assert "<figure" not in text
    assert 'class="caption"' not in text


def test_the_page_with_pictures_loads_nothing_and_says_no_name_twice() -> None:
    text = page(*KINDS, lasting("d", 500.0))
    assert not re.findall(r"https?:|//|@import|url\(|<script|<link|<img|\son\w+=", text)
    ids = re.findall(r'\sid="([^"]*)"', text)
    assert len(ids) == len(set(ids))


def test_pictures_come_from_the_last_page_byte_for_byte() -> None:
    leaderboard = rank(KINDS)
    first = render(leaderboard, TEMPLATES)
    assert render(leaderboard, TEMPLATES) == first
    assert render(leaderboard, TEMPLATES, first) == first
    assert render(leaderboard, TEMPLATES, "something else") == first


def test_a_hostile_name_is_only_a_name_in_and_below_a_picture() -> None:
    records = [
        each.model_copy(
            update={"framework": each.framework.model_copy(update={"display_name": HOSTILE * 9})}
        )
        for each in KINDS
    ]
    first = page(*records)
    for text in (first, render(rank(records), TEMPLATES, first)):
        assert "<script" not in text
        assert text.count("<svg ") == text.count("</svg>") == 3
        assert text.count("<figcaption>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&#34;") == 3
    assert render(rank(records), TEMPLATES, first) == first


@pytest.mark.parametrize(
    "key", ["display_name", "language", "reason", "title", "override", "check", "detail"]
)
def test_hostile_words_are_only_words(key: str) -> None:
    records = {
        "display_name": a_record("a", 1.0, display_name=HOSTILE),
        "language": a_record("a", 1.0, language=HOSTILE),
        "reason": a_record("a", failure=HOSTILE),
        "title": a_record("a", 1.0, profile={"title": HOSTILE}),
        "override": a_record("a", 1.0, overrides={"DURATION": HOSTILE}),
        "check": a_record("a", 1.0, contract=[Check(check=HOSTILE, status="warn")]),
        "detail": a_record("a", 1.0, contract=[Check(check="x", status="warn", detail=HOSTILE)]),
    }
    text = page(records[key])
    assert "<script" not in text
    assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&#34;&amp;{{ 7*7 }}" in text


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = page(a_record("a", 1.0), a_record("b", failure="it broke"))
    assert not re.findall(r"https?:|//|@import|url\(|<script|<link|<img|\son\w+=", text)
    links = re.findall(r'href="([^"]*)"', text)
    assert all(link.startswith(("../../results/", "../../docs/", "#")) for link in links)
    assert "default-src 'none'" in text


def test_every_flag_is_explained() -> None:
    assert set(FLAGS) == set(get_args(Flag))
    text = page(a_record("a", 1.0, flags=list(get_args(Flag))))
    assert all(f'<dt id="{flag}">' in text and f'href="#{flag}"' in text for flag in FLAGS)


def test_a_typing_error_in_a_template_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.html.j2").write_text("{% for b in boards %}{{ b.titel }}{% endfor %}")
    with pytest.raises(jinja2.UndefinedError, match="titel"):
        render(rank([a_record("a", 1.0)]), tmp_path)
