"""Proofs: what the contract said of each framework, and of which source it said so.

`frameworks/validated.json` has them. `arena validate --record` adds to it.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from arena.base.model import Frozen, to_json, validated
from arena.base.reading import read_json
from arena.base.writing import write_atomic
from arena.record.record import Check
from parsers.common.figures import Whole

# The version of the contract. Raise it when a check is added or becomes stricter: then every proof
# is an old one, and every framework is validated again.
CONTRACT = 3

# The name of the file, in the folder of the frameworks.
FILE = "validated.json"


class PortProof(Frozen):
    """The verdict of each check on a port; `seen` is what was wrong, of those that did not pass."""

    tls: bool
    checks: Mapping[str, Literal["pass", "warn", "fail"]]
    seen: Mapping[str, str] = {}

    @classmethod
    def of(cls, checks: Iterable[Check], *, tls: bool) -> Self:
        """Return the proof of a port that was checked."""
        every = list(checks)
        return cls(
            tls=tls,
            checks={each.check: each.status for each in every},
            seen={each.check: each.detail for each in every if each.status != "pass"},
        )


class Proof(Frozen):
    """A validation of a framework's `source` (its SHA-256) against a version of the contract.

    `toolchain` has what each need of a native build says of its version; it is empty for Docker.
    """

    source: str
    contract: Whole
    runtime: str
    toolchain: Mapping[str, str | None] = {}
    verdict: Literal["pass", "warn", "fail"]
    ports: tuple[PortProof, ...] = ()

    def is_of(self, source: str) -> bool:
        """Return whether it is of this source, and of the contract as it is now."""
        return (self.source, self.contract) == (source, CONTRACT)


class Proofs(Frozen):
    """The content of validated.json: a proof for each framework that was validated."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    frameworks: Mapping[str, Proof] = {}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the proofs of the frameworks' folder; UsageError if the file is broken."""
        path = folder / FILE
        if not path.exists():
            return cls()
        return validated(cls, read_json(path), path, list(cls.model_fields))

    def write(self, folder: Path, found: Mapping[str, Proof], names: Collection[str]) -> None:
        """Write them, and those just found; `names` are all frameworks of the folder."""
        every = {**self.frameworks, **found}
        kept = {name: every[name] for name in sorted(every) if name in names}
        write_atomic(folder / FILE, to_json(Proofs(frameworks=kept)))

    def proof(self, framework: str, source: str) -> Proof | None:
        """Return the proof of a framework; None without one of this source and this contract."""
        found = self.frameworks.get(framework)
        return found if found and found.is_of(source) else None
