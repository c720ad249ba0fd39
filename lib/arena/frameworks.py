"""Frameworks: one folder each, described by HttpArena's meta.json."""

import hashlib
import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from arena.errors import UsageError, nearest
from arena.files import Frozen, read_json, shown, validated

# What building natively leaves behind, and what no source tree needs to be identified by.
BUILD_FOLDER = ".build"
_NOT_SOURCE = {BUILD_FOLDER, ".git", "__pycache__"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Native(Frozen):
    """How to build and run without Docker: shell commands, run inside the framework's folder."""

    needs: tuple[str, ...] = ()
    build: str = ""
    run: Annotated[str, Field(min_length=1)]


class Framework(Frozen):
    """One entry; `name` is its folder's, everything else comes from meta.json."""

    name: Annotated[str, Field(pattern=f"^{_NAME.pattern}$")]
    display_name: Annotated[str, Field(min_length=1)]
    language: str
    engine: str = ""
    type: Literal["production", "tuned", "engine"]
    description: str = ""
    repo: str = ""
    enabled: bool = True
    tests: tuple[str, ...]
    maintainers: tuple[str, ...] = ()
    native: Native | None = None


def load_framework(folder: Path, name: str) -> Framework:
    """Read frameworks/<name>/meta.json; UsageError names the file and key, or nearest names."""
    known = framework_names(folder)
    if name not in known:
        raise UsageError(f"there is no framework `{name}`{nearest(name, known)}")
    path = folder / name / "meta.json"
    data = read_json(path)
    if "name" in data:
        raise UsageError(f"{shown(path)}: name: unknown key (the folder's name is the name)")
    keys = [key for key in Framework.model_fields if key != "name"]
    return validated(Framework, {**data, "name": name}, path, keys)


def framework_names(folder: Path) -> list[str]:
    """Return the names of all frameworks, sorted."""
    return sorted(
        path.parent.name for path in folder.glob("*/meta.json") if _NAME.fullmatch(path.parent.name)
    )


def source_sha256(folder: Path) -> str:
    """Return one hash over every source file below `folder`, its path and its content.

    Build output (`.build`) is left out; a symbolic link counts as the path it points to.
    """
    digest = hashlib.sha256()
    for path in sorted(_source_files(folder)):
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        name = path.relative_to(folder).as_posix().encode()
        for part in (name, content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _source_files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_SOURCE]
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        found += [Path(parent) / name for name in files + links]
    return [path for path in found if path.is_symlink() or path.is_file()]
