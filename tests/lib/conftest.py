"""What unit tests must not do to the machine that they run on, and what they find on it."""

from pathlib import Path

import pytest

from arena.run import runner


@pytest.fixture(autouse=True)
def leftovers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is said to have been left behind; nobody looks for more, or ends it."""
    found: list[str] = []
    monkeypatch.setattr(runner, "end_leftovers", lambda: found)
    return found


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of stubs, the only place where programs are looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder
