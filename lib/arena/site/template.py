"""Templates: one for each kind of page, and the filters that turn figures into text."""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from arena.base.units import format_bytes, format_ns, format_rate, three_digits
from arena.judge.figure_words import latency_words
from arena.judge.flags import WORDS
from arena.record.times import parse_utc
from arena.site import board_columns, words
from arena.site.edition import Edition, Site, relative
from arena.site.kinds import SHOWN

# The default maximum length of other people's text on a page.
_LONGEST = 300
_LONGEST_LINK = 500


def render(site: Site, template: str, page: str, edition: Edition, **context: Any) -> str:
    """Return a page's HTML. Its template calls `href(path)` for a link to another page or file.

    `page` is its own path below the site's root.
    """
    href = partial(relative, page=page)
    context.setdefault("shown", site.shown_of(edition))
    return (
        _environment(site.templates)
        .get_template(template)
        .render(page=page, edition=edition, site=site, href=href, **context)
    )


def frame(edition: Edition) -> str:
    """Return what pages show of an edition besides its records, for their keys."""
    of = edition.round
    return repr((edition.title, of and (of.frozen_at, of.note)))


@cache
def _environment(templates: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_harmless,
        auto_reload=False,
    )
    of_words = ("count", "load_note", "host_note", "rank", "leads", "share")
    environment.filters.update(
        {name: getattr(words, name) for name in of_words},
        rate=format_rate,
        ns=format_ns,
        latency=latency_words,
        bytes=format_bytes,
        three_digits=three_digits,
        day=lambda text: parse_utc(text).strftime("%Y-%m-%d"),
        moment=lambda text: parse_utc(text).strftime("%Y-%m-%d %H:%M UTC"),
        commas="{:,}".format,
        connections=lambda board: words.connections(board.shape, board.connections),
        figure=lambda row, board: board_columns.figure_words(board, row),
        outcome=words.entry_words,
        plain=plain,
        web=web,
    )
    globals_ = ("types", "divisions", "standin", "ended", "unchecking", "bounds")
    named = {name: getattr(words, name.upper()) for name in globals_}
    environment.globals.update(named, flags=WORDS, kinds=SHOWN)
    return environment


def plain(text: object, most: int = _LONGEST) -> str:
    """Return other people's text on one line, without control characters, cut to `most`.

    Direction marks are removed; right-to-left text stays right-to-left.
    """
    line = " ".join(_clean(str(text)[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def web(text: str) -> str:
    """Return a text if it is a safe web address, else an empty text."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    is_sound = text.isprintable() and " " not in text and len(text) <= _LONGEST_LINK
    return text if is_web and is_sound and "@" not in parts.netloc else ""


# These are clean, but isprintable() is false for them: plain text of several lines.
_CLEAN = re.compile(r"[ -~\n\t]*")


def _harmless(value: object) -> object:
    """Return a text without control characters; leave markup and numbers unchanged."""
    return _clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _clean(text: str) -> str:
    if text.isprintable() or _CLEAN.fullmatch(text):
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() else ""
