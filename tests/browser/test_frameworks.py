"""The list of frameworks: its filters, and the URL that holds them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Site
from tests.browser.sites import KINDS, VARIANTS


@pytest.fixture
def page(visit: Open, everyday: Site) -> Page:
    return visit(everyday).open(KINDS["frameworks"])


def shown(page: Page, key: str = "language") -> list[str]:
    """Return the languages, or another key, of the rows that are shown."""
    rows = page.locator("#frameworks tbody tr:visible")
    found = rows.evaluate_all("(rows, key) => rows.map((row) => row.dataset[key])", key)
    return [str(each) for each in found]


def test_a_language_is_chosen_and_the_url_keeps_it(page: Page) -> None:
    every = shown(page)
    assert len(set(every)) > 1
    page.get_by_label("Language").select_option("Rust")
    assert set(shown(page)) == {"Rust"}
    expect(page.get_by_role("status")).to_have_text(
        f"{every.count('Rust')} of {len(every)} frameworks."
    )
    assert page.url.endswith("#language=Rust")
    page.reload()
    assert set(shown(page)) == {"Rust"}
    page.get_by_role("button", name="Clear filters").click()
    assert shown(page) == every
    page.go_back()
    expect(page.get_by_label("Language")).to_have_value("Rust")
    assert set(shown(page)) == {"Rust"}


def test_typed_words_must_all_be_in_a_row(page: Page) -> None:
    page.get_by_label("Find").fill("rust no-such-thing")
    assert shown(page) == []
    page.get_by_label("Find").fill("RUST")
    assert set(shown(page)) == {"Rust"}
    expect(page).to_have_url(re.compile("#q=RUST$"))


def test_an_engine_and_a_library_are_chosen(page: Page) -> None:
    engine = page.get_by_label("Built on")
    assert engine.locator("option").all_inner_texts() == ["all", "Engine 9", "Engine 10"]
    engine.select_option("Engine 10")
    assert shown(page, "engine") == ["Engine 10"]
    engine.select_option("")
    page.get_by_role("combobox", name="Library").select_option("example/library")
    assert shown(page, "engine") == list(VARIANTS.values())
    assert page.url.endswith("#library=example%2Flibrary")


def test_only_the_best_variant_of_a_library_is_left(page: Page) -> None:
    every = len(shown(page))
    page.get_by_label("Best variant").check()
    assert "Engine 10" not in shown(page, "engine")
    assert "Engine 9" in shown(page, "engine")
    assert len(shown(page)) == every - 1
    page.reload()
    assert len(shown(page)) == every - 1


def test_an_anchor_leaves_the_filters_as_they_are(page: Page) -> None:
    page.get_by_label("Language").select_option("Rust")
    page.evaluate("location.hash = '#main'")
    expect(page).to_have_url(re.compile("#language=Rust$"))
    assert set(shown(page)) == {"Rust"}


def test_typed_text_does_not_write_over_the_state_that_one_goes_back_to(page: Page) -> None:
    page.get_by_label("Language").select_option("Rust")
    page.clock.install()
    page.get_by_label("Find").fill("framework")
    page.go_back()
    expect(page.get_by_label("Language")).to_have_value("")
    page.clock.run_for(1000)
    assert "#" not in page.url
    assert page.get_by_label("Find").input_value() == ""
