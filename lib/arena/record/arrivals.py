"""What may arrive from elsewhere, in an archive or a branch: records and the files beside them.

Whoever made it may mean harm, so a file is taken only if its name is one of a record's, and only
if it is a plain file. This needs no package: it also runs where nothing is set up.
"""

import gzip
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

# What arrives at once has at most so many files, and so many bytes in them.
MOST_FILES = 50_000
MOST_BYTES = 4 << 30

# Headers between two files of an archive; a name is a few hundred bytes at most.
_MOST_HEADER = 256 << 10

_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}(?:\.[0-9]{1,9})?Z"
_RECORD = re.compile(
    # profile, connections, framework, time
    rf"(?!(?:rounds|nights|host)/)({_NAME}/[0-9]{{1,9}}/{_NAME}/{_TIME})(?:\.json|(?:/{_NAME}){{1,3}})"
)
_BUNDLED = re.compile(
    rf"(nights/{_TIME}(?:-[0-9a-f]{{16}})?)/(?:manifest\.json|records\.jsonl\.xz|raw\.tar\.xz)"
)


def record_of(path: str) -> str | None:
    """Return the path of the record that a path below results/ belongs to; None for all others."""
    found = _RECORD.fullmatch(path)
    return f"{found[1]}.json" if found else None


def owner_of(path: str) -> str | None:
    """Return the record of a path below results/, or the manifest of its bundle; None for others.

    An owner goes to its place last.
    """
    found = _BUNDLED.fullmatch(path)
    return f"{found[1]}/manifest.json" if found else record_of(path)


def unpack(
    archive: IO[bytes] | gzip.GzipFile, folder: Path, is_wanted: Callable[[str], object]
) -> list[str]:
    """Write the wanted plain files of a tar archive below a folder; return their names.

    Of two members with one name the first is taken. ValueError says what is wrong with the
    archive; what was written until then stays.
    """
    names: list[str] = []
    try:
        for member, content in _members(archive):
            name = member.removeprefix("./")
            path = folder / name
            if not is_wanted(name) or path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                shutil.copyfileobj(content, file)
            names.append(name)
    except (NotADirectoryError, FileExistsError) as error:
        raise ValueError("a file has the name of a folder") from error
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, OverflowError) as error:
        raise ValueError(str(error) or "it ends too early") from error
    return names


def _members(archive: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[str, IO[bytes]]]:
    bounded = _Bounded(archive)
    left = MOST_BYTES
    with tarfile.open(fileobj=bounded, mode="r:") as opened:  # type: ignore[call-overload]
        for count, each in enumerate(opened, start=1):
            left -= each.size
            if count > MOST_FILES:
                raise ValueError(f"it has more than {MOST_FILES:,} members")
            if left < 0:
                raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
            bounded.left = each.size + _MOST_HEADER
            if each.isreg() and not each.issparse() and (content := opened.extractfile(each)):
                yield each.name, content
            bounded.left = _MOST_HEADER
            opened.members.clear()


class _Bounded:
    """An archive of which only so much is read until the next member; tarfile has no limit."""

    def __init__(self, archive: IO[bytes] | gzip.GzipFile) -> None:
        self._archive = archive
        self.left = _MOST_HEADER
        self.seek, self.tell = archive.seek, archive.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self.left:
            raise ValueError("it has a header without an end")
        self.left -= size
        return self._archive.read(size)
