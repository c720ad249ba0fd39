"""What starts the programs of a fleet on other hosts: the files of the folder fleet/, filled in."""

import getpass
import json
import os
import re
import shlex
from collections.abc import Sequence

from arena.base.errors import HostError
from arena.base.reading import read_input
from arena.base.workspace import Workspace

_SUFFIXES = {"systemd": "service", "kubernetes": "yaml", "ssh": "sh"}


def unit_of(workspace: Workspace, what: str, kind: str, address: str, interface: str | None) -> str:
    """Return the text of a unit, a manifest or a launcher, for checkouts at this one's path.

    HostError if the path has characters that systemd, YAML or a shell read in ways of their own.
    """
    root = str(workspace.root)
    if not re.fullmatch(r"[\w./-]+", root):
        raise HostError(f"{root}: move the checkout to a path of letters, digits and . _ - only")
    options: list[str] = []
    if what == "worker":
        options += ["--fleet", address]
    if interface:
        options += ["--interface", interface]
    text = read_input(workspace.root / "fleet" / f"{what}.{_SUFFIXES[kind]}")
    values = {
        "root": root,
        "user": _user(),
        "options": shlex.join(options),
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
