"""A generator host makes a load at most once, and leaves nothing behind."""

import asyncio
import hashlib
import zlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena_fleet import agent as module
from arena_fleet.agent import Agent, RefusedError
from arena_fleet.facts import monotonic_ns
from tests.fleet.conftest import SHARES
from tests.fleet.test_facts import host

RUN = "0" * 31 + "1"
VOLLEY = host().volley_sha256


def soon() -> int:
    return monotonic_ns() + 1_000_000_000


def alive(volley: Path) -> list[int]:
    """Return the volleys that run."""
    found = []
    for pid in map(int, Path(f"{volley}.pids").read_text().split()):
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
    return found


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something outside of this loop."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - other processes have no events
            await asyncio.sleep(0.01)


async def ended(volley: Path) -> None:
    """Wait until no volley runs."""
    await until(lambda: not alive(volley))


async def over(agent: Agent) -> None:
    """Wait until the agent knows that all its volleys have ended."""
    async with asyncio.timeout(60):
        for each in agent._started:
            await each.process.wait()


async def collected(agent: Agent) -> dict[str, object]:
    """Ask for the run's output until it has ended."""
    async with asyncio.timeout(60):
        while (said := await agent.collect(RUN))["state"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return said


@pytest.fixture
def agent(tmp_path: Path, volley: Path) -> Agent:
    return Agent(host(), volley, tmp_path, tmp_path / "g1")


def run(agent: Agent, work: Callable[[], Awaitable[None]]) -> None:
    """Do work with an agent, and close it."""

    async def all_of_it() -> None:
        try:
            await work()
        finally:
            await agent.close()

    asyncio.run(all_of_it())


async def make(agent: Agent, *parts: list[str]) -> None:
    """Arm, open and fire a run."""
    await agent.arm(RUN, 4, VOLLEY)
    await agent.open(RUN, parts or ([],))
    await agent.fire(RUN, soon(), 1.0)


def test_a_run_is_armed_opened_fired_and_collected_again_and_again(agent: Agent) -> None:
    async def work() -> None:
        await make(agent)
        first = await collected(agent)
        assert first == await agent.collect(RUN)
        content = zlib.decompress(first["content"])  # type: ignore[arg-type]
        assert content == SHARES[0].read_bytes()
        assert first["told"]["threads"] == 1  # type: ignore[index]
        assert first["sha256"] == hashlib.sha256(content).hexdigest()

    run(agent, work)


def test_a_run_is_never_made_twice_even_by_a_worker_that_was_started_again(
    agent: Agent, tmp_path: Path, volley: Path
) -> None:
    async def work() -> None:
        await make(agent)
        with pytest.raises(RefusedError, match="fired before, and is never made twice"):
            await agent.fire(RUN, soon(), 1.0)
        await collected(agent)
        again = Agent(host(), volley, tmp_path, tmp_path / "g1")
        for each in (agent, again):
            with pytest.raises(RefusedError, match="armed before, and is never made twice"):
                await each.arm(RUN, 4, VOLLEY)
        assert (await again.collect(RUN))["state"] == "done"

    run(agent, work)
    assert Path(f"{volley}.fired").read_text().count("\n") == 1


def test_one_run_at_a_time(agent: Agent, tmp_path: Path, volley: Path) -> None:
    async def work() -> None:
        await agent.arm(RUN, 4, VOLLEY)
        other = Agent(host(), volley, tmp_path, tmp_path / "g1")
        with pytest.raises(RefusedError, match="another run is in progress"):
            await other.arm("f" * 32, 4, VOLLEY)
        assert await agent.disarm(RUN)
        await other.arm("f" * 32, 4, VOLLEY)
        other.stop()

    run(agent, work)


def test_a_run_that_has_ended_does_not_hold_the_host_if_nobody_collects_it(
    agent: Agent,
) -> None:
    async def work() -> None:
        await make(agent)
        await over(agent)
        assert not (await agent.facts())["is_busy"]
        await agent.arm("f" * 32, 4, VOLLEY)
        assert (await agent.facts())["is_busy"]
        assert (await collected(agent))["state"] == "done"
        # What was said of the first run does not free the host from the second one.
        with pytest.raises(RefusedError, match="another run is in progress"):
            await agent.arm("e" * 32, 4, VOLLEY)

    run(agent, work)


def test_a_run_that_goes_on_holds_the_host(agent: Agent) -> None:
    async def work() -> None:
        assert not (await agent.facts())["is_busy"]
        await make(agent, ["hangs"])
        assert (await agent.facts())["is_busy"]
        with pytest.raises(RefusedError, match="another run is in progress"):
            await agent.arm("f" * 32, 4, VOLLEY)

    run(agent, work)


def test_a_report_without_all_of_its_parts_is_none(
    agent: Agent, tmp_path: Path, volley: Path
) -> None:
    async def work() -> None:
        await make(agent, [], [])
        await ended(volley)
        (tmp_path / "g1/outputs" / RUN / "part-2.json").unlink()
        again = Agent(host(), volley, tmp_path, tmp_path / "g1")
        assert (await again.collect(RUN))["why"] == "volley left no whole report"

    run(agent, work)


def test_a_line_of_any_length_is_read(agent: Agent) -> None:
    async def work() -> None:
        async with asyncio.timeout(60):
            await make(agent, ["long"])
        assert (await collected(agent))["state"] == "done"

    run(agent, work)


@pytest.mark.parametrize(
    ("word", "why", "said"),
    [
        ("late", "volley: started too late", "error: the start has passed"),
        ("broken", "volley left no whole report", "JSON"),
    ],
)
def test_what_goes_wrong_in_the_window_is_said(
    agent: Agent, word: str, why: str, said: str
) -> None:
    async def work() -> None:
        await make(agent, [word])
        done = await collected(agent)
        assert (done["state"], done["why"]) == ("failed", why)
        assert said in str(done["said"])

    run(agent, work)


def test_a_volley_that_cannot_connect_ends_them_all(agent: Agent, volley: Path) -> None:
    async def work() -> None:
        await agent.arm(RUN, 4, VOLLEY)
        with pytest.raises(RefusedError, match="exit code 1: error: cannot connect"):
            await agent.open(RUN, [[], ["refused"]])
        await ended(volley)
        with pytest.raises(RefusedError, match="not armed"):
            await agent.fire(RUN, soon(), 1.0)
        with pytest.raises(RefusedError, match="not fired here"):
            await agent.collect(RUN)

    run(agent, work)


def test_a_run_that_is_called_back_while_its_volleys_start_leaves_none(
    agent: Agent, volley: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = agent._start

    async def disarmed_at_the_second(arguments: Sequence[str], output: Path) -> Any:
        started = await start(arguments, output)
        if output.name == "part-2.json":
            await agent.disarm(RUN)
        return started

    monkeypatch.setattr(agent, "_start", disarmed_at_the_second)

    async def work() -> None:
        await agent.arm(RUN, 4, VOLLEY)
        with pytest.raises(RefusedError, match="not armed here"):
            await agent.open(RUN, [[], [], []])
        assert not (volley.parent / "g1/outputs" / RUN / "part-3.stderr").exists()
        await over(agent)

    run(agent, work)


def test_a_start_that_is_known_too_late_is_refused(agent: Agent) -> None:
    async def work() -> None:
        await agent.arm(RUN, 4, VOLLEY)
        await agent.open(RUN, [[]])
        with pytest.raises(RefusedError, match="too late"):
            await agent.fire(RUN, monotonic_ns() + 150_000_000, 1.0)
        assert await agent.disarm(RUN)

    run(agent, work)


def test_disarming_tells_whether_the_load_had_begun(agent: Agent, volley: Path) -> None:
    async def work() -> None:
        await make(agent, ["hangs"])
        assert await agent.disarm(RUN)
        await ended(volley)
        # What was called back stays made: nobody can tell any more that it was not.
        assert not await agent.disarm(RUN)

    run(agent, work)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_whose_coordinator_has_gone_ends_by_itself(
    agent: Agent, volley: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(module, "FIRE_WITHIN_S", 0.3)
    monkeypatch.setattr(module, "END_WITHIN_S", -0.7)

    async def work() -> None:
        all_steps: list[Callable[[], Awaitable[None]]] = [
            lambda: agent.arm(RUN, 4, VOLLEY),
            lambda: agent.open(RUN, [["hangs"]]),
            lambda: agent.fire(RUN, soon(), 1.0),
        ]
        for step in all_steps[:steps]:
            await step()
        await until(lambda: agent._armed is None)
        if steps > 1:
            await ended(volley)
        await agent.arm("f" * 32, 4, VOLLEY)

    run(agent, work)


def test_outputs_of_old_runs_go_and_their_marks_stay(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_RUNS", 1)

    async def work() -> None:
        await make(agent)
        await collected(agent)
        await agent.arm("f" * 32, 4, VOLLEY)
        assert [each.name for each in (tmp_path / "g1/runs" / RUN).iterdir()] == ["fired"]
        assert [each.name for each in (tmp_path / "g1/outputs").iterdir()] == ["f" * 32]
        await agent.disarm("f" * 32)
        with pytest.raises(RefusedError, match="never made twice"):
            await agent.arm(RUN, 4, VOLLEY)

    run(agent, work)


@pytest.mark.parametrize("id_", ["", "../x", "A" * 32, "0" * 33])
def test_an_id_is_no_path(agent: Agent, id_: str) -> None:
    with pytest.raises(RefusedError, match="32 hex digits"):
        asyncio.run(agent.arm(id_, 4, VOLLEY))


def test_a_worker_with_another_volley_than_before_is_refused(agent: Agent) -> None:
    with pytest.raises(RefusedError, match="not the one that it had"):
        asyncio.run(agent.arm(RUN, 4, "b" * 64))


def test_too_few_files_are_refused_before_anything_starts(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "lacks", lambda _: "too few files")
    with pytest.raises(RefusedError, match="too few files"):
        asyncio.run(agent.arm(RUN, 4, VOLLEY))
