"""The link to a fleet's coordinator, and what all programs of a fleet have in common. Uses Dask."""

import asyncio
import logging
import threading
import warnings
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import dask
from distributed import Client, get_worker
from distributed.scheduler import KilledWorker, NoValidWorkerError
from distributed.security import Security
from pydantic import ConfigDict

from arena.base.errors import HostError
from arena.base.model import Frozen, Number
from arena.base.text import printable, shown
from arena_fleet.agent import RefusedError
from arena_fleet.certificates import AUTHORITY, CERTIFICATE, KEY
from arena_fleet.fleet import NO_RACK, LostError, Place

Result = TypeVar("Result")

_CONNECT_S = 5.0
_LOOK_S = 0.1
_CANCEL_S = 5.0

# A host that waits for work must not disturb what runs beside it.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.client.heartbeat": "60s",
    # Nothing is ever made twice.
    "distributed.scheduler.allowed-failures": 0,
    # A task whose host has gone fails, and does not wait for it.
    "distributed.scheduler.no-workers-timeout": "2s",
    "distributed.comm.retry.count": 0,
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.require-encryption": True,
}


def secured(folder: Path) -> Security:
    """Set Dask up for this process; return its certificates, HostError if there are none.

    Dask's log is silent: errors are ours to report.
    """
    dask.config.set(_QUIET)
    warnings.filterwarnings("ignore", module="distributed")
    # Dask gives some of its loggers levels of their own.
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"asyncio", "distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for path in (folder / AUTHORITY, folder / CERTIFICATE, folder / KEY):
        if not path.exists():
            raise HostError(
                f"{shown(path)}: a fleet needs certificates: make them with "
                "./scripts/fleet.sh ca, and copy a folder of them to each host"
            )
    files = {
        f"tls_{role}_{what}": str(folder / name)
        for role in ("scheduler", "worker", "client")
        for what, name in (("cert", CERTIFICATE), ("key", KEY))
    }
    return Security(require_encryption=True, tls_ca_file=str(folder / AUTHORITY), **files)


def cause(error: BaseException) -> BaseException:
    """Return what broke."""
    return error if error.__cause__ is None else cause(error.__cause__)


def words(error: BaseException) -> str:
    """Return what broke, in one line."""
    error = cause(error)
    return printable(f"{type(error).__name__}: {error}".splitlines()[0])[:200].removesuffix(": ")


def no_answer(address: str, error: BaseException) -> HostError:
    """Return the error of a coordinator that does not answer."""
    return HostError(
        f"no fleet answers at {address} ({words(error)}): is its coordinator up, and are both "
        "certificates of the same authority?"
    )


# Dask sends these two functions by name, so both sides need the same checkout.


async def _ask(verb: str, given: dict[str, Any], dask_worker: Any) -> Any:
    """Call a method of the agent of a worker; `dask_worker` is what Dask hands in."""
    return await getattr(dask_worker.agent, verb)(**given)


async def _ask_as_task(verb: str, given: dict[str, Any]) -> Any:
    """Do the same as a task, which the scheduler keeps until it has ended."""
    return await _ask(verb, given, get_worker())


class _WorkerFacts(Frozen):
    """What Dask says of a worker, as far as it is read."""

    model_config = ConfigDict(extra="ignore")

    name: str | int
    resources: dict[str, Number]


class _Known(Frozen):
    """What Dask says of all workers, by address."""

    model_config = ConfigDict(extra="ignore")

    workers: dict[str, _WorkerFacts]


class Doing(Generic[Result]):
    """Work on another thread: whether it is `done`, and how to `wait` so many seconds for it.

    `result` returns what it returned, or raises what it raised; `stop` has it end.
    """

    def __init__(self, work: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> None:
        self._ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(self._noted(work), loop)
        self.done, self.wait = self._ended.is_set, self._ended.wait
        self.result, self.stop = future.result, future.cancel

    async def _noted(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return await work
        finally:
            self._ended.set()

    def close(self) -> None:
        """End it, if it goes on, and wait until it has cleaned up."""
        if not self.done():
            self.stop()
            self.wait(_CANCEL_S)


class Link:
    """Calls the agents of a fleet's hosts by name. Its own thread does Dask's work."""

    def __init__(self, address: str, certificates: Path) -> None:
        self.address = address
        self._security = secured(certificates)
        self._names: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="fleet", daemon=True).start()
        self._connecting: asyncio.Future[None] | None = None
        self.wait(self._connect())

    def begin(self, work: Coroutine[Any, Any, Result]) -> Doing[Result]:
        """Do work on the link's thread; closing it cancels what has not ended."""
        return Doing(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do work on the link's thread, and wait for it."""
        with closing(self.begin(work)) as doing:
            while not doing.wait(_LOOK_S):
                pass
            return doing.result()

    async def names(self) -> list[str]:
        """Return the names of all hosts, sorted; LostError if the coordinator does not answer."""
        try:
            await self._connect_again()
            asked = self._client.scheduler.identity(n_workers=-1)
            known = _Known.model_validate(await asyncio.wait_for(asked, _CONNECT_S))
        except (HostError, OSError, TimeoutError, ValueError, AttributeError) as error:
            # With AttributeError, Dask's client has just closed itself.
            what = "the coordinator does not answer"
            raise LostError(f"{what} ({words(error)})", what) from error
        self._names, self._places = {}, {}
        for where, each in known.workers.items():
            name = printable(str(each.name))
            self._names[name], self._places[name] = where, Place.read(each.resources)
        return sorted(self._names)

    def place(self, name: str) -> Place:
        """Return the rack of a host that `names` has returned, even if it is silent."""
        return self._places.get(name, NO_RACK)

    async def _connect(self) -> None:
        try:
            self._client = await Client(
                self.address, security=self._security, asynchronous=True, timeout=_CONNECT_S,
                set_as_default=False, name="benchmark",
            )  # fmt: skip
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise no_answer(self.address, error) from error

    async def _connect_again(self) -> None:
        """Connect if Dask's client has closed itself, as it does without a coordinator for seconds.

        There is one attempt at a time, and it goes on if nobody waits for it any more.
        """
        if self._client.status == "closed":
            if self._connecting is None or self._connecting.done():
                self._connecting = asyncio.ensure_future(self._connect())
            await asyncio.shield(self._connecting)

    async def call(self, name: str, verb: str, deadline_s: float, **given: Any) -> Any:
        """Call a method of a host's agent; RefusedError as it raises it, else LostError."""
        with self._told(name, f"no answer within {deadline_s:.1f} s"):
            async with asyncio.timeout(deadline_s):
                where = await self._address(name)
                said = await self._client.run(_ask, verb, given, workers=[where])
                return said[where]

    async def task(self, name: str, verb: str, resource: str, **given: Any) -> Any:
        """Do the same as a task, which takes as long as it takes and has the resource meanwhile.

        It is made once or not at all: no other host may have it, and an agent refuses to repeat it.
        """
        with self._told(name, "connection lost"):
            return await self._client.submit(
                _ask_as_task, verb, given, workers=[await self._address(name)],
                resources={resource: 1}, retries=0, pure=False,
            )  # fmt: skip

    async def _address(self, name: str) -> str:
        if name not in self._names:
            await self.names()
        if where := self._names.get(name):
            return where
        raise LostError("it is not in the fleet")

    @contextmanager
    def _told(self, name: str, late: str) -> Iterator[None]:
        """Raise LostError for what Dask raises if a connection breaks, or if it is `late`."""
        try:
            yield
        except (RefusedError, LostError):
            raise
        except (KilledWorker, NoValidWorkerError) as error:
            raise LostError("its worker has ended") from error
        except Exception as error:
            self._names.pop(name, None)  # The host may come back elsewhere.
            if isinstance(error, TimeoutError):
                raise LostError(late) from error
            # What an agent could not do has a number of the system, or is no OSError.
            is_lost = isinstance(error, OSError) and error.errno is None
            said = "connection lost" if is_lost else "its agent failed"
            raise LostError(words(error), said) from error
