"""h2load, the classic generator of unary calls: an HTTP/2 client that knows nothing of gRPC."""

import shutil
from collections.abc import Mapping, Sequence
from functools import partial

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.measure.generators import h2load_flags
from arena.measure.generators.h2load_flags import BODIES, Version, prepare, refuses
from arena.measure.generators.measurements import of_h2load
from arena.measure.generators.program import Dialect, Program, ProgramInDocker
from arena.measure.generators.provision import (
    ensure_image,
    in_image,
    named_program,
    output_of,
    require_daemon,
    version_said,
    wants_docker,
)
from arena.what.measured import MeasuredProfile

__all__ = ["check", "on_path", "preview", "refuses", "resolve"]

# Debian 12's, as docker/h2load.Dockerfile installs it.
_DEFAULT_IMAGE = "httparena-h2load:bookworm"
_DEFAULT_VERSION = Version("1.52.0", (1, 52))

_WAYS = (
    "name one with H2LOAD=/path/to/h2load, install it so that it is on PATH (Debian and Ubuntu: "
    "nghttp2-client), or start Docker so that it can be run from an image (LOADGEN_DOCKER=true, "
    "H2LOAD_IMAGE)"
)


def _dialect(version: Version) -> Dialect:
    """Return what h2load of a version takes and prints."""
    return Dialect(
        "h2load",
        partial(h2load_flags.arguments, version=version),
        of_h2load,
        prepare=prepare,
        folders=(BODIES,),
        suffix=".txt",
    )


def resolve(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> Program:
    """Find h2load: $H2LOAD, PATH, $H2LOAD_IMAGE; HostError names these ways."""
    from arena.machine.docker import daemon_version

    def local(program: str, version: Version, found: str) -> Program:
        return Program(_dialect(version), workspace, cpus, program, version.name, found)

    if wants_docker(environment):
        require_daemon()
        return _from_image(workspace, environment, cpus, progress)
    if named := environment.get("H2LOAD"):
        return local(*_checked(named), "$H2LOAD")
    if found := on_path(environment):
        return local(*found, "PATH")
    if daemon_version()[0]:
        return _from_image(workspace, environment, cpus, progress)
    raise HostError(f"there is no h2load: {_WAYS}")


def check(environment: Mapping[str, str]) -> None:
    """Raise UsageError if $H2LOAD is to be used and is not h2load."""
    if not wants_docker(environment) and (named := environment.get("H2LOAD")):
        _checked(named)


def on_path(environment: Mapping[str, str]) -> tuple[str, Version] | None:
    """Return the h2load that is on PATH and its version; None if there is none that runs."""
    found = shutil.which("h2load", path=environment.get("PATH"))
    version = version_of([found]) if found else None
    return (found, version) if found and version else None


def version_of(command: Sequence[str]) -> Version | None:
    """Return the version of the h2load that a command starts; None if it starts none."""
    return Version.told(output_of([*command, "--version"]))


def _checked(named: str) -> tuple[str, Version]:
    """Return the program $H2LOAD names and its version, if it is h2load."""
    program = str(named_program("H2LOAD", named))
    return program, version_said("H2LOAD", named, [program], version_of)


def _from_image(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> ProgramInDocker:
    """Return the image of $H2LOAD_IMAGE, or our own, built from docker/h2load.Dockerfile."""
    image = environment.get("H2LOAD_IMAGE") or _DEFAULT_IMAGE
    folder = workspace.root / "docker"
    options = ["--file", str(folder / "h2load.Dockerfile")]
    log = workspace.tools / "h2load-build.log"
    digest = ensure_image(image, folder, options, log, _WAYS, progress)
    version = version_said("H2LOAD_IMAGE", image, in_image(image), version_of)
    shown = f"{version.name} ({digest[:19]})"
    return ProgramInDocker(_dialect(version), workspace, cpus, image, shown, f"image {image}")


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line; one that is not there is just called h2load.

    An image is not started to learn what it holds: it is taken for the version of our own.
    """
    if wants_docker(environment):
        image = environment.get("H2LOAD_IMAGE") or _DEFAULT_IMAGE
        contained = ProgramInDocker(_dialect(_DEFAULT_VERSION), workspace, cpus, image, "", "")
        return contained.command(contained.arguments(profile))
    named = environment.get("H2LOAD")
    program, version = (
        (named, version_of([named])) if named else on_path(environment) or ("h2load", None)
    )
    return [program, *_dialect(version or _DEFAULT_VERSION).arguments(profile, cpus)]
