"""What every test may use: a checkout of its own, and the ban on skipping in CI."""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from arena.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make an empty checkout: the real profiles, .proto and templates, and no framework."""
    for name in ("profiles", "requests", "site/templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("frameworks", "results"):
        (tmp_path / name).mkdir()
    return Workspace(tmp_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where skipping is forbidden (ARENA_NO_SKIPS=1)."""
    del item, call
    report = yield
    if report.skipped and os.environ.get("ARENA_NO_SKIPS"):
        report.outcome = "failed"
    return report
