"""Servers that hide what they cost, or leave processes behind: with real processes."""

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.machine import child as child_room
from arena.machine.cgroups import own_group
from arena.run.runtimes.native import NativeRuntime, NativeServer
from tests.fakes import a_framework
from tests.lib.arena.machine.children import alive

USED_S = 0.3

# Each burns CPU time in processes that their parent never waits for, and then writes "done".
BURN = f"""
import os, signal, sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
def detached(work):
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    work()
    os._exit(0)
USED_S = {USED_S}
"""
HIDDEN = {
    "a double fork": """
def daemon():
    burn(USED_S)
    print("done", flush=True)
    time.sleep(60)
detached(daemon)
time.sleep(60)
""",
    "an ignored SIGCHLD": """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for part in range(3):
    if not os.fork():
        burn(USED_S / 3)
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
print("done", flush=True)
time.sleep(60)
""",
    "a chain of short processes": """
def link(left):
    burn(USED_S / 10)
    if left:
        if os.fork():
            os._exit(0)
        os.setsid()
        link(left - 1)
    print("done", flush=True)
    time.sleep(60)
detached(lambda: link(9))
time.sleep(60)
""",
}


Starts = Callable[[str], tuple[AbstractContextManager[NativeServer], Path]]


@pytest.fixture
def starts(workspace: Workspace, folder: Path, tmp_path: Path) -> Starts:
    def start(script: str) -> tuple[AbstractContextManager[NativeServer], Path]:
        (folder / "server.py").write_text(BURN + script)
        log = tmp_path / "server.log"
        framework = a_framework(native={"run": "exec python3 server.py"})
        return NativeRuntime(workspace).start(framework, None, log), log

    return start


@pytest.fixture
def grouped() -> None:
    group = own_group("0-0-0")
    if group is None:
        pytest.skip("this host lets no control group be made")
    group.end()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def members(server: NativeServer) -> list[int]:
    group = server._child._group
    assert group
    return group.pids()


@pytest.mark.usefixtures("grouped")
@pytest.mark.parametrize("script", HIDDEN.values(), ids=HIDDEN)
def test_a_server_pays_for_every_process_and_none_survives(starts: Starts, script: str) -> None:
    running, log = starts(script)
    with running as server:
        until(lambda: "done" in log.read_text())
        cost = server.cost()
        pids = members(server)
    assert cost.source == "control-group"
    # The interpreter's own start comes on top.
    assert cost.cpu_s >= 0.95 * USED_S
    assert pids
    assert not any(map(alive, pids))


@pytest.mark.usefixtures("grouped")
def test_time_that_no_process_shows_is_the_servers_and_not_a_strangers(starts: Starts) -> None:
    running, log = starts(HIDDEN["an ignored SIGCHLD"])
    with running as server:
        until(lambda: "done" in log.read_text())
        assert server.away_s() >= 0.9 * USED_S
    running, log = starts("burn(USED_S); print('done', flush=True); time.sleep(60)")
    with running as server:
        until(lambda: "done" in log.read_text())
        # What /proc shows is cut to 10 ms for each of a process's four times.
        assert abs(server.away_s()) < 0.2 * USED_S


@pytest.mark.usefixtures("grouped")
def test_a_chain_that_never_ends_is_ended(starts: Starts) -> None:
    running, log = starts("""
def link():
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()
        print("done", flush=True)
detached(link)
time.sleep(60)
""")
    with running as server:
        until(lambda: log.read_text().count("done") > 20)
        group = server._child._group
    assert group
    assert not any(folder.exists() for folder in group.folders)


def test_without_a_control_group_the_cost_never_falls(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_room, "own_group", lambda *_: None)
    running, log = starts(HIDDEN["an ignored SIGCHLD"])
    with running as server:
        seen = []
        while "done" not in log.read_text():
            seen.append(server.cost())
        seen.append(server.cost())
    assert {each.source for each in seen} == {"process-tree"}
    assert [each.cpu_s for each in seen] == sorted(each.cpu_s for each in seen)


@pytest.fixture
def adopting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    libc = ctypes.CDLL(None)
    monkeypatch.setattr(child_room, "own_group", lambda *_: None)
    monkeypatch.setattr(child_room._orphans, "adopted", True)
    libc.prctl(child_room._PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    libc.prctl(child_room._PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.usefixtures("adopting")
def test_without_a_control_group_what_ended_as_an_orphan_counts(starts: Starts) -> None:
    running, log = starts(HIDDEN["a chain of short processes"])
    with running as server:
        until(lambda: "done" in log.read_text())
        cost = server.cost()
    assert cost.source == "process-tree"
    assert cost.cpu_s >= 0.9 * USED_S


@pytest.mark.usefixtures("adopting")
def test_without_a_control_group_orphans_count_and_are_ended(starts: Starts) -> None:
    running, log = starts(HIDDEN["a double fork"])
    with running as server:
        until(lambda: "done" in log.read_text())
        assert server.cost().cpu_s >= 0.95 * USED_S
        orphans = [each.pid for each in server._child._tree()]
    assert len(orphans) >= 2
    assert not any(map(alive, orphans))


@pytest.mark.usefixtures("grouped")
def test_a_group_that_a_server_makes_in_its_own_is_ended_with_it(
    starts: Starts, folder: Path
) -> None:
    running, log = starts("""
while not os.path.exists("GROUPS"):
    time.sleep(0.01)
for folder in open("GROUPS").read().split(":"):
    os.mkdir(folder + "/deeper")
    name = "tasks" if os.path.exists(folder + "/tasks") else "cgroup.procs"
    with open(folder + "/deeper/" + name, "w") as tasks:
        tasks.write("0")
print("done", flush=True)
time.sleep(60)
""")
    with running as server:
        group = server._child._group
        assert group
        listed = folder / "listed"
        listed.write_text(":".join(map(str, group.folders)))
        listed.rename(folder / "GROUPS")
        until(lambda: "done" in log.read_text())
        pids = group.pids()
    assert pids
    assert not any(map(alive, pids))
    assert not any(each.exists() for each in group.folders)
