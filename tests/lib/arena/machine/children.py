"""What tests of child processes share."""

import os
import time
from pathlib import Path

import psutil

from arena.machine import child as child_room

# Nothing waits for this long: what is left alive is killed at once.
FOREVER = "60"

LIB = Path(child_room.__file__).parents[2]


def wait_for(path: Path) -> str:
    """Return what the child wrote, once it is a whole line."""
    deadline = time.monotonic() + 10
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"nothing in {path}"
        os.sched_yield()
    return path.read_text().strip()


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
