"""Editions: a set of records, ranked, with its place in the site."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.entries import Entry
from arena.leaderboard import Board, Leaderboard
from arena.records import Record
from arena.rounds import Round
from arena.site import links
from arena.site.raw import raw_files


@dataclass(frozen=True)
class Edition:
    """One set of records as a part of the site.

    `root` is its folder there: empty for what is current, `rounds/<name>/` for a round. `entries`
    are all its records, by path; `read` gives one of them in full, from `folder`.
    """

    root: str
    folder: Path
    round: Round | None
    leaderboard: Leaderboard
    entries: Mapping[str, Entry]
    read: Callable[[str], Record]

    @property
    def title(self) -> str:
        """What the edition is called on its pages."""
        return f"Round {self.round.name}" if self.round else "Current"

    @property
    def boards(self) -> Sequence[Board]:
        """Return every board, sorted by profile, connections, generator and division."""
        return self.leaderboard.boards

    @property
    def shown_records(self) -> Sequence[str]:
        """Return the paths of the records that have a page: on a board, or in a round."""
        return sorted(self.entries) if self.round else self.leaderboard.shown_records

    def home(self) -> str:
        """Return the edition's first page."""
        return self.root + links.INDEX

    def board(self, board: Board) -> str:
        """Return a board's page."""
        return f"{self.board_folder(board)}/{links.INDEX}"

    def board_folder(self, board: Board) -> str:
        """Return a board's folder.

        Records of an edited profile may rank by another metric than those from before: that is
        a board of its own, and its folder says so.
        """
        folder = links.board_folder(board)
        first = next(each for each in self.boards if links.board_folder(each) == folder)
        if first.metric != board.metric:
            folder = f"{folder}/{links.name(board.metric)}"
        return self.root + folder

    def framework(self, name: str) -> str:
        """Return a framework's page."""
        return f"{self.root}{links.framework_folder(name)}/{links.INDEX}"

    def record(self, path: str) -> str:
        """Return the page of a record that has one."""
        return f"{self.root}{links.record_folder(path)}/{links.INDEX}"

    def record_json(self, path: str) -> str:
        """Return a record's JSON, which each of them has."""
        return f"{self.root}{links.record_folder(path)}/record.json"

    def raw(self, record: str, path: str | None) -> str | None:
        """Return where the raw output that a record names is in the site; None if it is not there.

        Only what lies beside the record, which has a page, is its own.
        """
        folder, _, name = (path or "").rpartition("/")
        if f"{folder}.json" != record:
            return None
        is_taken = any(each.name == name for each in raw_files(self.folder, record))
        return f"{self.root}{links.record_folder(record)}/{name}" if is_taken else None
