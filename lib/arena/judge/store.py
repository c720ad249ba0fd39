"""The store of records: a session's draft, and how it becomes a record."""

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Self

from arena.base.errors import HostError
from arena.base.model import to_json
from arena.base.text import shown
from arena.base.writing import DRAFT, sync_tree, write_new
from arena.machine.interrupts import held
from arena.record.record import Record

# In a record's folder: the SHA-256 of the record's file, as `sha256sum -c` reads it.
SUMS = "SHA256SUMS"
_SUMS_CHARS = 1 << 16


class Draft:
    """A session's files while it runs: a hidden folder inside results/, on the same disk.

    `save` moves everything to its final name, the record last. Leaving the block without saving
    deletes it all, so an interrupt leaves nothing half-written. `advice` ends the error of a folder
    that cannot be made.
    """

    def __init__(self, results: Path, advice: str = "") -> None:
        self._results, self._advice = results, advice
        self.folder = Path()

    def __enter__(self) -> Self:
        try:
            self._results.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self._results))
            self.folder.chmod(0o755)
        except OSError as error:
            raise HostError(
                f"{shown(self._results)}: records cannot be written there ({error.strerror}); "
                f"make it a writable folder{self._advice}"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def save(self, record: Record) -> Path:
        """Move the raw outputs to their place and create the record; return its path."""
        path = self._results / record.path
        _put(self.folder, path, to_json(record))
        return path


def adopt(record: Path, path: Path) -> Path:
    """Move a record that was saved elsewhere on this disk to `path`, its folder first.

    HostError, and nothing is overwritten, if that cannot be.
    """
    _put(record.with_suffix(""), path, record.read_text(encoding="utf-8"))
    return path


def saved_sum(record: Path) -> str | None:
    """Return the SHA-256 that was saved with a record's file; None if no sums were saved.

    It is empty if the sums are not those of this record.
    """
    try:
        with (record.with_suffix("") / SUMS).open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_SUMS_CHARS).splitlines()
    except FileNotFoundError:
        return None
    sums = (line.partition("  ") for line in lines)
    return next((sha256 for sha256, _, name in sums if name == f"../{record.name}"), "")


def sums_of(record: Path, text: bytes) -> str:
    """Return what SHA256SUMS has of a record's file with this text."""
    return f"{hashlib.sha256(text).hexdigest()}  ../{record.name}\n"


def _put(folder: Path, path: Path, text: str) -> None:
    """Move the folder of a record to its place, and create the record's file beside it.

    In the folder, SHA256SUMS has the sum of that file.
    """
    beside = path.with_suffix("")
    with held():
        try:
            (folder / SUMS).write_text(sums_of(path, text.encode()))
            sync_tree(folder)
            beside.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(beside)
        except OSError as error:
            raise HostError(f"{shown(beside)}: cannot be written ({error.strerror})") from error
        try:
            write_new(path, text)
        except HostError:
            shutil.rmtree(beside, ignore_errors=True)
            raise


def clear_drafts(results: Path) -> None:
    """Remove the drafts of killed sessions; call it only while holding their lock."""
    for folder in results.glob(f"{DRAFT}*"):
        shutil.rmtree(folder, ignore_errors=True)
