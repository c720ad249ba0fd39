"""The first page: the best of each board, and the newest record; and the list of rounds."""

import re
from types import ModuleType

import pytest

from arena.record.record import Git, Record
from arena.site.edition import Site
from arena.site.pages import boards, compare, frameworks, home
from tests.fakes import a_record
from tests.lib.arena.judge.runs import a_timed_run
from tests.lib.arena.site.editions import (
    HOST,
    HOSTILE,
    a_round,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    rows_of,
    text_of,
)
from tests.lib.arena.site.loads import SCHEDULED, a_second, blast, made, scheduled


def page(*records: Record) -> str:
    return pages_of(a_site(*records), home)["index.html"]


def rows(html: str) -> list[str]:
    """Return the words of each row of the tables of boards."""
    tables = re.findall('<table class="boards">.*?</table>', html, re.DOTALL)
    return [row for table in tables for row in rows_of(table.partition("</thead>")[2])]


def test_every_board_is_a_line_with_its_first_its_headline_and_a_link() -> None:
    text = page(
        a_record("slow", 1e6, flags=["client-bound"]),
        a_record("fast", 2.349e6, flags=["client-bound"]),
        a_record("far", 3e6, type="engine"),
        a_record("near", 1e6, type="engine"),
        a_record("slow", 5e4, profile={"name": "other", "metric": "requests/s"}),
    )
    title = "Server streaming over h2c"
    assert rows(text) == [
        f"{title} other {title}: 64 · ghz slow none ranked 50.0 k requests/s 0",
        f"{title} stream-grpc {title}: 64 · ghz fast ≥ 2.34 M messages/s 2",
        f"{title}: 64 · ghz · engines far 3.00 M messages/s 2",
    ]
    assert f'href="boards/stream-grpc/64/ghz/{HOST}/engines/index.html"' in text
    assert 'href="frameworks/fast/index.html"' in text


def test_a_first_row_without_a_rank_is_named_with_the_first_that_has_one() -> None:
    warming = a_record("warming", 2e6, 2.5e6, 3e6)
    (row,) = rows(page(warming, a_record("steady", 2e6), a_record("slow", 1e6)))
    said = "warming has no rank; first with a rank: steady, 2.00 M ≥ 3.0 M messages/s 2"
    assert said in row.replace(" , ", ", ")
    late = scheduled("late", [a_second(50)])
    kept = {
        name: [a_timed_run(each, a_second()) for each in (p99_ns, p99_ns + 1e8)]
        for name, p99_ns in (("steady", 3e9), ("slow", 4e9))
    }
    timed = (a_record(name, runs=runs, profile=SCHEDULED) for name, runs in kept.items())
    (row,) = rows(page(late, *timed))
    assert "volley steady 3.00 s" in row


def test_all_who_share_the_first_rank_are_named_up_to_three() -> None:
    (row,) = rows(page(*(a_record(name, 1e6, 2e6) for name in "abcde")))
    assert "a , b , c and 2 more" in row


def test_a_board_on_which_nobody_is_ranked_says_so() -> None:
    (row,) = rows(page(a_record("a", failure="it broke")))
    assert row.endswith("none ranked – 0 1 failed")


def test_kinds_of_load_have_tables_of_their_own() -> None:
    text = page(a_record("a", 1e6), scheduled("a", []), blast("a"))
    assert re.findall(r'<h3 id="(\w+)"', text) == ["closed", "scheduled", "blast"]


def test_the_newest_records_come_first_and_failures_are_among_them() -> None:
    late = a_record("late", minute=9, failure="it broke")
    text = page(*(a_record(f"f{number}", 1e6, minute=number) for number in range(6)), late)
    (news,) = re.findall('<ul class="news">.*?</ul>', text, re.DOTALL)
    lines = [text_of(line) for line in re.findall("<li>.*?</li>", news, re.DOTALL)]
    names = [re.sub(".*UTC ", "", line).split()[0] for line in lines]
    assert names == ["late", "f5", "f4", "f3", "f2"]
    assert lines[0].endswith("ghz: failed")
    assert lines[1].endswith("1.00 M messages/s")
    assert f'href="{an_edition(late).record(late.path)}"' in news


def test_when_nothing_is_measured_the_page_says_how_to_begin() -> None:
    text = page()
    assert "Nothing has been measured yet" in text
    assert "./scripts/benchmark.sh grpc-go stream-grpc" in text
    assert "<table" not in text
    # What the navigation leads to is there all the same.
    assert 'id="boards"' in text


SMALL = an_edition(a_record("a", 1e6), of=a_round("first", note="on a small machine"))


def test_where_there_are_only_rounds_the_newest_is_shown_and_that_is_said() -> None:
    text = pages_of(a_site(rounds=[SMALL]), home)["index.html"]
    assert "No record of this checkout is outside of rounds." in text
    assert "Nothing has been measured" not in text
    assert len(rows(text)) == 1
    assert 'href="rounds/first/boards/stream-grpc/64/ghz/index.html"' in text
    assert 'href="rounds/first/frameworks/index.html"' in text
    assert "1 record on 1 board. on a small machine" in text_of(text)


def test_a_few_records_stand_below_the_newest_round_and_do_not_hide_it() -> None:
    site = a_site(a_record("mine", 3e6), rounds=[SMALL])
    text = pages_of(site, home)["index.html"]
    before, below = text.split('<h2 id="measured">')
    assert "This is round first , frozen on 2026-02-03." in text_of(before)
    assert "Nothing has been measured" not in text
    assert 'href="rounds/first/boards/stream-grpc/64/ghz/index.html"' in before
    assert f'href="boards/stream-grpc/64/ghz/{HOST}/index.html"' in below
    assert "mine under stream-grpc" in text_of(below)
    # The pages of what was measured lead to each other.
    own = pages_of(site, boards)[f"boards/stream-grpc/64/ghz/{HOST}/index.html"]
    assert 'href="../../../../../index.html#measured" aria-current' in own
    assert 'href="../../../../../frameworks/index.html"' in own
    assert "#measured" not in pages_of(site, boards, SMALL).popitem()[1]


def test_a_round_without_a_record_is_not_shown_first() -> None:
    text = pages_of(a_site(a_record("mine", 3e6), rounds=[an_edition(of=a_round())]), home)
    assert 'id="measured"' not in text["index.html"]
    assert "mine" in text["index.html"]


def test_a_round_has_a_home_of_its_own_with_its_note() -> None:
    site = a_site(a_record("b", 1e6), rounds=[SMALL])
    text = pages_of(site, home, SMALL)["rounds/first/index.html"]
    assert "<h1>Round <bdi>first</bdi></h1>" in text
    assert "on a small machine" in text
    assert 'href="boards/stream-grpc/64/ghz/index.html"' in text
    assert 'href="../../index.html">First page' in text


def test_hostile_names_and_notes_are_only_words() -> None:
    of = an_edition(a_record("a", 1e6, display_name=HOSTILE), of=a_round(note=HOSTILE))
    site = a_site(a_record("b", 1e6, display_name=HOSTILE), rounds=[of])
    for text in (*pages_of(site, home).values(), *pages_of(site, home, of).values()):
        assert "<script>" not in text
        assert "&lt;script&gt;" in text


def test_the_page_is_made_anew_if_something_on_it_changes_and_only_then() -> None:
    a, b = a_record("a", 1e6), a_record("b", 1e5)
    one = keys_of(a_site(a, b), home)
    assert keys_of(a_site(b, a), home) == one
    assert keys_of(a_site(a_record("a", 1.1e6), b), home) != one
    assert keys_of(a_site(a_record("a", 1e6, display_name="A"), b), home) != one
    assert keys_of(a_site(a, b, rounds=[an_edition(of=a_round())]), home) != one


def rounds_of(site: Site) -> str:
    return pages_of(site, home)["rounds/index.html"]


def test_a_round_says_when_what_where_and_by_which_runner() -> None:
    dirty = Git(commit="b" * 40, dirty=True)
    of = an_edition(
        made(a_record("a", 1e6), git=Git(commit="a" * 40, dirty=False)),
        made(a_record("b", 1e6), git=dirty),
        made(a_record("b", failure="no", minute=1), git=dirty),
        of=a_round("first", note="a small machine"),
    )
    text = rounds_of(a_site(a_record("z"), rounds=[of]))
    (row,) = rows_of(text, '<tr><th scope="row">')
    assert row == (
        "first 2026-02-03 3 1 2 a CPU, 4 CPUs bbbbbbbbbb-dirty , aaaaaaaaaa a small machine"
    )
    assert '<a href="first/index.html"' in text
    assert "The current set has 1 record" in text_of(text)


def test_without_a_round_the_page_says_how_to_make_one() -> None:
    text = rounds_of(a_site())
    assert "No round has been frozen yet." in text
    assert "The current set has no record yet" in text_of(text)


def test_a_hostile_note_is_only_words() -> None:
    text = rounds_of(a_site(rounds=[an_edition(a_record("a"), of=a_round(note=HOSTILE * 20))]))
    assert "<script>" not in text
    assert len(text) < 8000


@pytest.mark.parametrize(
    ("kind", "path"),
    [(frameworks, "frameworks/index.html"), (compare, "compare/index.html")],
)
def test_without_current_records_pages_lead_to_the_newest_round(
    kind: ModuleType, path: str
) -> None:
    frozen = an_edition(a_record("a"), of=a_round())
    html = pages_of(a_site(rounds=[frozen]), kind)[path]
    navigation, main = html.partition("<main")[::2]
    for text in (navigation, main):
        assert f'href="../rounds/first/{path}"' in text
    assert "rounds/first/" not in pages_of(a_site(a_record("a"), rounds=[frozen]), kind)[path]
