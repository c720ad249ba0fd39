"""Providing a generator on this host: asking a program its version, building it, its image."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.text import shown
from arena.load.description import Image
from arena.machine.builds import Build, Command

_YES = {"true", "1", "yes"}
_NO = {"false", "0", "no", ""}


def wants_docker(environment: Mapping[str, str]) -> bool:
    """Return whether LOADGEN_DOCKER demands an image; UsageError on an unknown value."""
    said = environment.get("LOADGEN_DOCKER", "")
    if said.lower() not in _YES | _NO:
        raise UsageError(f"LOADGEN_DOCKER: write true or false, not {said!r:.40}")
    return said.lower() in _YES


def require_daemon() -> None:
    """Raise HostError, with a way out, unless the daemon that LOADGEN_DOCKER demands answers."""
    from arena.machine.docker import daemon_version

    version, why = daemon_version()
    if not version:
        raise HostError(
            f"LOADGEN_DOCKER: no Docker daemon answers: {why}; start Docker here, "
            "or run the generator without a container: LOADGEN_DOCKER=false"
        )


def has_daemon() -> bool:
    """Return whether a Docker daemon answers."""
    from arena.machine.docker import daemon_version

    return daemon_version()[0] is not None


def named_program(variable: str, named: str) -> Path:
    """Return the program that an environment variable names; UsageError if it cannot be run."""
    found = shutil.which(named)
    if not found:
        raise UsageError(f"{variable}: {named} is not a program that can be run")
    return Path(found).absolute()


def output_of(argv: Sequence[str]) -> str:
    """Return all output of a short command; empty if it cannot be run or hangs."""
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def build(command: Command, ways: str) -> Build[None]:
    """Run a generator's build; HostError names the log and the other `ways`."""
    log = command.log
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    try:
        yield command
    except FrameworkError as error:
        name = log.stem.removesuffix("-build")
        raise HostError(f"{name}: {error.reason}, see {shown(log)}; or {ways}") from error


def in_image(image: str) -> list[str]:
    """Return the command that runs a short program of an image, with no network."""
    from arena.machine.docker import LABEL

    run = ["docker", "run", "--rm", "--network", "none", "--cap-drop", "ALL"]
    return [*run, "--label", LABEL, image]


def is_image_here(image: str) -> bool:
    """Return whether this host has an image; false if no daemon answers."""
    from arena.machine.docker import docker

    try:
        return bool(docker("images", "--quiet", image))
    except HostError:
        return False


def build_image(image: Image, log: Path, ways: str) -> Build[str]:
    """Build an image unless it exists; return its digest."""
    from arena.machine.docker import as_it_is_here, build_argv, docker, inspect

    if not docker("images", "--quiet", image.name):
        options = [
            str(as_it_is_here(Path(each), log.with_suffix(".Dockerfile")))
            if each.endswith("Dockerfile")
            else each
            for each in image.options
        ]
        argv = build_argv(image.name, image.context, *options)
        words = f"build the image {image.name} (once)"
        yield from build(Command(argv, image.context, log, words, "docker build"), ways)
    digest: str = inspect("image", image.name)["Id"]
    return digest
