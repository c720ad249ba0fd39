"""ghz, the classic generator: its flags are the contract, and nothing is added to the load."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.measure.generators import ghz_blast, measurements, volley
from arena.measure.generators.ghz_flags import arguments
from arena.measure.generators.program import Dialect, Program, ProgramInDocker
from arena.measure.generators.provision import (
    build,
    ensure_image,
    named_program,
    output_of,
    require_daemon,
    wants_docker,
)
from arena.record.measurement import Measurement
from arena.what.loads import Blast
from arena.what.measured import MeasuredProfile
from arena.what.profile import Profile

VERSION = "v0.121.0"
_MODULE = "github.com/bojand/ghz"
_DEFAULT_IMAGE = f"httparena-ghz:{VERSION}"

_WAYS = (
    "name one with GHZ=/path/to/ghz, put ghz on PATH, install Go so that it can be built, "
    "or start Docker so that it can be run from an image"
)


def resolve(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> Program:
    """Find ghz: $GHZ, PATH, .tools/bin, `go install`, $GHZ_IMAGE; HostError names these ways.

    What is found may be volley, which takes ghz's command line: it says so itself, and is then
    used as volley, with the profile's checks, its own counts and its own name.
    """
    from arena.machine.docker import daemon_version

    def local(program: Path, found: str) -> Program:
        if version := volley.version_of([str(program)]):
            return Program(volley.DIALECT, workspace, cpus, str(program), version, found)
        return Program(_DIALECT, workspace, cpus, str(program), binary_version(program), found)

    own = workspace.tools / "bin" / "ghz"
    if wants_docker(environment):
        require_daemon()
        return _from_image(workspace, environment, cpus, progress)
    if named := environment.get("GHZ"):
        return local(_checked(named), "$GHZ")
    if found := shutil.which("ghz", path=environment.get("PATH")):
        return local(Path(found), "PATH")
    if own.exists():
        return local(own, ".tools")
    if shutil.which("go"):
        _go_install(own, progress)
        return local(own, "go install")
    if daemon_version()[0]:
        return _from_image(workspace, environment, cpus, progress)
    raise HostError(f"there is no ghz: {_WAYS}")


def check(environment: Mapping[str, str]) -> None:
    """Raise UsageError if $GHZ is to be used and is not ghz."""
    if not wants_docker(environment) and (named := environment.get("GHZ")):
        _checked(named)


def _checked(named: str) -> Path:
    """Return the program $GHZ names, if it takes ghz's command line."""
    program = named_program("GHZ", named)
    spoken = output_of([str(program), "--help"])
    if not all(flag in spoken for flag in ("--proto", "--call", "--connections")):
        raise UsageError(f"GHZ: {named} is not ghz (its --help does not name ghz's flags)")
    return program


def _go_install(target: Path, progress: Progress) -> None:
    """Build the pinned version into place, in one step at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        progress.waiting(f"building ghz {VERSION} with go install (once)"),
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".ghz-") as folder,
    ):
        argv = ["env", f"GOBIN={folder}", "go", "install", f"{_MODULE}/cmd/ghz@{VERSION}"]
        log = target.parent.parent / "ghz-build.log"
        build(argv, target.parent, log, "go install", _WAYS)
        Path(folder, "ghz").replace(target)


def _from_image(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> ProgramInDocker:
    """Return the image of $GHZ_IMAGE, or our own, built from docker/ghz.Dockerfile."""
    image = environment.get("GHZ_IMAGE") or _DEFAULT_IMAGE
    folder = workspace.root / "docker"
    options = [
        "--file", str(folder / "ghz.Dockerfile"),
        "--build-arg", f"GHZ_VERSION={VERSION.removeprefix('v')}",
    ]  # fmt: skip
    log = workspace.tools / "ghz-build.log"
    digest = ensure_image(image, folder, options, log, _WAYS, progress)[:19]
    found = f"image {image}"
    if version := None if image == _DEFAULT_IMAGE else volley.image_version(image):
        return ProgramInDocker(
            volley.DIALECT, workspace, cpus, image, f"{version} ({digest})", found
        )
    version = f"{VERSION if image == _DEFAULT_IMAGE else image} ({digest})"
    return ProgramInDocker(_DIALECT, workspace, cpus, image, version, found)


def binary_version(program: Path) -> str:
    """Return ghz's module version: what `go version -m` reads from the binary.

    `ghz --version` prints `dev` for one that go installed, so it is only asked where there is
    no Go, or where the binary was not built from a released module.
    """
    if shutil.which("go"):
        for line in output_of(["go", "version", "-m", str(program)]).splitlines():
            fields = line.split()
            if fields[:2] == ["mod", _MODULE] and fields[2] != "(devel)":
                return fields[2]
    return output_of([str(program), "--version"]).strip().partition("\n")[0] or "unknown"


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line; a ghz that is yet to be built is just called ghz.

    An image is not started to learn what it holds: it is taken for ghz.
    """
    if wants_docker(environment):
        image = environment.get("GHZ_IMAGE") or _DEFAULT_IMAGE
        contained = ProgramInDocker(_DIALECT, workspace, cpus, image, "", "")
        return contained.command(contained.arguments(profile))
    own = workspace.tools / "bin" / "ghz"
    found = environment.get("GHZ") or shutil.which("ghz", path=environment.get("PATH"))
    program = found or str(own if own.exists() else "ghz")
    dialect = volley.DIALECT if volley.version_of([program]) else _DIALECT
    return [program, *dialect.arguments(profile, cpus)]


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved ghz output into a measurement; ValueError if it is broken."""
    if isinstance(profile.load, Blast):
        return measurements.of_blast(raw)
    return measurements.of_ghz(raw, profile)


def _arguments(profile: MeasuredProfile, cpus: Sequence[int] | None) -> list[str]:
    """Return HttpArena's own flags; how many threads ghz has is up to Go, and to its CPUs."""
    del cpus
    return ghz_blast.arguments(profile) if isinstance(profile.load, Blast) else arguments(profile)


def refuses(profile: Profile) -> str:
    """Return why ghz cannot make a load: it can make all."""
    del profile
    return ""


_DIALECT = Dialect("ghz", _arguments, measurement, blast=ghz_blast.fire)
