"""A host of a fleet: what it is, and its worker."""

from collections.abc import Mapping

from arena.base.progress import PlainProgress
from arena.base.workspace import Workspace
from arena.machine.child import allow_open_files
from arena_fleet.agent import Agent, HostAgent
from arena_fleet.facts import host_name, read_facts, require_slug
from arena_fleet.fleet import own_address, require_interface
from arena_fleet.members import Place
from arena_fleet.nodes import dask_version, serve_worker
from arena_fleet.server import ServerAgent
from arena_fleet.volley import find_volley


def serve(
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
    """Run the worker of this host until its coordinator ends."""
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
    serve_worker(workspace, address, interface, agent, place, folder, shows)
