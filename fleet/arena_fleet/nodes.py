"""The programs of a fleet: the coordinator, and the worker on each host. Uses Dask."""

import asyncio
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import distributed
from distributed import Scheduler, Worker
from distributed.comm import connect

from arena.base.errors import HostError
from arena.base.progress import PlainProgress
from arena.base.workspace import Workspace
from arena.machine.child import allow_open_files
from arena_fleet.agent import Agent, HostAgent
from arena_fleet.certificates import own_folder
from arena_fleet.facts import find_volley, host_name, read_facts, require_slug
from arena_fleet.fleet import Place, own_address, require_interface
from arena_fleet.link import cause, no_answer, secured, words
from arena_fleet.server import ServerAgent

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


def serve_coordinator(workspace: Workspace, interface: str | None, port: int) -> None:
    """Run the coordinator until a signal comes; HostError if it cannot listen."""
    require_interface(interface, LOOPBACK)
    security = secured(own_folder(workspace))

    async def serve() -> None:
        try:
            scheduler = await _Scheduler(
                host=None if interface else LOOPBACK, interface=interface, port=port,
                protocol="tls", security=security, dashboard=False,
            )  # fmt: skip
        except (OSError, ValueError, RuntimeError) as error:
            broke = cause(error)
            why = broke.strerror if isinstance(broke, OSError) else None
            raise HostError(
                f"the coordinator cannot listen on {interface or LOOPBACK}, port {port}: "
                f"{why or words(error)}"
            ) from error
        PlainProgress().say(f"coordinator: {scheduler.address}")
        await _until_told(scheduler)

    asyncio.run(serve())


def serve_host(
    workspace: Workspace,
    environment: Mapping[str, str],
    *,
    address: str,
    interface: str | None,
    name: str,
    rack: str | None,
    serves: bool,
    host_class: str,
    parts: int | None,
    cpus: int | None,
    is_local: bool,
) -> None:
    """Run the worker of this host until a signal comes or its coordinator ends.

    HostError if the coordinator does not take it.
    """
    require_interface(interface, own_address(address))
    place = Place.named(rack, serves=serves)
    name = host_name("--name", name)
    require_slug("--class", host_class)
    shows = PlainProgress()
    volley, version = find_volley(workspace, environment, shows)
    allow_open_files()
    facts = read_facts(
        name, host_class, volley, version, dask_version(),
        cpus=cpus, parts=parts, is_local=is_local,
    )  # fmt: skip
    folder = workspace.tools / "fleet" / name
    agent: HostAgent
    if serves:
        agent = ServerAgent(facts, workspace, volley, address, place.rack, folder)
    else:
        agent = Agent(facts, volley, workspace.root, folder)
    security = secured(own_folder(workspace))
    if not shutil.which("setpriv"):  # It ends what a worker has started together with it.
        raise HostError("setpriv is missing: install util-linux")

    async def serve() -> None:
        try:
            # Dask's worker would not say why it cannot connect.
            comm = await connect(address, _JOIN_S, **security.get_connection_args("worker"))
            await comm.close()
        except (OSError, TimeoutError) as error:
            raise no_answer(address, error) from error
        worker = _Worker(
            address, name=name, nthreads=1, memory_limit=0, security=security,
            host=None if interface else LOOPBACK, interface=interface, dashboard=False,
            local_directory=str(folder / "dask"), heartbeat_interval="5s",
            resources=place.resources(host_class), death_timeout=_JOIN_S,
        )  # fmt: skip
        worker.agent = agent
        try:
            await worker
        except Exception as error:
            await worker.close(executor_wait=False)
            why = words(error)
            if "name taken" in why:
                why = f"it has a worker with the name {name} (choose another --name)"
            raise HostError(f"{address} does not take this worker: {why}") from error
        shows.say(f"worker {name}: in the fleet of {address}")
        try:
            if not await _until_told(worker):
                shows.say(f"worker {name}: ends, as {address} has ended")
        finally:
            await agent.close()

    asyncio.run(serve())


async def _until_told(node: Scheduler | Worker) -> bool:
    """Wait until a signal comes, or the node ends by itself; close it; return whether it came."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    tasks = [loop.create_task(told.wait()), asyncio.ensure_future(node.finished())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in tasks:
        each.cancel()
    with suppress(TimeoutError):
        await asyncio.wait_for(node.close(), 5.0)
    return told.is_set()


def dask_version() -> str:
    """Return the version that both ends must have."""
    return str(distributed.__version__)
