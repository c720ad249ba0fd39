"""Every kind of page, as axe-core, the Nu validator, a keyboard and a phone find it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Site, visits
from tests.browser.plumbing import axe_violations, html_errors
from tests.browser.sites import KINDS

# What a keyboard must reach.
CONTROLS = """() => [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((each) => each.checkVisibility() && !each.disabled)"""
# One step: which of the controls has the focus, and whether one can see that.
FOCUSED = """() => {
  const all = window.controls;
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return {at: all.indexOf(element), outlined, tag: element.outerHTML.slice(0, 120)};
}"""


# The page of the comparison has something to show once frameworks are chosen.
CHOSEN = "#fw=framework-000,framework-001,framework-002"


@pytest.fixture(scope="module", params=KINDS)
def page(request: pytest.FixtureRequest, browser: Browser, everyday: Site) -> Iterator[Page]:
    """Open a page of each kind, once for all tests of it."""
    kind: str = request.param
    with visits(browser) as start:
        state = CHOSEN if kind.endswith("compare") else ""
        page = start(everyday).open(everyday.page(KINDS[kind]) + state)
        if state:
            page.get_by_role("table").wait_for()
        yield page


def test_axe_finds_nothing_light_or_dark(page: Page, axe: str) -> None:
    page.emulate_media(color_scheme="light")
    assert axe_violations(page, axe) == []
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert background(page) != light
    assert axe_violations(page, axe) == []


def background(page: Page) -> Any:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_every_control_is_reached_by_keyboard_and_its_focus_is_seen(page: Page) -> None:
    page.evaluate(f"window.controls = ({CONTROLS})()")
    tags = page.evaluate("window.controls.map((each) => each.outerHTML.slice(0, 120))")
    assert tags
    reached = set()
    # Parts that scroll are reached too, without being controls.
    for _ in range(2 * len(tags) + 20):
        page.keyboard.press("Tab")
        step = page.evaluate(FOCUSED)
        if step["at"] >= 0:
            assert step["outlined"], step["tag"]
            reached.add(step["at"])
        if len(reached) == len(tags):
            break
    assert [tag for at, tag in enumerate(tags) if at not in reached] == []


@pytest.mark.parametrize("width", [390, 820])
def test_no_page_scrolls_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_html_is_valid(packages: Path, everyday: Site, hostile: Site, tmp_path: Path) -> None:
    if not shutil.which("java"):
        pytest.skip("there is no java")
    pages = [everyday.public / everyday.page(pattern) for pattern in KINDS.values()]
    pages += [hostile.public / path for path in hostile.pages("**/*.html")]
    assert html_errors(packages, pages) == []
    broken = tmp_path / "broken.html"
    broken.write_text(pages[0].read_text().replace("</main>", "</div>"))
    assert html_errors(packages, [broken]) != []
