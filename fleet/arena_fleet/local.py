"""A fleet of processes on this machine, to try one."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from string import ascii_lowercase

import psutil

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.machine.child import this_program
from arena_fleet.certificates import make_authority, own_folder
from arena_fleet.facts import find_volley
from arena_fleet.fleet import generators_of, look, members_of
from arena_fleet.link import Link
from arena_fleet.nodes import LOOPBACK

_READY_S = 60.0
_LOOK_S = 0.3
_END_S = 8.0


def start(
    workspace: Workspace,
    hosts: int,
    racks: int,
    port: int,
    environment: Mapping[str, str],
    shows: Progress,
) -> str:
    """Start a coordinator and workers; return the address once all are ready.

    With racks, each has so many generator hosts, and a worker that runs its sessions. HostError,
    and nothing runs, if one does not start.
    """
    if running := _running(workspace):
        raise HostError(
            f"a local fleet of {len(running)} processes is up: end it with "
            "./scripts/fleet.sh down local"
        )
    _require_free(port)
    find_volley(workspace, environment, shows)
    make_authority(own_folder(workspace))
    state = _state(workspace)
    state.parent.mkdir(parents=True, exist_ok=True)
    address = f"tls://{LOOPBACK}:{port}"
    commands = {"coordinator": ["coordinator", "--port", str(port)]}
    names: list[str | None] = [*ascii_lowercase[:racks]] or [None]
    for rack in names:
        of_rack, stem = (["--rack", rack], f"local-{rack}") if rack else ([], "local")
        own = {f"{stem}-{number}": ["--cpus", "1"] for number in range(1, hosts + 1)}
        if rack:
            own[f"{stem}-server"] = ["--serves"]
        for name, words in own.items():
            worker = ["worker", "--fleet", address, "--name", name, "--local"]
            commands[name] = [*worker, *of_rack, *words]
    counts = {"server host": racks, "generator host": hosts * (racks or 1)}
    counted = " and ".join(
        f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items() if count
    )
    started: dict[str, psutil.Popen] = {}
    try:
        with shows.waiting(f"starting {counted} on this machine"):
            for name, words in commands.items():
                started[name] = _spawn(workspace, words, state.with_name(f"{name}.log"))
                known = [[each.pid, each.create_time()] for each in started.values()]
                write_atomic(state, json.dumps(known) + "\n")
            _await_ready(workspace, address, names, started)
    except BaseException:
        stop(workspace)
        raise
    return address


def stop(workspace: Workspace) -> int:
    """End the processes of the local fleet; return how many ran."""
    running = _running(workspace)
    for each in running:
        with suppress(psutil.Error):
            each.terminate()
    for each in psutil.wait_procs(running, _END_S)[1]:
        with suppress(psutil.Error):
            each.kill()
    _state(workspace).unlink(missing_ok=True)
    return len(running)


def _await_ready(
    workspace: Workspace,
    address: str,
    racks: Sequence[str | None],
    started: Mapping[str, psutil.Popen],
) -> None:
    deadline = time.monotonic() + _READY_S
    link: Link | None = None
    why = "the coordinator does not answer"
    while time.monotonic() < deadline:
        for name, process in started.items():
            if process.poll() is not None:
                log = _state(workspace).with_name(f"{name}.log")
                raise HostError(f"{name} has ended: {tail(log, 1) or f'see {shown(log)}'}")
        try:
            link = link or Link(address, own_folder(workspace))
            seen = link.wait(look(link))
            if len(seen) == len(started) - 1:
                for rack in racks:
                    members_of(generators_of(seen, rack or ""))
                return
            why = f"{len(seen)} of {len(started) - 1} hosts have come"
        except HostError as error:
            why = str(error)
        time.sleep(_LOOK_S)
    raise HostError(f"the local fleet was not ready within {_READY_S:g} s: {why}")


def _spawn(workspace: Workspace, words: Sequence[str], log: Path) -> psutil.Popen:
    argv = [*this_program(), "--root", str(workspace.root), "fleet", *words]
    with log.open("wb") as file:
        return psutil.Popen(
            argv, cwd=workspace.root, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True, env=dict(os.environ),
        )  # fmt: skip


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise HostError(f"port {port} is in use: choose another one with --port") from error


def _state(workspace: Workspace) -> Path:
    """Return the file of the processes' ids; their logs are beside it."""
    return workspace.tools / "fleet" / "local" / "processes.json"


def _running(workspace: Workspace) -> list[psutil.Process]:
    """Return the processes of the local fleet that still run; a reused id is no such process."""
    try:
        known = json.loads(_state(workspace).read_text())
    except (OSError, ValueError):
        return []
    found = []
    for pid, created in known:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
