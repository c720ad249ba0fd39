"""Releases: which version of its library an entry has.

`frameworks/releases.yaml` has the library of each entry. The version is read where a build takes it
from: the entry's manifest. Debian's packages have theirs in the file itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from xml.etree import ElementTree as ET

from pydantic import Field, model_validator

from arena.base.errors import UsageError
from arena.base.model import Frozen, validated
from arena.base.reading import read_input, read_json, read_toml, read_yaml
from arena.base.text import printable, shown
from arena.base.workspace import Workspace

# The name of the file, in the folder of the frameworks.
FILE = "releases.yaml"

# Such as 1.85.0, 4.2.18.Final, 0.6.1-0.20240319094008-0393e58bdf10, or 26 of an image.
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+~-]{0,39}")

# The registry that has no manifest, and those whose packages are the image's, not the entry's.
_DEBIAN = "debian"
_OF_IMAGE = {_DEBIAN, "docker"}


@dataclass(frozen=True)
class Release:
    """A version of an entry's library, and its month (or year), if the file has it.

    `package` is the registry's own name, `name` the one for people. One `of_image` is what the
    image has: a native build takes what the host has, whatever its version.
    """

    registry: str
    package: str
    version: str
    released: str | None
    name: str
    of_image: bool

    @property
    def words(self) -> str:
        """The library and its version; at most 150 characters."""
        return f"{self.name} {self.version}"


class Library(Frozen):
    """One entry's line: its library as a registry names it, and `name`, a better one for people.

    Without a `name`, people read the last part of `package`. `version` is that of a Debian package.
    """

    registry: Literal["cargo", "debian", "docker", "go", "maven", "npm", "nuget", "pypi"]
    package: Annotated[str, Field(pattern="^[!-~]{1,100}$")]
    name: Annotated[str, Field(pattern="^[!-~]{0,100}$")] = ""
    version: Annotated[str | None, Field(pattern=f"^{_VERSION.pattern}$")] = None
    released: Annotated[str | None, Field(pattern="^20[0-9]{2}(-[01][0-9])?$")] = None

    @model_validator(mode="after")
    def _has_one_version(self) -> Self:
        if (self.version is None) == (self.registry == _DEBIAN):
            raise ValueError(f"a version belongs to what comes from {_DEBIAN}, and only to that")
        return self

    def release(self, folder: Path) -> Release:
        """Return the release that an entry has; UsageError unless it has one exact version."""
        return Release(
            registry=self.registry,
            package=self.package,
            version=self.version or self._version(folder),
            released=self.released,
            name=self.name or re.split("[/:]", self.package)[-1],
            of_image=self.registry in _OF_IMAGE,
        )

    def _version(self, folder: Path) -> str:
        file, find = MANIFESTS[self.registry]
        # A copy of an entry may have another name.
        path = next(folder.glob(file), folder / file)
        found = [each for each in find(path, self.package) if each is not None]
        what = f"of {self.package}, which {FILE} names"
        if len(found) != 1:
            raise UsageError(f"{shown(path)}: has {len(found) or 'no'} versions {what}")
        if not (isinstance(found[0], str) and _VERSION.fullmatch(found[0])):
            raise UsageError(printable(f"{shown(path)}: {found[0]!r:.60} is no version {what}"))
        return found[0]


class _Libraries(Frozen):
    """The content of releases.yaml."""

    entries: Mapping[str, Library]


def libraries(frameworks: Path) -> Mapping[str, Library]:
    """Return each entry's library; UsageError if releases.yaml is broken. There may be no file."""
    path = frameworks / FILE
    if not path.exists():
        return {}
    return validated(_Libraries, {"entries": read_yaml(path)}, path, (), {"entries": ""}).entries


def releases(frameworks: Path) -> dict[str, Release]:
    """Return the release of each entry that is there and in releases.yaml; UsageError as above."""
    return {
        name: it.release(frameworks / name)
        for name, it in libraries(frameworks).items()
        if (frameworks / name).is_dir()
    }


def release_of(workspace: Workspace, name: str) -> Release | None:
    """Return one entry's release; None if releases.yaml does not have it. UsageError as above."""
    found = libraries(workspace.frameworks).get(name)
    return found.release(workspace.framework(name)) if found else None


def _matches(pattern: str) -> Callable[[Path, str], Iterable[object]]:
    """Return what finds the versions of a package in a file of lines: `{}` is the package."""

    def find(path: Path, package: str) -> Iterable[object]:
        return re.findall(f"(?m)^{pattern.format(re.escape(package))}", read_input(path))

    return find


def _dependency(read: Callable[[Path], dict[str, Any]]) -> Callable[[Path, str], Iterable[object]]:
    """Return what finds a package in `dependencies`: its version, or a table that has it."""

    def find(path: Path, package: str) -> Iterable[object]:
        table = read(path).get("dependencies")
        found = table.get(package) if isinstance(table, dict) else None
        return [found.get("version") if isinstance(found, dict) else found]

    return find


def _xml(path: Path) -> ET.Element:
    try:
        return ET.fromstring(read_input(path))  # noqa: S314 - whoever wrote it writes the server
    except ET.ParseError as error:
        raise UsageError(f"{shown(path)}: {error}") from error


def _of_maven(path: Path, package: str) -> Iterator[object]:
    """Yield the versions of a dependency or the parent; a `${property}` is that of the file."""
    project = _xml(path)
    for it in (*project.iterfind("{*}parent"), *project.iterfind(".//{*}dependency")):
        group, artifact, version = (
            it.findtext(f"{{*}}{each}") for each in ("groupId", "artifactId", "version")
        )
        if version is None or f"{group}:{artifact}" != package:
            continue
        if named := re.fullmatch(r"\$\{(.+)\}", version):
            every = project.iterfind("{*}properties/{*}*")
            yield from (each.text for each in every if each.tag.rpartition("}")[2] == named[1])
        else:
            yield version


def _of_nuget(path: Path, package: str) -> Iterator[object]:
    every = _xml(path).iter("PackageReference")
    return (each.get("Version") for each in every if each.get("Include") == package)


# The manifest of an entry for each registry, as a pattern, and what finds a package in it.
MANIFESTS: Mapping[str, tuple[str, Callable[[Path, str], Iterable[object]]]] = {
    "cargo": ("Cargo.toml", _dependency(read_toml)),
    "docker": ("Dockerfile", _matches(r"FROM {}:([^\s@-]+)")),
    "go": ("go.mod", _matches(r"(?:require)?\s+{}\s+v(\S+)")),
    "maven": ("pom.xml", _of_maven),
    "npm": ("package.json", _dependency(read_json)),
    "nuget": ("*.csproj", _of_nuget),
    "pypi": ("requirements.in", _matches(r"{}(?:\[[^]\n]*\])?==(\S+)")),
}
