"""Rounds: a line for each, and what it is made of."""

from types import ModuleType

import pytest

from arena.record.record import Git
from arena.site.edition import Site
from arena.site.outputs import Page
from arena.site.pages import compare, frameworks, rounds, tax
from tests.fakes import a_record
from tests.lib.arena.site.editions import (
    HOSTILE,
    a_round,
    a_site,
    an_edition,
    pages_of,
    rows_of,
    text_of,
)
from tests.lib.arena.site.loads import made


def page(site: Site) -> str:
    (found,) = (each for each in rounds.outputs(site) if isinstance(each, Page))
    assert found.path == "rounds/index.html"
    return found.make()


def test_a_round_says_when_what_where_and_by_which_runner() -> None:
    dirty = Git(commit="b" * 40, dirty=True)
    of = an_edition(
        made(a_record("a", 1e6), git=Git(commit="a" * 40, dirty=False)),
        made(a_record("b", 1e6), git=dirty),
        made(a_record("b", failure="no", minute=1), git=dirty),
        of=a_round("first", note="a small machine"),
    )
    text = page(a_site(a_record("z"), rounds=[of]))
    (row,) = rows_of(text, '<tr><th scope="row">')
    assert row == (
        "first 2026-02-03 3 1 2 a CPU, 4 CPUs bbbbbbbbbb-dirty , aaaaaaaaaa a small machine"
    )
    assert '<a href="first/index.html"' in text
    assert "The current set has 1 record" in text_of(text)


def test_without_a_round_the_page_says_how_to_make_one() -> None:
    text = page(a_site())
    assert "No round has been frozen yet." in text
    assert "The current set has no record yet" in text_of(text)


def test_a_hostile_note_is_only_words() -> None:
    text = page(a_site(rounds=[an_edition(a_record("a"), of=a_round(note=HOSTILE * 20))]))
    assert "<script>" not in text
    assert len(text) < 8000


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (frameworks, "frameworks/index.html"),
        (tax, "tax/index.html"),
        (compare, "compare/index.html"),
    ],
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
