"""Several generator hosts and one server: what a user gets, and what every fault leaves behind.

Namespaces play the hosts: each has a network, a boot id and a monotonic clock of its own.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.plumbing import (
    ROOT,
    Arena,
    Outcome,
    Running,
    derived_of,
    eventually,
)
from tools.bench_fleet import net
from tools.bench_fleet.net import ADDRESS, SKEWS_NS, Played, Rig

pytestmark = pytest.mark.integration

PYTHON = ROOT / ".venv-fleet" / "bin" / "python"

# The clocks of hosts that share two CPUs with all else are known to a millisecond or two.
WINDOW_S = 4
QUICK = ("victim", "quick", "--duration", f"{WINDOW_S}s")


@pytest.fixture(scope="module")
def dask() -> None:
    """Install Dask as scripts/fleet.sh does."""
    subprocess.run([ROOT / "scripts" / "fleet.sh", "install"], check=True, capture_output=True)


@pytest.fixture(scope="module")
def rig(
    dask: None, volley_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    """Play four hosts, with clocks that differ, and their coordinator."""
    if why := net.why_not():
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOLLEY", str(volley_program))
        with net.fleet(4, tmp_path_factory.mktemp("fleet")) as played:
            yield played


@pytest.fixture
def member(arena: Arena, rig: Rig, volley_program: Path) -> Arena:
    """Return a checkout whose host has a certificate of the fleet."""
    shutil.copytree(ROOT / ".fleet", arena.root / ".fleet")
    arena.judge_nothing()
    return Arena(arena.workspace, arena.ghz, {"VOLLEY": str(volley_program)})


def fleet(arena: Arena, *words: str) -> Outcome:
    """Run a command of scripts/fleet.sh in a checkout."""
    argv = [str(PYTHON), str(ROOT / "lib"), "--root", str(arena.root), "fleet", *words]
    with arena.started(argv) as running:
        return running.end()


def no_volley() -> None:
    """Check that no host makes load any more."""
    eventually(lambda: not net.volleys(), "all volleys have ended")


def used_s() -> float:
    """Return the CPU time of the volley that has used the least."""
    return min(sum(each.cpu_times()[:2]) for each in net.volleys())


def check_hosts(arena: Arena, record: dict[str, Any], count: int) -> None:
    """Check the sections of the hosts: they are the whole, and their outputs are there."""
    for run in record["runs"]:
        hosts = run["generators"]
        assert [each["number"] for each in hosts] == list(range(1, count + 1))
        assert [each["share"] for each in hosts] == [f"{n}/{count}" for n in range(1, count + 1)]
        assert sum(each["calls"]["ok"] for each in hosts) == run["calls"]["ok"] > 0
        assert sum(each["calls"]["cut"] for each in hosts) == run["calls"]["cut"]
        merged = json.loads((arena.results / run["raw"]["path"]).read_bytes())["volley"]
        assert merged["latency_ns"]["samples"] == run["calls"]["ok"]
        messages = 0
        for each in hosts:
            content = (arena.results / each["raw"]["path"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == each["raw"]["sha256"]
            messages += json.loads(content)["volley"]["messages"]
        assert messages == run["messages"] == merged["messages"]
    assert record["profile"]["generator"] == "volley-fleet"
    assert len(record["provenance"]["generator_hosts"]) == count
    check_nameless(record)


def check_nameless(record: dict[str, Any]) -> None:
    """Check that a record has no host's name, address or path."""
    text = json.dumps(record)
    words = (net.NETWORK, "127.0.0.1", "tls://", ".tools/fleet", "local-1", "boot")
    assert not [each for each in words if each in text]
    assert not re.search(r"\bg[1-4]\b", text)


def test_three_hosts_on_one_machine_make_a_record_that_the_page_shows(
    arena: Arena, dask: None, volley_program: Path
) -> None:
    arena = Arena(arena.workspace, arena.ghz, {"VOLLEY": str(volley_program)})
    arena.judge_nothing()
    up = fleet(arena, "up", "local", "--hosts", "3", "--port", "18787")
    try:
        address = "tls://127.0.0.1:18787"
        assert (up.code, up.stdout) == (0, f"{address}\n"), up
        again = fleet(arena, "up", "local", "--port", "18787")
        assert again.code == 3
        assert "down local" in again.error
        status = fleet(arena, "status", "--fleet", address)
        assert status.code == 0, status
        assert [line.rpartition(": ")[2] for line in status.stdout.splitlines()] == ["ready"] * 3
        done = arena.run(*QUICK, "--fleet", address)
        assert done.code == 0, done
        record = arena.records("victim")[-1]
        check_hosts(arena, record, 3)
        assert "unpinned" in derived_of(record).flags
        pages = [each.read_text() for each in arena.workspace.public.rglob("index.html")]
        assert any("Generator hosts" in page and "3/3" in page for page in pages)
    finally:
        down = fleet(arena, "down", "local")
    assert down.stdout == "ended 4 processes\n"


def test_four_hosts_with_clocks_of_their_own_make_one_window(member: Arena) -> None:
    done = member.run(*QUICK, "--fleet", ADDRESS)
    assert done.code == 0, done
    record = member.records("victim")[-1]
    check_hosts(member, record, 4)
    assert "unpinned" not in derived_of(record).flags
    [run] = record["runs"]
    opened = []
    for host, skew_ns in zip(run["generators"], SKEWS_NS, strict=True):
        assert abs(host["offset_ns"] - skew_ns) <= host["offset_bound_ns"]
        assert abs(host["offset_after_ns"] - skew_ns) <= host["offset_after_bound_ns"]
        raw = json.loads((member.results / host["raw"]["path"]).read_bytes())
        opened.append(raw["volley"]["tally"]["started_unix_ns"])
    # The wall clock is one for all hosts: it has had no part in the start, and tells the truth. By
    # a clock that was taken for another, a window would open at least 50 ms off.
    assert max(opened) - min(opened) < 25_000_000
    boards = json.loads((member.results / "leaderboard.json").read_bytes())["boards"]
    assert "volley-fleet" in {board["generator"] for board in boards}


def _pause(host: Played) -> None:
    host.pause()


@pytest.mark.parametrize(
    ("break_", "words"),
    [
        (Played.kill, "generator 2 of 4 ended in the window, or cannot be reached"),
        (_pause, "generator 2 of 4 ended in the window, or cannot be reached: no answer"),
        (lambda host: host.cut(is_cut=True), "generator 2 of 4"),
    ],
    ids=["killed", "paused", "cut off"],
)
def test_a_host_that_goes_in_the_window_fails_the_record_by_its_number(
    member: Arena, rig: Rig, break_: Callable[[Played], None], words: str
) -> None:
    before = len(member.records("victim"))
    victim = rig.hosts[1]
    try:
        with member.running(*QUICK, "--fleet", ADDRESS) as running:
            running.await_line("run 1 of 1")
            eventually(lambda: len(net.volleys()) == 4, "all hosts have been told of the load")
            idle_s = used_s()
            eventually(lambda: used_s() > idle_s + 0.05, "all hosts make load")
            break_(victim)
            done = running.end()
        no_volley()
    finally:
        victim.cut(is_cut=False)
        rig.restart(victim)
    assert done.code == 3, done
    record = member.records("victim")[before]
    assert record["status"] == "failed"
    assert record["failure"]["stage"] == "run 1 of 1"
    assert record["failure"]["reason"].startswith(words), record["failure"]
    assert record["failure"]["log"] is None
    check_nameless(record)
    assert "  | g2: " in done.stderr
    folder = next(member.results.glob(f"quick/4/victim/{record['started_at']}"))
    kept = sorted(each.name for each in folder.glob("run-1-generator-*.json"))
    assert kept == [f"run-1-generator-{number}.json" for number in (1, 3, 4)]


def marks() -> list[Path]:
    """Return what hosts leave when they are told to start."""
    return list((ROOT / ".tools" / "fleet").glob("g[1-4]/runs/*/fired"))


def test_a_coordinator_that_goes_in_the_window_ends_all_load(member: Arena, rig: Rig) -> None:
    before = len(member.records("victim"))
    try:
        with member.running(*QUICK, "--fleet", ADDRESS) as running:
            running.await_line("run 1 of 1")
            fired = len(marks())
            eventually(lambda: len(marks()) == fired + 4, "all hosts know the start")
            rig.coordinator.kill()
            no_volley()
            done = running.end()
    finally:
        rig.coordinator.kill()
        rig.coordinator.start()
        for each in rig.hosts:
            rig.restart(each, wait=False)
        rig.await_workers()
    assert done.code == 3, done
    record = member.records("victim")[before]
    words = r"generator [1-4] of 4 (ended in the window, or cannot be reached: |did not confirm)"
    assert re.match(words, record["failure"]["reason"]), record["failure"]
    check_nameless(record)


def test_a_schedule_is_dealt_out_call_by_call(member: Arena, grpc_go: Path) -> None:
    """All that went wrong before has left the fleet as it was."""
    profile = {
        "extends": "load-const", "name": "paced", "title": "Paced", "connections": [4],
        "concurrency": 64, "requests": 2000, "schedule": {"shape": "const", "rps": 500},
        "warmup": "300ms",
    }  # fmt: skip
    (member.workspace.profiles / "paced.yaml").write_text(yaml.safe_dump(profile))
    member.add("victim", native={"run": f"exec {grpc_go}"}, tests=["paced"])
    done = member.run("victim", "paced", "--fleet", ADDRESS)
    assert done.code == 0, done
    [record] = member.records("victim", "paced")
    check_hosts(member, record, 4)
    [run] = record["runs"]
    assert sum(each["intended"] for each in run["seconds"]) == 2000


# Prints what its link says: at first, after a worker's end, after the coordinator's end, and after
# its return. It waits for a line before each of these.
_LINK = """
import sys, time
from pathlib import Path
from arena_fleet.link import Link
from arena_fleet.fleet import LostError

link = Link(sys.argv[1], Path(sys.argv[2]))

def said(work):
    try:
        return link.wait(work)
    except LostError as error:
        return error.words

def all_is_well():
    return said(link.names()) == ["w"] and isinstance(said(link.call("w", "clock", 3.0)), int)

print(all_is_well(), said(link.task("w", "clock", "nobody-has-it")), flush=True)
input()
clocks = [said(link.call("w", "clock", 3.0)) for _ in range(2)]
print(isinstance(clocks[-1], int), flush=True)
input()
while link._client.status != "closed":
    time.sleep(0.1)
print(said(link.names()), flush=True)
input()
print(all_is_well(), flush=True)
"""


def test_a_link_survives_its_coordinator_and_finds_a_worker_that_is_back(
    arena: Arena, dask: None, volley_program: Path
) -> None:
    port = "18788"
    address = f"tls://127.0.0.1:{port}"
    assert fleet(arena, "ca").code == 0

    def node(*words: str) -> AbstractContextManager[Running]:
        argv = [str(PYTHON), str(ROOT / "lib"), "--root", str(arena.root), "fleet", *words]
        return arena.started(argv, VOLLEY=str(volley_program))

    def ready(nodes: ExitStack, *words: str) -> Running:
        running = nodes.enter_context(node(*words))
        running.await_line(words[0])
        return running

    coordinator = ("coordinator", "--port", port)
    worker = ("worker", "--fleet", address, "--name", "w", "--cpus", "1")
    with ExitStack() as nodes:
        first = ready(nodes, *coordinator)
        lost = ready(nodes, *worker)
        link = nodes.enter_context(
            subprocess.Popen(
                [PYTHON, "-c", _LINK, address, arena.root / ".fleet"],
                env={**os.environ, "PYTHONPATH": f"{ROOT}/lib:{ROOT}/fleet"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        nodes.callback(link.kill)
        assert link.stdin
        assert link.stdout
        assert link.stdout.readline() == "True its worker has ended\n"
        lost.popen.kill()
        ready(nodes, *worker)
        print(file=link.stdin, flush=True)
        assert link.stdout.readline() == "True\n"
        first.popen.kill()
        first.popen.wait()
        print(file=link.stdin, flush=True)
        assert link.stdout.readline() == "the coordinator does not answer\n"
        ready(nodes, *coordinator)
        ready(nodes, *worker)
        print(file=link.stdin, flush=True)
        assert link.stdout.readline() == "True\n"


def test_a_program_that_cannot_start_says_why_and_a_worker_that_its_coordinator_ended(
    arena: Arena, dask: None, volley_program: Path
) -> None:
    address = "tls://127.0.0.1:18789"
    assert fleet(arena, "ca").code == 0
    argv = [str(PYTHON), str(ROOT / "lib"), "--root", str(arena.root), "fleet"]
    nosuch = fleet(arena, "coordinator", "--interface", "nosuch0")
    assert nosuch.code == 2, nosuch
    assert "--interface: 'nosuch0' is no network interface" in nosuch.error
    for words in (["--name", "Bad Name"], ["--class", "A b"], ["--rack", ""]):
        bad = fleet(arena, "worker", *words)
        assert bad.code == 2, bad
        assert f"{words[0]}: {words[1]!r} is not allowed: use a-z, 0-9 and -" in bad.error
    with arena.started([*argv, "coordinator", "--port", "18789"]) as coordinator:
        coordinator.await_line("coordinator")
        taken = fleet(arena, "coordinator", "--port", "18789")
        assert taken.code == 3, taken
        assert "listen on 127.0.0.1, port 18789: Address already in use" in taken.error
        start = [*argv, "worker", "--fleet", address, "--name", "w", "--cpus", "1"]
        with arena.started(start, VOLLEY=str(volley_program)) as worker:
            worker.await_line("worker w: in the fleet")
            coordinator.popen.terminate()
            worker.await_line(f"worker w: ends, as {address} has ended")
            assert worker.end().code == 0


def test_a_benchmark_that_is_killed_leaves_no_load(member: Arena) -> None:
    with member.running(*QUICK, "--fleet", ADDRESS) as running:
        running.await_line("run 1 of 1")
        eventually(lambda: len(net.volleys()) == 4, "all hosts make load")
        running.popen.terminate()
        assert running.end().code == 130
    no_volley()


def test_a_host_that_is_silent_before_the_start_leaves_no_record(member: Arena, rig: Rig) -> None:
    before = len(member.records("victim"))
    rig.hosts[2].pause()
    try:
        done = member.run(*QUICK, "--fleet", ADDRESS)
    finally:
        rig.hosts[2].resume()
    assert done.code == 3
    assert "generator 3 of 4: g3 is not ready: no answer" in done.error
    assert len(member.records("victim")) == before


@pytest.fixture
def odd(rig: Rig) -> Iterator[Callable[..., None]]:
    """Return what starts the worker of the fourth host in another way; it is mended afterwards."""
    victim = rig.hosts[3]
    own = victim.boot_id

    def start(*prefix: str, boot_id: str = own, **environment: str) -> None:
        victim.end()
        victim.log.unlink()
        victim.boot_id = boot_id
        victim.start("--cpus", "1", environment=environment, prefix=prefix)
        rig.await_workers()

    yield start
    victim.boot_id = own
    rig.restart(victim)


def refused(member: Arena, *words: str) -> str:
    """Check that a benchmark is refused and leaves no record; return its one line."""
    before = len(member.records("victim"))
    done = member.run(*QUICK, *words, "--fleet", ADDRESS)
    assert done.code == 3, done
    assert len(member.records("victim")) == before
    return done.error


def test_another_volley_is_refused(
    member: Arena, odd: Callable[..., None], volley_program: Path, tmp_path: Path
) -> None:
    other = tmp_path / "volley"
    shutil.copy(volley_program, other)
    with other.open("ab") as file:
        file.write(b"\0")
    odd(VOLLEY=str(other))
    error = refused(member)
    assert "generator 4 of 4: g4 is not ready: its volley" in error
    assert "use the same build" in error


def test_two_workers_of_one_machine_are_refused(
    member: Arena, rig: Rig, odd: Callable[..., None]
) -> None:
    odd(boot_id=rig.hosts[0].boot_id)
    assert "generator 1 of 4: g1 is not ready: another generator has the same boot id" in refused(
        member
    )


def test_a_worker_on_the_servers_own_machine_is_refused(
    member: Arena, odd: Callable[..., None]
) -> None:
    odd(boot_id=Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    assert "generator 4 of 4: g4 is this machine, which runs the server" in refused(member)


def test_too_few_files_are_refused(member: Arena, odd: Callable[..., None]) -> None:
    odd("prlimit", "--nofile=79:79", "--")
    error = refused(member, "--connections", "64")
    assert "generator 4 of 4: was not armed: 16 connections need 80 open files" in error


def test_a_second_worker_of_a_name_is_refused(member: Arena, rig: Rig) -> None:
    second = Played(2, 0, rig.hosts[0].folder, boot_id="second")
    second.folder = rig.hosts[0].folder / "second"
    second.folder.mkdir(exist_ok=True)
    try:
        second.start("--cpus", "1")
        assert second.process
        assert second.process.wait(30) == 3
        [line] = [each for each in second.log.read_text().splitlines() if "error" in each]
        assert "it has a worker with the name g2 (choose another --name)" in line
    finally:
        second.end()
    assert fleet(member, "status", "--fleet", ADDRESS).code == 0


def test_a_foreign_certificate_is_refused(member: Arena, dask: None) -> None:
    shutil.rmtree(member.root / ".fleet")
    assert fleet(member, "ca").code == 0
    for words in (("status",), ("worker", "--name", "stranger", "--interface", net.BRIDGE)):
        done = fleet(member, *words, "--fleet", ADDRESS)
        assert done.code == 3, done
        assert f"no fleet answers at {ADDRESS} (SSLCertVerificationError" in done.error
    assert ADDRESS in refused(member)


def test_without_certificates_nothing_is_tried(member: Arena) -> None:
    shutil.rmtree(member.root / ".fleet")
    assert "fleet.sh ca" in refused(member)


def test_a_benchmark_without_a_fleet_imports_no_dask(
    arena: Arena, volley_program: Path, tmp_path: Path
) -> None:
    for name in ("dask", "distributed"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported Dask')\n")
    environment = {"PYTHONPATH": str(tmp_path), "VOLLEY": str(volley_program)}
    done = arena.run("victim", "quick", "--generator", "volley", **environment)
    assert done.code == 0, done


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "10.0.0.1:8786", "tls://host", ""])
def test_an_address_that_is_not_tls_is_bad_usage(member: Arena, address: str) -> None:
    done = member.run(*QUICK, "--fleet", address)
    assert done.code == 2
    assert "--fleet" in done.error


def test_clear_text_gets_no_answer(rig: Rig) -> None:
    script = (
        "import asyncio, sys\n"
        "from distributed import Client\n"
        "async def main():\n"
        f"    await Client('{ADDRESS.replace('tls', 'tcp')}', asynchronous=True, timeout=3)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [PYTHON, "-c", script], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "CommClosedError: in <TCP (closed)" in done.stderr
