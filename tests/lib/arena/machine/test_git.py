"""The checkout's commit."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from arena.machine import git


def run_git(root: Path, *words: Sequence[str] | str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *who, *map(str, words)], check=True)


def test_the_commit_is_known_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one")
    clean = git.git_state(tmp_path)
    (tmp_path / "file").write_text("")
    dirty = git.git_state(tmp_path)
    assert clean
    assert dirty
    assert len(clean.commit) == 40
    assert (clean.dirty, dirty.dirty) == (False, True)


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    assert git.git_state(tmp_path) is None
