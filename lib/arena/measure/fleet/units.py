"""What starts the programs of a fleet on other hosts: the files of the folder fleet/, filled in."""

import getpass
import json
import os
import re
import shlex
from collections.abc import Sequence

from arena.base.errors import HostError, UsageError
from arena.base.reading import read_input
from arena.base.workspace import Workspace
from arena.measure.fleet.members import Place

_SUFFIXES = {"systemd": "service", "kubernetes": "yaml", "ssh": "sh"}


def unit_of(
    workspace: Workspace,
    what: str,
    kind: str,
    address: str,
    interface: str | None,
    rack: str | None = None,
    *,
    serves: bool = False,
) -> str:
    """Return the text of a unit, a manifest or a launcher, for checkouts at this one's path.

    UsageError for what cannot be; HostError if the path has characters that systemd, YAML or a
    shell read in ways of their own.
    """
    if (rack or serves) and what != "worker":
        raise UsageError("--rack and --serves are for workers")
    Place.named(rack, serves=serves)
    if serves and kind == "kubernetes":
        raise UsageError(
            "--serves: the image of the manifest cannot build servers: use --kind systemd or ssh"
        )
    root = str(workspace.root)
    if not re.fullmatch(r"[\w./-]+", root):
        raise HostError(f"{root}: move the checkout to a path of letters, digits and . _ - only")
    options: list[str] = []
    if what == "worker":
        options += ["--fleet", address]
    if rack:
        options += ["--rack", rack, *["--serves"] * serves]
    if interface:
        options += ["--interface", interface]
    text = read_input(workspace.root / "fleet" / f"{what}.{_SUFFIXES[kind]}")
    values = {
        "root": root,
        "user": _user(),
        "options": shlex.join(options),
        "role": "server host" if serves else "generator host",
        "of_rack": f" of rack {rack}" if rack else "",
        "suffix": f"-{rack}" if rack else "",
        "listed": _listed(options),
    }
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    return text.replace(", ]", "]").replace(" \n", "\n")


def _user() -> str:
    """Return the user of this process; its number if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _listed(options: Sequence[str]) -> str:
    """Return options as items of a list in YAML."""
    return ", ".join(map(json.dumps, options))
