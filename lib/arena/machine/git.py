"""The checkout's commit."""

import os
import subprocess
from pathlib import Path

from arena.record.record import Git


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
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        check=True, capture_output=True, text=True, timeout=20,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )  # fmt: skip
    return done.stdout.strip()
