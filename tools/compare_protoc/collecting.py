"""Finds .proto files in installed packages and in this repository."""

import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Collected:
    """A file and the folder that its name is relative to."""

    folder: Path
    name: str


def collected(root: Path) -> Iterator[Collected]:
    """Yield all files, always in the same order."""
    packages = Path(sysconfig.get_path("purelib"))
    for file in sorted(packages.rglob("*.proto")):
        named = (parent for parent in file.parents if parent.name in {"_proto", "proto"})
        folder = next(named, packages)
        yield Collected(folder, str(file.relative_to(folder)))
    for file in _own(root / "frameworks"):
        yield Collected(file.parent, file.name)
    for name in ("requests", "volley/tests/protos", "volley/examples"):
        folder = root / name
        for file in _own(folder):
            yield Collected(folder, str(file.relative_to(folder)))


def _own(folder: Path) -> list[Path]:
    """Return what is there without a build: `.build` has files that depend on what ran before."""
    files = sorted(folder.rglob("*.proto"))
    return [file for file in files if "/." not in f"/{file.relative_to(folder)}"]
