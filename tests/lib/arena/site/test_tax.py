"""The page of the generator tax."""

from arena.record.record import Record
from arena.site.pages import tax
from tests.lib.arena.site.editions import (
    HOSTILE,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    text_of,
)
from tests.lib.arena.site.loads import under


def page(*records: Record) -> str:
    (html,) = pages_of(a_site(*records), tax).values()
    return html


def test_the_cost_of_each_generator_stands_beside_the_servers() -> None:
    html = page(under("ghz"), under("volley", own_s=0.05))
    text = text_of(html)
    assert "a ghz 0.80 0.40 0.50 × 2026-01-01" in text
    assert "a volley 0.80 0.010 0.013 × 2026-01-01" in text
    assert html.count('<figure class="picture">') == 1
    # The numbers of the picture are in the page's own table.
    assert "The numbers" not in html


def test_every_figure_leads_to_its_record() -> None:
    records = under("ghz"), under("volley")
    html = page(*records)
    for record in records:
        assert f'href="../{an_edition(*records).record(record.path)}"' in html


def test_without_two_generators_the_page_says_so() -> None:
    for html in (page(), page(under("ghz"), under("volley", "b"))):
        assert "No framework has been measured here under two generators yet." in html
        assert "<svg role" not in html


def test_other_figures_are_another_key() -> None:
    first = keys_of(a_site(under("ghz"), under("volley")), tax)
    second = keys_of(a_site(under("ghz"), under("volley", own_s=1.0)), tax)
    assert list(first) == ["tax/index.html"]
    assert first != second
    assert first == keys_of(a_site(under("ghz"), under("volley")), tax)


def test_a_hostile_name_is_only_a_name() -> None:
    html = page(under("ghz", display_name=HOSTILE), under("volley", display_name=HOSTILE))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html
