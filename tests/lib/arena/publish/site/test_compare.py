"""Compare: a page that leads on without its script."""

from arena.publish.site.pages import compare
from tests.fakes import a_record
from tests.lib.arena.publish.editions import a_round, a_site, an_edition, pages_of


def test_the_page_names_its_data_and_leads_to_the_boards_without_a_script() -> None:
    text = pages_of(a_site(a_record("a")), compare)["compare/index.html"]
    assert '<div id="compare" data-src="compare.json" data-root="../">' in text
    assert 'src="../static/compare.js"' in text
    without = text.partition('<div id="compare"')[2].partition("</div>")[0]
    assert 'href="../index.html#boards"' in without


def test_a_round_compares_its_own() -> None:
    of = an_edition(a_record("a"), of=a_round("first"))
    text = pages_of(a_site(rounds=[of]), compare, of)["rounds/first/compare/index.html"]
    assert 'data-root="../"' in text
    assert 'href="../index.html#boards"' in text
