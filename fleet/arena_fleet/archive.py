"""The results of a session on their way: one archive, whose records are added to the own ones."""

import errno
import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import HostError
from arena.base.hashing import sha256_of
from arena.base.text import printable, shown
from arena.judge.store import Draft, adopt, saved_sum
from arena.record.arrivals import record_of, unpack
from arena.record.reading import parse_record
from arena.record.record import Record

# The errors of a new folder that come from the names in an archive.
_OF_NAMES = {errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG}


@dataclass(frozen=True)
class Adopted:
    """A record that came from a rack, and its file here."""

    path: Path
    record: Record


def pack(results: Path) -> bytes:
    """Return the results of a session as an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for each in sorted(results.iterdir()):
            archive.add(each, each.name)
    return buffer.getvalue()


class DamagedError(HostError):
    """The results of a session are not what its rack has made."""


class Unpacked:
    """An archive in a draft's folder, which nothing but files are taken from.

    DamagedError if it is broken, another HostError if it cannot be written here.
    """

    def __init__(self, archive: bytes, draft: Draft, results: Path) -> None:
        self._folder, self._results = draft.folder, results
        if not archive:
            return
        try:
            unpack(gzip.GzipFile(fileobj=io.BytesIO(archive)), self._folder, record_of)
        except ValueError as error:
            raise DamagedError(f"the results cannot be unpacked: {error}") from error
        except OSError as error:
            raise HostError(f"the results cannot be written: {error.strerror}") from error

    def records(self) -> Iterator[tuple[Path, Record]]:
        """Yield each record with its file; DamagedError if it was damaged."""
        for path in sorted(self._folder.glob("*/*/*/*Z.json")):
            name = path.relative_to(self._folder).as_posix()
            try:
                record = parse_record(path.read_bytes())
                saved = saved_sum(path)
            except (ValueError, OSError) as error:
                if isinstance(error, OSError):
                    _require_rack_fault(path, error)
                raise DamagedError(f"{name}: cannot be read: {error}") from error
            if record.path != name:
                raise DamagedError(f"{name}: is the record of {record.path}")
            wanted = {name: saved or "", **{raw.path: raw.sha256 for raw in record.raws}}
            for file, sha256 in wanted.items():
                if not _is_whole(self._folder / file, sha256):
                    raise DamagedError(f"{printable(file)}: was damaged on its way")
            yield path, record

    def adopt(self) -> list[Adopted]:
        """Move all records to their places here.

        DamagedError, and nothing is moved, if one is bad; another HostError if one cannot be moved.
        """
        return [
            Adopted(adopt(path, self._results / record.path), record)
            for path, record in list(self.records())
        ]


def _is_whole(path: Path, sha256: str) -> bool:
    try:
        return path.is_file() and sha256_of(path) == sha256
    except OSError as error:
        _require_rack_fault(path, error)
        return False


def _require_rack_fault(path: Path, error: OSError) -> None:
    """Raise HostError if it is this host that cannot read a file, and not the file that is odd."""
    if error.errno not in {errno.ENOENT, *_OF_NAMES}:
        raise HostError(f"{shown(path)}: cannot be read ({error.strerror})") from error
