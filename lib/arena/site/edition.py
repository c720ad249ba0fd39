"""Editions: sets of records, ranked, each with its place in the site; the site is all of them.

Paths are below the site's root: `boards/unary-grpc/256/volley/…`. Links between pages are relative
and name the file. So they work from a disk, below any path of a server, and on a server without
index files.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from arena.base.model import to_json
from arena.judge.archive import Archive
from arena.judge.entry import Entry, by_load
from arena.judge.leaderboard import Board, Leaderboard, shown_records
from arena.judge.load_key import Key, Place
from arena.judge.proofs import Proofs
from arena.judge.rounds import Round
from arena.judge.row import Row
from arena.record.record import Record
from arena.site.words import ranks
from arena.what.framework import Advisories
from arena.what.releases import Release

INDEX = "index.html"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")

# The digits of a record's name in the address of its page.
DIGITS = 16


def relative(target: str, page: str) -> str:
    """Return the link from a page to a target, both below the root; keep `#part` and `?query`."""
    path, mark, rest = target.partition("#")
    there, here = path.split("/"), page.split("/")[:-1]
    common = 0
    while common < min(len(there) - 1, len(here)) and there[common] == here[common]:
        common += 1
    steps = [".."] * (len(here) - common) + there[common:]
    return "/".join(steps) + mark + rest


def name(text: str) -> str:
    """Return a text as one part of a path that cannot lead out of its folder.

    Names of profiles, generators and frameworks stay unchanged, so all stay different.
    """
    return _NOT_IN_NAMES.sub("-", text).strip(".") or "-"


@dataclass(frozen=True)
class Standing:
    """A framework's row on a board, the board's page, and how many of its rows are ranked."""

    board: Board
    path: str
    row: Row
    ranked: int


@dataclass(frozen=True)
class Edition:
    """A part of the site, made from one set of records.

    `root` is its folder there: empty for the current records, `rounds/<name>/` for a round. The
    `leaderboard` of a round is as it was judged by the newest of its rules, and `older` are those
    by older ones, whose boards are in the folder `below`. The `archive` has its records.
    """

    root: str
    round: Round | None
    leaderboard: Leaderboard
    archive: Archive
    older: tuple["Edition", ...] = ()
    below: str = ""

    @classmethod
    def of_round(cls, it: Round, archive: Archive) -> "Edition":
        """Return a round with its records, and its boards by all rules that judged it."""
        root = f"rounds/{it.name}/"
        *older, newest = (each.leaderboard for each in it.judged)
        found = (cls(root, it, each, archive, below=f"rules-{each.rules}/") for each in older)
        return cls(root, it, newest, archive, tuple(found))

    @property
    def entries(self) -> Mapping[str, Entry]:
        """All its records, by path."""
        return self.archive.entries

    @property
    def read(self) -> Callable[[str], Record]:
        """What returns one of its records in full."""
        return self.archive.read

    @property
    def title(self) -> str:
        """The edition's name on its pages."""
        return f"Round {self.round.name}" if self.round else "Current"

    @property
    def boards(self) -> Sequence[Board]:
        """Return the boards of all servers, not only of those that send one message a frame."""
        return [board for board in self.leaderboard.boards if board.framing == "all"]

    @property
    def current_boards(self) -> Sequence[Board]:
        """Return the boards of current loads: none outdated, trials only if no full one exists."""
        return [board for board in self.boards if board.is_current]

    @cached_property
    def shown_records(self) -> Mapping[str, Entry]:
        """The records with a page, by path: those on a board or in a round."""
        paths = sorted(self.entries) if self.round else shown_records(self.boards)
        return {path: self.entries[path] for path in paths}

    def current_of(self, board: Board) -> Board:
        """Return the board of the current load, of the same division if there is one."""
        same = [each for each in self.current_boards if each.place == board.place]
        return next((each for each in same if each.division == board.division), same[0])

    def home(self) -> str:
        """Return the edition's first page."""
        return self.root + INDEX

    def board(self, board: Board) -> str:
        """Return a board's page."""
        return f"{self.board_folder(board)}/{INDEX}"

    def board_folder(self, board: Board) -> str:
        """Return a board's folder, whatever class of hosts was measured last.

        In a round, which never changes, boards of its home class have none in their address.
        """
        host = "" if self.round and board.is_home else f"/{board.host_class.id}"
        load = "" if board.is_current else f"/{board.load}"
        engines = "/engines" if board.division == "engine" else ""
        place = f"{name(board.profile)}/{board.connections}/{name(board.generator)}"
        single = "/one-per-frame" if board.framing == "single" else ""
        return f"{self.root}{self.below}boards/{place}{host}{load}{engines}{single}"

    def board_digest(self, board: Board) -> str:
        """Return a digest of what a board, and boards of other loads, are made of.

        That is records, those that cannot be read too, and what somebody has reviewed: it can end a
        suspension of ranks.
        """
        others = repr((board.night, board.twin_history, board.altered))
        return _digest((self._digests[board.place], others, to_json(board) if self.round else ""))

    @cached_property
    def digest(self) -> str:
        """A digest of all boards."""
        return _digest(
            f"{self.board(each)} {self.board_digest(each)}" for each in self.leaderboard.boards
        )

    @cached_property
    def _digests(self) -> Mapping[Place, str]:
        found: dict[Place, list[str]] = defaultdict(list)
        for entry in self.entries.values():
            facts = f"{entry.path} {entry.sha256} {entry.load.digest} {entry.flags}"
            found[entry.load.place].append(facts)
        return {place: _digest(found[place]) for place in sorted(found)}

    @cached_property
    def standings(self) -> Mapping[str, Sequence[Standing]]:
        """Every framework's rows, by name, in the order of the boards."""
        found: dict[str, list[Standing]] = defaultdict(list)
        for board in self.boards:
            path = self.board(board)
            ranked = sum(ranks(row, board) is not None for row in board.rows)
            for row in board.rows:
                found[row.framework].append(Standing(board, path, row, ranked))
        return dict(found)

    @cached_property
    def by_time(self) -> Sequence[Entry]:
        """All entries, the oldest first."""
        return sorted(self.entries.values(), key=lambda each: (each.started_at, each.path))

    @cached_property
    def by_framework(self) -> Mapping[str, Sequence[Entry]]:
        """Every framework's entries, by name, the oldest first."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.by_time:
            found[entry.framework].append(entry)
        return dict(found)

    @cached_property
    def by_load(self) -> Mapping[Key, Sequence[Entry]]:
        """All entries, by load, the oldest first."""
        return by_load(self.by_time)

    def framework(self, framework: str, file: str = INDEX) -> str:
        """Return a framework's page, or another file of its folder."""
        return f"{self.root}frameworks/{name(framework)}/{file}"

    def record(self, path: str, file: str = INDEX) -> str:
        """Return the page of a record that has one, or its JSON; all editions share it."""
        return f"records/{self.entries[path].sha256[:DIGITS]}/{file}"

    def record_json(self, path: str) -> str:
        """Return a record's JSON, which is there if it has no page."""
        return self.record(path, "record.json")

    def page_or_json(self, path: str) -> str:
        """Return a record's page, or its JSON if it has none."""
        return self.record(path) if path in self.shown_records else self.record_json(path)

    def relative(self, path: str) -> str:
        """Return a path of the site as a link from this edition's folder."""
        return relative(path, self.home())


class NavLink(NamedTuple):
    """A navigation link: its name in addresses and its text on pages.

    `path` is below the site's root, or with `of_edition` below the edition's.
    """

    name: str
    path: str
    words: str
    of_edition: bool = False


@dataclass(frozen=True)
class Site:
    """The editions: the current one first, then the rounds, the newest first.

    `templates`, `static`, `docs` and `frameworks` are folders that pages are made from, besides the
    records, and the `proofs`, `advisories` and `releases` of frameworks.
    """

    editions: tuple[Edition, ...]
    templates: Path
    static: Path
    docs: Path
    frameworks: Path
    proofs: Proofs
    navigation: Sequence[NavLink] = ()
    advisories: Advisories = field(default_factory=Advisories)
    releases: Mapping[str, Release] = field(default_factory=dict)

    @property
    def current(self) -> Edition:
        """Return the edition of the current records, those in no round."""
        return self.editions[0]

    @property
    def rounds(self) -> tuple[Edition, ...]:
        """Return the frozen rounds, the newest first."""
        return self.editions[1:]

    @property
    def front(self) -> Edition:
        """Return the edition of the first page: the newest round with pages, else what is current.

        What was measured here stands below it: a few records hide no round.
        """
        return next((each for each in self.rounds if each.entries), self.current)

    @property
    def measured(self) -> Edition | None:
        """Return what was measured here if the first page is a round's, and there is something."""
        return self.current if self.current.entries and self.front is not self.current else None

    def shown_of(self, edition: Edition) -> Edition:
        """Return what the navigation of an edition's pages leads to: without records, the front."""
        return edition if edition.entries or edition is not self.current else self.front


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
