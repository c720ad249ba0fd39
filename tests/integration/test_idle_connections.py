"""Ten thousand connections that hardly anybody uses: what they cost a real server's memory."""

import sys
from pathlib import Path

import pytest

from arena.judge.leaderboard import Board
from tests.integration.plumbing import Arena

pytestmark = pytest.mark.integration

PROFILE, CONNECTIONS = "idle-connections", 10_000


@pytest.fixture
def arena(bare: Arena, grpc_go: Path) -> Arena:
    """Return a checkout with a good server."""
    bare.add("ada", native={"run": f"exec {grpc_go}"}, tests=["unary-grpc"])
    bare.judge_nothing()
    return bare


def test_a_record_says_what_idle_connections_hold(arena: Arena, volley_program: Path) -> None:
    words = ("ada", PROFILE, "--runs", "1", "--duration", "2s")
    done = arena.run(*words, VOLLEY=str(volley_program))
    assert done.code == 0, done
    (record,) = arena.records("ada", PROFILE)
    assert record["profile"]["connection_count"] == CONNECTIONS
    (run,) = record["runs"]
    memory = run["server"]["memory"]
    each_bytes = (memory["anonymous_bytes"] - memory["idle_bytes"]) / CONNECTIONS
    # A Go server has two goroutines a connection, each with a stack, and buffers.
    assert 4 << 10 < each_bytes < 1 << 20
    assert run["calls"]["ok"] > 0
    files = (arena.root / "site/public").rglob("board.json")
    (board,) = [Board.model_validate_json(each.read_text()) for each in files]
    figure = board.beside(board.rows[0])["server_anonymous_bytes_per_connection"]
    assert figure.at_least == pytest.approx(each_bytes)


def test_a_host_that_forbids_so_many_files_cannot_measure_it(
    arena: Arena, volley_program: Path
) -> None:
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))"
    argv = [sys.executable, "-c", f"{limit}; os.execv(sys.argv[1], sys.argv[1:])"]
    words = ("run", "--wait", "--runtime", "native", "ada", PROFILE)
    argv += arena.argv(*words)
    with arena.started(argv, VOLLEY=str(volley_program)) as running:
        done = running.end()
    assert done.code == 3
    assert "open 10,000 connections" in done.error
    assert "ulimit -n 10064" in done.error
    assert not arena.every_record()
