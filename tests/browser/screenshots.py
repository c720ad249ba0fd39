"""Take pictures of every kind of page, to look at: `python -m tests.browser.screenshots FOLDER`.

Words after the folder choose sites (everyday, three, hundreds, long, one, failures, nothing,
hostile, or a folder that has been built), kinds of pages (sites.py), widths (390, 820, 1280,
1440) and schemes (light, dark).
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from playwright.sync_api import Browser

from arena.record.record import Record
from tests.browser import sites
from tests.browser.plumbing import required_chromium, served, started_browser
from tests.browser.sites import KINDS, pages
from tests.fakes import a_record

LONG = "A framework whose makers could not stop, with all of its features in its name, twice. "
WIDTHS = (390, 820, 1280, 1440)
SCHEMES = ("light", "dark")
STATES = {"compare": "#fw=framework-000,framework-001,framework-002,framework-003"}


# What makes the records of each site.
SITES: dict[str, Callable[[], Iterable[Record]]] = {
    "everyday": sites.everyday,
    "three": lambda: sites.many(3),
    "hundreds": lambda: sites.many(300),
    "long": lambda: sites.many(12, display_name=LONG * 2, name="the-longest-name-{:03}".format),
    "one": lambda: [a_record("lonely", 1.2345e6)],
    "failures": lambda: [a_record(f"broken-{n}", failure="it broke " * 20) for n in range(4)],
    "nothing": tuple,
    "hostile": sites.hostile,
}


def main(folder: Path, chosen: list[str]) -> None:
    """Take the pictures that are asked for; all of them, if nothing is."""
    program = required_chromium()
    names = [
        each for each in chosen if each in SITES or (Path(each) / "index.html").is_file()
    ] or list(SITES)
    with started_browser(program) as browser:
        for name in names:
            with tempfile.TemporaryDirectory(prefix="httparena-site-") as scratch:
                if name not in SITES:
                    _shoot(browser, Path(name), folder / "given", chosen)
                    continue
                frozen = [sites.everyday()] if name == "everyday" else []
                public = sites.a_site(Path(scratch), SITES[name](), *frozen)
                _shoot(browser, public, folder / name, chosen)


def _shoot(browser: Browser, public: Path, folder: Path, chosen: list[str]) -> None:
    widths = [each for each in WIDTHS if str(each) in chosen] or WIDTHS
    schemes = [each for each in SCHEMES if each in chosen] or SCHEMES
    kinds = [each for each in KINDS if each in chosen] or list(KINDS)
    folder.mkdir(parents=True, exist_ok=True)
    with served(public) as url:
        page = browser.new_page()
        for kind in kinds:
            found = pages(public, KINDS[kind])
            if not found:
                continue
            page.goto(url + found[0] + STATES.get(kind, ""))
            page.reload(wait_until="networkidle")
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                for scheme in schemes:
                    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                    path = folder / f"{kind.replace(' ', '-')}-{width}-{scheme}.png"
                    page.screenshot(path=path, full_page=True)
                    click.echo(path)
        page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
