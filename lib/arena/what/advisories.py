"""Advisories: what is known to be insecure in the libraries that an entry is pinned to.

`frameworks/advisories.json` has them, by framework. People write it: nothing here asks a database.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from arena.base.model import Frozen, validated
from arena.base.reading import read_json

# The name of the file, in the folder of the frameworks.
FILE = "advisories.json"

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
        path = folder / FILE
        if not path.exists():
            return cls()
        return validated(cls, read_json(path), path, ["schema", "frameworks"])
