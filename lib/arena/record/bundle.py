"""Bundles: what a night left, in one folder of three files that never change.

`records.jsonl.xz` has a record a line, as JSON without white space; the SHA-256 of the line is the
record's name everywhere. `raw.tar.xz` has what lay beside each record, below the record's path
without `.json`. `manifest.json` has the SHA-256 and the size of both. This needs no package.
"""

import hashlib
import json
import lzma
import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Self

from arena.base.reading import sha256_of
from arena.record.arrivals import MOST_BYTES, MOST_FILES, record_of, unpack

RECORDS, RAW, MANIFEST = "records.jsonl.xz", "raw.tar.xz", "manifest.json"

SCHEMA = 1

# The maximum size of a record, twice that of a day-long run with all its seconds.
LONGEST_RECORD = 128 << 20
# All records of a bundle, unpacked; the largest published one has 3 MB.
_MOST_OF_RECORDS = 1 << 30
_LONGEST_MANIFEST = 64 << 10

_LOG = re.compile(r"\.(log|stderr)$")
_ID = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\.[0-9]{6}Z")
# The digits of its manifest's SHA-256 in the name of a bundle's folder.
_DIGITS = 16

_SHA256 = re.compile(r"[0-9a-f]{64}")
_ADDRESS = re.compile(r"https://[!-~]{1,1000}")

_BEGINS, _ENDS = (b"{", b"["), (b"}", b"]")

# The tokens of JSON; and its white space, with the texts in which it stays.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\r\n{}\[\],:"]+')
_LAYOUT = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')


def line_of(text: bytes) -> bytes:
    """Return a record's JSON without its layout: the line of a bundle, without a line break."""
    return _LAYOUT.sub(lambda found: found[1] or b"", text)


def text_of(line: bytes) -> bytes:
    """Return a line with the layout of a loose record: an indented line for each key and value."""
    found = bytearray()
    depth, before = 0, b""
    for token in _TOKENS.findall(line):
        if token in _ENDS:
            depth -= 1
        if before == b"," or (before in _BEGINS) != (token in _ENDS):
            found += b"\n" + b"  " * depth
        elif before == b":":
            found += b" "
        found += token
        if token in _BEGINS:
            depth += 1
        before = token
    return bytes(found) + b"\n"


def name_of(text: bytes) -> str:
    """Return the name of a record: the SHA-256 of its line, in hex."""
    return hashlib.sha256(line_of(text)).hexdigest()


@dataclass(frozen=True)
class BundleFile:
    """A file of a bundle: its SHA-256 and size, and where it can be had if it is not there."""

    sha256: str
    size_bytes: int
    address: str = ""


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json; `id` is the time of the bundle's first record or its night.

    Bundles of one id may come from two machines, so their folders have other `names`: the id, a
    dash and the beginning of the manifest's SHA-256. Those of the first bundles are the id alone.

    `records` and `raw_files` are how many are in the `parts`, which are by name.
    """

    id: str
    records: int
    raw_files: int
    parts: Mapping[str, BundleFile]

    @property
    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=2) + "\n"

    def names(self, sha256: str) -> tuple[str, str]:
        """Return what the bundle's folder is called if that is the manifest's SHA-256."""
        return f"{self.id}-{sha256[:_DIGITS]}", self.id

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Return the manifest that a file holds; ValueError says what is wrong with it."""
        try:
            found = json.loads(text)
            if found.pop("schema") != SCHEMA:
                raise ValueError("is of another schema: a newer runner made it")
            parts = {name: BundleFile(**part) for name, part in found.pop("parts").items()}
            made = cls(parts=parts, **found)
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ValueError("is not the manifest of a bundle") from error
        made._require_sense()
        return made

    def _require_sense(self) -> None:
        sizes = [each.size_bytes for each in self.parts.values()]
        is_sound = (
            isinstance(self.id, str)
            and _ID.fullmatch(self.id)
            and self.parts.keys() == {RECORDS, RAW}
            and all(type(each) is int for each in (self.records, self.raw_files, *sizes))
            and all(0 <= each <= MOST_FILES for each in (self.records, self.raw_files))
            and all(0 <= each <= MOST_BYTES for each in sizes)
            and all(
                isinstance(each.sha256, str)
                and _SHA256.fullmatch(each.sha256)
                and isinstance(each.address, str)
                and (each.address == "" or _ADDRESS.fullmatch(each.address))
                for each in self.parts.values()
            )
        )
        if not is_sound:
            raise ValueError("is not the manifest of a bundle")


@dataclass(frozen=True, eq=False)
class Bundle:
    """A bundle that is there; `sha256` is its manifest's, which fixes all the rest."""

    folder: Path
    manifest: Manifest
    sha256: str

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read the manifest of a folder; ValueError if it is broken, or of another bundle."""
        path = folder / MANIFEST
        if path.is_symlink() or not path.is_file():
            raise ValueError(f"{MANIFEST} is missing")
        try:
            with path.open("rb") as file:
                text = file.read(_LONGEST_MANIFEST)
            manifest = Manifest.parse(text)
        except ValueError as error:
            raise ValueError(f"{MANIFEST}: {error}") from error
        except OSError as error:
            raise ValueError(f"{MANIFEST}: {error.strerror}") from error
        sha256 = hashlib.sha256(text).hexdigest()
        if folder.name not in (names := manifest.names(sha256)):
            raise ValueError(f"{MANIFEST}: is that of {names[0]}")
        return cls(folder, manifest, sha256)

    @property
    def has_raw(self) -> bool:
        """Whether anything has the name of its raw outputs, which may lie elsewhere."""
        return os.path.lexists(self.folder / RAW)

    def problem(self, part: str) -> str:
        """Return what is wrong with a part, or nothing."""
        path, known = self.folder / part, self.manifest.parts[part]
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode):
                return f"{part} is not a plain file"
            is_same = found.st_size == known.size_bytes and _sum(path, found) == known.sha256
        except FileNotFoundError:
            return f"{part} is missing" + f" (it is at {known.address})" * bool(known.address)
        except OSError as error:
            return f"{part}: {error.strerror}"
        return "" if is_same else f"{part} was altered"

    def lines(self) -> Iterator[bytes]:
        """Yield the line of each record; ValueError if they are not those of the manifest."""
        if problem := self.problem(RECORDS):
            raise ValueError(problem)
        count, left = 0, _MOST_OF_RECORDS
        try:
            with lzma.open(self.folder / RECORDS) as file:
                while line := file.readline(LONGEST_RECORD + 1):
                    if not line.endswith(b"\n"):
                        raise ValueError(f"{RECORDS}: a record is too long, or has no end")
                    count, left = count + 1, left - len(line)
                    if count > self.manifest.records:
                        raise ValueError(f"{RECORDS} has more than {count - 1} records")
                    if left < 0:
                        raise ValueError(f"{RECORDS} has more than {_MOST_OF_RECORDS:,} bytes")
                    yield line[:-1]
        except (lzma.LZMAError, EOFError) as error:
            raise ValueError(f"{RECORDS}: {error}") from error
        if count != self.manifest.records:
            raise ValueError(f"{RECORDS} has {count} records, not {self.manifest.records}")

    @cached_property
    def by_name(self) -> Mapping[str, bytes]:
        """The line of each record, by its name."""
        return dict(self.named_lines())

    def named_lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the line of each record."""
        for line in self.lines():
            yield hashlib.sha256(line).hexdigest(), line

    @cached_property
    def logs(self) -> Mapping[str, bytes]:
        """The logs among the raw files, by path; empty if the part is missing."""
        found: dict[str, bytes] = {}
        if not self.problem(RAW):
            with tempfile.TemporaryDirectory() as folder:
                for path in self.extract(Path(folder), is_wanted=_LOG.search):
                    found[path] = (Path(folder) / path).read_bytes()
        return found

    def extract(
        self, folder: Path, is_wanted: Callable[[str], object] = lambda _: True
    ) -> list[str]:
        """Write the raw files that are wanted into `folder`; return their paths.

        ValueError if the part is missing or altered, or is no sound archive.
        """
        if problem := self.problem(RAW):
            raise ValueError(problem)
        with lzma.open(self.folder / RAW) as file:
            try:
                return unpack(file, folder, lambda path: record_of(path) and is_wanted(path))
            except lzma.LZMAError as error:
                raise ValueError(f"{RAW}: {error}") from error


def _sum(path: Path, found: os.stat_result) -> str:
    """Return the SHA-256 of a file, which is read once as long as it stays the same."""
    return _sum_of(path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@lru_cache(1000)
def _sum_of(path: Path, *_: int) -> str:
    return sha256_of(path)


@dataclass(frozen=True)
class Kept:
    """A record to be bundled: its path below results/, its JSON, and the files of its folder."""

    path: str
    text: bytes
    beside: Mapping[str, Path]


def write_bundle(folder: Path, id_: str, records: Iterable[Kept]) -> Manifest:
    """Write the three files of a bundle with this id into an empty folder.

    Equal records make equal files. OSError if a file cannot be read or written.
    """
    kept = sorted(records, key=lambda each: each.path)
    with lzma.open(folder / RECORDS, "wb", preset=6) as file:
        for each in kept:
            file.write(line_of(each.text) + b"\n")
    count = 0
    with tarfile.open(folder / RAW, "w:xz", format=tarfile.PAX_FORMAT, preset=6) as archive:
        for each in kept:
            for own, path in sorted(each.beside.items()):
                member = tarfile.TarInfo(f"{each.path.removesuffix('.json')}/{own}")
                with path.open("rb") as content:
                    member.size = os.fstat(content.fileno()).st_size
                    archive.addfile(member, content)
                count += 1
    parts = {
        name: BundleFile(sha256_of(folder / name), (folder / name).stat().st_size)
        for name in (RECORDS, RAW)
    }
    manifest = Manifest(id_, len(kept), count, parts)
    (folder / MANIFEST).write_text(manifest.text, encoding="utf-8")
    return manifest
