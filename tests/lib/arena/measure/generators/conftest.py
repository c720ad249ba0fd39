"""Stub programs on a PATH that has no generator, and nothing to build one with."""

from pathlib import Path

import pytest


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of stubs; PATH has it and the few plain tools; no Go, cargo or Docker."""
    plain = tmp_path / "plain"
    plain.mkdir()
    for name in ("sh", "env", "cat", "setpriv", "taskset", "chmod", "mkdir"):
        for folder in ("/usr/bin", "/bin"):
            if Path(folder, name).exists() and not (plain / name).exists():
                (plain / name).symlink_to(Path(folder, name))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{plain}")
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the stubs note down how they were called."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.setenv("OUTSIDE", str(folder))
    return folder
