"""What may differ: the table of a section of volley/GHZ.md, whose first column has the kinds."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

DOCUMENT = "volley/GHZ.md"
SECTION = "## protoc and volley"


class Allowed:
    """Kinds of differences that have a reason; `*` stands for any end of one."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self.kinds = tuple(kinds)

    def __call__(self, kind: str) -> bool:
        """Whether this kind is allowed."""
        return any(fnmatchcase(kind, each) for each in self.kinds)


def read(root: Path) -> Allowed:
    """Read the table."""
    _, found, section = (root / DOCUMENT).read_text("utf-8").partition(f"{SECTION}\n")
    if not found:
        message = f"{DOCUMENT} has no section `{SECTION}`"
        raise ValueError(message)
    section = section.partition("\n## ")[0]
    cells = re.findall(r"^\|(.*?)\|", section, re.MULTILINE)
    return Allowed(kind for cell in cells for kind in re.findall(r"`([^`]+)`", cell))
