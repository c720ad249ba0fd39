"""Waiting until this host is quiet, for benches: every CPU spins meanwhile, which shows steal.

`python -m tools.quiet` waits and says so; bench_overhead.sh and bench_timing.sh call it.
"""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from arena.base.progress import Progress, progress
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.entry import start
from arena.machine import lock
from arena.machine.child import TICK_S
from arena.machine.sentinel import Sentinel
from arena.run.limits import limits_here
from arena.run.quiet import Quiet

option = click.option(
    "--quiet-wait", type=options.DurationOrNone(), default="120s", show_default=True,
    help="How long to wait for a quiet host at most; 0 does not wait.",
)  # fmt: skip

# One piece of work: Python's lock is free meanwhile.
_PIECE = bytes(1 << 22)


def until_quiet(sentinel: Sentinel, at_most_s: float, shows: Progress) -> float:
    """Wait for five quiet seconds in a row, for `at_most_s` at most; return the seconds waited."""
    quiet = Quiet(sentinel, lambda: 0.0, sentinel.wait_s(at_most_s), shows.say)
    with _spinning():
        while not quiet.is_over():
            time.sleep(TICK_S)
            quiet.tick()
    return quiet.waited_s


@contextmanager
def _spinning() -> Iterator[None]:
    """Keep every CPU that we may use busy for the block."""
    ended = threading.Event()

    def spin(cpu: int) -> None:
        os.sched_setaffinity(0, {cpu})
        while not ended.is_set():
            hashlib.sha256(_PIECE)

    threads = [threading.Thread(target=spin, args=(cpu,)) for cpu in os.sched_getaffinity(0)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@options.root
@option
def command(root: Path, *, quiet_wait: float) -> None:
    """Wait until this host is quiet, and print how long that took."""
    shows = progress()
    with lock.only_benchmark("quiet", wait=False):
        sentinel = Sentinel(limits_here(Workspace(root.resolve()), shows))
        waited_s = until_quiet(sentinel, quiet_wait, shows)
    click.echo(f"waited {waited_s:.0f} s for a quiet host")


if __name__ == "__main__":
    start(command, "python -m tools.quiet")
