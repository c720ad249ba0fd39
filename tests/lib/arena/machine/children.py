"""What tests of child processes share."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from arena.machine import child as child_room

# Nothing waits for this long: what is left alive is killed at once.
FOREVER = "60"

PRELUDE = """
import resource
import time
from pathlib import Path
import psutil
from arena.machine.child import Child, adopt_orphans, run_bounded
def start(*command):
    return Child(command, cwd=Path("."), stdout=Path("out"), stderr=Path("err"))
"""


def a_runner(script: str, folder: Path) -> "subprocess.Popen[str]":
    """Run Python that may `start` programs, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(child_room.__file__).parents[2])}
    argv = [sys.executable, "-c", PRELUDE + script]
    return subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def wait_for(path: Path) -> str:
    """Return what the child wrote, once it is a whole line."""
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"nothing in {path}"
        os.sched_yield()
    return path.read_text().strip()


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
