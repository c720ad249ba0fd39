"""What it takes to have a generator on this host: asking a program, building one, an image."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.progress import Progress
from arena.measure.runtimes import run_build

Said = TypeVar("Said")

_YES = {"true", "1", "yes"}
_NO = {"false", "0", "no", ""}


def wants_docker(environment: Mapping[str, str]) -> bool:
    """Return whether LOADGEN_DOCKER asks for an image; UsageError if it says neither."""
    said = environment.get("LOADGEN_DOCKER", "")
    if said.lower() not in _YES | _NO:
        raise UsageError(f"LOADGEN_DOCKER: write true or false, not {said!r:.40}")
    return said.lower() in _YES


def require_daemon() -> None:
    """Raise HostError, with a way out, unless there is a daemon as LOADGEN_DOCKER asks for."""
    from arena.machine.docker import daemon_version

    version, why = daemon_version()
    if not version:
        raise HostError(
            f"LOADGEN_DOCKER: no Docker daemon answers: {why}; start Docker here, "
            "or run the generator without a container: LOADGEN_DOCKER=false"
        )


def named_program(variable: str, named: str) -> Path:
    """Return the program an environment variable names; UsageError if it cannot be run."""
    found = shutil.which(named)
    if not found:
        raise UsageError(f"{variable}: {named} is not a program that can be run")
    return Path(found).absolute()


def output_of(argv: Sequence[str]) -> str:
    """Return all that a short command prints; nothing if it cannot be run or hangs."""
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def version_said(
    variable: str,
    named: str,
    command: Sequence[str],
    version_of: Callable[[Sequence[str]], Said | None],
) -> Said:
    """Return the version of what a variable names; UsageError if it is another program.

    `command` starts it, and `version_of` asks it. The variable is called after the program.
    """
    version = version_of(command)
    if not version:
        program = variable.removesuffix("_IMAGE").lower()
        raise UsageError(f"{variable}: {named} is not {program} (its --version does not say so)")
    return version


def in_image(image: str) -> list[str]:
    """Return the command that runs a short program of an image, without a network."""
    from arena.machine.docker import LABEL

    run = ["docker", "run", "--rm", "--network", "none", "--cap-drop", "ALL"]
    return [*run, "--label", LABEL, image]


def build(argv: Sequence[str], folder: Path, log: Path, called: str, ways: str) -> None:
    """Run a generator's build in `folder`; HostError names the log and the other `ways`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    try:
        run_build(argv, folder, log, called)
    except FrameworkError as error:
        name = log.stem.removesuffix("-build")
        raise HostError(f"{name}: {error.reason}, see {log}; or {ways}") from error


def ensure_image(
    image: str, context: Path, options: Sequence[str], log: Path, ways: str, progress: Progress
) -> str:
    """Build an image from its `context` folder unless it is there; return its digest."""
    from arena.machine.docker import build_argv, docker, inspect

    if not docker("images", "--quiet", image):
        with progress.waiting(f"building the image {image} (once)"):
            build(build_argv(image, context, *options), context, log, "docker build", ways)
    digest: str = inspect("image", image)["Id"]
    return digest
