"""What starts the programs of a fleet on other hosts: the files of the folder fleet/, filled in."""

import getpass
import json
import os
import re
import shlex
from collections.abc import Mapping

from arena.base.errors import HostError, UsageError
from arena.base.reading import read_input
from arena.base.workspace import Workspace
from arena_fleet.facts import host_name, require_slug
from arena_fleet.fleet import Place, address_of

# Options by their flags; one that is None was not given, and one that is True has no value.
_Options = Mapping[str, object]

# What a launcher of a server host begins with.
_ONLY_ONE = """
if [[ $# -ne 1 ]]; then
    echo "error: name one host: a rack has one server host" >&2
    exit 2
fi"""

_SUFFIXES = {"systemd": "service", "kubernetes": "yaml", "ssh": "sh"}


def unit_of(
    workspace: Workspace,
    what: str,
    kind: str,
    address: str | None,
    interface: str | None = None,
    *,
    port: int | None = None,
    name: str | None = None,
    rack: str | None = None,
    serves: bool = False,
    host_class: str | None = None,
    parts: int | None = None,
    cpus: int | None = None,
) -> str:
    """Return the text of a unit, a manifest or a launcher, for checkouts at this one's path.

    A coordinator listens on the port of the fleet's address, unless it is told another one.
    UsageError for what cannot be; HostError if the path has characters that systemd, YAML or a
    shell read in ways of their own.
    """
    of_worker: _Options = {
        "--name": None if name is None else host_name("--name", name),
        "--rack": rack,
        "--serves": serves or None,
        "--class": host_class,
        "--parts": parts,
        "--cpus": cpus,
    }
    if what == "worker":
        Place.named(rack, serves=serves)
        _require_worker(kind, address, port, of_worker)
        options = {"--fleet": address, "--interface": interface, **of_worker}
    else:
        if given := [flag for flag, value in of_worker.items() if value is not None]:
            raise UsageError(f"{given[0]}: is for workers")
        port = port or (address_of(address)[1] if address else None)
        options = {"--port": port, "--interface": interface}
    root = str(workspace.root)
    if not re.fullmatch(r"[\w./-]+", root):
        raise HostError(f"{root}: move the checkout to a path of letters, digits and . _ - only")
    if interface is not None and not re.fullmatch(r"[A-Za-z0-9_.@-]+", interface):
        raise UsageError(f"--interface: {interface!r:.60} is not the name of a network interface")
    text = read_input(workspace.root / "fleet" / "deploy" / f"{what}.{_SUFFIXES[kind]}")
    role = "server host" if serves else "generator host"
    of_rack = f" of rack {rack}" if rack else ""
    words = [
        word
        for flag, value in options.items()
        if value is not None
        for word in ([flag] if value is True else [flag, str(value)])
    ]
    given_words = shlex.join(words)
    if kind == "ssh":  # They stand within single quotes.
        given_words = given_words.replace("'", r"'\''")
    values = {
        "root": root,
        "user": _user(),
        "options": given_words,
        "role": role,
        "of_rack": of_rack,
        "hosts": "HOST" if serves else "HOST...",
        "started": f"the worker of the {role}" if serves else f"workers of {role}s",
        "only_one": _ONLY_ONE if serves else "",
        "where": f"{'the' if serves or name else 'each'} {role}{of_rack}",
        "suffix": f"-{rack}" if rack else "",
        "listed": ", ".join(map(json.dumps, words)),  # items of a list in YAML
    }
    for key, value in values.items():
        text = text.replace(f"${{{key}}}", value)
    return text.replace(", ]", "]").replace(" \n", "\n").replace("  | ", " | ")


def _require_worker(kind: str, address: str | None, port: int | None, options: _Options) -> None:
    """Raise UsageError for a worker that could not start, or could not find its coordinator."""
    if address is None:
        raise UsageError(
            "--fleet: name the coordinator as its hosts reach it, like tls://10.0.0.1:8786"
        )
    address_of(address)
    if port is not None:
        raise UsageError("--port: is for the coordinator: the port of --fleet is a worker's")
    if (host_class := options["--class"]) is not None:
        require_slug("--class", str(host_class))
    if options["--serves"] and kind == "kubernetes":
        raise UsageError(
            "--serves: the image of the manifest cannot build servers: use --kind systemd or ssh"
        )
    if options["--name"] and kind != "systemd":
        raise UsageError(f"--name: is for one host, and --kind {kind} starts several")


def _user() -> str:
    """Return the user of this process; its number if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
