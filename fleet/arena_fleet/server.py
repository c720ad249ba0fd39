"""What the server host of a rack does when it is asked: it runs sessions, one at a time.

A session is a process (`work`) that gets what was asked as a file, and leaves results and
events in its folder. That folder is its id, and is made once. So no session is ever made twice
here, whatever is asked.
"""

import asyncio
import hashlib
import json
import math
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from arena.base.errors import ArenaError, HostError
from arena.base.progress import PlainProgress, progress, report_error
from arena.base.reading import last_error
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.judge.host_class import class_of
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine import facts
from arena.machine.child import this_program
from arena.night.diary import Log, append_line, events_in, objects_in
from arena.night.engine import NightRunner, ends_here
from arena.night.expected import Expected
from arena.night.history import History
from arena.night.planning import by_load, problem_of
from arena.run.plan import Plan, plan_sessions
from arena.run.runner import Outcome, only_here
from arena.run.runtimes import choose
from arena.what import selection
from arena.what.environment import CPUS, TRIAL
from arena.what.framework import load_framework, source_sha256
from arena_fleet.agent import HostAgent, RefusedError, run_folder
from arena_fleet.facts import HostFacts, server_cpus
from arena_fleet.rack import CHUNK_BYTES, Asked, AskedBlock, Finished, Offer, Printed, pack
from arena_fleet.racks import RequestedFleet
from arena_fleet.references import OWN_SERVER, meta_of

# The files of a session's folder: what was asked, its records, and the events of a block.
_ASKED, RESULTS, EVENTS = "asked.json", "results", "events.jsonl"

# A session that nobody has asked after for so long ends: the night has ended, or is cut off.
ALONE_S = 10.0

# A session that was told to end has so long to end its server.
_END_S = 15.0

_LOOK_S = 0.5

# The results of so many sessions are kept; their folders are kept for ever.
_KEPT_SESSIONS = 20

_LOG, _ARCHIVE = "log", "results.tar.gz"


def own_server(sessions: Path) -> Path:
    """Return the folder of `volley serve` as a framework, beside that of all sessions."""
    return sessions.parent / "frameworks" / OWN_SERVER


def prepare(folder: Path, asked: Asked) -> None:
    """Write what a session in this folder needs."""
    (folder / RESULTS).mkdir()
    (folder / EVENTS).touch()
    (folder / _ASKED).write_text(asked.model_dump_json())


def work(root: Workspace, folder: Path, environment: Mapping[str, str]) -> int:
    """Run the session that a folder was prepared for; return its exit code."""
    asked = Asked.model_validate_json((folder / _ASKED).read_bytes())
    workspace = Workspace(root.root, folder / RESULTS, {OWN_SERVER: own_server(folder.parent)})
    request, shows = asked.request, progress()
    fleet = RequestedFleet(workspace, request, environment, shows)
    selected = selection.frameworks(workspace, request.selected)
    plans = plan_sessions(workspace, request, environment, selected, fleet.joined)
    codes = [0]

    def ended(outcome: Outcome) -> None:
        codes.append(outcome.code)

    command = f"a session of the night {asked.night}"
    with only_here(NightRunner, workspace, request, plans[0].cpus, command, shows) as runner:
        fit = runner.runnable(plans)
        found = runner.find_generators(fit)
        if asked.block is None:
            runner.run(fit, found, ended=ended)
            return max(codes)
        try:
            return _block(asked, asked.block, runner.once(), fit, found, folder / EVENTS)
        except HostError as error:
            report_error(ends_here(str(error)))
            return error.exit_code


def _block(
    asked: Asked,
    block: AskedBlock,
    runner: NightRunner,
    plans: Sequence[Plan],
    found: Mapping[Located, Generator],
    events: Path,
) -> int:
    """Make one block, and return the worst exit code of its frameworks.

    HostError if the host cannot go on, or if this is not as the night was planned.
    """
    workspace, planned = runner.workspace, block.planned
    of_loads = by_load([each for each in plans if each.generator in found])
    host_class = partial(runner.host_class, plans[0], {})
    if (here := host_class()) != planned.host_class:
        raise HostError(f"this host is of the class {here}, and the night of {planned.host_class}")
    sources = {name: source_sha256(workspace.framework(name)) for name in planned.sources}
    if why := problem_of(planned, of_loads, sources):
        raise HostError(f"this is not as the night was planned: {why}")
    log = Log(block.before, partial(append_line, events))
    history = History(open_archive(workspace.results), planned.host_class, found)
    runner.blocks(
        found,
        host_class,
        shows=runner.shows,
        night=asked.night,
        planned=planned,
        plans=of_loads,
        log=log,
        expected=Expected(history, of_loads),
        quiet_wait_s=asked.request.quiet_wait_s,
        left_s=lambda: math.inf,
        load_ended=lambda _: None,
        only=(planned.loads[0].load, block.number),
    ).run()
    return max((each.code for own in log.dropped.values() for each in own.values()), default=0)


@dataclass
class _InHand:
    """The session that runs, its benchmark once that has started, and when it was last asked after.

    It may be told to end before its benchmark has started.
    """

    session: str
    asked_s: float
    process: asyncio.subprocess.Process | None = None
    is_ending: bool = False


class ServerAgent(HostAgent):
    """A server host of a rack in the fleet at an address. Its methods are what can be asked of it.

    Below `folder` are its sessions, and `volley serve` as a framework.
    """

    def __init__(
        self,
        host: HostFacts,
        workspace: Workspace,
        volley: Path,
        address: str,
        rack: str,
        folder: Path,
    ) -> None:
        super().__init__(host)
        self._workspace = workspace
        self._of_rack = {"fleet": address, "rack": rack}
        self._folder = folder / "sessions"
        self._folder.mkdir(parents=True, exist_ok=True)
        own_server(self._folder).mkdir(parents=True, exist_ok=True)
        (own_server(self._folder) / "meta.json").write_text(json.dumps(meta_of(volley)))
        self._in_hand: _InHand | None = None

    async def is_busy(self) -> bool:
        """Return whether a session is in hand."""
        return self._in_hand is not None

    async def offer(
        self, runtime: str, frameworks: Sequence[str], hosts: Sequence[str]
    ) -> dict[str, Any]:
        """Return what can be measured here; `hosts` are the CPUs of its generator hosts."""
        return await asyncio.to_thread(self._offer, runtime, frameworks, hosts)

    async def session(self, session: str, asked: dict[str, Any]) -> Any:
        """Run a session, which must be new, until it ends, and return what came of it.

        During another session it does not begin, and so has no results.
        """
        wanted, folder = Asked.model_validate(asked), run_folder(self._folder, session)
        if self._in_hand:
            error = "another session is in progress here"
            return Finished(code=HostError.exit_code, error=error).model_dump()
        try:
            folder.mkdir()
        except FileExistsError as error:
            raise RefusedError("this session was begun before, and is never made twice") from error
        now_s = asyncio.get_running_loop().time()
        self._in_hand = in_hand = _InHand(session, now_s)
        try:
            # The racks of a local fleet have one machine, and take turns.
            wait = wanted.request.wait or self.host.is_local
            request = wanted.request.changed(**self._of_rack, wait=wait)
            prepare(folder, wanted.changed(request=request))
            code = await self._run(in_hand, folder)
            archive = await asyncio.to_thread(pack, folder / RESULTS)
            (folder / _ARCHIVE).write_bytes(archive)
            events = tuple(events_in(objects_in(folder / EVENTS)))
        finally:
            self._in_hand = None
        self._forget_results()
        return Finished(
            code=code, error=last_error(folder / _LOG), events=events,
            sha256=hashlib.sha256(archive).hexdigest(), bytes=len(archive),
        ).model_dump()  # fmt: skip

    async def watch(self, session: str, at: int) -> dict[str, Any]:
        """Return what a session has printed since byte `at`; it goes on while it is asked after.

        `waits`: it has not begun, since another one is in progress.
        """
        in_hand = self._in_hand
        if in_hand and in_hand.session == session:
            in_hand.asked_s = asyncio.get_running_loop().time()
        try:
            with (run_folder(self._folder, session) / _LOG).open("rb") as log:
                log.seek(at)
                text = log.read(CHUNK_BYTES)
        except FileNotFoundError:
            text = b""
        whole = text[: text.rfind(b"\n") + 1]
        waits = in_hand is not None and not run_folder(self._folder, session).exists()
        printed = whole.decode(errors="replace")
        return Printed(text=printed, at=at + len(whole), waits=waits).model_dump()

    async def fetch(self, session: str, at: int) -> bytes:
        """Return a part of a session's results; may be asked again and again."""
        try:
            with (run_folder(self._folder, session) / _ARCHIVE).open("rb") as archive:
                archive.seek(at)
                return archive.read(CHUNK_BYTES)
        except FileNotFoundError as error:
            raise RefusedError("this session has no results here") from error

    async def end(self, session: str) -> None:
        """Have a session end, if it runs."""
        if self._in_hand and self._in_hand.session == session:
            self._end()

    async def close(self) -> None:
        """End the session in hand, and wait until it has ended."""
        if in_hand := self._in_hand:
            self._end()
            if in_hand.process:
                with suppress(TimeoutError):
                    await asyncio.wait_for(in_hand.process.wait(), _END_S + 1)

    def _offer(
        self, runtime: str, frameworks: Sequence[str], hosts: Sequence[str]
    ) -> dict[str, Any]:
        try:
            chosen = choose(runtime, self._workspace, PlainProgress())
        except ArenaError as error:
            raise RefusedError(str(error)) from error
        plan = server_cpus(is_local=self.host.is_local)
        here = class_of(facts.describe(None), plan.record(), chosen.name, tuple(hosts))
        sources, unavailable = {}, {}
        for name in frameworks:
            try:
                framework = load_framework(self._workspace.frameworks, name)
                sources[name] = source_sha256(self._workspace.framework(name))
                if problem := chosen.unavailable(framework):
                    unavailable[name] = problem.reason
            except (ArenaError, OSError) as error:
                unavailable[name] = str(error)
        return Offer(
            host_class=here.id, words=here.words, runtime=chosen.name,
            sources=sources, unavailable=unavailable,
        ).model_dump()  # fmt: skip

    async def _run(self, in_hand: _InHand, folder: Path) -> int:
        """Run the process until it ends, which it is told to if nobody asks after it."""
        loop = asyncio.get_running_loop()
        # If this worker is killed, the session is told to end, and ends its server.
        argv = ["setpriv", "--pdeathsig", "TERM", "--", *this_program()]
        root = self._workspace.root
        # What makes trials or chooses CPUs is for the worker's own benchmarks.
        own = {name: text for name, text in os.environ.items() if name not in {*TRIAL, *CPUS}}
        with (folder / _LOG).open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *argv, "--root", str(root), "fleet", "work", str(folder),
                cwd=root, stdin=asyncio.subprocess.DEVNULL, stdout=file, stderr=file,
                start_new_session=True, env=own,
            )  # fmt: skip
        in_hand.process = process
        if in_hand.is_ending:
            _stop(process)
        ended = asyncio.ensure_future(process.wait())
        try:
            while not ended.done():
                await asyncio.wait([ended], timeout=_LOOK_S)
                if loop.time() - in_hand.asked_s > ALONE_S:
                    self._end()
        finally:
            if not ended.done():
                self._end()
                await asyncio.wait([ended])
        return ended.result()

    def _end(self) -> None:
        """Tell the session in hand to end."""
        in_hand = self._in_hand
        if in_hand and not in_hand.is_ending:
            in_hand.is_ending = True
            if in_hand.process:
                _stop(in_hand.process)

    def _forget_results(self) -> None:
        """Remove the results of old sessions, but not the marks that they were made."""
        logs = sorted(self._folder.glob(f"*/{_LOG}"), key=lambda each: each.stat().st_mtime)
        for log in logs[:-_KEPT_SESSIONS]:
            for each in log.parent.iterdir():
                if each.is_dir():
                    shutil.rmtree(each, ignore_errors=True)
                else:
                    each.unlink(missing_ok=True)


def _stop(process: asyncio.subprocess.Process) -> None:
    """Tell a session to end; kill it if it has not ended in time."""

    def tell(number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(number)

    tell(signal.SIGTERM)
    asyncio.get_running_loop().call_later(_END_S, tell, signal.SIGKILL)
