"""What unit tests must not do to the machine that they run on."""

import pytest

from arena.measure import runner


@pytest.fixture(autouse=True)
def leftovers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is said to have been left behind; nobody looks for more, or ends it."""
    found: list[str] = []
    monkeypatch.setattr(runner, "end_leftovers", lambda: found)
    return found
