"""The results of a session on their way: one archive, whose records are added to the own ones."""

import io
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.base.errors import HostError
from arena.base.hashing import sha256_of
from arena.base.text import shown
from arena.judge.store import SUMS, Draft, adopt
from arena.record.reading import read_record
from arena.record.record import Record

# Below the results of a session: what belongs to its host.
HOST = "host"


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
            if each.name != HOST:
                archive.add(each, each.name)
    return buffer.getvalue()


class Unpacked:
    """An archive in a draft's folder. HostError if it is broken."""

    def __init__(self, archive: bytes, draft: Draft, results: Path) -> None:
        self._folder, self._results = draft.folder, results
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
                opened.extractall(self._folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            raise HostError(f"the results cannot be unpacked: {error}") from error

    def records(self) -> Iterator[tuple[Path, Record]]:
        """Yield each record with its file; HostError if it was damaged."""
        for path in sorted(self._folder.glob("*/*/*/*Z.json")):
            name = path.relative_to(self._folder)
            try:
                record = read_record(path)
                told = (path.with_suffix("") / SUMS).read_text().split()[0]
            except (ValueError, OSError, IndexError) as error:
                raise HostError(f"{name}: cannot be read: {error}") from error
            raws = [run.raw for run in record.runs]
            raws += [host.raw for run in record.runs for host in run.generators]
            wanted = {name.as_posix(): told, **{raw.path: raw.sha256 for raw in raws}}
            for file, sha256 in wanted.items():
                if not (self._folder / file).exists() or sha256_of(self._folder / file) != sha256:
                    raise HostError(f"{file}: was damaged on its way")
            yield path, record

    def adopt(self) -> list[Adopted]:
        """Move all records to their places here; HostError, and nothing is moved, if one is bad."""
        return [
            Adopted(adopt(path, self._results / record.path), record)
            for path, record in list(self.records())
        ]

    def events(self, night: str) -> list[dict[str, Any]]:
        """Return the lines of a night's diary after the first one; empty without a diary."""
        path = self._folder / "nights" / f"{night}.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return [json.loads(line) for line in lines if line][1:]
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise HostError(f"{shown(path)}: cannot be read: {error}") from error
