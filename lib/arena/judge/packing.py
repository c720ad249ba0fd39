"""Packing: loose records become a bundle, which is complete before the first of them goes.

Killed at any moment, every record is there at least once. The end of the night, or of the next one,
removes what is there twice.
"""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import sha256_of
from arena.base.text import shown
from arena.base.writing import DRAFT, locked, sync, sync_tree
from arena.judge.archive import NIGHTS, Archive, open_archive, plain_files
from arena.judge.cache import Cache
from arena.judge.store import SUMS
from arena.machine.interrupts import held
from arena.record.arrivals import record_of
from arena.record.bundle import MANIFEST, Bundle, Kept, Manifest, write_bundle

# Files that nobody needs of a good visit, which is one of many.
_LEFT_OUT = re.compile(r"warm-up.*|.*\.log|.*\.stderr")

# A bundle that is being written; racks have drafts of their own beside it.
_PART = f"{DRAFT}bundle-"


@contextmanager
def archive_to_pack(
    results: Path, kept: Cache | None = None, progress: Progress | None = None
) -> Iterator[Archive]:
    """Open the archive for the block, in which no other process packs.

    What a packing that was cut short has left is removed first.
    """
    with locked(results / NIGHTS):
        for left in (results / NIGHTS).glob(f"{_PART}*"):
            shutil.rmtree(left, ignore_errors=True)
        archive = open_archive(results, kept, progress)
        finish(archive)
        yield archive


def pack(archive: Archive, paths: Collection[str], night: str = "") -> Path | None:
    """Move loose records into one bundle; return its folder, or None if none of them is loose.

    Its id is the night's, or else the first record's start. HostError if it cannot be written, or
    does not hold what it should; then the records stay where they are.
    """
    own = [it for it in paths if it in archive.entries and it not in archive.bundles]
    if not own:
        return None
    bundle = _write(archive, own, night or min(archive.entries[it].started_at for it in own))
    archive.packed(bundle, own)
    for path in own:
        _remove(archive.folder / path)
    return bundle.folder


def pack_night(archive: Archive, night: str, until: str) -> Path | None:
    """Move what was measured from a night's beginning `until` a time into its bundle, if anything.

    Records that are not as they were saved stay loose, and so do those that lack a raw output.
    """
    paths = [
        path
        for path, entry in archive.entries.items()
        if path not in archive.bundles
        and entry.is_proven
        and (entry.turn.night == night if entry.turn else night <= entry.started_at <= until)
    ]
    return pack(archive, paths, night) if paths else None


def _write(archive: Archive, paths: Sequence[str], id_: str) -> Bundle:
    folder = archive.folder / NIGHTS
    target = folder / id_
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_PART, dir=folder))
        try:
            draft.chmod(0o755)
            manifest = write_bundle(draft, id_, (_kept(archive, path) for path in paths))
            _require_whole(archive, Bundle(draft, manifest, ""), paths)
            target = folder / manifest.names(sha256_of(draft / MANIFEST))[0]
            sync_tree(draft)
            with held():
                draft.rename(target)
                sync(folder)
            return Bundle.open(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise HostError(f"{shown(target)}: cannot be written ({error.strerror})") from error
    except ValueError as error:
        raise HostError(f"{shown(target)}: cannot be written ({error})") from error


def _require_whole(archive: Archive, bundle: Bundle, paths: Sequence[str]) -> None:
    """Raise ValueError if a bundle that was just written is not what its records are."""
    Manifest.parse(bundle.manifest.text.encode())
    found = {name for name, _ in bundle.named_lines()}
    if found != {archive.entries[path].sha256 for path in paths}:
        raise ValueError("its records are not those that were read")
    if lacking := set(paths) - _held(archive, bundle, paths):
        raise ValueError(f"it lacks a file of {min(lacking)}")


def _held(archive: Archive, bundle: Bundle, paths: Collection[str]) -> set[str]:
    """Return those loose records whose files a bundle has; ValueError if it has none to read."""
    with tempfile.TemporaryDirectory(prefix=DRAFT) as folder:
        bundle.extract(Path(folder), lambda file: record_of(file) in paths)
        return {path for path in paths if _is_held(Path(folder), _kept(archive, path))}


def _is_held(folder: Path, kept: Kept) -> bool:
    copies = folder / kept.path.removesuffix(".json")
    return all(
        (copies / name).is_file() and sha256_of(copies / name) == sha256_of(file)
        for name, file in kept.beside.items()
    )


def _kept(archive: Archive, path: str) -> Kept:
    """Return a loose record with the plain files of its folder that are worth keeping.

    What an entry may have left there that is no plain file is not part of the record.
    """
    file, entry = archive.folder / path, archive.entries[path]
    is_one_of_many = entry.turn is not None and entry.status == "ok"
    beside = file.with_suffix("")
    found = {
        each.relative_to(beside).as_posix(): each
        for each in plain_files(beside)
        if each.name != SUMS and not (is_one_of_many and _LEFT_OUT.fullmatch(each.name))
    }
    return Kept(path, file.read_bytes(), found)


def finish(archive: Archive) -> None:
    """Remove the loose records that a bundle has, with all their files: packing was cut short."""
    twice: dict[Bundle, list[str]] = defaultdict(list)
    for path, bundle in archive.bundles.items():
        if path not in archive.broken and (archive.folder / path).is_file():
            twice[bundle].append(path)
    for bundle, paths in twice.items():
        with suppress(ValueError, OSError):
            for path in _held(archive, bundle, paths):
                _remove(archive.folder / path)


def _remove(record: Path) -> None:
    """Remove a loose record, its file last, and the folders that become empty."""
    shutil.rmtree(record.with_suffix(""), ignore_errors=True)
    with suppress(OSError):  # The end of the next night tries again.
        record.unlink(missing_ok=True)
    for folder in list(record.parents)[:3]:
        try:
            folder.rmdir()
        except OSError:
            break
