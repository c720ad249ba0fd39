"""Nights on two racks: namespaces play their hosts, each with servers, ports and a lock of its own.

Hosts 1 and 3 serve the racks a and b; hosts 2 and 4 make their load.
"""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from arena.judge.host_class import class_of
from arena.judge.load_key import text_of
from arena.machine import facts
from arena.machine.cpus import CpuPlan
from arena.night.diary import Diary
from arena.night.warm_ups import PlannedWarmUp, WarmUps
from arena.record.times import utc_now
from arena.what.environment import FLEET_GENERATOR
from arena.what.framework import source_sha256
from arena.what.profile import load_profile, measured_profile
from tests.fakes import FakeProgress
from tests.integration.plumbing import ROOT, Arena, Outcome, eventually
from tools.bench_fleet import net
from tools.bench_fleet.net import ADDRESS, Played, Rig

pytestmark = pytest.mark.integration

PYTHON = ROOT / ".venv-fleet" / "bin" / "python"
FRAMEWORKS = ("first", "second")

# The clocks of hosts that share two CPUs with all else are known to a millisecond or two.
WINDOW = "4s"


@pytest.fixture(scope="module")
def idle(volley_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Play four hosts and their coordinator."""
    if why := net.why_not():
        pytest.skip(why)
    subprocess.run([ROOT / "scripts" / "fleet.sh", "install"], check=True, capture_output=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOLLEY", str(volley_program))
        with net.idle_hosts(4, tmp_path_factory.mktemp("racks"), (0,)) as rig:
            yield rig


@pytest.fixture
def racks(bare: Arena, idle: Rig, grpc_go: Path, volley_program: Path) -> Iterator[Rig]:
    """Start the workers of two racks, whose server hosts have this test's checkout."""
    shutil.copytree(ROOT / ".fleet", bare.root / ".fleet")
    bare.judge_nothing()
    profile = {**yaml.safe_load((bare.workspace.profiles / "quick.yaml").read_text())}
    profile |= {"duration": WINDOW, "runs": 1}
    (bare.workspace.profiles / "quick.yaml").write_text(yaml.safe_dump(profile))
    for name in FRAMEWORKS:
        bare.add(name, native={"run": f"exec {grpc_go}"}, tests=["quick"])
    command = (PYTHON, ROOT / "lib", "--root", bare.root, "fleet")
    for number, each in enumerate(idle.hosts):
        rack = ("--rack", "ab"[number // 2])
        each.log.unlink(missing_ok=True)
        if number % 2:
            each.start(*rack, "--cpus", "1")
        else:
            each.start(*rack, "--serves", command=command)
    idle.await_workers()
    yield idle
    for each in idle.hosts:
        each.end()


@pytest.fixture
def member(bare: Arena, racks: Rig, volley_program: Path) -> Arena:
    """Return the checkout from which nights are started; its visits warm up for half a second."""
    described = facts.describe(None)
    hosts = (f"{described.cpu}, 1 CPU",)
    cpus = CpuPlan("fleet", None, None).record()
    profile = measured_profile(load_profile(bare.workspace.profiles, "quick"), 4)
    warm_ups = WarmUps.read(bare.workspace.host / "warm-ups.json", FakeProgress())
    for name in FRAMEWORKS:
        warm_ups.put(
            PlannedWarmUp(
                framework=name,
                source_sha256=source_sha256(bare.workspace.framework(name)),
                load=text_of(profile.changed(generator=FLEET_GENERATOR)),
                host_class=class_of(described, cpus, "native", hosts).id,
                seconds=0.5, why="a test", updated=utc_now(),
            )
        )  # fmt: skip
    warm_ups.save()
    return Arena(bare.workspace, bare.ghz, {"VOLLEY": str(volley_program)})


NIGHT = ("night", "all", "quick", "--fleet", ADDRESS, "--runtime", "native")
OPTIONS = ("--twin", "none", "--quiet-wait", "0", "--quarantine", "0")
TWO_BLOCKS = (*NIGHT, "--blocks", "2", *OPTIONS)
THREE_BLOCKS = (*NIGHT, "--blocks", "3", *OPTIONS)


def events(arena: Arena, what: str) -> list[dict[str, Any]]:
    """Return the events of a kind in the night's diary."""
    [path] = arena.workspace.nights.glob("*.jsonl")
    return [each for each in Diary.read(path).events if each.get("event") == what]


def whole_blocks(arena: Arena) -> dict[int, list[str]]:
    """Return the frameworks with a good record in each block."""
    found: dict[int, list[str]] = {}
    for name in FRAMEWORKS:
        for record in arena.records(name):
            assert record["status"] == "ok", record["failure"]
            assert record["profile"]["generator"] == "volley-fleet"
            assert len(record["runs"][0]["generators"]) == 1
            found.setdefault(record["visit"]["block"], []).append(name)
    return found


def sessions(host: Played) -> list[psutil.Process]:
    """Return the benchmarks, servers and volleys below a host's worker."""
    return [each for each in host.tree() if each != host.worker()]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(
        each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes
    )


def fleet(arena: Arena, *words: str) -> Outcome:
    """Run a command of scripts/fleet.sh in a checkout."""
    argv = [str(PYTHON), str(ROOT / "lib"), "--root", str(arena.root), "fleet", *words]
    with arena.started(argv) as running:
        return running.end()


def test_a_rack_that_is_killed_in_the_middle_leaves_every_block_whole_or_told(
    member: Arena, racks: Rig
) -> None:
    shown = fleet(member, "status", "--fleet", ADDRESS)
    assert shown.code == 0, shown
    assert [line.split(";")[:2] for line in shown.stdout.splitlines()] == [
        ["g1", " rack a, server"], ["g2", " rack a"], ["g3", " rack b, server"], ["g4", " rack b"],
    ]  # fmt: skip
    victim = racks.hosts[2]
    with member.start(*THREE_BLOCKS) as running:
        running.await_line("rack b: block 2 of 3, visit 2 of 2")
        below = sessions(victim)
        assert below
        victim.kill()
        line = running.await_line("error: rack b")
        assert "block 2 of 3 of quick is lost, and is not repeated" in line
        eventually(lambda: gone(below), "nothing of the rack's session is left")
        done = running.end()
    assert done.code == 3, done
    assert whole_blocks(member) == {1: list(FRAMEWORKS), 3: list(FRAMEWORKS)}
    [lost] = events(member, "lost")
    assert lost["block"] == 2
    assert {each["block"] for each in events(member, "done")} == {1, 3}
    assert len(events(member, "block")) == 3
    assert "block 2 is lost: rack b" in done.stdout
    assert "volley-fleet" in (member.results / "leaderboard.json").read_text()
    for record in (each for name in FRAMEWORKS for each in member.records(name)):
        assert not any(word in json.dumps(record) for word in ('"g2"', "--rack", net.NETWORK))


def test_a_generator_host_that_is_killed_costs_a_block_and_no_framework(
    member: Arena, racks: Rig
) -> None:
    victim = racks.hosts[1]
    with member.start(*TWO_BLOCKS) as running:
        # A block of which nothing was measured would go to the other rack.
        running.await_line("rack a: block 1 of 2, visit 2 of 2")
        eventually(lambda: sessions(victim), "its volley runs")
        victim.kill()
        assert "is lost, and is not repeated" in running.await_line("error: rack a")
        done = running.end()
    assert done.code == 3, done
    [lost] = events(member, "lost")
    left = {1, 2} - {lost["block"]}
    assert whole_blocks(member) == {number: list(FRAMEWORKS) for number in left}
    assert events(member, "dropped") == []


def test_a_night_of_blocks_that_is_killed_is_resumed_and_each_block_is_whole(
    member: Arena, racks: Rig
) -> None:
    with member.start(*TWO_BLOCKS) as running:
        running.await_line("rack b: block")
        servers = (racks.hosts[0], racks.hosts[2])
        eventually(lambda: all(sessions(each) for each in servers), "both racks are at work")
        running.signal(signal.SIGKILL)
        running.popen.wait()
    with member.start(*TWO_BLOCKS, "--resume") as running:
        done = running.end()
    assert done.code == 0, done
    assert whole_blocks(member) == {number: list(FRAMEWORKS) for number in (1, 2)}
    assert sorted(each["attempt"] for each in events(member, "block")) == [1, 1, 2, 2]


def test_an_interrupt_ends_the_sessions_of_all_racks(member: Arena, racks: Rig) -> None:
    with member.start(*TWO_BLOCKS) as running:
        for rack in "ab":
            running.await_line(f"rack {rack}: block")
        servers = (racks.hosts[0], racks.hosts[2])
        eventually(lambda: all(sessions(each) for each in servers), "both racks are at work")
        below = [process for each in servers for process in sessions(each)]
        running.signal(signal.SIGINT)
        done = running.end()
    assert done.code == 130, done
    assert "--resume continues the night" in done.stderr
    eventually(lambda: gone(below), "no session is left")
    eventually(lambda: not net.volleys(), "no load is left")
    assert fleet(member, "status", "--fleet", ADDRESS).code == 0


def test_a_night_that_is_killed_leaves_no_session(member: Arena, racks: Rig) -> None:
    with member.start(*NIGHT, "--quarantine", "0") as running:
        running.await_line("rack b: ")
        servers = (racks.hosts[0], racks.hosts[2])
        eventually(lambda: all(sessions(each) for each in servers), "both racks are at work")
        running.signal(signal.SIGKILL)
        running.popen.wait()
    eventually(lambda: not any(sessions(each) for each in servers), "no session is left")


def test_two_racks_are_played_on_one_machine_and_what_they_lack_is_shown(
    bare: Arena, volley_program: Path
) -> None:
    subprocess.run([ROOT / "scripts" / "fleet.sh", "install"], check=True, capture_output=True)
    arena = Arena(bare.workspace, bare.ghz, {"VOLLEY": str(volley_program)})
    up = fleet(arena, "up", "local", "--racks", "2", "--hosts", "1", "--port", "18788")
    try:
        assert up.code == 0, up
        assert "starting 2 server hosts and 2 generator hosts on this machine" in up.stderr
        shown = fleet(arena, "status", "--fleet", "tls://127.0.0.1:18788")
        assert shown.code == 0, shown
        assert [line.split(";")[:2] for line in shown.stdout.splitlines()] == [
            ["local-a-server", " rack a, server"], ["local-a-1", " rack a"],
            ["local-b-server", " rack b, server"], ["local-b-1", " rack b"],
        ]  # fmt: skip
        [server] = [each for each in arena.processes() if "local-b-server" in each.cmdline()]
        server.kill()
        eventually(lambda: not server.is_running(), "the server host has ended")
        shown = fleet(arena, "status", "--fleet", "tls://127.0.0.1:18788")
        assert shown.code == 3
        assert "rack b: not ready: it has no server host (start its worker" in shown.stdout
    finally:
        assert fleet(arena, "down", "local").stdout == "ended 4 processes\n"
