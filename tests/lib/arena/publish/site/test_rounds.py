"""Rounds: a line for each, and what it is made of."""

import re

from arena.publish.site.edition import Site
from arena.publish.site.outputs import Page
from arena.publish.site.pages import rounds
from arena.record.record import Git, Record
from tests.fakes import a_provenance, a_record
from tests.lib.arena.publish.site.editions import HOSTILE, a_round, a_site, an_edition, text_of


def page(site: Site) -> str:
    (found,) = (each for each in rounds.outputs(site) if isinstance(each, Page))
    assert found.path == "rounds/index.html"
    return found.make()


def by(commit: str, record: Record, *, dirty: bool = False) -> Record:
    provenance = a_provenance(git=Git(commit=commit, dirty=dirty))
    return record.model_copy(update={"provenance": provenance})


def test_a_round_says_when_what_where_and_by_which_runner() -> None:
    of = an_edition(
        by("a" * 40, a_record("a", 1e6)),
        by("b" * 40, a_record("b", 1e6), dirty=True),
        by("b" * 40, a_record("b", failure="no", minute=1), dirty=True),
        of=a_round("first", note="a small machine"),
    )
    text = page(a_site(a_record("z"), rounds=[of]))
    (row,) = re.findall('<tr><th scope="row">.*?</tr>', text)
    assert text_of(row) == (
        "first 2026-02-03 3 1 2 a CPU, 4 CPUs bbbbbbbbbb-dirty , aaaaaaaaaa a small machine"
    )
    assert 'href="first/index.html"' in row
    assert "The current set has 1 record" in text_of(text)


def test_without_a_round_the_page_says_how_to_make_one() -> None:
    text = page(a_site())
    assert "No round has been frozen yet." in text
    assert "The current set has no record yet" in text_of(text)


def test_a_hostile_note_is_only_words() -> None:
    text = page(a_site(rounds=[an_edition(a_record("a"), of=a_round(note=HOSTILE * 20))]))
    assert "<script>" not in text
    assert len(text) < 8000
