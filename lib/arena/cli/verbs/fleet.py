"""`arena fleet`, which scripts/fleet.sh calls."""

import functools
import os
import socket
from pathlib import Path
from typing import Any

import click

from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli import options

_ADDRESS = "tls://127.0.0.1:8786"

_address = click.option(
    "--fleet", "address", envvar="FLEET", show_envvar=True, default=_ADDRESS, show_default=True,
    metavar="ADDRESS", help="The coordinator's address.",
)  # fmt: skip
_interface = click.option(
    "--interface", metavar="NAME",
    help="The network interface to listen on, like eth1. [default: loopback only]",
)  # fmt: skip
_rack = click.option(
    "--rack", metavar="NAME", help="The rack that the host belongs to: a-z, 0-9 and -. "
    "[default: none]",
)  # fmt: skip
_serves = click.option(
    "--serves", is_flag=True,
    help="This is the server host of the rack: it runs the sessions of nights.",
)  # fmt: skip
_class = functools.partial(
    click.option, "--class", "host_class", metavar="NAME",
    help="The kind of host; hosts of one class are alike. With --serves, the class of the rack.",
)  # fmt: skip
_parts = click.option(
    "--parts", type=options.Integer(1, 64),
    help="The parts of the load that this host takes. [default: by its CPUs]",
)  # fmt: skip
_cpus = click.option(
    "--cpus", type=options.Integer(1, 100_000),
    help="How many CPUs volley may use. [default: all that this process may]",
)  # fmt: skip
_local = click.argument("where", type=click.Choice(["local"]))


@click.group(
    epilog=f"docs/fleet.md leads from nothing to three hosts. {options.EXIT_CODES}",
)
def command() -> None:
    """Set up several generator hosts for one server, or racks.

    A rack is a server host with generator hosts of its own.
    """


@command.command()
@_local
@click.option(
    "--hosts", type=options.Integer(1, 64), default=3, show_default=True,
    help="How many generator hosts to play; with --racks, in each rack.",
)  # fmt: skip
@click.option(
    "--racks", type=options.Integer(0, 8), default=0,
    help="How many racks to play, for a night on several. [default: none]",
)  # fmt: skip
@click.option(
    "--port", type=options.Integer(1, 65535), default=8786, show_default=True,
    help="The coordinator's port.",
)  # fmt: skip
@click.pass_obj
def up(workspace: Workspace, where: str, hosts: int, racks: int, port: int) -> None:
    """Start generator hosts on this machine, to try a fleet.

    The hosts are processes. Prints the coordinator's address. Figures of such a fleet are marked as
    `unpinned`: its hosts share the CPUs with the server. Racks take turns: they have one machine.
    """
    from arena_fleet.local import start

    del where
    click.echo(start(workspace, hosts, racks, port, os.environ, progress()))


@command.command()
@_local
@click.pass_obj
def down(workspace: Workspace, where: str) -> None:
    """End the generator hosts that `up local` started."""
    from arena_fleet.local import stop

    del where
    click.echo(f"ended {stop(workspace)} processes")


@command.command()
@_address
@click.pass_obj
def status(workspace: Workspace, address: str) -> int:
    """Show all hosts, and whether each is ready.

    A line has a host's rack, CPUs, class, volley, clock and limits.
    """
    from arena_fleet.fleet import show

    return show(workspace, address)


@command.command()
@click.option(
    "--for", "name", metavar="NAME",
    help="Make the certificates of another host, in .fleet/hosts/NAME: copy these files to its "
    ".fleet. Of a name with a domain, the first part counts.",
)  # fmt: skip
@click.pass_obj
def ca(workspace: Workspace, name: str | None) -> None:
    """Make the certificates of the fleet.

    Without --for, these are the fleet's own certificate authority, and this host's certificate.
    What exists is kept. The holder of a certificate can run programs on all hosts of the fleet.
    """
    from arena_fleet import certificates

    own = certificates.own_folder(workspace)
    if name is not None:
        folder = certificates.folder_of(workspace, name)
        is_new = certificates.make_certificate(own, folder)
        before = "" if is_new else "was made before, and is unchanged: "
        click.echo(f"{folder}: {before}copy its files to .fleet of the checkout on {name}")
    elif certificates.make_authority(own):
        click.echo(f"{own}: made; ca.key in it signs the certificates of all hosts: keep it here")
    else:
        click.echo(f"{own}: was made before, and is unchanged")


@command.command()
@_interface
@click.option("--port", type=options.Integer(1, 65535), default=8786, show_default=True)
@click.pass_obj
def coordinator(workspace: Workspace, interface: str | None, port: int) -> None:
    """Run the coordinator, which all other hosts connect to."""
    from arena_fleet.nodes import serve_coordinator

    serve_coordinator(workspace, interface, port)


@command.command()
@_address
@_interface
@click.option(
    "--name", default=socket.gethostname, metavar="NAME",
    help="The host's name in the fleet: a-z, 0-9 and -. Of a name with a domain, the first part "
    "counts. [default: the host's name]",
)  # fmt: skip
@_rack
@_serves
@_class(default="default", show_default=True)
@_parts
@_cpus
@click.option("--local", "is_local", is_flag=True, hidden=True)
@click.pass_obj
def worker(workspace: Workspace, /, **given: object) -> None:
    """Run this host's worker until the coordinator ends.

    It makes load, or serves a rack.
    """
    from arena_fleet.nodes import serve_host

    serve_host(workspace, os.environ, **given)  # type: ignore[arg-type]


@command.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def work(workspace: Workspace, folder: Path) -> int:
    """Run the session of a rack that a folder was prepared for; its worker calls this."""
    from arena_fleet.server import work as work_in

    return work_in(workspace, folder, os.environ)


@command.command()
@click.argument("what", type=click.Choice(["coordinator", "worker"]))
@click.option(
    "--kind", type=click.Choice(["systemd", "kubernetes", "ssh"]), default="systemd",
    show_default=True, help="What to print.",
)  # fmt: skip
@click.option(
    "--fleet", "address", envvar="FLEET", show_envvar=True, metavar="ADDRESS",
    help="The coordinator's address, as its hosts reach it. A worker needs it.",
)  # fmt: skip
@_interface
@click.option(
    "--port", type=options.Integer(1, 65535),
    help="The coordinator's port. [default: that of --fleet, or 8786]",
)  # fmt: skip
@click.option("--name", metavar="NAME", help="The worker's name. [default: its host's name]")
@_rack
@_serves
@_class()
@_parts
@_cpus
@click.pass_obj
def unit(workspace: Workspace, /, **given: Any) -> None:
    """Print what starts a program of the fleet on other hosts.

    It is a systemd unit, a Kubernetes manifest or an SSH launcher.
    """
    from arena_fleet.units import unit_of

    click.echo(unit_of(workspace, **given), nl=False)


@command.command()
def install() -> None:
    """Install Dask, and print its version.

    scripts/fleet.sh installs it before every command.
    """
    from arena_fleet.nodes import dask_version

    click.echo(f"Dask {dask_version()}")
