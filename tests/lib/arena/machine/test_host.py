"""The machine: which CPUs each side gets, who holds a port, who else measures."""

import fcntl
import os
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from arena.base.errors import HostError, UsageError
from arena.machine import cpus, facts, git, lock, ports
from arena.machine.cpus import CpuPlan, plan_cpus

TWO = [(0,), (1,)]
FOUR = [(0,), (1,), (2,), (3,)]
EIGHT_SMT = [(0, 4), (1, 5), (2, 6), (3, 7)]


@pytest.mark.parametrize(
    ("cores", "server", "generator"),
    [
        (FOUR, (0, 1), (2, 3)),
        (EIGHT_SMT, (0, 1, 4, 5), (2, 3, 6, 7)),
        ([(2, 3), (0, 1)], (0, 1), (2, 3)),
        ([(i,) for i in range(5)], (0, 1), (2, 3, 4)),
        ([(0, 1), (2, 3), (4, 5)], (0, 1), (2, 3, 4, 5)),
    ],
    ids=["4 cores", "8 CPUs, siblings apart", "unsorted", "5 cores", "3 cores with SMT"],
)
def test_each_side_gets_half_of_the_cores_and_the_generator_an_odd_one(
    cores: list[tuple[int, ...]], server: tuple[int, ...], generator: tuple[int, ...]
) -> None:
    assert plan_cpus(cores, {}) == CpuPlan("pinned", server, generator)
    assert plan_cpus(cores, {}).generator_count == len(generator)


@pytest.mark.parametrize(
    "cores",
    [[(0,)], TWO, [(0, 1)], [(0,), (1,), (2,)], [(0, 1, 2, 3)]],
    ids=["1 CPU", "2 CPUs", "1 core with SMT", "3 CPUs", "1 core with 4 threads"],
)
def test_too_few_cores_are_shared(cores: list[tuple[int, ...]]) -> None:
    plan = plan_cpus(cores, {})
    assert plan == CpuPlan("unpinned", None, None)
    assert plan.generator_count is None
    assert plan.record().model_dump() == {"policy": "unpinned", "server": None, "generator": None}
    assert "share all CPUs" in str(plan)


@pytest.mark.parametrize(
    ("environment", "server", "generator", "own"),
    [
        ({"SERVER_CPUS": "0"}, (0,), (1, 2, 3), 3),
        ({"LOADGEN_CPUS": "2-3"}, (0, 1), (2, 3), 2),
        ({"SERVER_CPUS": "0", "LOADGEN_CPUS": "3"}, (0,), (3,), 1),
        ({"SERVER_CPUS": "0-2", "LOADGEN_CPUS": "2-3"}, (0, 1, 2), (2, 3), None),
        ({"SERVER_CPUS": "0-3", "LOADGEN_CPUS": "0-3"}, (0, 1, 2, 3), (0, 1, 2, 3), None),
        ({"SERVER_CPUS": "", "LOADGEN_CPUS": "1"}, (0, 2, 3), (1,), 1),
    ],
)
def test_an_override_names_its_side_and_leaves_the_rest_to_the_other(
    environment: dict[str, str],
    server: tuple[int, ...],
    generator: tuple[int, ...],
    own: int | None,
) -> None:
    plan = plan_cpus(FOUR, environment)
    assert plan == CpuPlan("override", server, generator)
    assert plan.generator_count == own


def test_two_cpus_can_be_split_by_hand() -> None:
    plan = plan_cpus(TWO, {"SERVER_CPUS": "1"})
    assert str(plan) == "server on CPUs 1, generator on CPUs 0"
    assert plan.record().model_dump() == {"policy": "override", "server": "1", "generator": "0"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SERVER_CPUS": "all"}, "SERVER_CPUS: 'all' is not a CPU list"),
        ({"LOADGEN_CPUS": "2-9"}, r"LOADGEN_CPUS: CPU 4-9 is not available here \(there are 0-3\)"),
        ({"SERVER_CPUS": "0-3"}, "SERVER_CPUS: takes every CPU"),
        ({"LOADGEN_CPUS": "0,1,2,3"}, "LOADGEN_CPUS: takes every CPU"),
    ],
)
def test_a_bad_override_is_refused_by_its_name(environment: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan_cpus(FOUR, environment)


def test_cores_are_read_as_far_as_we_may_use_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cpu, siblings in {0: "0,4\n", 1: "1,5\n", 4: "0,4\n"}.items():
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    monkeypatch.setattr(cpus, "CPU_FOLDERS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 4, 7})
    assert cpus.physical_cores() == [(0, 4), (1,), (7,)]


def test_the_description_names_no_machine() -> None:
    found = facts.describe("29.1").model_dump_json()
    assert os.uname().nodename not in found
    assert '"docker":"29.1"' in found


def listener(port: int, pid: int | None, status: str = psutil.CONN_LISTEN) -> SimpleNamespace:
    return SimpleNamespace(status=status, laddr=SimpleNamespace(port=port), pid=pid)


@pytest.mark.parametrize(
    ("pid", "said"),
    [
        (os.getpid(), rf"port 8080 is taken by process {os.getpid()}: .*py"),
        (None, "taken by a process of another user"),
        (2**22 + 1, rf"taken by process {2**22 + 1};"),
    ],
    ids=["known", "of another user", "gone"],
)
def test_a_taken_port_is_refused_with_its_holder(
    monkeypatch: pytest.MonkeyPatch, pid: int | None, said: str
) -> None:
    monkeypatch.setattr(psutil, "net_connections", lambda **_: [listener(8080, pid)])
    with pytest.raises(HostError, match=said):
        ports.require_free_port(8080)


def test_a_port_that_only_has_connections_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets = [listener(8081, 1), listener(8080, 1, psutil.CONN_TIME_WAIT)]
    monkeypatch.setattr(psutil, "net_connections", lambda **_: sockets)
    ports.require_free_port(8080)


@pytest.fixture
def lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock")
    return tmp_path / "lock"


def test_a_second_benchmark_is_refused_with_the_firsts_command(lock_file: Path) -> None:
    with lock.only_benchmark("run grpc-go", wait=False):
        with (
            pytest.raises(HostError, match=rf"process {os.getpid()}: run grpc-go.*--wait"),
            lock.only_benchmark("run other", wait=False),
        ):
            pytest.fail("two at once")
        assert "run grpc-go" in lock_file.read_text()
    assert lock_file.read_text() == ""
    assert lock_file.stat().st_mode & 0o777 == 0o666


def test_the_lock_is_free_again_after_a_failure(lock_file: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock.only_benchmark("first", wait=False):
        raise ZeroDivisionError
    with lock.only_benchmark("second", wait=True):
        assert "second" in lock_file.read_text()


def test_a_benchmark_that_waits_says_for_whom_and_comes_next(lock_file: Path) -> None:
    told: queue.Queue[str] = queue.Queue()
    seen: list[str] = []

    def wait() -> None:
        with lock.only_benchmark("second", wait=True, say=told.put):
            seen.append(lock_file.read_text())

    waiting = threading.Thread(target=wait)
    with lock.only_benchmark("the first", wait=False):
        waiting.start()
        assert f"(process {os.getpid()}: the first)" in told.get(timeout=10)
        assert seen == []
    waiting.join(timeout=10)
    assert seen == [f"process {os.getpid()}: second\n"]


def test_a_lock_that_is_a_link_is_not_followed(lock_file: Path, tmp_path: Path) -> None:
    lock_file.symlink_to(tmp_path / "precious")
    with (
        pytest.raises(HostError, match="the lock cannot be opened"),
        lock.only_benchmark("x", wait=False),
    ):
        pytest.fail("opened")
    assert not (tmp_path / "precious").exists()


def run_git(root: Path, *words: Sequence[str] | str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *who, *map(str, words)], check=True)


def test_the_commit_is_known_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one")
    clean = git.git_state(tmp_path)
    (tmp_path / "file").write_text("")
    dirty = git.git_state(tmp_path)
    assert clean
    assert dirty
    assert len(clean.commit) == 40
    assert (clean.dirty, dirty.dirty) == (False, True)


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    assert git.git_state(tmp_path) is None


@pytest.mark.parametrize(
    ("words", "said"), [(b"\xff\xfe run \x1b[2J", "run"), (b"", "another user")]
)
def test_whatever_stands_in_the_lock_its_holder_is_told(
    lock_file: Path, words: bytes, said: str
) -> None:
    lock_file.write_bytes(words)
    with lock_file.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            pytest.raises(HostError, match=f"running on this host already .*{said}") as caught,
            lock.only_benchmark("me", wait=False),
        ):
            pytest.fail("entered")
    assert str(caught.value).isprintable()
    with lock.only_benchmark("a \udcff", wait=False):
        assert "a ?" in lock_file.read_text()
