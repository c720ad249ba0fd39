"""The first page of an edition: what is measured, the best of each profile, every board."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from arena.judge.entry import Entry
from arena.judge.leaderboard import Board, Row
from arena.publish.kinds import SHOWN
from arena.publish.site import words
from arena.publish.site.edition import Edition, Site
from arena.publish.site.outputs import Output, Page
from arena.publish.site.strips import Scale, Strip
from arena.publish.site.template import frame, render

# This many frameworks of the first rank are named, and this many new records are listed.
_NAMED = 3
_NEWEST = 5


@dataclass(frozen=True)
class BoardLine:
    """A board in one line: its leaders, their figure, and the figures of all others."""

    board: Board
    path: str
    leaders: tuple[Row, ...]
    more: int
    ranked: int
    without: int
    field: Strip


@dataclass(frozen=True)
class News:
    """A record in one line; `words` is its headline, or how it failed."""

    entry: Entry
    path: str
    display_name: str
    words: str


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the page. If nothing is current, it says so and shows the newest round."""
    shown = site.front if edition is site.current else edition
    page = edition.home()
    rounds = rounds_of(site)
    groups = [
        (kind, [(profile, tuple(lines)) for profile, lines in groupby(found, _profile)])
        for kind in SHOWN
        if (found := [_best(shown, each) for each in shown.current_boards if each.shape is kind])
    ]
    newest = news(shown)
    make = partial(
        render,
        site,
        "home.html.j2",
        page,
        edition,
        shown=shown,
        groups=groups,
        news=newest,
        rounds=rounds,
    )
    key = (frame(edition), frame(shown), edition.round and edition.round.note, newest, rounds)
    yield Page(page, repr((*key, shown.digest)), make)


def rounds_of(site: Site) -> list[tuple[str, str, str, str, int, int]]:
    """Return of each round its path, name, day and note, and how many boards and records it has."""
    return [
        (
            each.home(),
            each.round.name,
            each.round.frozen_at[:10],
            each.round.note,
            len(each.boards),
            len(each.entries),
        )
        for each in site.rounds
        if each.round
    ]


def news(edition: Edition) -> list[News]:
    """Return the newest records that have a page."""
    names = {
        (board.profile, row.framework): row.display_name
        for board in edition.boards
        for row in board.rows
    }
    entries = [edition.entries[path] for path in edition.shown_records]
    newest = sorted(entries, key=lambda each: (each.started_at, each.path), reverse=True)
    return [
        News(
            entry=entry,
            path=edition.record(entry.path),
            display_name=names.get((entry.load.profile, entry.framework), entry.framework),
            words=words.entry_words(entry),
        )
        for entry in newest[:_NEWEST]
    ]


def _best(edition: Edition, board: Board) -> BoardLine:
    leaders = [row for row in board.rows if row.rank == 1]
    values = [row.result.value for row in board.rows if row.result and row.result.value]
    scale = Scale(max(values, default=0.0))
    return BoardLine(
        board=board,
        path=edition.board(board),
        leaders=tuple(leaders[:_NAMED]),
        more=len(leaders[_NAMED:]),
        ranked=sum(row.rank is not None for row in board.rows),
        without=sum(row.result is None for row in board.rows),
        field=scale.strip(values, [row.result.value for row in leaders if row.result]),
    )


def _profile(line: BoardLine) -> tuple[str, str]:
    return line.board.profile, line.board.title
