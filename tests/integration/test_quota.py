"""A server with a CPU quota, natively: how much it may use, and what its record and board say."""

import os
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.judge.leaderboard import Board
from arena.machine.cgroups import own_group
from tests.integration.plumbing import Arena

pytestmark = pytest.mark.integration

QUOTA = 0.2


@pytest.fixture
def arena(bare: Arena, grpc_go: Path) -> Arena:
    """Return a checkout with a good server; skip if this host has no quotas."""
    try:
        group = own_group("0-0-0", QUOTA)
    except HostError as error:
        pytest.skip(str(error))
    assert group
    group.end()
    bare.add("ada", native={"run": f"exec {grpc_go}"}, tests=["quick"])
    return bare


def test_a_server_keeps_its_quota_and_has_a_board_of_its_own(arena: Arena) -> None:
    words = ("ada", "quick", "--runs", "1", "--duration", "2s")
    assert arena.run(*words).code == 0
    done = arena.run(*words, "--server-quota", str(QUOTA))
    assert done.code == 0, done
    assert f"server limited to {QUOTA} CPUs" in done.stderr
    free, limited = arena.records("ada")
    assert "server_quota" not in free["provenance"]["cpus"]
    assert "throttled_s" not in free["runs"][0]["server"]
    assert limited["provenance"]["cpus"]["server_quota"] == QUOTA
    (run,) = limited["runs"]
    assert run["server"]["cpu_s"] < 2 * QUOTA * run["elapsed_s"]
    # On a busy host, the generator may leave the server less than its quota.
    assert run["server"]["throttled_s"] >= 0
    for record in (free, limited):
        memory = record["runs"][0]["server"]["memory"]
        assert 1 << 20 < memory["idle_bytes"] <= memory["highest_bytes"]
        assert 1 << 20 < memory["anonymous_bytes"] <= memory["highest_bytes"]
    files = (arena.root / "site/public").rglob("board.json")
    boards = [Board.model_validate_json(each.read_text()) for each in files]
    found = {
        board.host_class.server_quota: [row.framework for row in board.rows] for board in boards
    }
    assert found == {None: ["ada"], QUOTA: ["ada"]}


def test_more_cpus_than_there_are_cannot_be_had(arena: Arena) -> None:
    done = arena.run("ada", "quick", "--server-quota", str(len(os.sched_getaffinity(0)) + 1))
    assert done.code == 3
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: --server-quota: is ")
    assert not arena.every_record()
