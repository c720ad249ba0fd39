"""What the host cannot do: exit code 3, one line with the remedy, nothing half-written."""

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.integration.plumbing import PORTS, Arena, eventually

pytestmark = pytest.mark.integration


def _bound(port: int) -> socket.socket | None:
    """Return a socket that holds the port; None while somebody else does."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        listener.close()
        return None
    listener.listen()
    return listener


@pytest.mark.parametrize("port", PORTS)
def test_a_taken_port_is_refused_by_the_name_of_the_process_that_has_it(
    arena: Arena, port: int
) -> None:
    listener = eventually(lambda: _bound(port), f"port {port} is ours")
    assert listener
    before = arena.snapshot()
    with listener:
        done = arena.run("victim", "quick")
    assert done.code == 3
    assert f"port {port} is taken by process {os.getpid()}: " in done.error
    assert arena.snapshot() == before


@pytest.mark.skipif(not shutil.which("docker"), reason="there is no docker command")
def test_the_docker_runtime_without_a_daemon_names_the_native_one(arena: Arena) -> None:
    before = arena.snapshot()
    dead = f"unix://{arena.root}/dead.sock"
    done = arena.run("victim", "quick", runtime="docker", DOCKER_HOST=dead)
    assert done.code == 3
    assert "no Docker daemon answers" in done.error
    assert "--runtime native" in done.error
    assert arena.snapshot() == before


@pytest.fixture
def few_programs(tmp_path: Path) -> str:
    """Return a PATH with nothing on it but what the runner itself starts programs with."""
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("setpriv", "sh", "taskset"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


def test_without_a_docker_command_the_docker_runtime_says_so(
    arena: Arena, few_programs: str
) -> None:
    done = arena.run("victim", "quick", runtime="docker", PATH=few_programs)
    assert done.code == 3
    assert "no `docker` command" in done.error


def test_auto_goes_native_where_no_daemon_answers_and_says_so(arena: Arena) -> None:
    dead = f"unix://{arena.root}/dead.sock"
    done = arena.run("victim", "quick", runtime="auto", DOCKER_HOST=dead)
    assert done.code == 0, done
    assert "runtime: native (no Docker daemon answers: " in done.stderr
    assert arena.records("victim")[-1]["provenance"]["runtime"]["name"] == "native"


def test_without_any_way_to_ghz_all_of_them_are_named(arena: Arena, few_programs: str) -> None:
    done = arena.run("victim", "quick", GHZ="", PATH=few_programs)
    assert done.code == 3
    assert all(way in done.error for way in ("GHZ=", "PATH", "Go", "Docker"))


def test_a_framework_without_its_tools_says_which_are_missing(arena: Arena) -> None:
    arena.add("victim", native={"needs": ["no-such-compiler"], "run": "true"})
    done = arena.run("victim", "quick")
    assert done.code == 3
    assert "no-such-compiler" in done.error
    assert "--runtime docker" in done.error


def test_a_framework_that_cannot_run_natively_names_the_other_way(arena: Arena) -> None:
    arena.add("victim")
    done = arena.run("victim", "quick")
    assert done.code == 3
    assert "no `native` section" in done.error
    assert "--runtime docker" in done.error


def test_results_that_are_a_file_are_refused_before_anything_starts(arena: Arena) -> None:
    shutil.rmtree(arena.results)
    arena.results.write_text("")
    done = arena.run("victim", "quick")
    assert done.code == 3
    assert done.error.startswith("error: results: records cannot be written there")
    assert "--no-save" in done.error
    assert "build victim" not in done.stderr
    assert arena.results.read_text() == ""


_PRIVATE_MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def _on_tmpfs(arena: Arena, options: str, *arguments: str) -> list[str]:
    """Return the command with results/ on a small file system that only it can see.

    When it ends, the names of the files that are left there, without those of results/host/, are
    in left.txt.
    """
    script = (
        'set -e; results=$1; left=$2; shift 2; mount -t tmpfs -o "$OPTIONS" none "$results"; '
        'code=0; "$@" || code=$?; find "$results" -type f ! -path "*/host/*" >"$left"; exit $code'
    )
    words = ["env", f"OPTIONS={options}", *_PRIVATE_MOUNTS, "sh", "-c", script, "sh"]
    left = arena.root / "left.txt"
    return [*words, str(arena.results), str(left), *arena.argv("run", "--wait", *arguments)]


@pytest.fixture
def tmpfs() -> None:
    """Need the right to mount in a namespace of one's own."""
    attempt = [*_PRIVATE_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(attempt, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")


@pytest.mark.usefixtures("tmpfs")
def test_results_on_a_read_only_file_system_are_refused_before_anything_starts(
    arena: Arena,
) -> None:
    argv = _on_tmpfs(arena, "ro", "--runtime", "native", "victim", "quick")
    with arena.started(argv) as running:
        done = running.end()
    assert done.code == 3
    assert done.error.startswith("error: results: records cannot be written there")
    assert "Read-only file system" in done.error
    assert "build victim" not in done.stderr


@pytest.mark.usefixtures("tmpfs")
@pytest.mark.parametrize(
    "options",
    [
        # In the middle of ghz's output; at a new file, at the record's folder, at the record.
        "size=4k",
        "size=8m,nr_inodes=5",
        "size=8m,nr_inodes=7",
        "size=8m,nr_inodes=9",
    ],
)
def test_a_disk_that_fills_up_is_named_and_left_without_half_a_record(
    arena: Arena, options: str
) -> None:
    argv = _on_tmpfs(arena, options, "--runtime", "native", "victim", "quick")
    with arena.started(argv) as running:
        done = running.end()
    assert done.code == 3
    assert "No space left on device" in done.error
    assert (arena.root / "left.txt").read_text() == "", done


def test_a_page_that_cannot_be_written_costs_no_record(arena: Arena) -> None:
    (arena.workspace.site / "public").write_text("in the way")
    done = arena.run("victim", "quick")
    assert done.code == 3
    assert done.error.startswith("error: site/public/index.html: cannot be written")
    assert len(arena.records("victim")) == 2


def test_a_second_benchmark_refuses_by_the_name_of_the_first(arena: Arena) -> None:
    with arena.under_load() as first:
        with arena.start("run", "--runtime", "native", "victim", "quick") as second:
            refused = second.end()
        assert refused.code == 3
        assert f"(process {first.popen.pid}: " in refused.error
        assert "run --wait --runtime native victim quick --duration 60s" in refused.error
        assert "--wait" in refused.error
        first.signal(signal.SIGINT)
        assert first.end().code == 130
    assert len(arena.records("victim")) == 1


def test_a_second_benchmark_with_wait_queues_and_then_measures(arena: Arena) -> None:
    with arena.under_load() as first, arena.running("victim", "quick") as second:
        second.await_line("waiting")
        first.signal(signal.SIGINT)
        assert first.end().code == 130
        done = second.end()
    assert done.code == 0, done
    assert len(arena.records("victim")) == 2


def test_a_killed_benchmark_does_not_hold_the_lock(arena: Arena) -> None:
    with arena.under_load() as first:
        eventually(lambda: arena.processes(arena.ghz.name), "ghz runs")
        first.signal(signal.SIGKILL)
        first.end()
    with arena.start("run", "--runtime", "native", "victim", "quick") as second:
        done = second.end()
    assert f"process {first.popen.pid}" not in done.stderr
