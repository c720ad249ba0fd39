"""What browser tests share: one browser, one server, and sites that are built once."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import sites
from tests.browser.plumbing import (
    BELOW,
    PATIENCE_MS,
    Visit,
    chromium_program,
    npm_packages,
    served,
    started_browser,
)

Open = Callable[..., Visit]


@dataclass(frozen=True)
class Site:
    """A built site: its folder, and the address that it is served at."""

    public: Path
    url: str

    def pages(self, pattern: str) -> list[str]:
        """Return the paths of pages that match a pattern, sorted."""
        return sites.pages(self.public, pattern)

    def page(self, pattern: str) -> str:
        """Return the first page that matches."""
        return self.pages(pattern)[0]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Debian's Chromium; its driver must be gone before tests that look after processes."""
    program = chromium_program()
    if not program:
        pytest.skip("there is no chromium")
    with started_browser(program) as browser:
        yield browser


@pytest.fixture(scope="session")
def packages() -> Path:
    if not shutil.which("npm"):
        pytest.skip("there is no npm")
    return npm_packages()


@pytest.fixture(scope="session")
def axe(packages: Path) -> str:
    return (packages / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Serve a folder for sites; return it, and its address."""
    root = tmp_path_factory.mktemp("served")
    folder = root / BELOW
    folder.mkdir(parents=True)
    with served(root) as url:
        yield folder, f"{url}{BELOW}/"


def _built(shelf: tuple[Path, str], name: str, *records: sites.Records) -> Site:
    folder, url = shelf
    public = sites.a_site(folder / name, *records)
    return Site(public, f"{url}{name}/{public.relative_to(folder / name).as_posix()}/")


@pytest.fixture(scope="session")
def everyday(shelf: tuple[Path, str]) -> Site:
    """Build a site with every kind of page, two rounds among them."""
    return _built(shelf, "everyday", sites.everyday(), sites.everyday(), sites.many(3))


@pytest.fixture(scope="session")
def hostile(shelf: tuple[Path, str]) -> Site:
    return _built(shelf, "hostile", sites.hostile(), sites.hostile())


@pytest.fixture(scope="session")
def wide(shelf: tuple[Path, str]) -> Site:
    return _built(shelf, "wide", sites.many(200))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Return what opens a site in a fresh context; in the end, no page may have misbehaved."""
    with visits(browser) as start:
        yield start


@contextmanager
def visits(browser: Browser) -> Iterator[Open]:
    made: list[Visit] = []

    def start(site: Site | str, *forgiven: str, **options: object) -> Visit:
        origin = site if isinstance(site, str) else site.url
        context = browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        visit = Visit(context.new_page(), origin, forgiven)
        visit.watch()
        made.append(visit)
        return visit

    yield start
    for each in made:
        each.page.context.close()
    assert [fault for each in made for fault in each.faults] == []
