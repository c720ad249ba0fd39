"""Methodology and glossary: the Markdown of docs/, and that it says what the code does."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.judge import flags
from arena.record import measurement
from arena.record.record import Record
from arena.site import words
from arena.site.edition import Edition
from arena.site.pages import texts
from arena.site.pages.texts import PAGES, Text, anchor_of, read
from arena.site.pages.texts import text_of as text_of_doc
from tests.lib.arena.site.editions import (
    HOSTILE,
    ROOT,
    a_round,
    a_site,
    an_edition,
    keys_of,
    pages_of,
    text_of,
)
from tests.lib.arena.site.loads import under

DOCS = ROOT / "docs"


def pages(docs: Path = DOCS) -> dict[str, str]:
    return {each.path: each.make() for each in texts.outputs(a_site(docs=docs))}


def of(source: str) -> Text:
    return read(source, lambda target: target if target.startswith("https:") else None)


def test_a_heading_is_the_title_and_sections_have_anchors_and_a_place_in_the_contents() -> None:
    text = of("# T `x`\n\nwords\n\n## Part *one*\n\n### Deeper\n\n## Part one\n")
    assert text.title == "T x"
    one, two = (2, "part-one", "Part one"), (2, "part-one-2", "Part one")
    assert text.contents == (one, (3, "deeper", "Deeper"), two)
    assert '<h2 id="part-one">Part <em>one</em></h2>' in text.html
    assert "<h1" not in text.html


def test_a_text_without_a_heading_has_no_title() -> None:
    assert of("words").title == ""
    assert of("").html == ""


def test_the_first_cell_of_a_row_is_an_anchor_and_heads_have_a_scope() -> None:
    html = of("# T\n\n| | two |\n|---|--:|\n| `cut call` | x |\n").html
    assert '<td id="cut-call"><code>cut call</code></td>' in html
    assert '<th scope="col">two</th>' in html
    assert "<th></th>" not in html
    assert "style=" not in html
    assert '<div class="scroll" role="region" aria-label="T, table 1" tabindex="0"><table>' in html


def test_markup_is_shown_or_left_out_and_never_made() -> None:
    html = of("# T\n\n<b onclick=x>bold</b>\n\n<!-- hidden -->\n\n<script>alert(1)</script>\n").html
    assert not re.search("<(b|script|!--)", html)


def test_links_lead_to_pages_or_are_left_as_words() -> None:
    source = "# T\n\n[there](https://example.org) and [`x` here](y.md) and [on](https://e.org)"
    assert of(source).html == (
        '<p><a href="https://example.org">there</a> and <code>x</code> here and '
        '<a href="https://e.org">on</a></p>\n'
    )


def test_texts_lead_to_each_others_pages() -> None:
    source = "# T\n\n[a](profiles.md#the-keys) [b](../CONTRIBUTING.md) [c](#cost)"
    html = text_of_doc("measuring.md", PAGES["measuring.md"], source).html
    assert html == (
        '<p><a href="../profiles/index.html#the-keys">a</a> b <a href="index.html#cost">c</a></p>\n'
    )


def test_a_text_that_is_not_there_has_no_page(tmp_path: Path) -> None:
    (tmp_path / "glossary.md").write_text("# Words\n")
    assert list(pages(tmp_path)) == ["glossary/index.html"]


def test_every_text_of_ours_is_one_page_without_a_name_twice() -> None:
    made = pages()
    assert set(made) == set(PAGES.values())
    for html in made.values():
        ids = re.findall(r'\sid="([^"]*)"', html)
        assert len(ids) == len(set(ids))
        assert html.count("<h1") == 1
        assert not re.search(r"\sstyle=|<!--", html)


def test_what_pages_link_to_in_texts_is_there() -> None:
    """Anchors that templates name, and those of words.py, exist in the texts."""
    made = pages()
    templates = ROOT / "site" / "templates"
    named = {
        link
        for path in templates.glob("*.j2")
        for link in re.findall(r'"((?:\w+)/index\.html#[a-z0-9-]*[a-z0-9])"', path.read_text())
    }
    assert {"glossary/index.html#interval", "methodology/index.html#ratios"} <= named
    for link in named:
        path, _, anchor = link.partition("#")
        assert f'id="{anchor}"' in made[path], link
    for kind in ("service", "response"):
        assert f'id="{kind}-latency"' in made["glossary/index.html"]
    for name in words.TYPES:
        assert f'id="{name}"' in made["rules/index.html"]


def test_every_flag_is_explained_on_the_glossary_and_in_the_methodology() -> None:
    made = pages()
    for flag in flags.WORDS:
        assert f'<dt id="flag-{flag}">' in made["glossary/index.html"]
        assert f'<td id="{anchor_of(flag)}"' in made["methodology/index.html"]


METHODOLOGY = (DOCS / "measuring.md").read_text()


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("used {} % or more of its own CPUs", flags.CLIENT_BOUND_SHARE * 100),
        ("is more than {} % off the calls in flight", flags.LITTLES_LAW_TOLERANCE * 100),
        ("differs from the number due by more than {} %", flags.SCHEDULE_TOLERANCE * 100),
        ("some point has under {} shots", {6: "six"}[flags.LEAST_SHOTS]),
        ("Fewer than {} shots cannot", flags.LEAST_SHOTS),
        ("confidence of at least {} %", 95),
        ("best of the first {} runs", {3: "three"}[measurement.BEST_OF]),
        ("of the first {} runs", {3: "three"}[measurement.BEST_OF]),
    ],
)
def test_the_methodology_says_the_constants_that_the_code_has(sentence: str, value: object) -> None:
    number = f"{value:.0f}" if isinstance(value, float) else str(value)
    assert sentence.format(number) in " ".join(METHODOLOGY.split())


def test_the_words_of_flags_say_the_constants_that_the_code_has() -> None:
    assert f"more than {flags.LITTLES_LAW_TOLERANCE * 100:.0f} %" in flags.WORDS["littles-law"]
    assert f"more than {flags.SCHEDULE_TOLERANCE * 100:.0f} %" in flags.WORDS["missed-schedule"]
    assert {6: "six shots"}[flags.LEAST_SHOTS] in flags.WORDS["cut-short"]


def test_the_sign_test_is_as_sure_as_the_methodology_says() -> None:
    """Of 10 shots the 2nd and the 9th: what lib/parsers/blast/median.py picks."""
    from parsers.blast.median import interval

    found = interval([float(number) for number in range(1, 11)])
    assert (found.at_least, found.at_most) == (2, 9)
    assert "of 10 shots the 2nd and the 9th" in " ".join(METHODOLOGY.split())


METHOD = PAGES["measuring.md"]


def taxed(*records: Record, rounds: Sequence[Edition] = ()) -> str:
    """Return the section of the methodology that is about the generator tax."""
    html = pages_of(a_site(*records, rounds=rounds), texts)[METHOD]
    return html.partition('<section aria-labelledby="tax">')[2].partition("</section>")[0]


def key_of(*records: Record) -> str:
    return keys_of(a_site(*records), texts)[METHOD]


def test_the_cost_of_each_generator_stands_beside_the_servers() -> None:
    html = taxed(under("ghz"), under("volley", own_s=0.05))
    text = text_of(html)
    assert "a ghz 0.80 0.40 0.50 × 2026-01-01" in text
    assert "a volley 0.80 0.010 0.013 × 2026-01-01" in text
    assert html.count('<figure class="picture">') == 1
    # The numbers of the picture are in the page's own table.
    assert "The numbers" not in html


def test_every_figure_leads_to_its_record() -> None:
    records = under("ghz"), under("volley")
    html = taxed(*records)
    for record in records:
        assert f'href="../{an_edition(*records).record(record.path)}"' in html


def test_without_two_generators_the_section_says_so() -> None:
    for html in (taxed(), taxed(under("ghz"), under("volley", "b"))):
        assert "No framework has been measured under two generators yet." in html
        assert "<svg role" not in html


def test_other_figures_are_another_key() -> None:
    first = key_of(under("ghz"), under("volley"))
    second = key_of(under("ghz"), under("volley", own_s=1.0))
    assert first != second
    assert first == key_of(under("ghz"), under("volley"))


def test_a_hostile_name_is_only_a_name() -> None:
    html = taxed(under("ghz", display_name=HOSTILE), under("volley", display_name=HOSTILE))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_a_load_is_taxed_once_as_the_newest_edition_has_it_and_is_led_to() -> None:
    pair, unary = (under("ghz"), under("volley")), {"name": "unary", "title": "Unary"}
    others = [under(each, "b", profile=unary) for each in ("ghz", "volley")]
    new = an_edition(*pair, of=a_round("new"))
    old = an_edition(*pair, *others, of=a_round("old"))
    html = taxed(rounds=[new, old])
    found = re.findall(r"<h3>([^,]*),.*?<bdi>(\w+)</bdi></a> · CPU", html, re.DOTALL)
    assert found == [("Server streaming over h2c", "new"), ("Unary", "old")]
    assert 'href="../rounds/old/frameworks/b/index.html"' in html
    assert "round" not in taxed(*pair)
