"""volley, the honest generator: it counts every message itself, and checks each one."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.measure.generators import ghz_flags, measurements, volley_blast
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
from arena.measure.generators.volley_build import (
    WAYS,
    build_log,
    built_from,
    cargo_build,
    own_program,
    sources_sha256,
)
from arena.record.measurement import Measurement
from arena.what.loads import Blast
from arena.what.measured import MeasuredProfile
from arena.what.profile import Profile

_VERSION = re.compile(r"volley (\S+)\s*")


def arguments(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return ghz's flags, and what the replies must be: volley decodes and checks each one."""
    if isinstance(profile.load, Blast):
        return volley_blast.arguments(profile, _expected(profile))
    return ghz_flags.arguments(profile, [*_expected(profile), *more])


def _expected(profile: MeasuredProfile) -> list[str]:
    rules = [flag for rule in profile.expect for flag in ("--expect", rule)]
    return ["--expect-replies", str(profile.replies), *rules]


def _arguments(profile: MeasuredProfile, cpus: Sequence[int] | None) -> list[str]:
    """Return the command line; volley takes as many threads as it is allowed CPUs by itself."""
    del cpus
    return arguments(profile)


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved volley output into a measurement; ValueError, one line, if it is broken."""
    if isinstance(profile.load, Blast):
        return measurements.of_blast(raw)
    return measurements.of_volley(raw, profile)


def refuses(profile: Profile) -> str:
    """Return why volley cannot make a load: it can make all."""
    del profile
    return ""


# Where no call succeeded it ends with 1, and still tells how many were made.
DIALECT = Dialect("volley", _arguments, measurement, report_codes=frozenset({0, 1}))


def resolve(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> Program:
    """Find volley: $VOLLEY, .tools/bin, cargo, $VOLLEY_IMAGE; HostError names these ways.

    PATH is not searched: a volley that lies there is of unknown sources, and cargo is quick.
    """
    from arena.machine.docker import daemon_version

    def local(program: Path, version: str, found: str) -> Program:
        return Program(DIALECT, workspace, cpus, str(program), version, found)

    if wants_docker(environment):
        require_daemon()
        return _from_image(workspace, environment, cpus, progress)
    if named := environment.get("VOLLEY"):
        return local(*_checked(named), "$VOLLEY")
    own, sources = own_program(workspace), sources_sha256(workspace)
    if built_from(own) == sources and (version := version_of([str(own)])):
        return local(own, version, ".tools")
    if shutil.which("cargo"):
        cargo_build(workspace, sources, progress)
        if version := version_of([str(own)]):
            return local(own, version, "cargo")
        raise HostError(f"volley: {own} was built, but does not run; {WAYS}")
    if daemon_version()[0]:
        return _from_image(workspace, environment, cpus, progress)
    raise HostError(f"there is no volley: {WAYS}")


def check(environment: Mapping[str, str]) -> None:
    """Raise UsageError if $VOLLEY is to be used and is not volley."""
    if not wants_docker(environment) and (named := environment.get("VOLLEY")):
        _checked(named)


def version_of(command: Sequence[str]) -> str | None:
    """Return the version of the volley that a command starts; None if it starts none."""
    match = _VERSION.fullmatch(output_of([*command, "--version"]))
    return match[1] if match else None


def image_version(image: str) -> str | None:
    """Return the version of the volley that an image holds; None if it holds none."""
    return version_of(in_image(image))


def _checked(named: str) -> tuple[Path, str]:
    """Return the program $VOLLEY names and its version, if it is volley."""
    program = named_program("VOLLEY", named)
    return program, version_said("VOLLEY", named, [str(program)], version_of)


def _from_image(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> ProgramInDocker:
    """Return the image of $VOLLEY_IMAGE, or our own, built from docker/volley.Dockerfile."""
    image = _image(workspace, environment)
    options = ["--file", str(workspace.root / "docker" / "volley.Dockerfile")]
    log = build_log(workspace)
    digest = ensure_image(image, workspace.volley, options, log, WAYS, progress)
    version = version_said("VOLLEY_IMAGE", image, in_image(image), version_of)
    version = f"{version} ({digest[:19]})"
    return ProgramInDocker(DIALECT, workspace, cpus, image, version, f"image {image}")


def _image(workspace: Workspace, environment: Mapping[str, str]) -> str:
    """Return the image's name; our own bears its sources' hash, so it is never an old one."""
    named = environment.get("VOLLEY_IMAGE")
    return named or f"httparena-volley:{sources_sha256(workspace)[:12]}"


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line; a volley that is yet to be built is just called volley."""
    if wants_docker(environment):
        image = _image(workspace, environment)
        contained = ProgramInDocker(DIALECT, workspace, cpus, image, "", "")
        return contained.command(contained.arguments(profile))
    own = own_program(workspace)
    found = environment.get("VOLLEY") or str(own if own.exists() else "volley")
    return [found, *arguments(profile)]
