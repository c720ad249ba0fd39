"""The readers as commands, run as a user without the project's environment runs them."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

FIXTURES = Path(__file__).parents[2] / "fixtures"


def run(front: ModuleType, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a reader in the folder of the fixtures, with nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-E", "-s", "-S", str(front.__file__), *argv],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=FIXTURES,
    )
