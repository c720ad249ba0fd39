"""The checkout's commit, and what was in it at others."""

import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.base.writing import DRAFT
from arena.record.record import Git

# A commit as records name it; git takes other words for options.
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def git_state(root: Path) -> Git | None:
    """Return the checkout's commit and whether files were changed; None outside git.

    A repository around an unpacked archive is not the checkout's, and neither is that of $GIT_DIR.
    """
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return Git(commit=commit, dirty=bool(_git(root, "status", "--porcelain")))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    return _run(root, *arguments).decode(errors="replace").strip()


def _run(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        check=True, capture_output=True, timeout=20,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )  # fmt: skip
    return done.stdout


@contextmanager
def folder_at(inside: Path, commit: str, name: str) -> Iterator[Path | None]:
    """Unpack a folder of the checkout as it was at a commit; yield what holds it.

    It is None without the commit. `inside` is any path in the checkout.
    """
    root = next((each for each in inside.resolve().parents if (each / ".git").exists()), None)
    with tempfile.TemporaryDirectory(prefix=DRAFT) as made:
        yield Path(made) if root and _unpacked(root, commit, name, Path(made)) else None


def _unpacked(root: Path, commit: str, name: str, folder: Path) -> bool:
    if not _COMMIT.fullmatch(commit):
        return False
    try:
        packed = _run(root, "archive", "--format=tar", commit, "--", name)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")  # a TypeError before Python 3.11.4
    except (OSError, subprocess.SubprocessError, tarfile.TarError, TypeError):
        return False
    return True
