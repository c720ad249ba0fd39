"""Outputs: the files of the site. Only those that have changed are written.

An output is unchanged if its key equals that of the last build and its file was not touched. Files
that are no longer part of the site are removed. Each file is made under a name that no page has,
and replaced in one step; nothing is flushed to the disk, because everything can be built again.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from arena.base.errors import ArenaError, HostError
from arena.base.progress import Progress
from arena.base.text import printable, shown
from arena.base.writing import DRAFT
from arena.judge.cache import Cache
from arena.machine.forks import spread
from arena.site.edition import INDEX

# The version of the cache's format.
_VERSION = "2"

# Minimum pages that justify another process, and that justify a line of progress.
_PER_PROCESS = 4
_MANY = 500

# How much of the reason is quoted why an output failed.
_LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the site, as text; `path` is below its root.

    Equal keys mean equal bytes. The code and the templates, on which all pages depend, are not in
    the key. `make` is called only if the key is new, perhaps in another process.
    """

    path: str
    key: str
    make: Callable[[], str]


# A page to make, with its key's digest.
_Stale = tuple[str, Page]


def write_changed(
    outputs: Iterable[Page],
    public: Path,
    folders: Iterable[str],
    code: str,
    kept: Cache,
    progress: Progress,
) -> None:
    """Write the outputs below `public`, and remove outdated ones of earlier builds.

    `code` is a digest of what all outputs depend on. An output that fails is reported and left
    out. HostError names a file that cannot be written. Without a cache, everything is written, and
    every other file in the site's `folders` is removed. A file outside those folders always stays.
    """
    _open(public)
    space = f"outputs in {public.resolve()}"
    known = dict(kept.load(space, _VERSION))
    planned, stale = _plan(outputs, public, code, known)
    gone = set(known or _standing(public, folders)) - planned
    # The forks of this process inherit everything that it holds.
    del known, planned
    made: dict[str, str] = {}
    removed: set[str] = set()
    try:
        for name in _removed(public, gone):
            removed.add(name)
        failed: dict[str, str] = {}
        for at, (text, problem) in _write_all(stale, public, progress):
            (failed if problem else made)[stale[at][1].path] = problem or text
        for name in _removed(public, failed):
            progress.say(printable(f"warning: {shown(public / name)} is left out: {failed[name]}"))
            removed.add(name)
    finally:
        if made or removed:
            kept.save(space, _VERSION, made, removed)


def _open(public: Path) -> None:
    try:
        public.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{shown(public)} is no folder" if public.exists() else error.strerror
        raise HostError(f"{shown(public / INDEX)}: cannot be written ({why})") from error
    for left in public.glob(f"{DRAFT}*"):
        with suppress(OSError):
            left.unlink()  # Of a build that was killed: only one builds at a time.


def _plan(
    outputs: Iterable[Page], public: Path, code: str, known: Mapping[str, str]
) -> tuple[set[str], list[_Stale]]:
    """Return the paths of all outputs, and the outputs to make."""
    planned: set[str] = set()
    folders: set[str] = set()
    stale = []
    for each in outputs:
        if not _is_below(each.path):
            raise ValueError(f"{each.path!r} is not below the site's folder")
        if each.path in planned:
            raise ValueError(f"two outputs are {each.path}")
        planned.add(each.path)
        folder = each.path.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
        digest = hashlib.sha256(f"{code} {each.key}".encode()).hexdigest()[:32]
        if not _stands(f"{public}/{each.path}", digest, known.get(each.path)):
            stale.append((digest, each))
    for path in planned & folders:
        raise ValueError(f"{path} is a file and a folder")
    return planned, stale


def _is_below(path: str) -> bool:
    return "\0" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))


def _stands(path: str, digest: str, made: str | None) -> bool:
    """Return whether a file is still the one made for a digest."""
    with suppress(OSError):
        return made is not None and made == _made(digest, os.lstat(path))
    return False


def _made(digest: str, status: os.stat_result) -> str:
    """Return the cache of a file: its output's digest, its size, and when it was last touched.

    The kernel alone sets that time, so a file that was overwritten is never taken for the one made.
    """
    return f"{digest} {status.st_size} {status.st_ino} {status.st_ctime_ns}"


def _standing(public: Path, folders: Iterable[str]) -> Iterator[str]:
    """Yield the files in the site's folders; skip symbolic links."""
    for name in folders:
        if (public / name).is_symlink():
            continue
        for parent, _, files in os.walk(public / name):
            below = os.path.relpath(parent, public)
            yield from (f"{below}/{file}" for file in files)


def _removed(public: Path, gone: Iterable[str]) -> Iterator[str]:
    """Remove files, and folders that become empty; yield each that is gone."""
    for name in sorted(gone):
        path = public / name
        try:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # It is not empty, or gone already.
                for folder in path.parents:
                    if folder == public:
                        break
                    folder.rmdir()
        except NotADirectoryError:
            pass
        except OSError as error:
            raise HostError(f"{shown(path)}: cannot be removed ({error.strerror})") from error
        yield name


def _write_all(
    stale: Sequence[_Stale], public: Path, progress: Progress
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Write outputs; yield the number of each with its cache entry, or with why it failed."""
    many, work = len(stale) >= _MANY, partial(_write, stale, public)
    with (
        spread(len(stale), work, forks=len(stale) // _PER_PROCESS) as written,
        progress.waiting(f"writing {len(stale):,} files of the site") if many else nullcontext(),
    ):
        yield from written


def _write(stale: Sequence[_Stale], public: Path, number: int) -> tuple[str, str]:
    digest, output = stale[number]
    try:
        data = output.make().encode()
    except Exception as error:  # Whatever a page is made from, the others are built.
        if os.environ.get("ARENA_DEBUG"):
            raise
        kind = "" if isinstance(error, ArenaError) else f"{type(error).__name__}: "
        return "", " ".join(f"{kind}{error}".split())[:_LONGEST_ERROR]
    path = f"{public}/{output.path}"
    try:
        if not _holds(path, data):
            _replace(path, data, f"{public}/{DRAFT}{number}")
        return _made(digest, os.lstat(path)), ""
    except OSError as error:
        raise HostError(f"{shown(Path(path))}: cannot be written ({error.strerror})") from error


def _holds(path: str, data: bytes) -> bool:
    with suppress(OSError):
        status = os.lstat(path)
        same_size = stat.S_ISREG(status.st_mode) and status.st_size == len(data)
        return same_size and Path(path).read_bytes() == data
    return False


def _replace(path: str, data: bytes, part: str) -> None:
    """Replace a file, by way of `part`."""
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "wb") as file:
        file.write(data)
    try:
        os.rename(part, path)  # noqa: PTH104 - there are a hundred thousand files
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(part).rename(path)
