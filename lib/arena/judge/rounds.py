"""Rounds: a named, frozen set of records and its boards, one file each in results/rounds/.

The records and their raw outputs are in bundles, which a round names by the hash of their
manifests. Its boards are kept as they were judged, with the version of the rules. Newer rules add
boards and replace none.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from arena.base.errors import HostError, UsageError
from arena.base.model import BOUNDED, Frozen
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import locked, write_atomic, write_new
from arena.judge.archive import NIGHTS, Archive, open_archive
from arena.judge.derive import RULES
from arena.judge.leaderboard import (
    Leaderboard,
    named_records,
    night_records,
    rank_entries,
    shown_records,
)
from arena.judge.packing import archive_to_pack, pack
from arena.judge.store import SUMS, sums_of
from arena.judge.twins import TwinBook, TwinHistory, load_name, read_book
from arena.record.arrivals import record_of
from arena.record.bundle import RAW, Bundle, text_of
from arena.record.times import UtcTime, utc_now

# Names have no dots: on the site, a round's folder is next to rounds/index.html.
_NAME = r"^[a-z0-9]+(?:[_-][a-z0-9]+)*$"

_MOVE = "move the folders of its profiles into results/, remove the rest, and freeze it again"

LICENCE = "CC-BY-4.0"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class DerivedBoards(Frozen):
    """The boards of a round by one version of the rules, and when they were derived.

    `sha256` is that of the leaderboard's JSON here, with sorted keys and without white space: only
    the newest rules can judge again.
    """

    derived_at: UtcTime
    sha256: Sha256 | Literal[""] = ""
    leaderboard: Annotated[Leaderboard, BOUNDED]

    @property
    def is_unaltered(self) -> bool:
        """Whether the boards have the sum that was saved with them."""
        return self.sha256 == _sum_of(self.leaderboard)


def _sum_of(boards: Leaderboard) -> str:
    plain = boards.model_dump(mode="json", exclude_defaults=True)
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Round(Frozen):
    """The content of results/rounds/<name>.json: what was frozen, when and why.

    `records` has the name of each record by its path, `bundles` the SHA-256 of the manifest of each
    bundle that they are in. `judged` has the boards, by the oldest rules first. `twins` has the
    history of the twins of each load, by the parts of its key with slashes between them: of the
    nights, only those that boards show are in a round.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    name: Annotated[str, Field(pattern=_NAME, max_length=64)]
    frozen_at: UtcTime
    note: Annotated[str, Field(max_length=1000)] = ""
    licence: Annotated[str, Field(max_length=100)] = LICENCE
    records: dict[str, Sha256]
    bundles: dict[str, Sha256]
    twins: dict[str, TwinHistory] = Field(default_factory=dict)
    judged: tuple[DerivedBoards, ...] = ()

    @property
    def text(self) -> str:
        """Return its JSON: all of its own, and of the boards what is no default."""
        own = self.model_dump(mode="json", exclude={"judged"})
        boards = self.model_dump(mode="json", include={"judged"}, exclude_defaults=True)
        return json.dumps({**own, **boards}, ensure_ascii=False, separators=(",", ":")) + "\n"

    @property
    def newest(self) -> Leaderboard:
        """Return the boards by the newest rules."""
        return self.judged[-1].leaderboard

    @property
    def is_older(self) -> bool:
        """Whether it has no boards by today's rules."""
        return self.newest.rules < RULES

    @property
    def twin_book(self) -> TwinBook:
        """What its boards know of twins."""
        return TwinBook(known=self.twins)


@dataclass(frozen=True)
class Frost:
    """The result of freezing: the round's file, how many records it names, and their bundles.

    So many records `moved` into `new` bundles; the others were in bundles already.
    """

    file: Path
    records: int
    bundles: Sequence[Path]
    moved: int
    new: int


def freeze(workspace: Workspace, name: str, note: str, progress: Progress) -> Frost:
    """Freeze the boards of current loads, and bundle those of their records that are loose.

    Of a night of blocks that a board shows, all visits are in the round. UsageError for an invalid
    name or note, for a name that is taken, and if there is nothing to freeze.
    """
    file = workspace.rounds / f"{name}.json"
    try:
        made = Round(name=name, frozen_at=utc_now(), note=note, records={}, bundles={})
    except pydantic.ValidationError as error:
        raise UsageError(_refusal(error)) from error
    with locked(workspace.rounds), archive_to_pack(workspace.results) as archive:
        if file.exists() or file.is_symlink():
            raise UsageError(f"{shown(file)}: exists already, and a round is never changed")
        for path, problem in archive.left_out.items():
            progress.say(f"warning: {shown(archive.folder / path)} is left out: {problem}")
        entries, book = archive.entries.values(), read_book(workspace.host)
        every = rank_entries(entries, archive.read, book).boards
        boards = [board for board in every if board.is_current]
        paths = sorted({*shown_records(boards), *night_records(boards, entries)})
        kept = [path for path in paths if _is_sound(archive, path, progress)]
        if not kept:
            raise UsageError(f"{shown(workspace.results)}: there is no record to freeze")
        loose: dict[str, list[str]] = defaultdict(list)
        for path in kept:
            if path not in archive.bundles:
                turn = archive.entries[path].turn
                loose[turn.night if turn else ""].append(path)
        for night, own in sorted(loose.items()):
            pack(archive, own, night)
        bundles = {archive.bundles[path] for path in kept}
        made = made.model_copy(
            update={
                "records": {path: archive.entries[path].sha256 for path in kept},
                "bundles": {each.folder.name: each.sha256 for each in bundles},
                "twins": {load_name(it.key): it.twin_history for it in boards if it.twin_history},
            }
        )
        made = _with_boards(made, archive)
        write_new(file, made.text)
    moved = sum(map(len, loose.values()))
    return Frost(file, len(kept), sorted(each.folder for each in bundles), moved, len(loose))


def _is_sound(archive: Archive, path: str, progress: Progress) -> bool:
    """Return whether a record can be frozen; report one that lacks a part of its proof."""
    entry = archive.entries[path]
    if not entry.is_proven and not entry.problem:
        why = archive.missing_proof(path)
        progress.say(f"warning: {shown(archive.folder / path)} is left out: {why}")
    return entry.is_proven


def _refusal(error: pydantic.ValidationError) -> str:
    """Return one line on what is wrong with a requested round."""
    first = error.errors(include_url=False)[0]
    if first["loc"] == ("name",):
        return (
            f"a round cannot be named {first['input']!r:.80}: write up to 64 small letters and "
            "digits, with single dashes or underscores between them"
        )
    return f"--note: {first['msg']}"


def _with_boards(it: Round, archive: Archive) -> Round:
    """Return a round with the boards of its records by today's rules as well."""
    own = archive.only(it.records)
    boards = rank_entries(own.entries.values(), own.read, it.twin_book)
    judged = DerivedBoards(derived_at=utc_now(), sha256=_sum_of(boards), leaderboard=boards)
    return it.model_copy(update={"judged": (*it.judged, judged)})


def derive(workspace: Workspace, name: str) -> Path:
    """Add the boards by today's rules to a round; the others stay as they are.

    UsageError for a round that is not there, is broken, lacks raw outputs, or has them.
    """
    file = workspace.rounds / f"{name}.json"
    try:
        found, archive = read_round(file), open_archive(workspace.results)
        _require_raw(require_records(found, archive))
    except ValueError as error:
        raise UsageError(f"{shown(file)}: {error}") from error
    if not found.is_older:
        raise UsageError(f"{shown(file)}: has the boards by rules {found.newest.rules} already")
    write_atomic(file, _with_boards(found, archive).text)
    return file


def _require_raw(own: Archive) -> None:
    """Raise ValueError if the raw outputs of some records are not there."""
    for bundle in _bundles_of(own):
        if problem := bundle.problem(RAW):
            raise ValueError(f"{NIGHTS}/{bundle.folder.name}: {problem}")


def _bundles_of(own: Archive) -> list[Bundle]:
    """Return the bundles that the records of a round are in."""
    return sorted({own.bundles[path] for path in own.entries}, key=lambda each: each.folder)


def require_records(it: Round, archive: Archive) -> Archive:
    """Return the records of a round; ValueError if a bundle or a record is not as it was frozen."""
    there = {each.folder.name: each.sha256 for each in archive.opened}
    for name, sha256 in it.bundles.items():
        if name not in there:
            where = f"{NIGHTS}/{name}"
            problem = archive.broken.get(where)
            raise ValueError(f"{where}: {problem}" if problem else f"{where} is missing")
        if there[name] != sha256:
            raise ValueError(f"{NIGHTS}/{name}: is another bundle than the one that was frozen")
    own = replace(archive.only(it.records), bundles={**archive.bare, **archive.bundles})
    if loose := own.entries.keys() - own.bundles.keys():
        raise ValueError(f"{min(loose)}: is in no bundle")
    return own


def problems_of(it: Round, archive: Archive, *, raw: bool) -> Iterator[str]:
    """Yield what is wrong with a round: its bundles, its records, and its boards.

    Those by today's rules are derived again. The others must have the sum that was saved with them,
    and so must all if raw outputs lie elsewhere: without these, records have no ranks. With `raw`,
    each raw output must be there, and the one that its record names.
    """
    try:
        own = require_records(it, archive)
    except ValueError as error:
        yield str(error)
        return
    bundles = _bundles_of(own)
    for each in it.judged:
        rules = each.leaderboard.rules
        if rules == RULES and all(bundle.has_raw for bundle in bundles):
            again = rank_entries(own.entries.values(), own.read, it.twin_book)
            if again != each.leaderboard:
                yield f"its boards by rules {rules} are not those of its records"
        elif not each.is_unaltered:
            yield f"its boards by rules {rules} have another sum than the one that was saved"
    for bundle in bundles if raw else ():
        yield from _raw_problems(it, own, bundle)


def _raw_problems(it: Round, own: Archive, bundle: Bundle) -> Iterator[str]:
    """Yield what is wrong with the raw outputs of a round's records in a bundle."""
    try:
        found = own.raw_problems(bundle)
    except ValueError as error:
        yield f"{NIGHTS}/{bundle.folder.name}: {error}"
        return
    for path in it.records:
        if own.bundles[path] == bundle:
            yield from (f"{path}: {problem}" for problem in found[path])


def export(it: Round, archive: Archive, folder: Path) -> None:
    """Write the records of a round and their raw outputs into a new folder, as they were loose.

    UsageError if the folder exists, or the round is broken.
    """
    try:
        own = require_records(it, archive)
        _require_raw(own)
        folder.mkdir(parents=True)
        for bundle in _bundles_of(own):
            paths = [path for path in it.records if own.bundles[path] == bundle]
            bundle.extract(folder, lambda path: record_of(path) in it.records)
            for path in paths:
                file = folder / path
                (beside := file.with_suffix("")).mkdir(parents=True, exist_ok=True)
                file.write_bytes(text := text_of(bundle.by_name[it.records[path]]))
                (beside / SUMS).write_text(sums_of(file, text))
    except FileExistsError as error:
        raise UsageError(f"{shown(folder)}: exists already") from error
    except ValueError as error:
        raise UsageError(f"round {it.name}: {error}") from error
    except OSError as error:
        raise HostError(f"{shown(folder)}: cannot be written ({error.strerror})") from error


def read_round(file: Path) -> Round:
    """Read a round's file; ValueError if it is broken."""
    try:
        found = Round.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ValueError(error.strerror) from error
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"{part}: " for part in first["loc"])
        raise ValueError(f"{where}{first['msg']}") from error
    if found.name != file.stem:
        raise ValueError(f"name: it is that of {found.name}")
    if not found.judged:
        raise ValueError("judged: it has no boards")
    rules = [each.leaderboard.rules for each in found.judged]
    if rules != sorted({*rules}):
        raise ValueError("judged: the rules are not in order, each once")
    for each in found.judged:
        if lacking := set(named_records(each.leaderboard.boards)) - found.records.keys():
            raise ValueError(f"judged: {min(lacking)} is none of its records")
    return found


def round_files(folder: Path) -> list[Path]:
    """Return the files of the rounds, sorted by name."""
    found = (path for path in folder.glob("*.json") if not path.name.startswith("."))
    return sorted(found, key=lambda path: path.stem)


def read_rounds(folder: Path) -> Iterator[tuple[Path, Round | ValueError]]:
    """Yield each round's file with the round or what is wrong with it, sorted by name.

    Those of older runners, which were folders, come first.
    """
    for old in sorted(folder.glob("*/round.json")):
        yield old.parent, ValueError("is a round of an older runner: " + _MOVE)
    for path in round_files(folder):
        try:
            yield path, read_round(path)
        except ValueError as error:
            yield path, error
