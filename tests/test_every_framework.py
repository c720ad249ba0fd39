"""Every framework keeps the contract, natively: a few are checked each time, and all that changed.

`frameworks/validated.json` proves the others. Make it with `./scripts/validate.sh all --record`.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.base.writing import locked
from arena.judge.proofs import Proofs
from arena.machine.builds import missing
from arena.run.verdicts import is_proven
from arena.what.framework import Framework, framework_names, load_framework
from arena.what.profile import profile_names
from tests.integration.plumbing import ROOT

_FOLDER = ROOT / "frameworks"

# What CI's machine has: fewer would mean that a toolchain, or an entry, got lost.
_LEAST_FRAMEWORKS = 13
_LEAST_LANGUAGES = 7

# Checked each time: one of each way to build, whatever is proven.
_ALWAYS = {"grpc-java", "grpc-node", "grpcio-python", "nghttp2-grpc", "tonic-grpc", "go-http"}

# In these folders, tests that measure build at any time.
_BUILT_ELSEWHERE = {"grpc-go", "grpcio-python"}

# What is checked here is that an entry builds and is right, not how fast it is: Rust's release
# builds as they are measured would take longer than all other tests.
_QUICK = {
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
}

pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(not os.environ.get("ARENA_NO_SKIPS"), reason="takes minutes"),
]


def buildable() -> list[Framework]:
    """Return the entries whose toolchains are on this machine."""
    entries = [load_framework(_FOLDER, name) for name in framework_names(_FOLDER)]
    return [each for each in entries if each.native and not missing(each.native.needs)]


# Every worker of pytest-xdist must find the same tests. So a test looks itself whether it is due.
BUILDABLE = [each.name for each in buildable()]


@cache
def is_due(name: str) -> bool:
    """Return whether an entry is to be checked: one without a native proof, or one of _ALWAYS."""
    proofs, framework = Proofs.read(_FOLDER), load_framework(_FOLDER, name)
    return name in _ALWAYS or not is_proven(proofs, Workspace(ROOT), framework, "native")


def alone(name: str) -> AbstractContextManager[None]:
    """Lock a framework's folder for the block: two builds at once would break each other."""
    return locked(Path(tempfile.gettempdir()) / f"httparena-tests-{name}")


def _run(words: list[str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **_QUICK}
    return subprocess.run(
        words, cwd=cwd, env=environment, check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", [name for name in BUILDABLE if name not in _BUILT_ELSEWHERE])
def test_it_builds(name: str) -> None:
    """Builds run beside the worker that measures, so their priority is low."""
    if not is_due(name):
        return
    native = load_framework(_FOLDER, name).native
    assert native
    build = ["nice", "-n", "19", "sh", "-c", native.build]
    with alone(name):
        done = _run(build, cwd=_FOLDER / name)
    assert done.returncode == 0, done.stdout + done.stderr


def is_measured(name: str) -> bool:
    """Return whether there is a profile for it: without one, nothing is checked."""
    tests = load_framework(_FOLDER, name).tests
    return not set(tests).isdisjoint(profile_names(ROOT / "profiles"))


@pytest.mark.integration
def test_they_keep_the_contract() -> None:
    """Two are checked at a time: by then, the other workers have often ended."""
    due = sorted(name for name in BUILDABLE if is_measured(name) and is_due(name))
    validate = [sys.executable, str(ROOT / "lib"), "validate", ",".join(due), "--runtime", "native"]
    with ExitStack() as locks:
        for name in due:
            locks.enter_context(alone(name))
        done = _run([*validate, "--wait"])
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    verdicts = {words[0]: words[1] for words in lines if words and words[0] in due}
    assert sorted(verdicts) == due
    assert set(verdicts.values()) <= {"PASS", "WARN"}


def test_those_that_are_always_checked_can_be_built() -> None:
    assert set(BUILDABLE) >= _ALWAYS


def test_there_are_enough_of_them_to_compare() -> None:
    entries = buildable()
    assert len(entries) >= _LEAST_FRAMEWORKS
    assert len({entry.language for entry in entries}) >= _LEAST_LANGUAGES
