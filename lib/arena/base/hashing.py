"""Hashes of files and folders."""

import hashlib
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
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for part in (path.relative_to(folder).as_posix().encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
