"""Docker's command line."""

import json
import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.base.errors import HostError
from arena.base.units import format_cpus, format_duration
from arena.machine.child import most_open_files

# The names of the runner's containers and images start with this; containers have the label too.
PREFIX = "httparena-"
LABEL = "httparena"

# An image with a digest in a FROM line, and the label of its stand-in.
_PINNED = re.compile(r"(?im)^FROM(?:\s+--\S+)*\s+([^\s@]+)@sha256:[0-9a-f]{64}")
_OF = "label=httparena.standin.of="

CONTROL_TIMEOUT_S = 60.0
_PIDS_LIMIT = 4096


def docker(*arguments: str, timeout_s: float = CONTROL_TIMEOUT_S) -> str:
    """Run one short docker command; return its output, HostError if it fails.

    It runs in its own session: a Ctrl-C in the terminal must not stop it halfway.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments], check=False, capture_output=True, text=True, timeout=timeout_s,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise HostError("there is no `docker` command on PATH") from error
    except subprocess.TimeoutExpired as error:
        raise HostError(
            f"docker {arguments[0]} did not answer within {format_duration(timeout_s)}"
        ) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise HostError(f"docker {arguments[0]}: {lines[0]}")
    return done.stdout.strip()


def daemon_version() -> tuple[str | None, str]:
    """Return the version of the Docker daemon, or None and the reason if none answers."""
    try:
        return docker("version", "--format", "{{.Server.Version}}", timeout_s=10), ""
    except HostError as error:
        return None, str(error)


def foreign_network() -> str | None:
    """Return why the daemon's host network is not this host's; None if it is."""
    try:
        answer = docker("info", "--format", "{{.OperatingSystem}}\n{{.SecurityOptions}}")
    except HostError as error:
        return str(error)
    system, _, security = answer.partition("\n")
    if "name=rootless" in security:
        return "the Docker daemon is rootless"
    return f"{system} runs in a virtual machine" if "Docker Desktop" in system else None


def require_quota() -> None:
    """Raise HostError if the daemon cannot limit a container to some CPUs' time."""
    if docker("info", "--format", "{{.CPUCfsQuota}}") != "true":
        raise HostError("--server-quota: the Docker daemon's host has no CPU quota")


def remove_container(name: str) -> None:
    """Remove a container, running or not; do nothing if it does not exist."""
    try:
        docker("rm", "--force", "--volumes", name)
    except HostError as error:
        # Clients differ in whether this is an error.
        if "No such container" not in str(error):
            raise


def remove_leftovers() -> list[str]:
    """Remove the containers a killed benchmark left; call it only with the host's lock held."""
    found = docker("ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}")
    names = found.splitlines()
    for name in names:
        remove_container(name)
    return names


def sandbox(name: str, cpus: Sequence[int] | None) -> list[str]:
    """Return the common options of the runner's containers.

    The limits of open files, and of memory that io_uring may lock, are this process's hard limits.
    A daemon under the same limits without CAP_SYS_RESOURCE cannot go further.
    """
    open_files = most_open_files()
    _, locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    options = [
        "--name", name,
        "--label", LABEL,
        "--network", "host",
        "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        "--pids-limit", str(_PIDS_LIMIT),
        "--ulimit", f"nofile={open_files}:{open_files}",
        "--ulimit", f"memlock={locked}:{locked}",
    ]  # fmt: skip
    if cpus is not None:
        options += ["--cpuset-cpus", format_cpus(cpus)]
    return options


def build_argv(tag: str, folder: Path, *options: str) -> list[str]:
    """Return the command that builds a folder's Dockerfile and leaves nothing else behind."""
    return ["docker", "build", "--force-rm", "--tag", tag, *options, str(folder)]


def as_it_is_here(dockerfile: Path, copy: Path) -> Path:
    """Return a Dockerfile that this host can build: itself, or a copy without some digests.

    A stand-in (scripts/standin-images.sh) has the tag of an image, and no digest.
    """
    try:
        text = dockerfile.read_bytes().decode(errors="surrogateescape")
    except OSError:
        return dockerfile  # docker says what is wrong with it.
    pinned = set(_PINNED.findall(text))
    here = {each for each in pinned if docker("images", "--quiet", "--filter", _OF + each, each)}
    if not here:
        return dockerfile
    changed = _PINNED.sub(lambda it: it[0].partition("@")[0] if it[1] in here else it[0], text)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(changed.encode(errors="surrogateescape"))
    return copy


def inspect(kind: str, name: str) -> dict[str, Any]:
    """Return docker's description of a container or an image."""
    found: dict[str, Any] = json.loads(docker("inspect", "--type", kind, name))[0]
    return found


def bind_mount(source: Path, target: str) -> list[str]:
    """Return the option that mounts a file or folder read-only in a container."""
    path = str(source).replace('"', '""')
    return ["--mount", f'type=bind,"source={path}",target={target},readonly']
