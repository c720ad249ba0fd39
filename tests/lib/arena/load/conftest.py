"""Stub programs on a PATH that has no generator, and nothing to build one with."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def bin_(bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of stubs; PATH has it and the few plain tools; no Go, cargo or Docker.

    No profile of cargo is chosen.
    """
    monkeypatch.delenv("VOLLEY_PROFILE", raising=False)
    plain = tmp_path / "plain"
    plain.mkdir()
    for name in ("sh", "env", "cat", "setpriv", "taskset", "chmod", "mkdir"):
        if found := shutil.which(name, path="/usr/bin:/bin"):
            (plain / name).symlink_to(found)
    monkeypatch.setenv("PATH", f"{bin_}:{plain}")
    return bin_


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the stubs note down how they were called."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.setenv("OUTSIDE", str(folder))
    return folder
