"""What a generator host does when the coordinator asks: it arms, opens, fires and hands over.

A run's id is a folder that is made once, and so is the file that says that it was fired. So no load
is ever made twice here, whatever is asked, by whom, and how often; a restart changes nothing.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import shutil
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

import parse_ghz
from arena.base.model import Frozen
from arena.base.text import printable
from arena.base.writing import write_atomic
from arena.machine.child import exit_words, whole_command
from arena.record.measurement import Calls, Cost, Latency, Most, Nanoseconds, Seconds
from arena_fleet.facts import HostFacts, lacks, monotonic_ns
from parsers.common.figures import Whole

# Connections that stand without a start are closed after this time: the coordinator has gone.
FIRE_WITHIN_S = 30.0

# A volley that has not ended so long after its window is killed: nobody asks for it any more.
END_WITHIN_S = 12.0

# A start must be known this long before.
AHEAD_NS = 200_000_000

_READY = "volley: ready"
_RUN = re.compile(r"[0-9a-f]{32}")

# volley's exit codes that come with a whole report: with 1, calls failed.
_REPORTED = {0, 1}
_TOO_LATE = 4

# The outputs of so many runs are kept; their marks are kept for ever.
_KEPT_RUNS = 50

# Files beside the outputs: how many parts there are to be, and how volley failed.
_COUNT = "count"
_FAILED = "failed"


class RefusedError(Exception):
    """The host does not do what it was asked; the text is one line for people."""


class ShareReport(Frozen):
    """What the report of a host's share says of it; its window by the host's CLOCK_MONOTONIC."""

    threads: Most
    lateness_ns: Whole | None
    opened_ns: Nanoseconds
    window_ns: Whole
    elapsed_ns: Whole
    busiest_thread_s: Seconds
    cost: Cost
    calls: Calls
    latency_ns: Latency

    @classmethod
    def read(cls, report: Path) -> Self:
        """Read a report; ValueError if it is broken, or not that of a share."""
        text = report.read_text()
        read = parse_ghz.parse(text)
        try:
            run = json.loads(text)["volley"]["tally"]["run"]
            return cls(
                threads=run["threads"],
                lateness_ns=run["late_ns"],
                opened_ns=run["opened_monotonic_ns"],
                window_ns=run["window_ns"],
                elapsed_ns=run["elapsed_ns"],
                busiest_thread_s=run["cost"]["busiest_thread_s"],
                cost=Cost(cpu_s=run["cost"]["cpu_s"], peak_bytes=run["cost"]["peak_bytes"]),
                calls=read.calls,
                latency_ns=read.latency,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the report of a share ({error})") from error


@dataclass
class _Volley:
    """A process that makes one part of the load."""

    process: asyncio.subprocess.Process
    said: deque[str]
    ready: asyncio.Event
    reader: asyncio.Task[None]

    @classmethod
    async def start(cls, command: Sequence[str], root: Path, log: Path) -> Self:
        """Start a volley that the kernel ends together with this process."""
        process = await asyncio.create_subprocess_exec(
            *whole_command(command), cwd=root, start_new_session=True,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said, ready = deque[str](maxlen=20), asyncio.Event()
        return cls(process, said, ready, asyncio.create_task(_read(process, said, ready, log)))

    @property
    def how(self) -> str:
        """How it ended."""
        code = self.process.returncode
        return f"volley: {'started too late' if code == _TOO_LATE else exit_words(code or 0)}"

    @property
    def last(self) -> str:
        """The last thing that it said, which may have the server's address."""
        said = next((line for line in reversed(self.said) if line != _READY), "")
        return printable(said)[:300]

    def kill(self) -> None:
        """End it now; without effect if it has ended."""
        with suppress(ProcessLookupError):
            self.process.kill()


@dataclass
class _Armed:
    """The run in hand: its processes, and what ends them if the coordinator goes."""

    run: str
    folder: Path
    outputs: Path
    lock: TextIO
    volleys: list[_Volley] = field(default_factory=list)
    guard: asyncio.TimerHandle | None = None
    start_ns: int | None = None


class HostAgent:
    """A host of a fleet: what can be asked of any. `host` is what it is."""

    def __init__(self, host: HostFacts) -> None:
        self.host = host

    async def facts(self) -> dict[str, Any]:
        """Return what this host is."""
        is_busy = await self.is_busy()
        return self.host.changed(load=os.getloadavg()[0], is_busy=is_busy).model_dump()

    async def is_busy(self) -> bool:
        """Return whether it has something in hand."""
        return False

    async def clock(self) -> int:
        """Return what this host's CLOCK_MONOTONIC shows."""
        return monotonic_ns()

    async def close(self) -> None:
        """End whatever is in hand, and wait until it has ended."""


class Agent(HostAgent):
    """A generator host. Its methods are what can be asked of it.

    `root` is the checkout in which volley runs, `folder` where its runs and their outputs are.
    """

    def __init__(self, host: HostFacts, volley: Path, root: Path, folder: Path) -> None:
        super().__init__(host)
        self._volley = volley
        self._root = root
        self._folder = folder
        self._armed: _Armed | None = None
        self._started: list[_Volley] = []
        for each in ("runs", "outputs"):
            (folder / each).mkdir(parents=True, exist_ok=True)

    async def is_busy(self) -> bool:
        """Return whether a run is in hand that has not ended."""
        armed = self._armed
        return armed is not None and not (armed.start_ns and await _have_ended(armed))

    async def arm(self, run: str, connections: int, volley: str) -> None:
        """Reserve the host for a run, which must be new; `volley` is the SHA-256 of its program."""
        if volley != self.host.volley_sha256:
            raise RefusedError("its volley is not the one that it had when the fleet was joined")
        if why := lacks(connections):
            raise RefusedError(why)
        folder = self._run_folder(run)
        before = self._armed
        if before and not await self.is_busy():
            self._release(before)  # Nobody has collected its output, which stays.
        lock = self._locked()
        try:
            folder.mkdir()
            self._forget_outputs()
            self._outputs(run).mkdir()
        except OSError as error:
            lock.close()
            if isinstance(error, FileExistsError):
                raise RefusedError("this run was armed before, and is never made twice") from error
            raise RefusedError(f"{folder.name}: {error.strerror}") from error
        self._armed = _Armed(run, folder, self._outputs(run), lock)
        self._guard(FIRE_WITHIN_S)

    async def open(self, run: str, parts: Sequence[Sequence[str]]) -> None:
        """Start volley for each part, with these arguments; return once all connections stand."""
        armed = self._of(run)
        try:
            (armed.outputs / _COUNT).write_text(str(len(parts)))
            for number, arguments in enumerate(parts, 1):
                output = armed.outputs / f"part-{number}.json"
                armed.volleys.append(await self._start(arguments, output))
                self._of(run)  # It may have been disarmed meanwhile.
            await _all_ready(armed.volleys)
        except BaseException:
            for each in armed.volleys:
                each.kill()
            self._release(armed)
            raise
        self._guard(FIRE_WITHIN_S)

    async def fire(self, run: str, start_ns: int, lasts_s: float) -> None:
        """Give volley its moment, by this host's clock. This is done once in a run's life."""
        armed = self._of(run)
        if start_ns - monotonic_ns() < AHEAD_NS:
            raise RefusedError("the start was made known too late")
        try:
            os.close(os.open(armed.folder / "fired", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError as error:
            raise RefusedError("this run was fired before, and is never made twice") from error
        armed.start_ns = start_ns
        for each in armed.volleys:
            if each.process.stdin:
                each.process.stdin.write(f"{start_ns}\n".encode())
        self._guard(lasts_s + END_WITHIN_S)

    async def collect(self, run: str) -> dict[str, Any]:
        """Return whether the run has ended, and its output; may be asked again and again."""
        if not (self._run_folder(run) / "fired").exists():
            raise RefusedError("this run was not fired here")
        armed, outputs = self._armed, self._outputs(run)
        if armed and armed.run == run:
            if not await _have_ended(armed):
                return {"state": "running"}
            self._release(armed)
        if (outputs / _FAILED).exists():
            why, _, said = (outputs / _FAILED).read_text().partition("\n")
            return {"state": "failed", "why": why, "said": said}
        try:
            report = await self._share(outputs)
            content, told = report.read_bytes(), ShareReport.read(report).model_dump(mode="json")
        except (OSError, ValueError) as error:
            said = printable(" ".join(str(error).split()))[:300]
            return {"state": "failed", "why": "volley left no whole report", "said": said}
        digest, packed = hashlib.sha256(content).hexdigest(), zlib.compress(content, 1)
        return {"state": "done", "sha256": digest, "content": packed, "told": told}

    async def disarm(self, run: str) -> bool:
        """End a run if it is in hand; return whether its load had not begun."""
        armed = self._armed
        if not armed or armed.run != run:
            return not (self._run_folder(run) / "fired").exists()
        self.stop()
        return armed.start_ns is None or monotonic_ns() < armed.start_ns

    def stop(self) -> None:
        """End whatever is in hand."""
        if self._armed:
            for each in self._armed.volleys:
                each.kill()
            self._release(self._armed)

    async def close(self) -> None:
        """End whatever is in hand, and wait until it has ended."""
        self.stop()
        for each in self._started:
            await asyncio.wait([each.reader])
            await each.process.wait()

    def _of(self, run: str) -> _Armed:
        if self._armed and self._armed.run == run:
            return self._armed
        raise RefusedError("this run is not armed here")

    def _run_folder(self, run: str) -> Path:
        return run_folder(self._folder / "runs", run)

    def _outputs(self, run: str) -> Path:
        return self._folder / "outputs" / self._run_folder(run).name

    def _locked(self) -> TextIO:
        """Return the file whose lock this run holds; the kernel frees it when the process ends."""
        file = (self._folder / "lock").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise RefusedError("another run is in progress here") from error
        return file

    def _release(self, armed: _Armed) -> None:
        """Free the host, unless another run has it by now."""
        if self._armed is armed:
            self._armed = None
            if armed.guard:
                armed.guard.cancel()
            armed.lock.close()

    def _guard(self, seconds: float) -> None:
        """End the run in hand after this time, unless it is told another one before."""
        if self._armed:
            if self._armed.guard:
                self._armed.guard.cancel()
            self._armed.guard = asyncio.get_running_loop().call_later(seconds, self.stop)

    async def _start(self, arguments: Sequence[str], output: Path) -> _Volley:
        command = [str(self._volley), *arguments, "-o", str(output)]
        volley = await _Volley.start(command, self._root, output.with_suffix(".stderr"))
        self._started = [*(each for each in self._started if not each.reader.done()), volley]
        return volley

    async def _share(self, folder: Path) -> Path:
        """Return the report of all parts of this host; ValueError if one is missing."""
        parts, merged = _parts(folder), folder / "share.json"
        if len(parts) == 1:
            return parts[0]
        if not merged.exists():
            process = await asyncio.create_subprocess_exec(
                str(self._volley), "merge", "--partial", *map(str, parts), "-O", "json",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            text, _ = await process.communicate()
            write_atomic(merged, text.decode())
        return merged

    def _forget_outputs(self) -> None:
        """Remove the outputs of old runs, but not the marks that they were made.

        There may be very many marks, so they are not looked at.
        """
        outputs = (self._folder / "outputs").iterdir()
        newest = sorted(outputs, key=lambda each: each.stat().st_mtime, reverse=True)
        for old in newest[_KEPT_RUNS - 1 :]:
            shutil.rmtree(old, ignore_errors=True)


def run_folder(folder: Path, run: str) -> Path:
    """Return the folder of a run, or of a session; RefusedError if that is not an id."""
    if not _RUN.fullmatch(run):
        raise RefusedError("an id is 32 hex digits")
    return folder / run


def _parts(folder: Path) -> list[Path]:
    parts = sorted(folder.glob("part-*.json"))
    if len(parts) != int((folder / _COUNT).read_text()):
        raise ValueError("not every part has a report")
    return parts


async def _have_ended(armed: _Armed) -> bool:
    """Return whether all volleys of a run have ended, and note it if one failed."""
    for each in armed.volleys:
        if each.process.returncode is None:
            return False
        await each.reader
        if each.process.returncode not in _REPORTED:
            (armed.outputs / _FAILED).write_text(f"{each.how}\n{each.last}")
    return True


async def _all_ready(volleys: Sequence[_Volley]) -> None:
    """Wait until the connections of all stand; RefusedError if one ends before."""
    ready = [asyncio.ensure_future(each.ready.wait()) for each in volleys]
    try:
        while not all(each.done() for each in ready):
            left = [each for each in ready if not each.done()]
            readers = [each.reader for each in volleys]
            await asyncio.wait([*left, *readers], return_when=asyncio.FIRST_COMPLETED)
            if ended := next((each for each in volleys if each.reader.done()), None):
                await ended.process.wait()
                raise RefusedError(": ".join(filter(None, (ended.how, ended.last))))
    finally:
        for each in ready:
            each.cancel()


async def _read(
    process: asyncio.subprocess.Process, said: deque[str], ready: asyncio.Event, log: Path
) -> None:
    """Read what volley says, until it ends."""
    stream = process.stderr
    with log.open("wb") as file:
        while stream:
            try:
                line = await stream.readline()
            except ValueError:  # It is too long, and gone.
                continue
            if not line:
                break
            file.write(line)
            said.append(line.decode(errors="replace").strip())
            if said[-1] == _READY:
                ready.set()
