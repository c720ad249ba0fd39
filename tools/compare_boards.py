"""Comparing two built sites: every figure of every board that differs, and how many of each kind.

`python -m tools.compare_boards BEFORE AFTER` reads board.json, board.csv and the table of each
board, and the leaders on the first pages. Boards are the same if their loads are, wherever they
lie: pages may have moved.
"""

import csv
import json
import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import click

from arena.base.errors import UsageError
from arena.base.text import columns, shown
from arena.cli.entry import start

# What identifies a board, besides its edition and its class of hosts.
_KEY = (
    "profile", "connections", "generator", "load_digest", "generator_warm_up", "division",
    "framing",
)  # fmt: skip
_BOARD = "(board)"
_LONGEST = 60

# The figures of a board: by the name of its framework, and by source and column.
Figures = dict[tuple[str, str], str]


class Change(NamedTuple):
    """One figure that differs; a text is empty if it is not there."""

    column: str
    board: str
    framework: str
    before: str
    after: str


def changes(before: Path, after: Path) -> list[Change]:
    """Return every difference between the boards of two built sites, by column and board."""
    one, other = boards_of(before), boards_of(after)
    found = []
    for board in one.keys() | other.keys():
        here, there = one.get(board, {}), other.get(board, {})
        for framework, column in here.keys() | there.keys():
            texts = (each.get((framework, column), "") for each in (here, there))
            change = Change(column, board, framework, *texts)
            if change.before != change.after:
                found.append(change)
    return sorted(found)


def boards_of(public: Path) -> dict[str, Figures]:
    """Return the figures of each board of a built site; UsageError if it has none."""
    found: dict[str, Figures] = {}
    names: dict[str, str] = {}
    for path in sorted(public.glob("**/boards/**/board.json")):
        folder = path.parent.relative_to(public).as_posix()
        board = json.loads(path.read_text())
        edition = folder.partition("boards/")[0].strip("/") or "current"
        parts = (edition, *(board[each] for each in _KEY), board["host_class"]["id"])
        names[folder] = "/".join(str(each) for each in parts if each)
        found[names[folder]] = {
            **_of_json(board),
            **_of_csv(path.with_name("board.csv")),
            **_of_page(path.with_name("index.html")),
        }
    if not found:
        raise UsageError(f"{shown(public)}: there is no board below it")
    for home in sorted((public / "index.html", *public.glob("rounds/*/index.html"))):
        for folder, words in _leaders(public, home):
            which = "first page" if home.parent == public else "round's first page"
            found[names[folder]][_BOARD, which] = words
    return found


def _of_json(board: dict[str, object]) -> Figures:
    rows = board.pop("rows")
    found = {(_BOARD, f"json {name}"): text for name, text in _leaves(board)}
    for row in rows if isinstance(rows, list) else ():
        found |= {(row["framework"], f"json {name}"): text for name, text in _leaves(row)}
    return found


def _leaves(data: dict[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the JSON of each value that is no object."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        elif value is not None:
            yield above + key, json.dumps(value, ensure_ascii=False)


def _of_csv(path: Path) -> Figures:
    with path.open(newline="") as file:
        return {
            (row["framework"], f"csv {name}"): text
            for row in csv.DictReader(file)
            for name, text in row.items()
            if text and name != "record"
        }


def _of_page(path: Path) -> Figures:
    """Return the cells of a board's table by the titles of their columns, and each row's place."""
    found: Figures = {}
    for table in (each for each in _tables(path) if each.id == "board"):
        head, *rows = table.rows
        for place, row in enumerate(rows, 1):
            found[row.framework, "page place"] = str(place)
            for title, cell in zip(head.cells, row.cells, strict=False):
                found[row.framework, f"page {title}"] = cell
    return found


def _leaders(public: Path, home: Path) -> Iterator[tuple[str, str]]:
    """Yield the folder of each board that a first page lists, and the cells behind its link."""
    for table in _tables(home):
        for row in table.rows if table.kind == "boards" else ():
            for link in row.links:
                folder = posixpath.dirname(
                    posixpath.normpath(
                        posixpath.join(home.parent.relative_to(public).as_posix(), link)
                    )
                )
                if "boards/" in folder:
                    yield folder, " | ".join(row.cells[-4:])


class _Row:
    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.cells: list[str] = []
        self.links: list[str] = []


class _Table:
    def __init__(self, id_: str, kind: str) -> None:
        self.id, self.kind = id_, kind
        self.rows: list[_Row] = []


class _Reader(HTMLParser):
    """Collects the tables of a page that have no table inside."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self._is_in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.tables.append(_Table(of.get("id", ""), of.get("class", "")))
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append(_Row(of.get("data-fw", "")))
        elif tag in {"td", "th"} and self.tables:
            self.tables[-1].rows[-1].cells.append("")
            self._is_in_cell = True
        elif tag == "a" and self._is_in_cell:
            self.tables[-1].rows[-1].links.append(of.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            cells = self.tables[-1].rows[-1].cells
            cells[-1] = " ".join(f"{cells[-1]} {data}".split())


def _tables(page: Path) -> list[_Table]:
    reader = _Reader()
    if page.is_file():
        reader.feed(page.read_text())
    return reader.tables


def lines_of(found: list[Change], most: int) -> Iterator[str]:
    """Yield each column with its number of changes and boards, and up to `most` of the changes."""
    by_column: dict[str, list[Change]] = defaultdict(list)
    for change in found:
        by_column[change.column].append(change)
    for column, own in sorted(by_column.items(), key=lambda each: (-len(each[1]), each[0])):
        boards = Counter(each.board for each in own)
        counts = {
            "new": sum(not it.before for it in own),
            "gone": sum(not it.after for it in own),
        }
        more = "".join(f", {count} {word}" for word, count in counts.items() if count)
        yield f"{column}: {len(own):,} differ on {len(boards)} boards{more}"
        rows = [
            (f"  {it.board}", it.framework, f"{_cut(it.before)} → {_cut(it.after)}")
            for it in own[:most]
        ]
        yield from columns(rows) if rows else ()


def _cut(text: str) -> str:
    if not text:
        return "–"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--most", default=1_000_000, help="List so many changes of each column at most.")
def command(before: Path, after: Path, most: int) -> None:
    """List every figure of every board that differs between two built sites.

    BEFORE and AFTER are folders such as site/public. The changes are grouped by column: of the
    JSON, the CSV, the page, and the first page's line of the board.
    """
    found = changes(before, after)
    for line in lines_of(found, most):
        click.echo(line)
    click.echo(f"{len(found):,} changes on {len({each.board for each in found})} boards")


if __name__ == "__main__":
    start(command, "python -m tools.compare_boards")
