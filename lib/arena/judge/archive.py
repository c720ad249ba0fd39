"""The archive: every record below results/, loose or in a bundle, without holding them all.

A cache keeps each record's entry: of a loose one with the sizes and times of its file and of the
files beside it, of a bundle with its hash. What is unchanged is not read again. Only files three
folders down are loose records. Names that begin with a dot are ignored, and symbolic links are not
followed.
"""

import hashlib
import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path

import pydantic

import arena
from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import sha256_of, tree_sha256
from arena.base.text import printable, shown
from arena.base.writing import DRAFT
from arena.judge.cache import Cache
from arena.judge.entry import Entry, entry_from, entry_of
from arena.judge.origins import may_change, with_origin
from arena.judge.store import SUMS, saved_sum
from arena.machine.forks import spread
from arena.record.bundle import LONGEST_RECORD, RAW, RECORDS, Bundle, name_of, text_of
from arena.record.reading import parse_record
from arena.record.record import Record

# Loose records lie in profile/connections/framework/, bundles in this folder.
_DEPTH = 3
NIGHTS = "nights"

# The files per extra process, and the number of files from which progress is shown.
_PER_PROCESS = 200
_MANY = 5000

# The names of generators, which also name folders.
_GENERATOR = re.compile("[a-z0-9][a-z0-9_-]{0,63}")

# The packages whose code determines a record's entry, as folders of lib/.
_SOURCES = ("arena/base", "arena/what", "arena/record", "arena/machine", "arena/judge", "parsers")

# The number of parsed records in memory: all of a small set, and recently read ones.
_PARSED = 128

# The state of a record's files, and its entry or what is wrong with it.
Seen = tuple[str, Entry | str]


@dataclass(frozen=True)
class Archive:
    """The entries of all good records, by path, and what is wrong with each of the others.

    `bundles` has the bundle of each record that is in one, `opened` all of them. A loose record
    with its proof counts more than its bundle without raw outputs, which is in `bare` then.
    """

    folder: Path
    entries: Mapping[str, Entry]
    broken: Mapping[str, str]
    bundles: dict[str, Bundle] = field(compare=False)
    opened: list[Bundle] = field(compare=False)
    _records: "_Records" = field(repr=False, compare=False)
    bare: Mapping[str, Bundle] = field(default_factory=dict, compare=False)

    @property
    def left_out(self) -> Mapping[str, str]:
        """What is wrong with each record that does not count: it is broken, or was altered."""
        altered = {path: each.problem for path, each in self.entries.items() if each.problem}
        return {**self.broken, **altered}

    def read(self, path: str) -> Record:
        """Return one of the records in full; HostError if it has changed since."""
        try:
            return self._records.read(path)[0]
        except (ValueError, OSError) as error:
            where = shown(self.folder / path)
            raise HostError(f"{where}: is not the record that it was: {error}") from error

    def missing_proof(self, path: str) -> str:
        """Return what of a good record's proof is missing, or nothing."""
        return self._records.missing_proof(self.read(path))

    def raw_problems(self, bundle: Bundle) -> Mapping[str, Sequence[str]]:
        """Return what is wrong with the raw outputs of a bundle's records, which is read once.

        ValueError if it has no sound raw outputs.
        """
        return self._records.raw_problems(bundle)

    def packed(self, bundle: Bundle, paths: Iterable[str]) -> None:
        """Note that records, which were loose, are in a bundle now."""
        self.opened.append(bundle)
        for path in paths:
            self.bundles[path] = bundle
            self._records.bundled[path] = bundle, self.entries[path].sha256

    def log(self, path: str, name: str) -> bytes | None:
        """Return a log that was saved with a record; None if it is not there."""
        file = f"{path.removesuffix('.json')}/{name}"
        if bundle := self.bundles.get(path):
            return bundle.logs.get(file)
        try:
            return _plain(self.folder, file)
        except (OSError, ValueError):
            return None

    def text(self, path: str) -> str:
        """Return a record as it was saved."""
        if bundle := self.bundles.get(path):
            line = bundle.by_name[self.entries[path].sha256]
            return text_of(line).decode()
        return (self.folder / path).read_text(encoding="utf-8")

    def files(self, path: str) -> Mapping[str, bytes]:
        """Return the files that were saved beside a record, by name.

        ValueError if its bundle has no sound raw outputs.
        """
        own = f"{path.removesuffix('.json')}/"
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if bundle := self.bundles.get(path):
                bundle.extract(folder, lambda file: file.startswith(own))
            else:
                folder = self.folder
            found = [each for each in plain_files(folder / own) if each.name != SUMS]
            return {each.relative_to(folder / own).as_posix(): each.read_bytes() for each in found}

    def only(self, names: Mapping[str, str]) -> "Archive":
        """Return the records with these names, by path; ValueError if one is not there."""
        for path, name in names.items():
            if path not in self.entries:
                raise ValueError(f"{path}: {self.broken.get(path, 'is missing')}")
            if self.entries[path].sha256 != name:
                raise ValueError(f"{path}: was altered")
        return replace(self, entries={path: self.entries[path] for path in names}, broken={})

    def without(self, names: Container[str]) -> "Archive":
        """Return all records but those with these names."""
        left = {path: each for path, each in self.entries.items() if each.sha256 not in names}
        return replace(self, entries=left)


class _Records:
    """The records of a folder in full; `read` returns one, its name, and its file's SHA-256.

    `bundled` has the bundle and the name of those that are in one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bundled: dict[str, tuple[Bundle, str]] = {}
        self.read = lru_cache(_PARSED)(self._parsed)
        self.raw_problems = cache(self._raw_problems)

    def _parsed(self, path: str) -> tuple[Record, str, str]:
        if found := self.bundled.get(path):
            bundle, name = found
            return self.of_line(bundle.by_name[name]), name, ""
        data = (self._folder / path).read_bytes()
        return self.of_line(data), name_of(data), hashlib.sha256(data).hexdigest()

    def of_line(self, data: bytes) -> Record:
        """Return a record of a text."""
        return with_origin(parse_record(data), self._folder)

    def missing_proof(self, record: Record) -> str:
        """Return what of a good record's proof is missing, or nothing."""
        if found := self.bundled.get(record.path):
            return "" if _is_proven(record, found[0]) else f"{RAW} is missing"
        return missing_proof(self._folder, record)

    def _raw_problems(self, bundle: Bundle) -> Mapping[str, Sequence[str]]:
        with tempfile.TemporaryDirectory(prefix=DRAFT) as made:
            bundle.extract(folder := Path(made))
            every = (self.of_line(line) for line in bundle.lines())
            return {it.path: [said for said, _ in raw_problems(folder, it)] for it in every}

    def may_change(self, record: Record) -> bool:
        """Return whether a record may read otherwise later, although its files stay the same."""
        return may_change(record, self._folder)

    def alteration(self, record: Record, sha256: str) -> str:
        """Return how a record or a raw output differs from what was saved, or nothing.

        Older records have no sums: then only their raw outputs tell.
        """
        if saved_sum(self._folder / record.path) not in {None, sha256}:
            return f"its file was altered after it was saved ({SUMS} has another sum)"
        altered = (each for each, is_there in raw_problems(self._folder, record) if is_there)
        return next(altered, "")


def open_archive(
    folder: Path, kept: Cache | None = None, progress: Progress | None = None
) -> Archive:
    """Read every record that lies here: loose, or in a bundle, whether a round names that or not.

    So boards, the twins of all nights, comparisons, what has changed and what is frozen are of the
    same records. A record that is there several times counts once. Flags are those of today's
    rules. `kept` caches entries for the next time.
    """
    records = _Records(folder)
    good, broken = _loose(folder, records, kept, progress)
    bundles: dict[str, Bundle] = {}
    bare: dict[str, Bundle] = {}
    opened: list[Bundle] = []
    for path in sorted(folder.glob(f"{NIGHTS}/[0-9]*/")):
        if path.is_symlink():
            continue
        where = f"{NIGHTS}/{path.name}"
        try:
            bundle = Bundle.open(path)
            found = _bundled(bundle, records, kept)
        except (ValueError, OSError) as error:
            broken[where] = _one_line(error)
            continue
        opened.append(bundle)
        for name, entry in found.items():
            known = good.get(name)
            if known and known.sha256 != entry.sha256:
                broken[f"{where}: {name}"] = "there is another record of this name"
                continue
            if name in bundles and bundles[name].has_raw:
                continue  # Two machines have bundled it.
            if known and name not in bundles and known.is_proven and not bundle.has_raw:
                bare[name] = bundle
                continue
            good[name], bundles[name] = entry, bundle
            records.bundled[name] = bundle, entry.sha256
    return Archive(folder, dict(sorted(good.items())), broken, bundles, opened, records, bare)


def _bundled(bundle: Bundle, records: _Records, kept: Cache | None) -> Mapping[str, Entry]:
    """Return the entries of a bundle, by path; ValueError if it is not what its manifest says."""
    state = " ".join(_states(str(bundle.folder)))
    space = f"bundle {bundle.sha256}" + " without proof" * (not bundle.has_raw)
    known = [it for _, it in _remembered(kept, space)]
    is_known = len(known) == bundle.manifest.records
    found = {what.path: what for _, what in known if is_known and isinstance(what, Entry)}
    if is_known and all(each == state for each, _ in known):
        return found
    for part in (RECORDS, RAW) if bundle.has_raw else (RECORDS,):
        if problem := bundle.problem(part):
            raise ValueError(problem)
    changes = False
    for line in () if is_known else bundle.lines():
        record = records.of_line(line)
        _require_place(record, record.path)
        if record.path in found:
            raise ValueError(f"{record.path} is there twice")
        is_proven = _is_proven(record, bundle)
        found[record.path] = entry_of(record, name_of(line), is_proven=is_proven)
        changes |= records.may_change(record)
    if kept and not changes:
        texts = {it.path: json.dumps((state, it), default=Entry.values) for it in found.values()}
        kept.save(space, _version(), texts)
    return found


def _loose(
    folder: Path, records: _Records, kept: Cache | None, progress: Progress | None
) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the entries of the loose records, and what is wrong with the others."""
    space = f"records in {folder.resolve()}"
    known = dict(_remembered(kept, space))
    seen: dict[str, Seen] = {}
    stale: list[tuple[str, str]] = []
    broken: dict[str, str] = {}
    for name, state, problem in _scan(str(folder)):
        before = known.get(name)
        if problem:
            broken[name] = problem
        elif before and before[0] == state:
            seen[name] = before
        else:
            stale.append((name, state))
    fresh = _read(records, stale, progress)
    if kept and (fresh or known.keys() - seen.keys()):
        texts = {name: json.dumps(what, default=Entry.values) for name, what in fresh.items()}
        kept.save(space, _version(), texts, known.keys() - seen.keys() - fresh.keys())
    seen |= fresh
    good: dict[str, Entry] = {}
    for name in sorted(seen):
        what = seen[name][1]
        if isinstance(what, Entry):
            good[name] = what
        else:
            broken[name] = what
    return good, broken


def _scan(folder: str, above: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str, str]]:
    """Yield each file in the place of a record: its name, its state, and what is wrong."""
    try:
        with os.scandir(folder) as found:
            below = [each for each in found if not each.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield above, "", f"cannot be read ({error.strerror})"
        return
    for each in below:
        name = above + each.name
        if name.encode(errors="replace").decode() != name:
            yield name, "", "its name is not UTF-8"
        elif depth and each.is_dir(follow_symlinks=False):
            yield from _scan(each.path, f"{name}/", depth - 1)
        elif depth and each.is_dir():
            yield name, "", "is a symbolic link, which is not followed"
        elif not depth and name.endswith(".json"):
            yield name, *_look(each)


def _look(file: "os.DirEntry[str]") -> tuple[str, str]:
    """Return the state of a record's files, and why its own must not be opened, if so."""
    try:
        status = file.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return "", "is not a regular file"
        if status.st_size > LONGEST_RECORD:
            return "", f"is larger than {LONGEST_RECORD >> 20} MiB"
        return " ".join([_state("", status), *_states(file.path.removesuffix(".json"))]), ""
    except OSError as error:
        return "", f"cannot be read ({error.strerror})"


def _states(folder: str) -> list[str]:
    """Return the state of each file beside a record."""
    try:
        with os.scandir(folder) as found:
            beside = sorted(found, key=lambda each: each.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    states: list[str] = []
    for each in beside:
        states.append(_state(each.name, each.stat(follow_symlinks=False)))
        if each.is_dir(follow_symlinks=False):
            states += _states(each.path)
    return states


def _state(name: str, status: os.stat_result) -> str:
    # The kernel alone sets the time of the last change.
    return f"{name!r}:{status.st_size}:{status.st_ctime_ns}"


def _read(
    records: _Records, stale: Sequence[tuple[str, str]], progress: Progress | None
) -> dict[str, Seen]:
    """Return each file's entry, or what is wrong with it, by name."""
    work = partial(_look_into, records, stale)
    many = progress if len(stale) >= _MANY else None
    with (
        spread(len(stale), work, forks=len(stale) // _PER_PROCESS) as answers,
        many.waiting(f"reading {len(stale):,} records") if many else nullcontext(),
    ):
        return {stale[number][0]: what for number, what in answers}


def _look_into(records: _Records, stale: Sequence[tuple[str, str]], number: int) -> Seen:
    """Return a file's entry, or what is wrong with it."""
    name, state = stale[number]
    try:
        record, own_name, sha256 = records.read(name)
        _require_place(record, name)
        if records.may_change(record):
            state = ""  # It is read again.
        problem, is_proven = records.alteration(record, sha256), not records.missing_proof(record)
        return state, entry_of(record, own_name, problem, is_proven=is_proven)
    except (ValueError, OSError) as error:
        return state, _one_line(error)
    except Exception as error:  # No record may end the reading of all others.
        if os.environ.get("ARENA_DEBUG"):
            raise
        return state, _one_line(f"{type(error).__name__}: {error}")


def _one_line(said: object) -> str:
    return printable(" ".join(str(said).split()))[:300]


def _is_proven(record: Record, bundle: Bundle) -> bool:
    """Return whether a record's bundle has the raw outputs of its own, if it is good."""
    return record.status != "ok" or bundle.has_raw


def _plain(folder: Path, file: str) -> bytes | None:
    """Return the content of a plain file below a folder; None if links lead there, or no file."""
    path = folder / file
    if not path.is_file() or path.resolve() != folder.resolve() / file:
        return None
    return path.read_bytes()


def plain_files(folder: Path) -> Iterator[Path]:
    """Yield the plain files below a folder; links are not followed."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = Path(parent, name)
            if file.is_file() and not file.is_symlink():
                yield file


def missing_proof(folder: Path, record: Record) -> str:
    """Return what of a good record's proof is missing: its sum, or a raw output; or nothing."""
    if record.status != "ok":
        return ""
    if saved_sum(folder / record.path) is None:
        return f"{SUMS} is missing"
    own = (folder / record.path).with_suffix("")
    for raw in record.raws:
        path = folder / raw.path.replace("\0", "")
        if path.parent != own or path.is_symlink() or not path.is_file():
            return f"{path.name} is missing"
    return "" if record.raws else "there is no raw output"


def raw_problems(folder: Path, record: Record) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with each raw output of a record's runs, and whether it is there."""
    for raw in record.raws:
        path = folder / raw.path.replace("\0", "")
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            yield f"{path.name} is missing", False
        elif sha256_of(path) != raw.sha256:
            yield f"{path.name} is not what was measured", True


def _require_place(record: Record, name: str) -> None:
    """Raise ValueError if a record is in the wrong folder, or if its names are not usable.

    Boards lie in folders named after generators; framework pages lie next to their index.html.
    """
    if record.path != name:
        raise ValueError(f"it belongs to {record.path}")
    if not _GENERATOR.fullmatch(record.profile.generator):
        raise ValueError("profile.generator: is not the name of a program")
    if record.framework.name == "index.html":
        raise ValueError("framework.name: is that of a page")


def _remembered(kept: Cache | None, space: str) -> Iterator[tuple[str, Seen]]:
    for name, text in kept.load(space, _version()) if kept else ():
        try:
            state, what = json.loads(text)
            yield name, (state, what if isinstance(what, str) else entry_from(*what))
        except (ValueError, TypeError, LookupError):
            continue


@cache
def _version() -> str:
    """Return the cache's version: a hash of Python, pydantic and the code, in 32 hex digits."""
    lib = Path(arena.__file__).parents[1]
    code = tree_sha256(
        lib, sorted(path for each in _SOURCES for path in lib.glob(f"{each}/**/*.py"))
    )
    return hashlib.sha256(f"{sys.version} {pydantic.VERSION} {code}".encode()).hexdigest()[:32]
