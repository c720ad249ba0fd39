"""The programs of a fleet: the coordinator, and the worker on each generator host. Uses Dask."""

import asyncio
import signal
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

import distributed
from distributed import Scheduler, Worker
from distributed.comm import connect

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena_fleet import settings
from arena_fleet.agent import HostAgent, can_die_together
from arena_fleet.certificates import own_folder
from arena_fleet.fleet import require_interface
from arena_fleet.members import Place

LOOPBACK = "127.0.0.1"

# A worker that starts before its coordinator waits so long for it.
_JOIN_S = 10.0


class _WithoutPages:
    """A node of Dask without its web server: nothing but TLS is listened to."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Start nothing."""


class _Scheduler(_WithoutPages, Scheduler):  # type: ignore[misc]
    pass


class _Worker(_WithoutPages, Worker):  # type: ignore[misc]
    agent: HostAgent


def serve_coordinator(
    workspace: Workspace, interface: str | None, port: int, shows: Progress
) -> None:
    """Run the coordinator until a signal comes; HostError if it cannot listen."""
    require_interface(interface, LOOPBACK)
    settings.apply()
    security = settings.security(own_folder(workspace))

    async def serve() -> None:
        try:
            scheduler = await _Scheduler(
                host=None if interface else LOOPBACK, interface=interface, port=port,
                protocol="tls", security=security, dashboard=False,
            )  # fmt: skip
        except (OSError, ValueError, RuntimeError) as error:
            where, cause = interface or LOOPBACK, settings.cause(error)
            why = cause.strerror if isinstance(cause, OSError) else None
            raise HostError(
                f"the coordinator cannot listen on {where}, port {port}: "
                f"{why or settings.words(error)}"
            ) from error
        shows.say(f"coordinator: {scheduler.address}")
        await _until_told(scheduler)

    asyncio.run(serve())


def serve_worker(
    workspace: Workspace,
    coordinator: str,
    interface: str | None,
    agent: HostAgent,
    place: Place,
    folder: Path,
    shows: Progress,
) -> None:
    """Run a host's worker, with files in `folder`, until a signal comes or the coordinator ends.

    HostError if the coordinator does not take it.
    """
    settings.apply()
    if not can_die_together():
        raise HostError("setpriv is missing: install util-linux")
    security, host = settings.security(own_folder(workspace)), agent.host

    async def serve() -> None:
        try:
            # Dask's worker would not say why it cannot connect.
            comm = await connect(coordinator, _JOIN_S, **security.get_connection_args("worker"))
            await comm.close()
        except (OSError, TimeoutError) as error:
            raise settings.no_answer(coordinator, error) from error
        worker = _Worker(
            coordinator, name=host.name, nthreads=1, memory_limit=0, security=security,
            host=None if interface else LOOPBACK, interface=interface, dashboard=False,
            local_directory=str(folder / "dask"), heartbeat_interval="5s",
            resources=place.resources(host.host_class), death_timeout=_JOIN_S,
        )  # fmt: skip
        worker.agent = agent
        try:
            await worker
        except Exception as error:
            await worker.close(executor_wait=False)
            why = settings.words(error)
            if "name taken" in why:
                why = f"it has a worker with the name {host.name} (choose another --name)"
            raise HostError(f"{coordinator} does not take this worker: {why}") from error
        shows.say(f"worker {host.name}: in the fleet of {coordinator}")
        try:
            if not await _until_told(worker):
                shows.say(f"worker {host.name}: ends, as {coordinator} has ended")
        finally:
            await agent.close()

    asyncio.run(serve())


async def _until_told(node: Scheduler | Worker) -> bool:
    """Wait until a signal comes, or the node ends by itself; close it; return whether it came."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    waits: list[Awaitable[Any]] = [node.finished(), told.wait()]
    tasks = [asyncio.ensure_future(each) for each in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in tasks:
        each.cancel()
    with suppress(TimeoutError):
        await asyncio.wait_for(node.close(), 5.0)
    return told.is_set()


def dask_version() -> str:
    """Return the version that both ends must have."""
    return str(distributed.__version__)
