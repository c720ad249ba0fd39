"""Of archives that anybody may have made, records are taken and nothing else."""

import gzip
import io
import re
import tarfile
from pathlib import Path

import pytest

from arena.record import arrivals
from arena.record.arrivals import record_of, unpack

RECORD = "stream-grpc/64/grpc-go/2026-11-28T01-02-03.123456Z"


def tar(*members: tuple[str, bytes, bytes], link: str = "") -> io.BytesIO:
    """Return an archive of members: the name, the type and the content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as made:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, link, len(content)
            made.addfile(member, io.BytesIO(content))
    buffer.seek(0)
    return buffer


def file(name: str, content: bytes = b"x") -> tuple[str, bytes, bytes]:
    return name, tarfile.REGTYPE, content


def header(name: str, kind: bytes, size: int) -> bytes:
    """Return the header of a member that may be larger than the archive."""
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "path",
    [
        f"{RECORD}.json",
        f"{RECORD}/run-1.json",
        f"{RECORD}/a/b/c",
        "p/1/f/2026-11-28T01-02-03Z.json",
    ],
)
def test_records_and_files_beside_them_are_known(path: str) -> None:
    assert record_of(path) == re.sub(r"Z.*", "Z.json", path)


@pytest.mark.parametrize(
    "path",
    [
        "leaderboard.json", "host/limits.json", "nights/2026-11-28T000000Z.jsonl",
        "rounds/2026-11/round.json", f"rounds/2026-11/{RECORD}.json", RECORD, f"{RECORD}/",
        f"/{RECORD}.json", f"../{RECORD}.json", f"{RECORD}/../x", f"{RECORD}/.git",
        f"{RECORD}/a/b/c/d", f"{RECORD}.json\n", f"{RECORD}/a\nb", f"{RECORD}/a\tb",
        f"{RECORD}/a\0b", f"{RECORD}/\udc80", f"{RECORD}/\u0661", f"{RECORD}/{'x' * 101}",
        "rounds/64/x/2026-11-28T01-02-03Z.json",
        "stream-grpc/\u0664/x/2026-11-28T01-02-03Z.json",
    ],
)  # fmt: skip
def test_all_else_is_not(path: str) -> None:
    assert record_of(path) is None


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE,
     tarfile.CONTTYPE],
)  # fmt: skip
def test_only_plain_files_are_taken(tmp_path: Path, kind: bytes) -> None:
    archive = tar((f"{RECORD}/x", kind, b""), file(f"./{RECORD}/y"), link="/etc/passwd")
    taken = [f"{RECORD}/x"] * (kind == tarfile.CONTTYPE) + [f"{RECORD}/y"]
    assert unpack(archive, tmp_path, record_of) == taken
    assert not any(each.is_symlink() for each in tmp_path.rglob("*"))


def test_names_outside_are_left_out_and_the_first_of_two_is_taken(tmp_path: Path) -> None:
    archive = tar(
        file("../out"), file("/tmp/out"), file(f"{RECORD}.json", b"first"), file(f"{RECORD}.json"),
        file(f"{RECORD}/a\n{RECORD}/b"),
    )  # fmt: skip
    assert unpack(archive, tmp_path / "in", record_of) == [f"{RECORD}.json"]
    assert (tmp_path / "in" / f"{RECORD}.json").read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("a", "a/b/c")])
def test_a_file_with_the_name_of_a_folder_is_an_error_or_left_out(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    archive = tar(*(file(f"{RECORD}/{name}") for name in names))
    try:
        assert unpack(archive, tmp_path, record_of) == [f"{RECORD}/{names[0]}"]
    except ValueError as error:
        assert "the name of a folder" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(header("x", tarfile.GNUTYPE_LONGNAME, 5 << 30), id="a GNU long name"),
        pytest.param(header("x", tarfile.GNUTYPE_LONGLINK, 5 << 30), id="a GNU long link"),
        pytest.param(header("pax", tarfile.XHDTYPE, 5 << 30), id="a pax header"),
        pytest.param(
            b"".join(header("pax", tarfile.XHDTYPE, 12) + b"12 path=a/b\n".ljust(512, b"\0")
                     for _ in range(5000)),
            id="pax headers without an end",
        ),
        pytest.param(header(f"{RECORD}/x", tarfile.REGTYPE, 5 << 30), id="a file of 5 GiB"),
    ],
)  # fmt: skip
def test_what_unpacks_to_gigabytes_is_refused_before_it_does(tmp_path: Path, bomb: bytes) -> None:
    zeros = gzip.compress(bytes(1 << 20)) * 8
    archive = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(bomb) + zeros))
    with pytest.raises(ValueError, match=r"header without an end|more than 4,294,967,296 bytes"):
        unpack(archive, tmp_path, record_of)
    assert archive.tell() < 2 << 20


def test_members_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MOST_FILES", 3)
    with pytest.raises(ValueError, match="more than 3 members"):
        unpack(tar(*[file("x", b"")] * 4), tmp_path, record_of)


@pytest.mark.parametrize("content", [b"", b"x" * 99, b"x" * 2000, tar(file("a")).read()[:700]])
def test_what_is_no_archive_or_ends_early_is_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        unpack(io.BytesIO(content), tmp_path, lambda _: True)
