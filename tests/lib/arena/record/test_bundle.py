"""Bundles: what is written is read again, and what is altered is refused."""

import hashlib
import json
import lzma
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base.model import to_json
from arena.record.arrivals import owner_of
from arena.record.bundle import (
    MANIFEST,
    RAW,
    RECORDS,
    Bundle,
    Kept,
    Manifest,
    line_of,
    name_of,
    text_of,
    write_bundle,
)
from tests.fakes import a_record, at

A = at(1)
ID = "2026-12-01T00-00-00.000000Z"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def kept(first: bytes, second: bytes, beside: dict[str, Path]) -> list[Kept]:
    """Return two records as they are bundled, the later one first."""
    return [Kept(f"p/64/b/{at(2)}.json", second, {}), Kept(f"p/64/a/{A}.json", first, beside)]


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Return a bundle of two records, one with two files beside it."""
    (raw := tmp_path / "run-1.json").write_text("raw\n")
    (log := tmp_path / "server.log").write_text("")
    first, second = (to_json(a_record("a", minute=it)).encode() for it in (1, 2))
    (folder := tmp_path / ID).mkdir()
    beside = {"run-1.json": raw, "generators/1.json": log}
    write_bundle(folder, ID, kept(first, second, beside))
    return Bundle.open(folder)


@given(VALUES)
def test_a_line_is_the_json_without_its_layout(value: object) -> None:
    """Indented or not, a record has one name, and its line has the same value."""
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    indented = json.dumps(value, indent=2, ensure_ascii=False)
    both = [text.encode(errors="surrogatepass") for text in (plain, indented)]
    assert text_of(both[0]) == both[1] + b"\n"
    assert line_of(both[0]) == line_of(both[1]) == both[0]
    assert name_of(both[0]) == name_of(both[1])


def test_what_is_bundled_is_there(bundle: Bundle, tmp_path: Path) -> None:
    """Each record has its line, in the order of paths, and each file beside it its content."""
    assert (bundle.manifest.records, bundle.manifest.raw_files) == (2, 2)
    times = [json.loads(line)["started_at"] for line in bundle.lines()]
    assert times == [at(1), at(2)]
    assert [name_of(line) for line in bundle.lines()] == list(bundle.by_name)
    files = bundle.extract(tmp_path / "out")
    assert files == [f"p/64/a/{A}/generators/1.json", f"p/64/a/{A}/run-1.json"]
    assert (tmp_path / "out" / files[1]).read_text() == "raw\n"
    assert bundle.extract(tmp_path / "none", lambda path: "/b/" in path) == []


def test_equal_records_make_equal_bundles(bundle: Bundle, tmp_path: Path) -> None:
    """Neither the time nor the names of the sources is in a bundle."""
    (folder := tmp_path / "again" / ID).mkdir(parents=True)
    bundle.extract(tmp_path / "out")
    beside = {
        name: tmp_path / f"out/p/64/a/{A}" / name for name in ("generators/1.json", "run-1.json")
    }
    first, second = bundle.lines()
    write_bundle(folder, ID, reversed(kept(first, second, beside)))
    assert Bundle.open(folder).sha256 == bundle.sha256


@pytest.mark.parametrize("part", [RECORDS, RAW])
@pytest.mark.parametrize("how", ["altered", "missing"])
def test_a_part_that_is_not_the_manifests_is_refused(
    bundle: Bundle, tmp_path: Path, part: str, how: str
) -> None:
    """One bit is enough; a part may be elsewhere, but then nothing is read from it."""
    path = bundle.folder / part
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    if how == "missing":
        path.unlink()
    with pytest.raises(ValueError, match=f"{part}.* {how}"):
        list(bundle.lines()) if part == RECORDS else bundle.extract(tmp_path)


def rewritten(bundle: Bundle, part: str, data: bytes) -> Bundle:
    """Return the bundle with another part, which its manifest names."""
    (bundle.folder / part).write_bytes(data)
    found = json.loads((bundle.folder / MANIFEST).read_text())
    found["parts"][part] |= {"sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data)}
    (bundle.folder / MANIFEST).write_text(json.dumps(found))
    return Bundle.open(bundle.folder)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"not xz", "records.jsonl.xz: "),
        (lzma.compress(b"{}\n{}\n")[:-8], "records.jsonl.xz: "),
        (lzma.compress(b"{}\n{}"), "has no end"),
        (lzma.compress(b"{}\n"), "has 1 records, not 2"),
    ],
)
def test_records_that_are_broken_are_one_error(bundle: Bundle, data: bytes, why: str) -> None:
    """Whatever the manifest says of it."""
    with pytest.raises(ValueError, match=why):
        list(rewritten(bundle, RECORDS, data).lines())


def test_records_are_read_no_further_than_their_manifest_and_the_limit(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What unpacks to very much is refused before it is held."""
    monkeypatch.setattr("arena.record.bundle._MOST_OF_RECORDS", 5000)
    for line, lines, why in (
        (b"{}\n", 2, "more than 2 records"),
        (b"1" * 3000 + b"\n", 1, "5,000 bytes"),
    ):
        found = rewritten(bundle, RECORDS, lzma.compress(line * 1000)).lines()
        assert [len(next(found)) for _ in range(lines)] == [len(line) - 1] * lines
        with pytest.raises(ValueError, match=why):
            next(found)


def test_raw_files_stay_below_the_folder(bundle: Bundle, tmp_path: Path) -> None:
    """A name that leads out, or a link, is not taken."""
    with tarfile.open(tmp_path / "bad.tar.xz", "w:xz") as archive:
        for name, kind in (("../out", tarfile.REGTYPE), (f"p/64/a/{A}/link", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    bad = rewritten(bundle, RAW, (tmp_path / "bad.tar.xz").read_bytes())
    assert bad.extract(tmp_path / "into") == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"schema": 2}, "newer runner"),
        ({"id": "2026-12-01"}, "not the manifest"),
        ({"id": "2026-12-02T00-00-00.000000Z"}, "is that of 2026-12-02"),
        ({"parts": {}}, "not the manifest"),
        ({"records": -1}, "not the manifest"),
        ({"records": True}, "not the manifest"),
        ({"records": 50_001}, "not the manifest"),
        ({"more": 1}, "not the manifest"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(
    bundle: Bundle, change: dict[str, object], why: str
) -> None:
    """With one line that says which file it is."""
    path = bundle.folder / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=f"manifest.json: .*{why}"):
        Bundle.open(bundle.folder)


PART = {"sha256": "0" * 64, "size_bytes": 1, "address": ""}
SOUND = {"schema": 1, "id": ID, "records": 1, "raw_files": 1, "parts": {RECORDS: PART, RAW: PART}}


def changed(sound: dict[str, object]) -> st.SearchStrategy[dict[str, object]]:
    """Return what is like this, with anything in place of some values, or some keys left out."""
    keys = {key: st.just(value) | near(value) | VALUES for key, value in sound.items()}
    return st.fixed_dictionaries({}, optional=keys) | st.fixed_dictionaries(keys)


def near(value: object) -> st.SearchStrategy[object]:
    if isinstance(value, dict):
        return changed(value)
    numbers = st.sampled_from([True, -1, 0, 1.0, 1 << 80, int("1" * 64)])
    texts = st.sampled_from([ID + "\n", "0" * 63, "https://x/y", "https://x y", "http://x/y"])
    return numbers | texts | st.lists(texts, max_size=1)


@given(st.binary(max_size=200) | changed(SOUND).map(lambda it: json.dumps(it).encode()))
@example(json.dumps(SOUND).encode())
@example(json.dumps(SOUND).encode().replace(b'"' + b"0" * 64 + b'"', b"1" * 64))
def test_any_bytes_are_a_manifest_or_a_value_error(data: bytes) -> None:
    """Nothing else may come of what arrives from elsewhere, and what is one is so again."""
    try:
        found = Manifest.parse(data)
    except ValueError:
        return
    assert Manifest.parse(found.text.encode()) == found
    assert owner_of(f"nights/{found.names('0' * 64)[0]}/{RAW}")
    for part in found.parts.values():
        assert (type(part.sha256), type(part.size_bytes), type(part.address)) == (str, int, str)


@given(st.binary(max_size=200) | st.lists(VALUES, max_size=4).map(lambda it: b"".join(
    json.dumps(each).encode() + b"\n" for each in it)), st.sampled_from([RECORDS, RAW]),
    st.integers(0, 3), st.booleans())  # fmt: skip
def test_any_part_is_read_or_a_value_error(
    data: bytes, part: str, records: int, is_xz: bool
) -> None:
    """Also one that its manifest names, and that unpacks."""
    data = lzma.compress(data) if is_xz else data
    with tempfile.TemporaryDirectory() as made:
        (folder := Path(made) / ID).mkdir()
        write_bundle(folder, ID, [])
        (folder / part).write_bytes(data)
        about = json.loads((folder / MANIFEST).read_bytes()) | {"records": records}
        about["parts"][part] |= {
            "sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data),
        }  # fmt: skip
        (folder / MANIFEST).write_text(json.dumps(about))
        bundle = Bundle.open(folder)
        with suppress(ValueError):
            assert len([*bundle.lines()]) == records
        with suppress(ValueError):
            assert bundle.extract(Path(made)) == []
