"""Hashes of files and folders."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_sha256(folder: Path, files: Iterable[Path]) -> str:
    """Return one SHA-256 in hex over the path below `folder` and the content of each file.

    The order of the files matters. A symbolic link is hashed as its target path.
    """
    digest = hashlib.sha256()
    for path in files:
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        for part in (os.fsencode(path.relative_to(folder)), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
