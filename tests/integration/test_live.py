"""Streams that live, against a real server: what a message costs, and what a stream holds."""

from pathlib import Path

import pytest

from arena.judge.leaderboard import Board
from tests.integration.plumbing import Arena

pytestmark = pytest.mark.integration

PROFILE, STREAMS, RATE, SECONDS = "tiny-live", 40, 5, 2


@pytest.fixture
def arena(bare: Arena, volley_program: Path) -> Arena:
    """Return a checkout with a short profile, where nothing is disturbed."""
    (bare.workspace.profiles / f"{PROFILE}.yaml").write_text(
        f"extends: stream-live-1000-1\nname: {PROFILE}\nconnections: [2]\nstreams: {STREAMS}\n"
        f"rate: {RATE}\nduration: {SECONDS}s\nwarmup: 1s\nruns: 1\n"
    )
    bare.judge_nothing()
    return Arena(bare.workspace, bare.ghz, {"VOLLEY": str(volley_program)})


def test_every_message_of_a_stream_is_due_once_and_answered(arena: Arena, grpc_go: Path) -> None:
    arena.add("ada", native={"run": f"exec {grpc_go}"}, tests=["bidi-grpc"])
    done = arena.run("ada", PROFILE)
    assert done.code == 0, done
    (record,) = arena.records("ada", PROFILE)
    (run,) = record["runs"]
    streams, due = run["streams"], STREAMS * RATE * SECONDS
    assert streams["due"] == streams["sent"] == streams["answered"] == run["calls"]["ok"] == due
    assert streams["open_first"] == streams["open_last"] == streams["wanted"] == STREAMS
    assert streams["broken"] == streams["refused"] == streams["unanswered"] == 0
    assert streams["connections"] == 2
    assert run["latency_ns"]["kind"] == "response"
    assert run["latency_ns"]["samples"] == due
    # A tail has 1 % of the replies at least, the longest first.
    assert run["tail"][0][0] == run["latency_ns"]["max"]
    assert sum(count for _, count in run["tail"]) >= due / 100
    # The server was looked at in the middle of the window, and in its last second.
    early, late = run["server"]["halves"]
    assert early > 0 < late
    memory = run["server"]["memory"]
    each_bytes = (memory["anonymous_bytes"] - memory["idle_bytes"]) / STREAMS
    files = (arena.root / "site/public").rglob("board.json")
    (board,) = [Board.model_validate_json(each.read_text()) for each in files]
    (row,) = board.rows
    assert board.beside(row)["server_anonymous_bytes_per_stream"].at_least == pytest.approx(
        each_bytes
    )
    assert board.beside(row)["lost_streams"].at_least == 0
    assert row.result
    cpu_ns = run["server"]["cpu_s"] * 1e9 / due
    assert row.result.value == pytest.approx(cpu_ns)
