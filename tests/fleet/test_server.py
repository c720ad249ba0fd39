"""A server host runs a session at most once, and ends it when nobody asks after it."""

import asyncio
import hashlib
import io
import tarfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.base.workspace import Workspace
from arena.machine import facts
from arena.what.framework import load_framework
from arena_fleet import server as module
from arena_fleet.agent import RefusedError
from arena_fleet.rack import Asked
from arena_fleet.references import OWN_SERVER
from arena_fleet.server import ServerAgent, own_server
from tests.fakes import a_provenance, a_request, add_framework
from tests.fleet.test_facts import host

SESSION, OTHER = "0" * 31 + "1", "0" * 31 + "2"
NIGHT = "2026-11-25T22-00-00.000000Z"

# A session that notes its words. By its framework it fails, or goes on until it is told.
_SESSION = """#!/bin/bash
folder=$5
trap 'exit 130' TERM
echo $$ >"$0.pid"
env >"$0.env"
echo "$*" >>"$0.started"
echo 'block 1 of 2, visit 1 of 2' >&2
mkdir -p "$folder/results/quick/4/alpha" && echo '{}' >"$folder/results/quick/4/alpha/x.json"
echo '{"event": "done", "load": "quick/4", "block": 1, "attempt": 1}' >>"$folder/events.jsonl"
case $(cat "$folder/asked.json") in
*fails*) echo 'error: port 8080 is taken' >&2; exit 3 ;;
*hangs*) while :; do sleep 0.05; done ;;
esac
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "program"
    path.write_text(_SESSION)
    path.chmod(0o755)
    monkeypatch.setattr(module, "this_program", lambda: [str(path)])
    monkeypatch.setattr(module, "_LOOK_S", 0.05)
    return path


@pytest.fixture
def agent(workspace: Workspace) -> ServerAgent:
    add_framework(workspace, "alpha")
    folder = workspace.tools / "fleet" / "s1"
    return ServerAgent(host(), workspace, Path("/bin/volley"), "tls://h:1", "a", folder)


def run(agent: ServerAgent, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do work with an agent, and close it."""

    async def all_of_it() -> Any:
        try:
            async with asyncio.timeout(60):
                return await work()
        finally:
            await agent.close()

    return asyncio.run(all_of_it())


def session(agent: ServerAgent, framework: str = "alpha", of: str = SESSION) -> Any:
    asked = Asked(request=a_request(framework), night=NIGHT)
    return agent.session(of, asked.model_dump(mode="json"))


async def started(program: Path) -> int:
    """Wait until a benchmark runs that was not waited for before; return its process id."""
    while not (pid := new_pid(program)):  # noqa: ASYNC110 - other processes have no events
        await asyncio.sleep(0.01)
    return pid


def new_pid(program: Path) -> int:
    """Return the process id of a benchmark that has started; 0 if none has since the last one."""
    path = Path(f"{program}.pid")
    pid = int(path.read_text().strip() or 0) if path.exists() else 0
    if pid:
        path.unlink()
    return pid


def test_a_session_gets_what_was_asked_and_hands_over_its_results_and_events(
    agent: ServerAgent, program: Path, workspace: Workspace
) -> None:
    async def work() -> tuple[dict[str, Any], bytes, dict[str, Any]]:
        said = await session(agent)
        return said, await agent.fetch(SESSION, 0), await agent.watch(SESSION, 0)

    said, archive, printed = run(agent, work)
    assert (said["code"], said["error"]) == (0, "")
    assert [each["event"] for each in said["events"]] == ["done"]
    assert hashlib.sha256(archive).hexdigest() == said["sha256"]
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        assert "quick/4/alpha/x.json" in opened.getnames()
    assert printed["text"] == "block 1 of 2, visit 1 of 2\n"
    [line] = Path(f"{program}.started").read_text().splitlines()
    option, root, *verb, folder = line.split()
    assert (option, root, verb) == ("--root", str(workspace.root), ["fleet", "work"])
    asked = Asked.model_validate_json((Path(folder) / "asked.json").read_bytes())
    request = asked.request
    assert (request.frameworks, request.fleet, request.rack) == (("alpha",), "tls://h:1", "a")
    assert load_framework(own_server(Path(folder).parent).parent, OWN_SERVER).native


def test_a_session_is_never_made_twice(agent: ServerAgent, program: Path) -> None:
    async def work() -> None:
        await session(agent)
        await session(agent)

    with pytest.raises(RefusedError, match="never made twice"):
        run(agent, work)
    assert len(Path(f"{program}.started").read_text().splitlines()) == 1


def test_a_session_that_fails_says_why(agent: ServerAgent, program: Path) -> None:
    said = run(agent, lambda: session(agent, "fails"))
    assert (said["code"], said["error"]) == (3, "port 8080 is taken")


def test_one_session_at_a_time(agent: ServerAgent, program: Path) -> None:
    async def work() -> None:
        first = asyncio.ensure_future(session(agent, "hangs"))
        await started(program)
        try:
            said = await session(agent, of=OTHER)
            assert (said["code"], said["bytes"]) == (3, 0)
            assert said["error"] == "another session is in progress here"
            assert (await agent.watch(OTHER, 0))["waits"]
            assert not (await agent.watch(SESSION, 0))["waits"]
        finally:
            await agent.end(SESSION)
            assert (await first)["code"] == 130

    run(agent, work)


def test_a_session_that_has_ended_waits_for_no_other(agent: ServerAgent, program: Path) -> None:
    async def work() -> None:
        await session(agent)
        await started(program)
        other = asyncio.ensure_future(session(agent, "hangs", of=OTHER))
        await started(program)
        assert not (await agent.watch(SESSION, 0))["waits"]
        await agent.end(OTHER)
        await other

    run(agent, work)


def test_a_session_that_nobody_asks_after_ends(
    agent: ServerAgent, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALONE_S", 60.0)

    async def work() -> Any:
        going = asyncio.ensure_future(session(agent, "hangs"))
        await started(program)
        in_hand = agent._in_hand
        assert in_hand
        in_hand.asked_s -= 61
        await agent.watch(SESSION, 0)
        await asyncio.sleep(3 * module._LOOK_S)
        assert not in_hand.is_ending
        in_hand.asked_s -= 61
        return await going

    assert run(agent, work)["code"] == 130


def test_a_worker_that_ends_takes_its_session_with_it(agent: ServerAgent, program: Path) -> None:
    async def work() -> int:
        going = asyncio.ensure_future(session(agent, "hangs"))
        pid = await started(program)
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        return pid

    pid = run(agent, work)
    assert not psutil.pid_exists(pid)


def test_a_session_that_is_cancelled_leaves_its_place_to_another(
    agent: ServerAgent, program: Path
) -> None:
    async def work() -> Any:
        going = asyncio.ensure_future(session(agent, "hangs"))
        await started(program)
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        return await session(agent, of=OTHER)

    assert run(agent, work)["code"] == 0


def test_a_session_may_be_told_to_end_before_its_benchmark_has_started(
    agent: ServerAgent, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALONE_S", 60.0)

    async def work() -> Any:
        going = asyncio.ensure_future(session(agent, "hangs"))
        await asyncio.sleep(0)
        await agent.end(SESSION)
        return await going

    assert run(agent, work)["code"] != 0


def test_the_newest_results_are_kept_and_all_marks(
    agent: ServerAgent, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_SESSIONS", 2)
    names = [f"{number:032x}" for number in range(5)]

    async def work() -> list[str]:
        kept = []
        for each in names:
            await session(agent, of=each)
        for each in names:
            with suppress(RefusedError):
                await agent.fetch(each, 0)
                kept.append(each)
            with pytest.raises(RefusedError, match="never made twice"):
                await session(agent, of=each)
        return kept

    assert run(agent, work) == names[-2:]


def test_what_makes_trials_of_the_workers_own_benchmarks_makes_none_of_a_session(
    agent: ServerAgent, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNS", "1")
    monkeypatch.setenv("SERVER_CPUS", "0")
    monkeypatch.setenv("VOLLEY", "/bin/volley")
    run(agent, lambda: session(agent))
    found = {line.partition("=")[0] for line in Path(f"{program}.env").read_text().splitlines()}
    assert found & {"RUNS", "SERVER_CPUS", "VOLLEY"} == {"VOLLEY"}


def test_results_that_are_not_there_are_refused(agent: ServerAgent) -> None:
    with pytest.raises(RefusedError, match="no results here"):
        run(agent, lambda: agent.fetch(OTHER, 0))
    with pytest.raises(RefusedError, match="32 hex digits"):
        run(agent, lambda: agent.fetch("../x", 0))


def test_an_offer_has_the_class_the_sources_and_what_cannot_run(
    agent: ServerAgent, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "describe", lambda _: a_provenance().host)
    add_framework(workspace, "beta", native={"run": "./server"})
    said = run(agent, lambda: agent.offer("native", ["alpha", "beta", "gamma"], ["CPU, 8 CPUs"]))
    assert said["runtime"] == "native"
    assert "load from 1 x CPU, 8 CPUs" in said["words"]
    assert set(said["sources"]) == {"alpha", "beta"}
    assert set(said["unavailable"]) == {"alpha", "gamma"}
    assert "no `native` section" in said["unavailable"]["alpha"]
