"""Builds: what is shown of them, how they fail, and that none is left when it is given up."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import FrameworkError, HostError
from arena.machine.builds import Build, Command, beside, finished, run
from tests.fakes import FakeProgress
from tests.lib.arena.machine.children import alive


@pytest.fixture(autouse=True)
def _ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """End builds that wait for each other, but not at the same time."""
    monkeypatch.setattr("arena.machine.builds.TIMEOUT_S", 60)


@pytest.fixture
def shell(tmp_path: Path) -> Callable[[str], Command]:
    """Return what makes a command of a script, and its words, from the script."""
    numbers = iter(range(100))

    def command(script: str) -> Command:
        log = tmp_path / f"{next(numbers)}.log"
        return Command(["/bin/sh", "-c", script], tmp_path, log, f"run {script}")

    return command


def of(*commands: Command) -> Build[int]:
    """Return a build of commands; it makes their number."""
    yield from commands
    return len(commands)


def results(builds: Mapping[str, Build[Any]]) -> dict[str, Any]:
    """Return what each build made, or its error, in the order of their ends."""
    found: dict[str, Any] = {}
    with closing(beside(builds, FakeProgress())) as ended:
        for name, result in ended:
            try:
                found[name] = result()
            except (FrameworkError, HostError) as error:
                found[name] = str(error)
    return found


def test_builds_run_at_the_same_time(tmp_path: Path, shell: Callable[[str], Command]) -> None:
    os.mkfifo(tmp_path / "meet")
    # Each end of the pipe waits for the other one to be opened.
    writes, reads = shell("echo a >meet; echo b >b"), shell("read x <meet; echo $x >a")
    assert results({"1": of(writes), "2": of(reads)}) == {"1": 1, "2": 1}
    assert {(tmp_path / name).read_text() for name in "ab"} == {"a\n", "b\n"}


def test_the_commands_of_a_build_follow_each_other_and_are_shown(
    tmp_path: Path, shell: Callable[[str], Command]
) -> None:
    progress = FakeProgress()
    assert finished(of(shell("echo 1 >made"), shell("echo 2 >>made")), progress) == 2
    assert (tmp_path / "made").read_text() == "1\n2\n"
    assert progress.lines == ["run echo 1 >made", "run echo 2 >>made"]


def test_a_build_that_fails_does_not_end_the_others(
    tmp_path: Path, shell: Callable[[str], Command]
) -> None:
    os.mkfifo(tmp_path / "meet")

    def refused() -> Build[int]:
        try:
            yield shell("exit 3")
        except FrameworkError as error:
            (tmp_path / "go").touch()
            raise HostError(f"no: {error.reason}") from error
        return 1

    slow = shell("until [ -e go ]; do :; done")
    found = results({"slow": of(slow), "refused": refused()})
    assert list(found) == ["refused", "slow"]
    assert found["slow"] == 1
    assert found["refused"].startswith("no: `exit 3` failed (exit code 3)")


def test_a_build_may_go_on_after_a_command_that_failed(shell: Callable[[str], Command]) -> None:
    def patient() -> Build[str]:
        try:
            yield shell("exit 1")
        except FrameworkError:
            yield shell("exit 0")
        return "made"

    assert finished(patient(), FakeProgress()) == "made"


@pytest.mark.parametrize("end", [KeyboardInterrupt, GeneratorExit])
def test_builds_that_are_given_up_leave_nothing_running(
    tmp_path: Path, shell: Callable[[str], Command], end: type[BaseException]
) -> None:
    undone: list[str] = []

    def build(name: str) -> Build[None]:
        try:
            yield shell(f"sleep 60 & echo $! >{name}; wait")
        finally:
            undone.append(name)

    def interrupting() -> Build[None]:
        names = [tmp_path / name for name in "ab"]
        while not all(name.exists() and name.read_text().endswith("\n") for name in names):
            yield shell("exit 0")
        raise end

    with pytest.raises(end):
        results({"a": build("a"), "b": build("b"), "interrupt": interrupting()})
    assert sorted(undone) == ["a", "b"]
    left = [int((tmp_path / name).read_text()) for name in "ab"]
    assert [pid for pid in left if alive(pid)] == []


def test_a_build_that_cannot_be_given_up_keeps_no_other_one_running(
    shell: Callable[[str], Command],
) -> None:
    undone: list[str] = []

    def build(name: str) -> Build[int]:
        try:
            yield shell("exec sleep 60")
        finally:
            undone.append(name)
            raise OSError(name)

    builds = {"a": build("a"), "b": build("b"), "made": of()}
    ended = beside(builds, FakeProgress())
    assert next(ended)[0] == "made"
    with pytest.raises(OSError, match=r"^[ab]$"):
        ended.close()
    assert sorted(undone) == ["a", "b"]


def test_a_failed_build_says_so_with_its_last_lines_and_its_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo error >&2; exit 2"
    with pytest.raises(FrameworkError) as caught:
        run(Command(["/bin/sh", "-c", script], tmp_path, log, "build"), FakeProgress())
    error = caught.value
    assert error.stage == "build"
    assert "exit code 2" in error.reason
    assert error.log == log
    assert error.output.splitlines()[-2:] == ["line 9", "error"]
    assert "line 1\n" not in error.output
    assert log.read_text().startswith("line 1\n")


def test_a_build_that_hangs_is_a_failure(
    shell: Callable[[str], Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.machine.builds.TIMEOUT_S", 0.02)
    with pytest.raises(FrameworkError, match="took longer than 20ms"):
        run(shell("exec sleep 60"), FakeProgress())


@pytest.mark.parametrize("code", [0, 1])
def test_a_long_log_keeps_its_two_ends(tmp_path: Path, code: int) -> None:
    log = tmp_path / "build.log"
    script = f"echo first; head -c 9000000 /dev/zero | tr '\\0' x; echo last; exit {code}"
    with suppress(FrameworkError):
        run(Command(["/bin/sh", "-c", script], tmp_path, log, "build"), FakeProgress())
    text = log.read_text()
    assert len(text) < 3_000_000
    assert text.startswith("first\n")
    assert text.endswith("last\n")
    assert "bytes are left out here" in text


@pytest.mark.parametrize("home", [None, "", "relative", "/nonexistent/home"])
def test_a_build_that_fails_without_a_home_is_the_fault_of_the_host(
    shell: Callable[[str], Command], monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    run(shell("true"), FakeProgress())  # It needs none.
    with pytest.raises(HostError, match=r"^this host cannot: build: HOME is .*; set it to a"):
        run(shell("false"), FakeProgress())


def test_a_build_on_a_full_disk_is_the_fault_of_the_host(shell: Callable[[str], Command]) -> None:
    script = "echo 'ld: out: No space left on device' >&2; seq 40; exit 2"
    with pytest.raises(HostError, match=r"cannot: build: ld: out: No space .*; free space on the"):
        run(shell(script), FakeProgress())
