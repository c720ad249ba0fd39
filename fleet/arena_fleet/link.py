"""The link to a fleet's coordinator, from the host that measures. Uses Dask."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from distributed import Client
from distributed.scheduler import KilledWorker, NoValidWorkerError
from distributed.security import Security

from arena.base.errors import HostError
from arena.base.text import printable
from arena_fleet import settings
from arena_fleet.agent import RefusedError
from arena_fleet.ask import ask, ask_as_task
from arena_fleet.members import NO_RACK, LostError, Place

Result = TypeVar("Result")

_CONNECT_S = 5.0
_LOOK_S = 0.1
_CANCEL_S = 5.0


class Doing(Generic[Result]):
    """Work on another thread."""

    def __init__(self, work: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> None:
        self._ended = threading.Event()
        self._future = asyncio.run_coroutine_threadsafe(self._noted(work), loop)

    async def _noted(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return await work
        finally:
            self._ended.set()

    def done(self) -> bool:
        """Return whether it has ended."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until it ends, for so long at most."""
        self._ended.wait(seconds)

    def result(self) -> Result:
        """Return what it returned, or raise what it raised."""
        return self._future.result()

    def stop(self) -> None:
        """Have it end, if it goes on."""
        self._future.cancel()

    def cancel(self) -> None:
        """End it, if it goes on, and wait until it has cleaned up."""
        if not self.done():
            self.stop()
            self.wait(_CANCEL_S)


class Link:
    """Calls the agents of a fleet's hosts by name. Its own thread does Dask's work."""

    def __init__(self, address: str, certificates: Path) -> None:
        settings.apply()
        self.address = address
        self._security = settings.security(certificates)
        self._names: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="fleet", daemon=True).start()
        self._client = self.wait(_connected(address, self._security))
        self._connecting: asyncio.Future[None] | None = None

    def begin(self, work: Coroutine[Any, Any, Result]) -> "Doing[Result]":
        """Do work on the link's thread."""
        return Doing(work, self._loop)

    @contextmanager
    def doing(self, work: Coroutine[Any, Any, Result]) -> "Iterator[Doing[Result]]":
        """Do work on the link's thread during the block.

        What has not ended at the block's end is cancelled, and its cleaning up is awaited.
        """
        doing = self.begin(work)
        try:
            yield doing
        finally:
            doing.cancel()

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do work on the link's thread, and wait for it."""
        with self.doing(work) as doing:
            while not doing.done():
                doing.wait(_LOOK_S)
            return doing.result()

    async def names(self) -> list[str]:
        """Return the names of all hosts, sorted; LostError if the coordinator does not answer."""
        try:
            await self._connect_again()
            said = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), _CONNECT_S)
        except (HostError, OSError, TimeoutError, ValueError, AttributeError) as error:
            # With AttributeError, Dask's client has just closed itself.
            what = "the coordinator does not answer"
            raise LostError(f"{what} ({settings.words(error)})", what) from error
        workers = [
            (printable(str(each["name"])), where, each) for where, each in said["workers"].items()
        ]
        self._names = {name: where for name, where, _ in workers}
        self._places = {name: Place.read(each["resources"]) for name, _, each in workers}
        return sorted(self._names)

    def place(self, name: str) -> Place:
        """Return the rack of a host that `names` has returned, even if it is silent."""
        return self._places.get(name, NO_RACK)

    async def _connect(self) -> None:
        self._client = await _connected(self.address, self._security)

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
        try:
            async with asyncio.timeout(deadline_s):
                where = await self._address(name)
                said = await self._client.run(ask, verb, given, workers=[where])
                return said[where]
        except (RefusedError, LostError):
            raise
        except TimeoutError as error:
            self._names.pop(name, None)
            raise LostError(f"no answer within {deadline_s:.1f} s") from error
        except Exception as error:
            raise self._lost(name, error) from error

    async def task(self, name: str, verb: str, resource: str, **given: Any) -> Any:
        """Do the same as a task, which takes as long as it takes and has the resource meanwhile.

        It is made once or not at all: no other host may have it, and an agent refuses to repeat it.
        """
        try:
            future = self._client.submit(
                ask_as_task, verb, given, workers=[await self._address(name)],
                resources={resource: 1}, retries=0, pure=False,
            )  # fmt: skip
            return await future
        except (RefusedError, LostError):
            raise
        except (KilledWorker, NoValidWorkerError) as error:
            raise LostError("its worker has ended") from error
        except Exception as error:
            raise self._lost(name, error) from error

    async def _address(self, name: str) -> str:
        if name not in self._names:
            await self.names()
        if where := self._names.get(name):
            return where
        raise LostError("it is not in the fleet")

    def _lost(self, name: str, error: Exception) -> LostError:
        """Return the error for what Dask raises if a connection breaks."""
        # The host may come back elsewhere.
        self._names.pop(name, None)
        # What an agent could not do has a number of the system, or is no OSError.
        is_lost = isinstance(error, OSError) and error.errno is None
        words = "connection lost" if is_lost else "its agent failed"
        return LostError(settings.words(error), words)


async def _connected(address: str, security: Security) -> Client:
    try:
        return await Client(
            address, security=security, asynchronous=True, timeout=_CONNECT_S,
            set_as_default=False, name="benchmark",
        )  # fmt: skip
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise settings.no_answer(address, error) from error
