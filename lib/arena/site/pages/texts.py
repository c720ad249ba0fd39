"""Methodology, glossary, rules and profiles: pages made from the Markdown in docs/."""

from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

from arena.base.reading import read_input
from arena.judge.flags import WORDS
from arena.site import links, words
from arena.site.edition import Site
from arena.site.markdown import Text, beside, read
from arena.site.outputs import Output, Page
from arena.site.template import frame, render

# The page of each file.
PAGES = {
    "measuring.md": "methodology/index.html",
    "glossary.md": "glossary/index.html",
    "rules.md": "rules/index.html",
    "profiles.md": "profiles/index.html",
}


def outputs(site: Site) -> Iterator[Output]:
    """Yield a page for each text that exists."""
    for name, page in PAGES.items():
        if not (site.docs / name).is_file():
            continue
        source = read_input(site.docs / name)
        make = partial(_make, site, name, page, source)
        yield Page(page, source + frame(site.front), make)


def text_of(name: str, page: str, source: str) -> Text:
    """Return a text as its page shows it."""

    def link(target: str) -> str | None:
        if urlsplit(target).scheme in {"http", "https"}:
            return target
        path, anchor = beside(name, target)
        return links.relative(PAGES[path], page) + anchor if path in PAGES else None

    return read(source, link)


def _make(site: Site, name: str, page: str, source: str) -> str:
    return render(
        site,
        "text.html.j2",
        page,
        site.current,
        shown=site.front,
        text=text_of(name, page, source),
        here=page.partition("/")[0],
        remarks=_REMARKS if name == "glossary.md" else {},
    )


_REMARKS = {**WORDS, "warning": words.WARNING}
