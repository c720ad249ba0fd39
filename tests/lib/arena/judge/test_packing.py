"""Packing: whenever it ends, every record is there with its proof, and the next try ends it."""

import shutil
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError
from arena.base.reading import sha256_of
from arena.judge import packing
from arena.judge.archive import NIGHTS, open_archive
from arena.judge.packing import archive_to_pack, finish, pack, pack_night
from arena.judge.store import SUMS
from arena.record.bundle import MANIFEST, RAW, RECORDS, Bundle, Kept, write_bundle
from tests import fakes
from tests.fakes import a_record, at
from tests.lib.arena.judge.packs import contents, loose, names, require_all, some_records
from tests.lib.arena.judge.visits import blocks

NIGHT = at(0)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return some_records(tmp_path / "results")


def test_loose_records_become_one_bundle_and_nothing_else_is_left(results: Path) -> None:
    saved, before = fakes.records_in(results), open_archive(results)
    known, beside = names(before), contents(before)
    folder = pack(before, list(before.entries))
    assert folder
    assert folder.parent == results / NIGHTS
    assert folder.name == f"{at(0)}-{sha256_of(folder / MANIFEST)[:16]}"
    assert sorted(each.name for each in folder.iterdir()) == [MANIFEST, RAW, RECORDS]
    assert folder.stat().st_mode & 0o777 == 0o755
    after = open_archive(results)
    assert (names(after), contents(after), after.broken) == (known, beside, {})
    assert {each.folder for each in after.bundles.values()} == {folder}
    assert [each.name for each in results.iterdir()] == [NIGHTS]
    assert fakes.records_in(results) == saved


def test_the_rest_of_a_night_is_a_bundle_of_its_own(tmp_path: Path) -> None:
    visits = fakes.save(tmp_path, *blocks({"a": 1e6, "b": 2e6}, 2))
    archive = open_archive(tmp_path)
    first, second = [each.path for each in visits[:2]], [each.path for each in visits[2:]]
    night = visits[0].visit
    assert night
    one, other = pack(archive, first, night.night), pack(archive, second, night.night)
    assert one
    assert other
    assert [Bundle.open(each).manifest.id for each in (one, other)] == [night.night] * 2
    found = open_archive(tmp_path)
    assert (names(found), found.broken) == (names(archive), {})


def test_the_bundle_of_a_night_has_what_is_proven_and_not_older(tmp_path: Path) -> None:
    old, good, bare, edited = fakes.save(
        tmp_path, *(a_record("a", 1e6, minute=minute) for minute in (1, 5, 6, 7))
    )
    ((tmp_path / bare.path).with_suffix("") / SUMS).unlink()
    (tmp_path / edited.runs[0].raw.path).write_text("nicer")
    folder = pack_night(open_archive(tmp_path), at(3), at(7))
    assert folder
    assert Bundle.open(folder).manifest.id == at(3)
    assert list(open_archive(tmp_path).bundles) == [good.path]
    assert loose(tmp_path) == [old.path, bare.path, edited.path]
    assert pack_night(open_archive(tmp_path), at(3), at(7)) is None


def test_what_cannot_be_packed_stays_where_it_is(results: Path) -> None:
    shutil.copytree(results, before := results.with_name("before"))
    paths = loose(results)
    folder = pack(open_archive(results), paths, NIGHT)
    assert folder
    shutil.copytree(before, results, dirs_exist_ok=True)
    (folder / RAW).write_bytes(b"x")  # It does not count, and what is packed again has its name.
    with pytest.raises(HostError, match=f"{NIGHT}-[0-9a-f]{{16}}: cannot be written"):
        pack(open_archive(results), paths, NIGHT)
    assert loose(results) == paths
    assert list(folder.parent.iterdir()) == [folder]


def test_bundles_of_one_id_from_two_machines_are_both_there(results: Path, tmp_path: Path) -> None:
    """Those of one night, and those whose first records began at the same moment."""
    fakes.save(other := tmp_path / "other", a_record("e"))
    for folder, night in ((results, NIGHT), (other, NIGHT)):
        pack(open_archive(folder), loose(folder), night)
    shutil.copytree(other, results, dirs_exist_ok=True)
    found = open_archive(results)
    assert found.broken == {}
    assert [each.manifest.id for each in found.opened] == [NIGHT] * 2
    assert {path.split("/")[2] for path in found.bundles} == {*"abcde"}


def test_a_bundle_whose_name_is_its_id_alone_is_one(results: Path) -> None:
    folder = pack(open_archive(results), loose(results))
    assert folder
    folder.rename(folder.with_name(at(0)))
    found = open_archive(results)
    assert (len(found.bundles), found.broken) == (4, {})
    folder.with_name(at(0)).rename(folder.with_name(f"{at(0)}-{'0' * 16}"))
    (said,) = open_archive(results).broken.values()
    assert said == f"{MANIFEST}: is that of {folder.name}"


def test_a_record_in_two_bundles_is_the_one_that_has_its_raw_output(results: Path) -> None:
    folder = pack(open_archive(results), loose(results))
    assert folder
    archive = open_archive(results)
    (other := results / NIGHTS / at(9)).mkdir()
    write_bundle(other, at(9), (Kept(it, archive.text(it).encode(), {}) for it in archive.bundles))
    (other / RAW).unlink()
    found = open_archive(results)
    assert (len(found.opened), found.broken) == (2, {})
    assert {each.folder for each in found.bundles.values()} == {folder}
    assert names(found) == names(archive)


def test_a_loose_record_with_its_proof_counts_more_than_a_bundle_without(results: Path) -> None:
    """It is packed again, and without its own raw output it is the bundle's again."""
    shutil.copytree(results, before := results.with_name("before"))
    known = names(open_archive(results))
    folder = pack(open_archive(results), loose(results))
    assert folder
    (folder / RAW).unlink()
    shutil.copytree(before, results, dirs_exist_ok=True)
    found = open_archive(results)
    assert (names(found), found.bundles) == (known, {})
    again = shutil.copytree(results, results.with_name("again"))
    pack(open_archive(again), loose(again), at(9))
    assert (names(open_archive(again)), loose(again)) == (known, [])
    for raw in results.glob("*/*/*/*/run-1.json"):
        raw.unlink()
    assert {it.split("/")[2] for it in open_archive(results).bundles} == {"a", "b", "c"}


def test_what_a_killed_packing_left_is_removed(results: Path) -> None:
    archive = open_archive(results)
    (results / NIGHTS / ".httparena-draft-bundle-x").mkdir(parents=True)
    shutil.copytree(results, results.with_name("before"))
    pack(archive, loose(results))
    shutil.copytree(results.with_name("before"), results, dirs_exist_ok=True)
    with archive_to_pack(results):
        assert loose(results) == []
    assert [each for each in (results / NIGHTS).iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("edit", [lambda text: text.replace("1000000.0", "9e6"), lambda _: "{"])
def test_a_loose_record_that_is_another_than_the_bundled_one_is_never_removed(
    results: Path, edit: Callable[[str], str]
) -> None:
    path = results / loose(results)[0]
    text = edit(path.read_text())
    pack(open_archive(results), loose(results))
    path.parent.mkdir(parents=True)
    path.write_text(text)
    finish(open_archive(results))
    assert path.read_text() == text
    (said,) = open_archive(results).broken
    assert path.relative_to(results).as_posix() in said


def test_a_loose_record_stays_if_the_bundle_lacks_one_of_its_files(results: Path) -> None:
    copy = results.with_name("copy")
    shutil.copytree(results, copy)
    for path in copy.rglob("run-2.json"):
        path.unlink()
    archive = open_archive(copy)
    # Somebody else's bundle has the same records, and less of what proves them.
    (folder := results / NIGHTS / NIGHT).mkdir(parents=True)
    write_bundle(folder, NIGHT, (packing._kept(archive, path) for path in loose(copy)))
    known = names(open_archive(results))
    finish(open_archive(results))
    assert loose(results) == [path for path in sorted(known) if "/d/" not in path]


def test_who_packs_waits_for_another_who_does(results: Path) -> None:
    """So what that one has packed is not packed again."""
    begun, found = threading.Event(), []

    def other() -> None:
        begun.set()
        with archive_to_pack(results) as archive:
            found.append(pack(archive, list(archive.entries)))

    with archive_to_pack(results) as archive:
        (thread := threading.Thread(target=other)).start()
        begun.wait()
        pack(archive, list(archive.entries))
    thread.join()
    assert found == [None]
    assert len(list((results / NIGHTS).iterdir())) == 1


def test_what_is_packed_already_is_not_packed_again(results: Path) -> None:
    before = open_archive(results)
    *rest, first = loose(results)
    assert pack(before, [first])
    folder = pack(before, [first, *rest])
    assert folder
    assert len(Bundle.open(folder).by_name) == len(rest)
    assert pack(before, [first, *rest]) is None


def test_a_bundle_that_cannot_be_read_back_is_not_kept(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(folder: Path, name: str, records: Any) -> Any:
        return write_bundle(folder, name, [Kept(it.path, it.text, {}) for it in records])

    monkeypatch.setattr(packing, "write_bundle", cut)
    before = contents(open_archive(results))
    with pytest.raises(HostError, match=r"cannot be written \(it lacks a file of "):
        pack(open_archive(results), loose(results))
    assert contents(open_archive(results)) == before
    assert list((results / NIGHTS).iterdir()) == []


# ---- cut short

STEPS: tuple[tuple[Any, str], ...] = (
    (packing, "write_bundle"),
    (packing, "sync_tree"),
    (packing, "sync"),
    (packing, "_remove"),
    (shutil, "rmtree"),
    (Path, "rename"),
    (Path, "unlink"),
    (Path, "rmdir"),
)


def cut_at(number: int, patch: pytest.MonkeyPatch) -> None:
    """Let the step of this number, of all steps, raise before it does anything."""
    begun = count(1)

    def cut(step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: Any, **more: Any) -> Any:
            if next(begun) == number:
                raise KeyboardInterrupt
            return step(*given, **more)

        return stepped

    for where, name in STEPS:
        patch.setattr(where, name, cut(getattr(where, name)))


def test_cut_short_before_any_step_it_loses_nothing(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = open_archive(results)
    known, beside = names(archive), contents(archive)
    for number in count(1):
        copy = tmp_path / f"{number}"
        shutil.copytree(results, copy)
        is_cut = False
        with monkeypatch.context() as patch:
            cut_at(number, patch)
            try:
                pack(open_archive(copy), loose(copy))
            except KeyboardInterrupt:
                is_cut = True
        require_all(copy, known, beside)
        if not is_cut:
            break
    assert number > 20
