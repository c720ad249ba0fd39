"""The archive: every record of a set, without holding them all in memory.

A cache keeps each record's entry with the sizes and times of its file and of the files beside it;
what is unchanged is not read again. Only files three folders down are records. Names that begin
with a dot are ignored, and symbolic links are not followed.
"""

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path

import pydantic

import arena
from arena.base.errors import HostError
from arena.base.hashing import sha256_of, tree_sha256
from arena.base.progress import Progress
from arena.base.text import printable, shown
from arena.judge.cache import Cache
from arena.judge.entry import Entry, disagreement, entry_from, entry_of
from arena.judge.flags import UNPROVEN, judged_again
from arena.judge.origins import may_change, with_origin
from arena.judge.store import SUMS, saved_sum
from arena.machine.forks import spread
from arena.record.reading import parse_record
from arena.record.record import Record

# Records lie in profile/connections/framework/.
_DEPTH = 3

# The maximum size of a record: twice that of a day-long run with all its seconds.
_LONGEST_BYTES = 128 << 20

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
    """The entries of a set's good files, by path, and what is wrong with each of the others."""

    folder: Path
    entries: Mapping[str, Entry]
    broken: Mapping[str, str]
    _records: "_Records" = field(repr=False, compare=False)

    def read(self, path: str) -> Record:
        """Return one of the records in full; HostError if it has changed since."""
        try:
            return self._records.read(path)[0]
        except (ValueError, OSError) as error:
            where = shown(self.folder / path)
            raise HostError(f"{where}: is not the record that it was: {error}") from error


class _Records:
    """The records of a folder in full; `read` returns one, and the SHA-256 of its file."""

    def __init__(self, folder: Path, *, is_frozen: bool) -> None:
        self._folder, self._is_frozen = folder, is_frozen
        self.read = lru_cache(_PARSED)(self._parsed)

    def _parsed(self, name: str) -> tuple[Record, str]:
        data = (self._folder / name).read_bytes()
        record = with_origin(parse_record(data), self._folder)
        if not self._is_frozen:
            record = judged_again(record)
            if missing_proof(self._folder, record):
                record = record.model_copy(update={"flags": (*record.flags, UNPROVEN)})
        return record, hashlib.sha256(data).hexdigest()

    def may_change(self, record: Record) -> bool:
        """Return whether a record may read otherwise later, although its files stay the same."""
        return not self._is_frozen and may_change(record, self._folder)

    def alteration(self, record: Record, sha256: str) -> str:
        """Return how a record or a raw output differs from what was saved, or nothing.

        Older records have no sums; then the figures must at least be those of the runs.
        """
        saved = saved_sum(self._folder / record.path)
        if saved not in {None, sha256}:
            return f"its file was altered after it was saved ({SUMS} has another sum)"
        problem = disagreement(record) if saved is None else ""
        altered = (each for each, is_there in raw_problems(self._folder, record) if is_there)
        return problem or next(altered, "")


def open_archive(
    folder: Path,
    kept: Cache | None = None,
    progress: Progress | None = None,
    *,
    is_frozen: bool = False,
) -> Archive:
    """Read every record below a folder; `kept` caches their entries for the next time.

    Flags are those of today's rules; records of a round, which `is_frozen`, keep theirs.
    """
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
    records = _Records(folder, is_frozen=is_frozen)
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
    return Archive(folder, good, broken, records)


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
        if status.st_size > _LONGEST_BYTES:
            return "", f"is larger than {_LONGEST_BYTES >> 20} MiB"
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
        record, sha256 = records.read(name)
        _require_place(record, name)
        if records.may_change(record):
            state = ""  # It is read again.
        return state, entry_of(record, sha256, records.alteration(record, sha256))
    except (ValueError, OSError) as error:
        said = str(error)
    except Exception as error:  # No record may end the reading of all others.
        if os.environ.get("ARENA_DEBUG"):
            raise
        said = f"{type(error).__name__}: {error}"
    return state, printable(" ".join(said.split()))[:300]


def missing_proof(folder: Path, record: Record) -> str:
    """Return what of a good record's proof is missing: its sum, or a raw output; or nothing."""
    if record.status != "ok":
        return ""
    if saved_sum(folder / record.path) is None:
        return f"{SUMS} is missing"
    own = (folder / record.path).with_suffix("")
    for raw in record.raws:
        path = folder / raw.path.replace("\0", "")
        if path.parent != own or not path.is_file():
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
