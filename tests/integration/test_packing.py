"""Packing that is killed: nothing is lost, at whatever moment."""

import multiprocessing
import random
import shutil
import time
from pathlib import Path

import pytest

from arena.judge.archive import open_archive
from tests.lib.arena.judge.packs import contents, names, packs, require_all, some_records

pytestmark = pytest.mark.integration

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([packs.__module__])


def packed(results: Path, killed_s: float) -> float | None:
    """Pack in another process, and kill it after so many seconds.

    Return how many it took; None if it was killed before.
    """
    heard, said = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=packs, args=(results, said))
    process.start()
    said.close()
    assert heard.poll(60)
    assert heard.recv_bytes() == b"ready"
    begun = time.monotonic()
    is_done = heard.poll(killed_s)
    took_s = time.monotonic() - begun
    process.kill()
    process.join(60)
    heard.close()
    return took_s if is_done else None


def test_killed_at_random_moments_it_loses_nothing(tmp_path: Path) -> None:
    results = some_records(tmp_path / "results")
    archive = open_archive(results)
    known, beside = names(archive), contents(archive)
    shutil.copytree(results, tmp_path / "whole")
    whole_s = packed(tmp_path / "whole", 60.0)
    assert whole_s
    lot, killed = random.Random(1), 0
    for number in range(50):
        copy = tmp_path / f"{number}"
        shutil.copytree(results, copy)
        killed += packed(copy, lot.uniform(0.0, 1.2 * whole_s)) is None
        require_all(copy, known, beside)
    assert killed > 10
