"""Frameworks: a folder each, described by HttpArena's meta.json (CONTRIBUTING.md has its keys)."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field

from arena.base.errors import UsageError
from arena.base.model import Frozen, validated
from arena.base.reading import read_json, tree_sha256
from arena.base.text import nearest, shown

# The output folder of a native build, and all folders that are not hashed as source.
BUILD_FOLDER = ".build"
_NOT_SOURCE = {BUILD_FOLDER, ".git", "__pycache__"}

# The names docker accepts for an image: no separator at an end, and few in a row.
_NAME = re.compile(r"[A-Za-z0-9]+(?:(?:\.|__?|-+)[A-Za-z0-9]+)*")
_LONGEST_NAME = 64

# The kinds of needs that are no programs (lib/arena/machine/builds.py).
KINDS_OF_NEEDS = ("pkg-config", "gem", "ghc-pkg", "luajit", "python")

# HttpArena's types, which state an entry's maturity, and the rules that apply to each here.
# HttpArena's second key, `mode`, states whether an entry is tuned.
_RULES = {
    "flagship": "production", "emerging": "production", "experimental": "production",
    "infrastructure": "engine",
}  # fmt: skip
_MODES = ("standard", "tuned")

# HttpArena's keys that are ignored here: how much of HTTP an entry implements itself, and a check
# of its HTTP/1.1 port.
_UNUSED = ("completeness", "tls_check")


def _known(need: str) -> str:
    kind, colon, name = need.rpartition(":")
    if kind and kind not in KINDS_OF_NEEDS:
        raise ValueError(f"no kind {kind!r}; the kinds are {', '.join(KINDS_OF_NEEDS)}")
    if not name or (colon and not kind) or any(map(str.isspace, need)):
        raise ValueError("must be a program, or kind:name")
    return need


class Native(Frozen):
    """How to build and run without Docker: shell commands, run inside the framework's folder.

    `needs` are programs, C libraries (`pkg-config:openssl`), Ruby gems (`gem:grpc`), Haskell
    packages (`ghc-pkg:warp-tls`), Lua modules (`luajit:http.server`) and Python modules
    (`python:ensurepip`).
    """

    needs: tuple[Annotated[str, AfterValidator(_known)], ...] = ()
    build: str = ""
    run: Annotated[str, Field(min_length=1)]


class Framework(Frozen):
    """One entry; `name` is the folder's name, everything else comes from meta.json.

    `type` names the rules it follows (docs/rules.md); HttpArena's types are mapped to these. Its
    `ports` are 8080 and 8443, or those in its environment.
    """

    name: Annotated[str, Field(pattern=f"^{_NAME.pattern}$", max_length=_LONGEST_NAME)]
    display_name: Annotated[str, Field(min_length=1)]
    language: str
    engine: str = ""
    type: Literal["production", "tuned", "engine"]
    # No part of a record: every server under load has the standard ports.
    ports: Annotated[Literal["fixed", "environment"], Field(exclude=True)] = "fixed"
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
    alike = [each for each in known if each.lower() == name.lower()]
    if len(alike) > 1:
        raise UsageError(
            f"the frameworks {' and '.join(alike)} differ only in case, and would share an image: "
            "rename all but one"
        )
    path = folder / name / "meta.json"
    data = read_json(path)
    if "name" in data:
        raise UsageError(f"{shown(path)}: name: unknown key (the folder's name is the name)")
    keys = [*(key for key in Framework.model_fields if key != "name"), "mode", *_UNUSED]
    return validated(Framework, {**_ours(data, path), "name": name}, path, keys)


def _ours(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return meta.json in this runner's terms: without nulls, and with defaults filled in."""
    given = {key: value for key, value in data.items() if value is not None}
    mode = given.pop("mode", "standard")
    if mode not in _MODES:
        raise UsageError(f"{shown(path)}: mode: must be {' or '.join(_MODES)}, not {mode!r:.60}")
    rules = given.pop("type", "emerging")
    rules = _RULES.get(rules, rules) if isinstance(rules, str) else rules
    if (rules, mode) == ("production", "tuned"):
        rules = "tuned"
    kept = {key: value for key, value in given.items() if key not in _UNUSED}
    return {"display_name": path.parent.name, "language": "unknown", **kept, "type": rules}


def is_framework_name(name: str) -> bool:
    """Return whether the name is valid for a framework's folder."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def framework_names(folder: Path) -> list[str]:
    """Return the names of all frameworks, sorted."""
    names = (path.parent.name for path in folder.glob("*/meta.json"))
    return sorted(name for name in names if is_framework_name(name))


def misnamed_folders(folder: Path) -> list[Path]:
    """Return the folders with a meta.json whose names no framework can have; no hidden ones."""
    found = sorted(path.parent for path in folder.glob("*/meta.json"))
    return [it for it in found if not (it.name.startswith(".") or is_framework_name(it.name))]


def source_sha256(folder: Path) -> str:
    """Return one hash over every source file below `folder`, its path and its content.

    Build output (`.build`) is left out.
    """
    return tree_sha256(folder, sorted(source_files(folder)))


def source_files(folder: Path) -> list[Path]:
    """Return every file and symbolic link below `folder` except build output."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_SOURCE]
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        found += [Path(parent) / name for name in files + links]
    return [path for path in found if path.is_symlink() or path.is_file()]


# What is known to be insecure in the libraries that entries are pinned to, by framework. People
# write it: nothing here asks a database.
_ADVISORIES = "advisories.json"

_Text = Annotated[str, Field(min_length=1, max_length=300)]


class Advisory(Frozen):
    """One advisory of a package that a lock file has; `about` says what it means for the entry."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{3,40}$")]
    package: _Text
    version: _Text
    url: Annotated[str, Field(pattern=r"^https://[!-~]+$", max_length=300)]
    about: _Text


class Advisories(Frozen):
    """The content of advisories.json."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    frameworks: Mapping[str, tuple[Advisory, ...]] = {}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the advisories of the frameworks' folder; UsageError if the file is broken."""
        path = folder / _ADVISORIES
        if not path.exists():
            return cls()
        return validated(cls, read_json(path), path, ["schema", "frameworks"])
