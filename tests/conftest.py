"""What every test may use: a checkout of its own, and the ban on skipping in CI."""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from arena.base.workspace import Workspace

if TYPE_CHECKING:
    from tests.volley.plumbing import Volley

ROOT = Path(__file__).resolve().parents[1]

# A busy host is no fault of a property.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make an empty checkout: the real profiles, .proto and templates, and no framework."""
    for name in ("profiles", "requests", "site/templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("frameworks", "results"):
        (tmp_path / name).mkdir()
    return Workspace(tmp_path)


@pytest.fixture(scope="session")
def volley_program() -> Path:
    """Find volley, or build the one that its own tests run: not optimised, and so in less time."""
    if named := os.environ.get("VOLLEY"):
        return Path(named).absolute()
    if not shutil.which("cargo"):
        pytest.skip("there is no volley, and no Rust to build it")
    folder = ROOT / "volley"
    subprocess.run([ROOT / "scripts" / "volley-page.sh", "--if-possible"], check=True)
    build = ["cargo", "test", "--no-run", "--locked", "--features", "docs"]
    subprocess.run(build, check=True, cwd=folder)
    return folder / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "volley"


@pytest.fixture
def volley(volley_program: Path) -> "Volley":
    """Return volley, to be run by a test."""
    from tests.volley.plumbing import Volley

    return Volley(volley_program)


@pytest.fixture(scope="session")
def counting_program() -> Path:
    """Build the grpc-go server that counts what it answers."""
    if not shutil.which("go"):
        pytest.skip("there is no Go to build the counting server")
    from tests.fakes import FakeProgress
    from tools.bench.counting_server import build

    return build(FakeProgress())


# What needs the ports and the lock of the host, or ends the processes of killed benchmarks.
_HOST = (
    "tests/integration/",
    "tests/lib/arena/machine/test_lock.py",
    "tests/test_every_framework.py::test_they_keep_the_contract",
)


# Servers on ports of their own, which the tests of a module share, or none at all.
_MODULES = (
    "tests/integration/test_bad_input.py",
    "tests/integration/test_ghz_lines.py",
    "tests/integration/test_items.py",
    "tests/integration/test_scaffold.py",
    "tests/volley/",
)


def _needs_the_host(nodeid: str) -> bool:
    return nodeid.startswith(_HOST) and not nodeid.startswith(_MODULES)


class HostScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """One worker runs all tests that need the host for themselves; the other tests go anywhere.

    Not pytest-xdist's groups: pytest 9.2 ignores them (pytest-xdist issue 1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        if _needs_the_host(nodeid):
            return "host"
        return nodeid.partition("::")[0] if nodeid.startswith(_MODULES) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> HostScheduling:
    """Distribute tests like this, however many workers there are."""
    return HostScheduling(config, log)


_MEASURES = pytest.StashKey[bool]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note whether some worker measures. The one load of a run before a commit does not count."""
    session.config.stash[_MEASURES] = "PYTEST_XDIST_WORKER" in os.environ and any(
        _needs_the_host(item.nodeid)
        for item in session.items
        if item.get_closest_marker("integration") and not item.get_closest_marker("smoke")
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lower the priority of tests that run beside those that measure."""
    if item.config.stash[_MEASURES] and not _needs_the_host(item.nodeid):
        os.nice(max(0, 10 - os.nice(0)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check every framework last: by then another worker has built them."""
    servers = [item.nodeid for item in items if item.get_closest_marker("integration")]
    strays = [each for each in servers if not each.startswith((*_HOST, *_MODULES))]
    assert not strays, f"where may these start servers? {', '.join(strays)}"
    items.sort(key=lambda item: item.path.name == "test_every_framework.py")


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
