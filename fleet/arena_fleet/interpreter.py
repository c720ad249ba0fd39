"""The interpreter that has Dask: scripts/fleet.sh installs it, and a benchmark goes on in it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from arena.base.errors import HostError
from arena_fleet.fleet import own_address

# Set for the interpreter that was switched to, which must have Dask then.
_SWITCHED = "ARENA_FLEET_INTERPRETER"


def require_dask(root: Path, address: str) -> None:
    """Go on in the interpreter that has Dask, set up if need be; return if this one has it.

    The coordinator's address is checked before. HostError if Dask cannot be set up.
    """
    own_address(address)
    if find_spec("distributed"):
        return
    python = root / ".venv-fleet" / "bin" / "python"
    done = subprocess.run(
        [root / "scripts" / "fleet.sh", "install"], check=False, stdout=subprocess.DEVNULL
    )
    if done.returncode or os.environ.get(_SWITCHED):
        raise HostError("--fleet: Dask could not be set up: see ./scripts/fleet.sh install")
    os.environ[_SWITCHED] = "1"
    os.execv(python, [str(python), *sys.orig_argv[1:]])  # noqa: S606 - the same program again
