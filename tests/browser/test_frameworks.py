"""The list of frameworks: its filters, and the URL that holds them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Site
from tests.browser.sites import KINDS


@pytest.fixture
def page(visit: Open, everyday: Site) -> Page:
    return visit(everyday).open(KINDS["frameworks"])


def shown(page: Page) -> list[str]:
    """Return the languages of the rows that are shown."""
    rows = page.locator("#frameworks tbody tr:visible")
    return [
        str(each) for each in rows.evaluate_all("rows => rows.map((row) => row.dataset.language)")
    ]


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
    assert set(shown(page)) == {"Rust"}


def test_typed_words_must_all_be_in_a_row(page: Page) -> None:
    page.get_by_label("Find").fill("rust no-such-thing")
    assert shown(page) == []
    page.get_by_label("Find").fill("RUST")
    assert set(shown(page)) == {"Rust"}
    expect(page).to_have_url(re.compile("#q=RUST$"))
