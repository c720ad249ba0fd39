"""Every framework that this machine can build keeps the contract, natively."""

import os
import subprocess
import sys

import pytest

from arena.machine.needs import missing
from arena.what.framework import Framework, framework_names, load_framework
from tests.integration.plumbing import ROOT

_FOLDER = ROOT / "frameworks"

# What CI's machine has: fewer would mean that a toolchain, or an entry, got lost.
_LEAST_FRAMEWORKS = 13
_LEAST_LANGUAGES = 7


def buildable() -> list[Framework]:
    """Return the entries whose toolchains are on this machine."""
    entries = [load_framework(_FOLDER, name) for name in framework_names(_FOLDER)]
    return [each for each in entries if each.native and not missing(each.native.needs)]


@pytest.mark.integration
@pytest.mark.parametrize("name", [entry.name for entry in buildable()])
def test_it_keeps_the_contract(name: str) -> None:
    if not os.environ.get("ARENA_NO_SKIPS"):
        pytest.skip("building every framework takes minutes: only with --no-skips")
    validate = [sys.executable, str(ROOT / "lib"), "validate", name, "--runtime", "native"]
    done = subprocess.run([*validate, "--wait"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[:2] in ([name, "PASS"], [name, "WARN"])


def test_there_are_enough_of_them_to_compare() -> None:
    if not os.environ.get("ARENA_NO_SKIPS"):
        pytest.skip("this machine need not have every toolchain")
    entries = buildable()
    assert len(entries) >= _LEAST_FRAMEWORKS
    assert len({entry.language for entry in entries}) >= _LEAST_LANGUAGES
