"""Blocks with a real server and a real generator: killed, resumed, and ranked."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.plumbing import Arena, eventually

pytestmark = pytest.mark.integration

WORDS = (
    "ada,bob", "quick", "--wait", "--runtime", "native", "--blocks", "2", "--twin", "ada",
    "--duration", "1s", "--block-warm-up", "200ms", "--quiet-wait", "0", "--seed", "x",
)  # fmt: skip


@pytest.fixture
def arena(bare: Arena, grpc_go: Path) -> Arena:
    """Return a checkout with two good servers."""
    for name in ("ada", "bob"):
        bare.add(name, native={"run": f"exec {grpc_go}"}, tests=["quick"])
    bare.judge_nothing()
    return bare


def visits(arena: Arena) -> list[dict[str, Any]]:
    """Return the visits of all records, which are good, by time; each knows its framework."""
    found = arena.every_record()
    assert {each["status"] for each in found} == {"ok"}
    return [{**each["visit"], "framework": each["framework"]["name"]} for each in found]


def test_blocks_that_were_killed_are_resumed_and_lose_only_the_block_in_progress(
    arena: Arena,
) -> None:
    with arena.start("run", *WORDS) as running:
        running.await_line("block 2 of 2, visit 2 of 3: ")
        running.await_line("run 1 of 1")
        running.signal(signal.SIGKILL)
        assert running.end().code == -signal.SIGKILL
    eventually(lambda: not arena.processes(), "everything died with the runner")
    before = visits(arena)
    assert [each["block"] for each in before] == [1, 1, 1, 2]

    done = arena.command("run", *WORDS, "--resume")
    assert done.code == 0, done
    assert "resuming the night of " in done.stderr
    after = visits(arena)[len(before) :]
    assert [(each["block"], each["attempt"]) for each in after] == [(2, 2)] * 3
    assert after[0]["framework"] == before[3]["framework"]
    assert len({each["night"] for each in visits(arena)}) == 1
    assert sum(each["is_twin"] for each in after) == 1
    assert done.said("page: ") == "site/public/index.html"
    assert arena.left_behind() == []
    assert "ada" in arena.page()

    again = arena.command("run", *WORDS, "--resume", "--dry-run")
    assert "no night of such blocks was cut short: a new one begins" in again.stderr
    assert "quick: 2 blocks x 3 visits by ghz" in again.stdout


def test_an_interrupted_night_of_blocks_says_how_to_go_on(arena: Arena) -> None:
    with arena.start("run", *WORDS) as running:
        running.await_line("block 1 of 2, visit 2 of 3: ")
        running.await_line("run 1 of ")
        running.signal(signal.SIGINT)
        done = running.end()
    assert done.code == 130
    assert "--resume continues the night; the block in progress is repeated\n" in done.stderr
    assert done.stderr.splitlines()[-1] == "interrupted"
    assert arena.left_behind() == []
