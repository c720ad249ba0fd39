"""Print how long the site of very many records takes to build, and how much memory.

    PYTHONPATH=lib:. .venv/bin/python -m tools.bench_site
        [--frameworks 300] [--profiles 12] [--nights 30] [--folder FOLDER]

Writes synthetic records (tools/synthetic.py) to a checkout in FOLDER, which must not exist yet, or
in a temporary one that is removed afterwards, and builds its site: from nothing, without changes,
and with one new record. Some file systems (ext4) are slow for minutes after very many files
were removed, so leave some time between two benches.

Memory is the peak sum over all processes of a build, with shared pages counted once
(proportional set size), sampled ten times a second; next to it is the sum of each process's
resident set size.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
import psutil

from tools import synthetic

ROOT = Path(__file__).resolve().parents[1]
_TICK_S = 0.1
_BARS = {"cold": 60.0, "warm": None, "one new record": 8.0}
_BAR_BYTES = 1 << 30


@dataclass(frozen=True)
class Cost:
    """The cost of a build: wall and CPU seconds, and the peak memory, counted in two ways."""

    wall_s: float
    cpu_s: float
    shared_once_bytes: int
    resident_bytes: int


def measure(folder: Path) -> Cost:
    """Build the site of a checkout in a separate process."""
    argv = [sys.executable, str(ROOT / "lib"), f"--root={folder}", "site", "build"]
    before = os.times()
    began = time.perf_counter()
    peaks = (0, 0)
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            peaks = tuple(map(max, peaks, _memory(running.pid)))  # type: ignore[assignment]
            with suppress(subprocess.TimeoutExpired):
                running.wait(_TICK_S)
    wall_s = time.perf_counter() - began
    after = os.times()
    if running.returncode:
        raise SystemExit(running.returncode)
    cpu_s = after.children_user + after.children_system
    return Cost(wall_s, cpu_s - before.children_user - before.children_system, *peaks)


def _memory(pid: int) -> tuple[int, int]:
    """Return the memory of a process and its descendants: pages counted once, and by process."""
    shared_once = resident = 0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for each in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                held = each.memory_full_info()
                shared_once += held.pss
                resident += held.rss
    return shared_once, resident


def bench(folder: Path, frameworks: int, profiles: int, nights: int) -> None:
    """Write the records, build three times, and print a line for each build."""
    for name in ("site/templates", "site/static", "docs", "profiles"):
        shutil.copytree(ROOT / name, folder / name)
    results = folder / "results"
    count = synthetic.write(results, frameworks, profiles, nights, seed=1, raw=3)
    newest = max(results.glob("stream-grpc/64/go-server-1/*.json"))
    aside = folder / newest.name
    newest.rename(aside)
    click.echo(
        f"{frameworks} frameworks × {profiles} profiles × {nights} nights: {count:,} records"
    )
    for name, bar_s in _BARS.items():
        if name == "one new record":
            aside.rename(newest)
        cost = measure(folder)
        bar = f" (bar: {bar_s:g} s)" if bar_s else ""
        click.echo(
            f"{name + bar:28} {cost.wall_s:6.1f} s, CPU {cost.cpu_s:6.1f} s, "
            f"{cost.shared_once_bytes / (1 << 20):5.0f} MiB, "
            f"resident sum {cost.resident_bytes / (1 << 20):5.0f} MiB "
            f"(bar: {_BAR_BYTES >> 20} MiB)"
        )
    files = sum(len(names) for _, _, names in os.walk(folder / "site" / "public"))
    click.echo(f"{files:,} files in the site")


def main() -> None:
    """Bench a site of the requested size, in a folder that is kept if it is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frameworks", type=int, default=300)
    parser.add_argument("--profiles", type=int, default=12)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.folder:
        given.folder.mkdir(parents=True)
        bench(given.folder.resolve(), given.frameworks, given.profiles, given.nights)
        return
    with tempfile.TemporaryDirectory(prefix="httparena-bench-") as folder:
        bench(Path(folder), given.frameworks, given.profiles, given.nights)


if __name__ == "__main__":
    main()
