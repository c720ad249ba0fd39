"""Pages as they are without scripts, from a disk, and from below a path of a server."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import sites
from tests.browser.conftest import Open, Site
from tests.browser.plumbing import loaded_sizes
from tests.browser.sites import KINDS
from tests.fakes import a_provenance, a_record
from tests.lib.arena.site.loads import made

KB = 1000
BOARD = KINDS["board"]
# From a disk browsers run no modules, and say so.
NO_MODULES = (".js", "net::ERR_FAILED")
# Every address on a page, as the browser resolves it.
LINKS = """() => [...document.querySelectorAll('[href], [src]')].map((each) =>
    new URL(each.getAttribute('href') ?? each.getAttribute('src'), document.baseURI).href)"""
CELLS = """rows => rows.map((row) => [...row.cells].map(
    (cell) => cell.textContent.replace(/[★☆]/g, '').replace(/\\s+/g, ' ').trim()))"""


def cells(page: Page) -> Any:
    return page.locator("tr[data-fw]").evaluate_all(CELLS)


def test_without_scripts_a_board_has_the_same_rows_and_figures(visit: Open, everyday: Site) -> None:
    with_scripts = visit(everyday).open(BOARD)
    expect(with_scripts.get_by_label("Find")).to_be_visible()
    without = visit(everyday, java_script_enabled=False).open(BOARD)
    # One of the twelve has failed since, and says so a second time.
    assert len(cells(without)) == 12 + 1
    assert cells(without) == cells(with_scripts)
    # Nothing is shown that would not work.
    assert without.locator("form:visible, button:visible, input:visible").count() == 0


def test_without_scripts_the_comparison_says_so_and_links_the_boards(
    visit: Open, everyday: Site
) -> None:
    page = visit(everyday, java_script_enabled=False).open(KINDS["compare"])
    expect(page.locator("main")).to_contain_text("JavaScript")
    assert page.locator("main a[href*=boards]").count() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_disk_every_page_is_readable_and_its_links_lead_somewhere(
    visit: Open, everyday: Site, kind: str
) -> None:
    path = everyday.public / everyday.page(KINDS[kind])
    page = visit(everyday.public.as_uri(), *NO_MODULES).open(f"/{everyday.page(KINDS[kind])}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.locator("main").inner_text().strip()
    assert "system-ui" in page.evaluate("getComputedStyle(document.body).fontFamily")
    for link in page.evaluate(LINKS):
        parts = urlsplit(link)
        if parts.scheme == "file":
            target = Path(unquote(parts.path))
            assert target.is_file(), f"{path}: {link}"
            assert everyday.public in target.parents, f"{path}: {link}"


def test_the_words_of_a_host_stay_in_their_column(visit: Open, tmp_path: Path) -> None:
    host = a_provenance().host.model_copy(update={"virtualisation": "kvm"})
    records = [
        made(a_record("a", 1e6, minute=2), host=host),
        a_record("b", 1e6),
        made(a_record("c", 1e6), host=host.model_copy(update={"family": "AuthenticAMD 26 2 1"})),
    ]
    public = sites.a_site(tmp_path / "hosts", records)
    page = visit(public.as_uri(), *NO_MODULES, viewport={"width": 1300, "height": 900}).open(
        "/index.html"
    )
    words = page.locator(".boards td:first-of-type small")
    assert words.count() == 2
    for each in words.all():
        assert each.evaluate("it => it.scrollWidth <= it.parentElement.clientWidth")


def test_from_a_disk_one_gets_from_the_home_to_a_record(visit: Open, everyday: Site) -> None:
    page = visit(everyday.public.as_uri(), *NO_MODULES).open("/index.html")
    page.locator("main a[href*='stream-grpc/64/ghz/index.html']").first.click()
    page.locator("#board tr[data-fw='framework-000'] a").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_from_a_disk_a_board_says_why_it_cannot_be_sorted(visit: Open, everyday: Site) -> None:
    hint = "Sorting and filters need JavaScript and a web server"
    page = visit(everyday.public.as_uri(), *NO_MODULES).open(f"/{BOARD}")
    expect(page.get_by_text(hint)).to_be_visible()
    served = visit(everyday).open(BOARD)
    expect(served.get_by_label("Find")).to_be_visible()
    assert served.get_by_text(hint).count() == 0


def test_a_board_of_200_frameworks_is_small(visit: Open, wide: Site) -> None:
    page = visit(wide).page
    sizes = loaded_sizes(page, wide.url + BOARD)
    assert page.locator("tr[data-fw]").count() == 200
    kinds = Counter(Path(url).suffix for url in sizes)
    assert (kinds[".html"], kinds[".css"], kinds[".js"]) == (1, 1, 5)
    assert sum(sizes.values()) <= 60 * KB, sizes


def test_the_scripts_are_small(everyday: Site) -> None:
    scripts = [(everyday.public / path).read_bytes() for path in everyday.pages("static/*.js")]
    assert scripts
    assert len(gzip.compress(b"".join(scripts), 6)) <= 10 * KB
