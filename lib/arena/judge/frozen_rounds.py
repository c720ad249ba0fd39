"""Rounds: a named, frozen set of records, below results/rounds/.

Freezing copies records and their raw outputs; nothing is ever edited or deleted.
"""

import os
import re
import shutil
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from arena.base.errors import UsageError
from arena.base.hashing import sha256_of
from arena.base.model import Frozen, to_json
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import locked, sync, sync_tree, write_new
from arena.judge.archive import Archive, missing_proof, open_archive, raw_problems
from arena.judge.flags import UNPROVEN
from arena.judge.leaderboard import night_records, rank_entries, shown_records
from arena.judge.nights import TwinHistory
from arena.judge.store import Draft, clear_drafts
from arena.judge.twins import TwinBook, load_name, read_book
from arena.machine.interrupts import held
from arena.record.reading import read_record
from arena.record.times import UtcTime, utc_now

_FILE = "round.json"

# Names have no dots: on the site, a round's folder is next to rounds/index.html.
_NAME = r"^[a-z0-9]+(?:[_-][a-z0-9]+)*$"


# Files of a visit that nobody needs if it is good.
_LEFT_OUT = re.compile(r"warm-up.*|.*\.log|.*\.stderr")


class Round(Frozen):
    """The content of results/rounds/<name>/round.json: what was frozen, when and why.

    `records` maps each record's path, below the round's folder, to the SHA-256 of its file. The
    hashes of the runs' raw outputs are in the records. `twins` has the history of the twins of each
    load, by the parts of its key with slashes between them: of the nights, only those that boards
    show are frozen.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    name: Annotated[str, Field(pattern=_NAME, max_length=64)]
    frozen_at: UtcTime
    note: Annotated[str, Field(max_length=1000)] = ""
    records: dict[str, str]
    twins: dict[str, TwinHistory] = Field(default_factory=dict)

    @property
    def twin_book(self) -> TwinBook:
        """What its boards know of twins."""
        return TwinBook(frozen=self.twins)


@dataclass(frozen=True)
class Frost:
    """The result of freezing: the round's folder, and its numbers of records, files and bytes."""

    folder: Path
    records: int
    files: int
    size_bytes: int


def freeze(workspace: Workspace, name: str, note: str, progress: Progress) -> Frost:
    """Copy the records that the boards of current loads are made of, with the files of each.

    Of a night of blocks that a board shows, these are all visits. The round is complete or does not
    exist. UsageError for an invalid name or note, for a name that is taken, and if there is nothing
    to freeze.
    """
    try:
        found = Round(name=name, frozen_at=utc_now(), note=note, records={})
    except pydantic.ValidationError as error:
        raise UsageError(_refusal(error)) from error
    folder = workspace.rounds / name
    _require_new(folder)
    archive = open_archive(workspace.results)
    for path, problem in archive.broken.items():
        progress.say(f"warning: {shown(archive.folder / path)} is left out: {problem}")
    entries, book = archive.entries.values(), read_book(workspace.host)
    every = rank_entries(entries, archive.read, book).boards
    boards = [board for board in every if board.is_current]
    wanted = sorted({*shown_records(boards), *night_records(boards, entries)})
    paths = []
    for path in wanted:
        entry = archive.entries[path]
        if UNPROVEN in entry.flags and not entry.problem:
            missing = missing_proof(archive.folder, archive.read(path))
            progress.say(f"warning: {shown(archive.folder / path)} is left out: {missing}")
        else:
            paths.append(path)
    if not paths:
        raise UsageError(f"{shown(workspace.results)}: there is no record to freeze")
    files = [file for path in paths for file in _files_of(archive, path, progress)]
    with _rounds_to_ourselves(workspace.rounds), Draft(workspace.rounds) as draft:
        size = sum(_copy(archive.folder / file, draft.folder / file) for file in files)
        hashes = {path: sha256_of(draft.folder / path) for path in paths}
        for path in paths:
            for problem, _ in raw_problems(draft.folder, read_record(draft.folder / path)):
                progress.say(f"warning: {shown(archive.folder / path)}: {problem}")
        twins = {load_name(each.key): each.twin_history for each in boards if each.twin_history}
        found = found.model_copy(update={"records": hashes, "twins": twins})
        write_new(draft.folder / _FILE, to_json(found))
        sync_tree(draft.folder)
        with held():
            # Renaming would replace an empty folder.
            _require_new(folder)
            draft.folder.rename(folder)
            sync(workspace.rounds)
    return Frost(folder, len(paths), len(files), size)


def _refusal(error: pydantic.ValidationError) -> str:
    """Return one line on what is wrong with a requested round."""
    first = error.errors(include_url=False)[0]
    if first["loc"] == ("name",):
        return (
            f"a round cannot be named {first['input']!r:.80}: write up to 64 small letters and "
            "digits, with single dashes or underscores between them"
        )
    return f"--note: {first['msg']}"


def _require_new(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{shown(folder)}: exists already, and a round is never changed")


def _files_of(archive: Archive, path: str, progress: Progress) -> Iterator[str]:
    """Yield a record's file and the plain files in its folder, as paths below results/.

    Of a good visit, which is one of many, the logs and the warm-up's output are left out. So is
    what an entry may have left there that is no plain file: the target of a link is not part of
    the record. UsageError if the record itself is none.
    """
    entry = archive.entries[path]
    is_one_of_many = entry.turn is not None and entry.status == "ok"
    if not _is_plain(archive.folder, path):
        what = shown(archive.folder / path)
        raise UsageError(f"{what}: is not a plain file, so it cannot be frozen")
    yield path
    beside = (archive.folder / path).with_suffix("")
    for parent, folders, files in os.walk(beside):
        folders.sort()
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        for name in sorted(files + links):
            file = (Path(parent) / name).relative_to(archive.folder).as_posix()
            if not _is_plain(archive.folder, file):
                what = shown(archive.folder / file)
                progress.say(f"warning: {what} is left out: it is not a plain file")
            elif not (is_one_of_many and _LEFT_OUT.fullmatch(name)):
                yield file


def _is_plain(results: Path, below: str) -> bool:
    file = results / below
    return file.resolve() == results.resolve() / below and file.is_file()


def _copy(source: Path, target: Path) -> int:
    """Copy a file byte for byte; return its size."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as original, target.open("xb") as copy:
        shutil.copyfileobj(original, copy)
        return copy.tell()


@contextmanager
def _rounds_to_ourselves(folder: Path) -> Iterator[None]:
    """Lock the rounds for the block, and remove the drafts of killed sessions."""
    with locked(folder):
        clear_drafts(folder)
        yield


def round_folders(folder: Path) -> list[Path]:
    """Return the folders of the rounds, sorted by name; not of one that is being frozen."""
    return sorted(path for path in folder.glob("*/") if not path.name.startswith("."))


def read_rounds(
    folder: Path, left_out: Container[Path] = (), *, thorough: bool = False
) -> Iterator[tuple[Path, Round | ValueError]]:
    """Yield each round's folder with the round or what is wrong with it, sorted by name.

    The records must equal the frozen ones, byte for byte. If `thorough`, the raw outputs of their
    runs must, too. The folders that are left out are not read.
    """
    for path in round_folders(folder):
        if path in left_out:
            continue
        try:
            yield path, _read(path, thorough=thorough)
        except OSError as error:
            yield path, ValueError(f"{Path(error.filename).name}: {error.strerror}")
        except ValueError as error:
            yield path, error


def _read(folder: Path, *, thorough: bool) -> Round:
    try:
        found = Round.model_validate_json((folder / _FILE).read_bytes())
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"{part}: " for part in first["loc"])
        raise ValueError(f"{_FILE}: {where}{first['msg']}") from error
    if found.name != folder.name:
        raise ValueError(f"{_FILE}: name: it is that of {found.name}")
    there = {path.relative_to(folder).as_posix() for path in folder.glob("*/*/*/*.json")}
    for name in sorted(there ^ found.records.keys()):
        raise ValueError(f"{name}: " + ("was added later" if name in there else "is missing"))
    for name, sha256 in found.records.items():
        if sha256_of(folder / name) != sha256:
            raise ValueError(f"{name}: was altered")
        for problem, _ in raw_problems(folder, read_record(folder / name)) if thorough else ():
            raise ValueError(f"{name}: {problem}")
    return found
