"""Raw outputs: the files in a record's folder that the site copies.

These are the generator's outputs and the logs: plain files that a browser can show as text
or save, by their names. The site copies no other file, no symbolic link, and no oversized file.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Page hosts reject files above 100 MB, and a log a tenth of that size is too long to read.
LARGEST_BYTES = 16 << 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(?:json|jsonl|gz|log|stderr|stdout|txt)")

# The site's own copy of the record has this name in the same folder.
_TAKEN = {"record.json"}


@dataclass(frozen=True)
class RawFile:
    """One file in a record's folder: its name, its path, and its size."""

    name: str
    source: Path
    size_bytes: int


def raw_files(folder: Path, path: str) -> Sequence[RawFile]:
    """Return the files that the site copies for a set's record at `path`, by name."""
    beside = folder / path.removesuffix(".json")
    found = []
    try:
        if beside.is_symlink():
            return ()
        with os.scandir(beside) as files:
            for file in files:
                if file.name not in _TAKEN and _NAME.fullmatch(file.name):
                    size = file.stat(follow_symlinks=False).st_size
                    if file.is_file(follow_symlinks=False) and size <= LARGEST_BYTES:
                        found.append(RawFile(file.name, Path(file.path), size))
    except OSError:
        return ()
    return sorted(found, key=lambda each: each.name)
