"""A checkout of its own for each test, and the command run in it as a person would run it."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from arena.base.model import to_json
from arena.base.units import parse_cpus
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.judge.archive import open_archive
from arena.judge.derive import Derived, derive
from arena.judge.headline import Headline
from arena.machine import facts
from arena.machine.child import whole_command
from arena.machine.sentinel import Limits
from arena.machine.sentinel.limits import FIRST, Limit
from arena.record.reading import parse_record
from arena.record.times import utc_now
from arena.run.limits import host_words, limits_file
from arena.what.environment import ENVIRONMENT, TRIAL

ROOT = Path(__file__).resolve().parents[2]
PORTS = (8080, 8443)
GOOD_IMAGE = "httparena-tests-good"

# Nothing here takes nearly as long, but others may measure on this host, and queueing is right.
PATIENCE_S = 150.0
_GRACE_S = 30.0
_POLL_S = 0.02

# What would change a run if the person who starts the tests had it set.
_STEERING = ("ARENA_DEBUG", "DOCKER_HOST", "FLEET", "RUNTIME", *ENVIRONMENT, *TRIAL)

Value = TypeVar("Value")
Snapshot = dict[str, tuple[int, int]]


def eventually(condition: Callable[[], Value], what: str, timeout_s: float = PATIENCE_S) -> Value:
    """Wait until the condition holds, and return what it is; fail when it does not come."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {timeout_s:g} s: {what}"
        time.sleep(_POLL_S)
    return value


def derived_of(record: dict[str, Any]) -> Derived:
    """Return what is judged of a record."""
    return derive(parse_record(json.dumps(record).encode()))


def headline_of(record: dict[str, Any]) -> Headline:
    """Return the headline of a good record."""
    found = derived_of(record).headline
    assert found
    return found


def load_command(record: dict[str, Any]) -> list[str]:
    """Return how a record's generator was started, without what bound it to its CPUs."""
    argv: list[str] = record["provenance"]["generator"]["argv"]
    cpus = record["provenance"]["cpus"]["generator"]
    bound = whole_command([], parse_cpus(cpus) if cpus else None)
    assert argv[: len(bound)] == bound
    return argv[len(bound) :]


def listeners() -> list[str]:
    """Return who listens on the servers' ports."""
    return [
        f"process {each.pid} on port {each.laddr.port}"
        for each in psutil.net_connections(kind="tcp")
        if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port in PORTS
    ]


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and all that it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """The one line that says what went wrong; there is never a traceback beside it."""
        assert "Traceback" not in self.stdout + self.stderr, self
        assert "this is a bug" not in self.stderr, self
        lines = [line for line in self.stderr.splitlines() if line.startswith("error:")]
        assert len(lines) == 1, self
        return lines[0]

    def said(self, prefix: str) -> str:
        """Return the rest of the stdout line that begins so."""
        found = [
            line.removeprefix(prefix)
            for line in self.stdout.splitlines()
            if line.startswith(prefix)
        ]
        assert len(found) == 1, self
        return found[0].strip()


class Running:
    """A command that runs: its progress can be awaited, and it can be sent signals."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        self.popen = popen
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._seen: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stderr
        for line in self.popen.stderr:
            self._lines.put(line)
        self._lines.put(None)

    def await_line(self, beginning: str) -> str:
        """Wait for the line of its stderr that begins so."""
        while True:
            line = self._lines.get(timeout=PATIENCE_S)
            assert line is not None, f"no {beginning!r} in {self._seen}"
            self._seen.append(line)
            if line.startswith(beginning):
                return line

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def end(self) -> Outcome:
        """Wait for its end."""
        assert self.popen.stdout
        stdout = self.popen.stdout.read()
        code = self.popen.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        while (line := self._lines.get_nowait()) is not None:
            self._seen.append(line)
        return Outcome(code, stdout, "".join(self._seen))


@dataclass(frozen=True)
class Arena:
    """One checkout with fast profiles; every way in goes through the command line."""

    workspace: Workspace
    ghz: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.workspace.root

    @property
    def results(self) -> Path:
        return self.workspace.results

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, str(ROOT / "lib"), "--root", str(self.root), *arguments]

    def _environment(self, changes: Mapping[str, str]) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name not in _STEERING}
        return {**own, "GHZ": str(self.ghz), "NO_COLOR": "1", **self.environment, **changes}

    def keep_first_limits(self) -> None:
        """Have the sentinel judge by its first limits: no command looks at an idle host first."""
        first = Limits.first(host_words(facts.describe(None)), is_virtual=True)
        known = first.changed(learned_at=utc_now(), looked_at=utc_now())
        write_atomic(limits_file(self.workspace), to_json(known))

    def judge_nothing(self) -> None:
        """Have the sentinel judge no signal: tests run beside each other and disturb each other."""
        host = facts.describe(None)
        limits = {name: Limit(first=first, in_force=None) for name, first in FIRST.items()}
        known = Limits(host=host_words(host), learned_at=utc_now(), limits=limits)
        write_atomic(limits_file(self.workspace), to_json(known))

    def command(self, *arguments: str, **environment: str) -> Outcome:
        """Run any command to its end."""
        with self.start(*arguments, **environment) as running:
            return running.end()

    def run(self, *arguments: str, runtime: str = "native", **environment: str) -> Outcome:
        """Run a benchmark to its end, queueing behind whoever measures on this host."""
        return self.command("run", "--wait", "--runtime", runtime, *arguments, **environment)

    @contextmanager
    def start(self, *arguments: str, **environment: str) -> Iterator[Running]:
        """Start any command; it is over when the block is left."""
        with self.started(self.argv(*arguments), **environment) as running:
            yield running

    @contextmanager
    def started(self, argv: list[str], **environment: str) -> Iterator[Running]:
        """Start a program in this checkout."""
        popen = subprocess.Popen(
            argv,
            cwd=self.root,
            env=self._environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        running = Running(popen)
        try:
            yield running
        finally:
            # Killed outright, a benchmark would leave its container to the next test.
            popen.terminate()
            try:
                popen.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                popen.kill()
                popen.wait()
            for stream in (popen.stdout, popen.stderr):
                assert stream
                stream.close()

    @contextmanager
    def running(
        self, *arguments: str, runtime: str = "native", **environment: str
    ) -> Iterator[Running]:
        """Start a benchmark, queueing behind whoever measures on this host."""
        words = ("run", "--wait", "--runtime", runtime, *arguments)
        with self.start(*words, **environment) as running:
            yield running

    @contextmanager
    def under_load(self, runtime: str = "native", **environment: str) -> Iterator[Running]:
        """Start a benchmark of victim that would take a minute; its run has begun."""
        words = ("victim", "quick", "--duration", "60s")
        with self.running(*words, runtime=runtime, **environment) as running:
            running.await_line("run 1 of 1")
            yield running

    def add(self, name: str, **changes: object) -> Path:
        """Write a framework entry; `changes` go over a plain meta.json."""
        folder = self.workspace.frameworks / name
        folder.mkdir(exist_ok=True)
        meta: dict[str, object] = {
            "display_name": name,
            "language": "Go",
            "type": "production",
            "tests": ["quick", "stream-grpc"],
            **changes,
        }
        (folder / "meta.json").write_text(json.dumps(meta))
        return folder

    def containerize(self, name: str, last_line: str | None = None) -> None:
        """Give an entry a Dockerfile: the good server's image, and what goes wrong with it."""
        dockerfile = self.workspace.frameworks / name / "Dockerfile"
        dockerfile.write_text(f"FROM {GOOD_IMAGE}\n{last_line or ''}\n")

    # ---- what there is afterwards

    def records(self, framework: str, profile: str = "quick") -> list[dict[str, Any]]:
        """Return a framework's records, oldest first."""
        return [
            each
            for each in self.every_record()
            if (each["framework"]["name"], each["profile"]["name"]) == (framework, profile)
        ]

    def every_record(self) -> list[dict[str, Any]]:
        """Return all records, loose ones and those in bundles, oldest first."""
        archive = open_archive(self.results)
        found = [json.loads(archive.text(path)) for path in archive.entries]
        return sorted(found, key=lambda each: str(each["started_at"]))

    def row(
        self, framework: str, profile: str = "quick", *, is_current: bool = True
    ) -> dict[str, Any]:
        """Return the framework's one row on the board of the profile's current load, or another.

        Only boards of the home class count: containers are a class of their own.
        """
        boards = json.loads((self.results / "leaderboard.json").read_bytes())["boards"]
        rows: list[dict[str, Any]] = [
            row
            for board in boards
            if board["profile"] == profile and board["is_home"]
            if board["is_current"] == is_current
            for row in board["rows"]
            if row["framework"] == framework
        ]
        assert len(rows) == 1
        return rows[0]

    def page(self, path: str = "index.html") -> str:
        """Return a page of the site, by its path below it; `*` stands for any one folder."""
        (found,) = self.workspace.public.glob(path)
        return found.read_text()

    def snapshot(self) -> Snapshot:
        """Return every file of the checkout with its time and size."""
        return {
            str(path.relative_to(self.root)): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in self.root.rglob("*")
            if path.is_file()
        }

    def processes(self, program: str | None = None) -> list[psutil.Process]:
        """Return the running processes that this checkout's benchmarks started.

        Only those that are `program`, if it is given.
        """
        mine = []
        for process in psutil.process_iter():
            try:
                inside = Path(process.cwd()).is_relative_to(self.root)
                named = any(str(self.root) in word for word in process.cmdline())
                wanted = program is None or process.name() == program
            except psutil.Error:
                continue
            if (inside or named) and wanted and process.pid != os.getpid():
                mine.append(process)
        return mine

    def containers(self) -> list[dict[str, Any]]:
        """Return what docker knows of this checkout's containers, running or not.

        A server or ghz is known by what it mounts, a step of a build by its base image.
        """
        mounting = [
            each
            for each in _containers("label=httparena")
            if any(mount["Source"].startswith(str(self.root)) for mount in each["Mounts"])
        ]
        building = [each for each in _containers(f"ancestor={GOOD_IMAGE}") if not each["Mounts"]]
        return mounting + building

    def left_behind(self) -> list[str]:
        """Return all that a benchmark which is over must not leave."""
        drafts = [str(path) for path in self.results.rglob(".*") if path.name != ".gitkeep"]
        folders = [
            str(path)
            for path in self.results.glob("*/*/*/*/")
            if not path.is_relative_to(self.workspace.rounds)
            and not path.with_name(f"{path.name}.json").exists()
        ]
        processes = [f"process {each.pid}" for each in self.processes()]
        return drafts + folders + processes + [each["Name"] for each in self.containers()]

    def clear(self) -> None:
        """End what a failed test has left, so that the next one finds its ports free."""
        for process in self.processes():
            process.kill()
        for container in self.containers():
            _docker("rm", "--force", "--volumes", container["Id"])


def _containers(which: str) -> list[dict[str, Any]]:
    listed = _docker("ps", "--all", "--quiet", "--filter", which).split()
    found: list[dict[str, Any]] = json.loads(_docker("inspect", *listed) or "[]") if listed else []
    return found


def _docker(*arguments: str) -> str:
    """Return what docker prints; nothing where there is no docker, or the container just went."""
    try:
        done = subprocess.run(["docker", *arguments], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout


def need_base_images(folder: Path) -> None:
    """Skip unless the images that a folder's Dockerfile starts from are here, or can be pulled."""
    program = ROOT / "scripts" / "standin" / "from-lines.awk"
    words = ["awk", "-f", str(program), str(folder / "Dockerfile")]
    images = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    for image in images:
        if _docker("image", "ls", "--quiet", image):
            continue
        pull = ["docker", "pull", "--quiet", image]
        done = subprocess.run(pull, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"the base image {image} is missing: {done.stderr}")
