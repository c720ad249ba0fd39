"""Checking a built site: HTML errors and dead links, in pages, feeds and CSV files.

Links must be relative and name a file, so that they work from a disk and below any path.
`python -m tools.site_check` is the command of `scripts/site.sh check`.
"""

import csv
import json
import os
import posixpath
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import click

from arena.base.errors import UsageError
from arena.base.progress import Progress, progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.entry import start
from arena.machine.forks import spread

# The attributes that hold an address, and those that name elements of the same page.
_ADDRESSES = ("action", "data", "data-src", "href", "poster", "src")
_ID_LISTS = ("aria-controls", "aria-describedby", "aria-labelledby", "for", "headers", "list")

# Addresses that lead out of the site are not followed.
_OUTWARD = {"http", "https", "mailto", "data"}

_LINK_COLUMN = "record"
_FILES_PER_PROCESS = 20
_MANY = 200
_MOST_SHOWN = 50


@dataclass(frozen=True)
class Checked:
    """How many pages and links were checked, and a line for each problem, by file."""

    pages: int
    links: int
    problems: Sequence[str]


@dataclass
class Found:
    """The ids of a file's elements, its links and its problems."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def to_text(self) -> str:
        """Return this as text, for another process."""
        return json.dumps([sorted(self.ids), sorted(self.links), self.problems])

    @classmethod
    def of_text(cls, text: str) -> "Found":
        """Read the output of `to_text`."""
        ids, links, problems = json.loads(text)
        return cls(set(ids), set(links), problems)


def check(public: Path, shows: Progress) -> Checked:
    """Check every page, feed and CSV file below a folder; UsageError if there are none."""
    paths = sorted(_files(public))
    if not paths:
        raise UsageError(f"{shown(public)}: there is no site yet (./scripts/site.sh build)")
    found: dict[str, Found] = {}
    many = shows if len(paths) >= _MANY else None
    with (
        spread(
            len(paths), partial(_look, public, paths), forks=len(paths) // _FILES_PER_PROCESS
        ) as looked,
        many.waiting(f"checking {len(paths):,} files") if many else nullcontext(),
    ):
        for number, text in looked:
            found[paths[number]] = Found.of_text(text)
    problems = [
        f"{path}: {problem}"
        for path in paths
        for problem in (*found[path].problems, *_dead_links(public, path, found))
    ]
    pages = sum(path.endswith(".html") for path in paths)
    return Checked(pages, sum(len(each.links) for each in found.values()), problems)


def _files(public: Path) -> Iterator[str]:
    for parent, _, files in os.walk(public):
        below = os.path.relpath(parent, public)
        for name in files:
            if name.endswith((".html", ".xml", ".csv")):
                yield name if below == "." else f"{below}/{name}"


def _look(public: Path, paths: Sequence[str], number: int) -> str:
    path = paths[number]
    found = Found()
    try:
        text = (public / path).read_bytes().decode()
        if path.endswith(".html"):
            _look_at_page(text, found)
        elif path.endswith(".xml"):
            feed = ET.fromstring(text)  # noqa: S314 - it is our own
            found.links |= {each.attrib["href"] for each in feed.iter() if "href" in each.attrib}
        else:
            rows = csv.DictReader(text.splitlines(), strict=True)
            found.links |= {row[_LINK_COLUMN] for row in rows if row.get(_LINK_COLUMN)}
    except (ValueError, ET.ParseError, csv.Error, OSError) as error:
        found.problems.append(str(error))
    return found.to_text()


def _look_at_page(text: str, found: Found) -> None:
    # The only maintained parser that reports every parse error of the HTML standard.
    from tinyhtml5.parser import HTMLParser  # type: ignore[import-untyped]

    parser = HTMLParser(namespace_html_elements=False)
    tree = parser.parse(text)
    for (line, column), code, values in parser.errors:
        name = f" {values['name']}" if "name" in values else ""
        found.problems.append(f"line {line}, column {column}: {code}{name}")
    named: set[str] = set()
    for element in tree.iter():
        _look_at_element(element.attrib, found, named)
    found.problems += [f"nothing has the id `{each}`" for each in sorted(named - found.ids)]


def _look_at_element(attributes: dict[Any, str], found: Found, named: set[str]) -> None:
    """Add an element's id and links to `found`, and the ids that it references to `named`."""
    for key, value in attributes.items():
        if key == "id":
            if value in found.ids or not value or set(value) & set(" \t\n\f\r"):
                found.problems.append(f"the id `{value}` is empty, has spaces or is there twice")
            found.ids.add(value)
        elif key in _ADDRESSES or (isinstance(key, tuple) and key[-1] == "href"):
            found.links.add(value)
        elif key in _ID_LISTS:
            named.update(value.split())


def _dead_links(public: Path, path: str, found: dict[str, Found]) -> Iterator[str]:
    """Yield the problems of a file's links."""
    for link in sorted(found[path].links):
        problem = _problem(public, path, link, found)
        if problem:
            yield f"the link {link!r:.200} {problem}"


def _problem(public: Path, path: str, link: str, found: dict[str, Found]) -> str | None:
    """Return the problem of a file's link; None if the link is good."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return "is not an address"
    if parts.scheme:
        return None if parts.scheme in _OUTWARD else f"has the scheme {parts.scheme}:"
    if parts.netloc or parts.path.startswith("/"):
        return "is not relative"
    target = path
    if parts.path:
        below = posixpath.join(posixpath.dirname(path), unquote(parts.path))
        target = posixpath.normpath(below)
    return _problem_of_target(public, target, unquote(parts.fragment), found)


def _problem_of_target(public: Path, target: str, part: str, found: dict[str, Found]) -> str | None:
    if target == ".." or target.startswith("../"):
        return "leads out of the site"
    if (public / target).is_dir():
        return "names a folder, not a file"
    if not (public / target).is_file():
        return "leads nowhere"
    # A fragment with a `=` is a page's state, not a part of the page.
    if part and "=" not in part and target in found and part not in found[target].ids:
        return f"names a part that {target} does not have"
    return None


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 no problem; 1 problems; 2 there is no site yet.",
)
@options.root
def command(root: Path) -> int:
    """Check what was built: no HTML errors, no dead links.

    Reads every page, feed and CSV file. Links must be relative and name a file, and a fragment
    must name an element of that page. Links to other sites are not followed.
    """
    checked = check(Workspace(root.resolve()).public, progress())
    for problem in checked.problems[:_MOST_SHOWN]:
        report_error(problem)
    if len(checked.problems) > _MOST_SHOWN:
        report_error(f"and {len(checked.problems) - _MOST_SHOWN:,} more")
    click.echo(
        f"{checked.pages:,} pages, {checked.links:,} links: {len(checked.problems):,} problems"
    )
    return 1 if checked.problems else 0


if __name__ == "__main__":
    start(command, "site.sh check")
