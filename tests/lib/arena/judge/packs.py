"""What is packed, in this process or in one that is killed, and how it is found afterwards."""

from multiprocessing.connection import Connection
from pathlib import Path

from arena.judge.archive import Archive, open_archive
from arena.judge.packing import archive_to_pack, finish, pack
from tests import fakes
from tests.fakes import a_record


def some_records(folder: Path) -> Path:
    """Save some records in a folder, one a failure."""
    fakes.save(folder, *(a_record(name, 1e6, 2e6) for name in ("a", "b", "c")))
    fakes.save(folder, a_record("d", minute=1, failure="it fell"))
    return folder


def loose(results: Path) -> list[str]:
    return sorted(path.relative_to(results).as_posix() for path in results.glob("*/*/*/*.json"))


def names(archive: Archive) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return what an archive has of each record: its name, and whether it counts."""
    return {path: (it.sha256, it.problem, it.flags) for path, it in archive.entries.items()}


def contents(archive: Archive) -> dict[str, dict[str, bytes]]:
    return {path: dict(archive.files(path)) for path in archive.entries}


def require_all(results: Path, known: object, beside: dict[str, dict[str, bytes]]) -> None:
    """Check that nothing is lost, and that the next try ends the work."""
    found = open_archive(results)
    assert (names(found), contents(found), found.broken) == (known, beside, {})
    finish(open_archive(results))
    left = open_archive(results)
    if paths := [path for path in left.entries if path not in left.bundles]:
        pack(left, paths)
    ended = open_archive(results)
    assert (names(ended), contents(ended), ended.broken) == (known, beside, {})
    assert ended.bundles.keys() == ended.entries.keys()
    assert loose(results) == []


def packs(results: Path, said: Connection) -> None:
    """Pack all records; say when it begins, and when it is done."""
    with archive_to_pack(results) as archive:
        said.send_bytes(b"ready")
        pack(archive, list(archive.entries))
        said.send_bytes(b"done")
