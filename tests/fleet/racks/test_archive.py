"""What comes from a rack is taken whole, below the results, or not at all."""

import errno
import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.judge.store import SUMS, Draft
from arena.record.record import Record
from arena_fleet import rack as module
from arena_fleet.rack import DamagedError, Unpacked, pack
from tests.fakes import a_record, at, records_in, save


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Return the results of a session with one record."""
    save(tmp_path / "there", a_record())
    return tmp_path / "there"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@contextmanager
def unpacked(archive: bytes, here: Path) -> Iterator[Unpacked]:
    with Draft(here) as draft:
        yield Unpacked(archive, draft, here)


def adopt(archive: bytes, here: Path) -> list[Record]:
    with unpacked(archive, here) as found:
        return [each.record for each in found.adopt()]


def files(folder: Path) -> list[str]:
    return [each.name for each in folder.rglob("*") if each.is_file()]


def test_a_record_comes_with_its_files(there: Path, here: Path) -> None:
    assert adopt(pack(there), here) == records_in(there) == records_in(here)
    assert sorted(files(here)) == sorted(files(there))


def test_a_session_that_did_not_begin_has_no_records(here: Path) -> None:
    assert adopt(b"", here) == []


def changed_raw(there: Path) -> None:
    next(there.rglob("run-1.json")).write_text("other")


def removed_raw(there: Path) -> None:
    next(there.rglob("run-1.json")).unlink()


def changed_record(there: Path) -> None:
    path = next(there.glob("*/*/*/*Z.json"))
    path.write_text(path.read_text() + " ")


def removed_sum(there: Path) -> None:
    next(there.rglob(SUMS)).unlink()


def elsewhere(there: Path) -> None:
    (there / "stream-grpc").rename(there / "other")


def a_raw_of(path: str) -> Callable[[Path], None]:
    """Return what gives the raw output of a record another path."""

    def change(there: Path) -> None:
        record = next(there.glob("*/*/*/*Z.json"))
        content = json.loads(record.read_text())
        content["runs"][0]["raw"]["path"] = path
        text = json.dumps(content)
        record.write_text(text)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        (record.with_suffix("") / SUMS).write_text(f"{sha256}  ../{record.name}\n")

    return change


@pytest.mark.parametrize(
    "damage",
    [
        changed_raw,
        removed_raw,
        changed_record,
        removed_sum,
        elsewhere,
        *map(a_raw_of, (".", "stream-grpc", "x" * 300)),
    ],
)
def test_of_damaged_results_nothing_is_taken(
    there: Path, here: Path, damage: Callable[[Path], None]
) -> None:
    save(there, a_record("another"))
    damage(there)
    with pytest.raises(DamagedError):
        adopt(pack(there), here)
    assert files(here) == []


def test_a_disk_of_this_host_that_fails_is_no_damage(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> str:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(module, "sha256_of", broken)
    with pytest.raises(HostError, match=r"cannot be read \(Input/output error\)") as error:
        adopt(pack(there), here)
    assert not isinstance(error.value, DamagedError)


@pytest.mark.parametrize("damage", [lambda it: it[: len(it) // 2], lambda _: b"x" * 99])
def test_a_broken_archive_is_damaged(
    there: Path, here: Path, damage: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(DamagedError):
        adopt(damage(pack(there)), here)


def test_a_broken_stream_in_an_archive_is_damaged(there: Path, here: Path) -> None:
    archive = bytearray(pack(there))
    for at_byte in range(20, len(archive) - 20, 7):
        archive[at_byte] ^= 0xFF
    with pytest.raises(DamagedError):
        adopt(bytes(archive), here)


def test_nothing_but_records_is_taken(there: Path, here: Path) -> None:
    (there / "nights").mkdir()
    (there / "nights" / f"{at(0)}.jsonl").write_text("{}")
    (there / "leaderboard.json").write_text("{}")
    (there / "stream-grpc" / "64" / "more.json").write_text("{}")
    with Draft(here) as draft:
        Unpacked(pack(there), draft, here)
        taken = files(draft.folder)
    assert not {"leaderboard.json", "more.json", f"{at(0)}.jsonl"} & set(taken)


def test_python_without_filters_unpacks_too(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def extractall(*_: object, **given: object) -> None:
        raise TypeError(f"no keyword {given}")

    monkeypatch.setattr(tarfile.TarFile, "extractall", extractall)
    assert len(adopt(pack(there), here)) == 1


def test_what_cannot_be_written_here_is_no_damage(there: Path, here: Path) -> None:
    save(here, a_record())
    with pytest.raises(HostError, match="cannot be written") as raised:
        adopt(pack(there), here)
    assert not isinstance(raised.value, DamagedError)
