"""Methodology, glossary, rules and profiles: pages made from the Markdown in docs/.

Methodology ends with the generator tax: the cost of measuring, compared with the cost of serving.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from arena.base.reading import read_input
from arena.judge.flags import WORDS
from arena.site import words
from arena.site.charts.tax import MOST_SERVERS, TaxedLoad, taxed_loads
from arena.site.edition import Edition, Site, relative
from arena.site.outputs import Page
from arena.site.template import frame, render

# The page of each file.
PAGES = {
    "measuring.md": "methodology/index.html",
    "glossary.md": "glossary/index.html",
    "rules.md": "rules/index.html",
    "profiles.md": "profiles/index.html",
}
_REMARKS = {**WORDS, "warning": words.WARNING}

# Anchors that the pages themselves use.
_RESERVED = ("main",)
_NOT_IN_ANCHORS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Text:
    """A text as HTML below its heading; `contents` are its sections: level, anchor, text."""

    title: str
    html: Markup
    contents: tuple[tuple[int, str, str], ...]


def outputs(site: Site) -> Iterator[Page]:
    """Yield a page for each text that exists."""
    for name, page in PAGES.items():
        if not (site.docs / name).is_file():
            continue
        source = read_input(site.docs / name)
        key = source + frame(site.front)
        if name == "measuring.md":
            key += repr([(frame(each), each.digest) for each in site.editions])
        yield Page(page, key, partial(_make, site, name, page, source))


def text_of(name: str, page: str, source: str) -> Text:
    """Return a text as its page shows it."""

    def link(target: str) -> str | None:
        if urlsplit(target).scheme in {"http", "https"}:
            return target
        path, anchor = beside(name, target)
        return relative(PAGES[path], page) + anchor if path in PAGES else None

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
        taxed=_taxed(site) if name == "measuring.md" else None,
        most_servers=MOST_SERVERS,
    )


def _taxed(site: Site) -> list[tuple[Edition, TaxedLoad]]:
    """Return every load that a server ran under several generators, as the newest edition has it.

    Rounds have records in common, so most of what an older one shows would be there twice.
    """
    found: dict[tuple[str, int, str, str], tuple[Edition, TaxedLoad]] = {}
    for edition in site.editions:
        for it in taxed_loads(edition.boards):
            found.setdefault((it.profile, it.connections, it.size, it.host), (edition, it))
    return list(found.values())


def read(source: str, link: Callable[[str], str | None], prefix: str = "") -> Text:
    """Return a text; `link` returns a link's target on the site, or None if it has no target.

    The first cell of a table's row gets an anchor, so that links can lead to a glossary entry. Each
    anchor begins with the prefix. A link without a target becomes plain text.
    """
    markdown = _markdown()
    tokens = [each for each in markdown.parse(source) if each.type != "html_block"]
    has_title = len(tokens) > 1 and tokens[0].tag == "h1"
    title = _words(tokens[1]) if has_title else ""
    taken = set(_RESERVED)
    contents = []
    for at, token in enumerate(tokens):
        inside = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.type == "heading_open" and inside:
            anchor = _fresh(inside.content, taken, prefix)
            token.attrSet("id", anchor)
            if token.tag != "h1":
                contents.append((int(token.tag[1:]), anchor, _words(inside)))
        elif token.type in {"th_open", "td_open"} and inside:
            _cell(tokens, at, inside, taken, prefix)
        elif token.type == "inline":
            token.children = list(_linked(token.children or (), link))
    tokens = _framed(tokens[3 * has_title :], title)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Text(title, Markup(html), tuple(contents))  # noqa: S704 - of files in docs/


def beginning(source: str, most: int) -> str:
    """Return the whole paragraphs, lists and such with which a longer text begins."""
    cut = source[:most]
    blocks = [each.map for each in _markdown().parse(cut) if each.map and each.level == 0]
    # The last one may be cut.
    return "\n".join(cut.split("\n")[: blocks[-1][0] if blocks else 0])


def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def anchor_of(text: str) -> str:
    """Return the anchor of a heading or a glossary entry."""
    return _NOT_IN_ANCHORS.sub("-", text.lower()).strip("-")


def _fresh(text: str, taken: set[str], prefix: str) -> str:
    """Return an anchor that is unique on the page."""
    anchor = prefix + (anchor_of(text) or "part")
    while anchor in taken:
        anchor += "-2"
    taken.add(anchor)
    return anchor


def _words(inline: Token) -> str:
    return "".join(each.content for each in inline.children or ())


def _cell(tokens: Sequence[Token], at: int, inside: Token, taken: set[str], prefix: str) -> None:
    """Give heads a scope and first cells an anchor; remove their style."""
    token = tokens[at]
    token.attrs.pop("style", None)
    is_head = token.type == "th_open"
    if is_head and inside.content:
        token.attrSet("scope", "col")
    elif is_head:
        # An empty cell is no head.
        closing = next(each for each in tokens[at:] if each.type == "th_close")
        token.tag = closing.tag = "td"
    elif tokens[at - 1].type == "tr_open":
        token.attrSet("id", _fresh(_words(inside) or inside.content, taken, prefix))


def _linked(children: Sequence[Token], link: Callable[[str], str | None]) -> Iterator[Token]:
    """Yield the parts of a line, without dead links and HTML."""
    goes = True
    for child in children:
        if child.type == "link_open":
            target = link(str(child.attrGet("href")))
            goes = target is not None
            child.attrSet("href", target or "")
        kept = goes or child.type not in {"link_open", "link_close"}
        if kept and child.type not in {"html_inline", "image"}:
            yield child
        if child.type == "link_close":
            goes = True


def _framed(tokens: Sequence[Token], section: str) -> list[Token]:
    """Wrap every table in a region that scrolls, named after its section."""
    framed: list[Token] = []
    number = 0
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            section = _words(tokens[at + 1])
        if token.type == "table_open":
            number += 1
            frame = Token("frame_open", "div", 1)
            label = f"{section}, table {number}"
            frame.attrs = {"class": "scroll", "role": "region", "aria-label": label, "tabindex": 0}
            framed.append(frame)
        framed.append(token)
        if token.type == "table_close":
            framed.append(Token("frame_close", "div", -1))
    return framed


def beside(source: str, target: str) -> tuple[str, str]:
    """Return the file of docs/ that a link in a doc points to, and its anchor.

    >>> beside("measuring.md", "profiles.md#the-keys")
    ('profiles.md', '#the-keys')
    """
    path, mark, anchor = target.partition("#")
    return posixpath.normpath(path) if path else source, mark + anchor
