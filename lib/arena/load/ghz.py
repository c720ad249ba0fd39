"""ghz, the classic generator, with HttpArena's flags and no additions to the load."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from arena.base.workspace import Workspace
from arena.base.writing import DRAFT
from arena.load import ghz_flags, measurements
from arena.load.find import build, output_of
from arena.load.generators import Build, Description, Image, Way
from arena.load.volley import VOLLEY
from arena.machine import builds
from arena.what.loads import Closed, Scheduled

VERSION = "v0.121.0"
_MODULE = "github.com/bojand/ghz"
_FLAGS = ("--proto", "--call", "--connections")

_INSTALL = (
    "name one with GHZ=/path/to/ghz, put ghz on PATH, install Go so that it can be built, "
    "or start Docker so that it can be run from an image"
)


def version_of(command: Sequence[str]) -> str | None:
    """Return the module version of the ghz that a command starts; None if it is not ghz.

    `ghz --version` prints `dev` if `go install` built it. So its answer is used only without Go, or
    if the binary was not built from a released module.
    """
    spoken = output_of([*command, "--help"])
    if not all(flag in spoken for flag in _FLAGS):
        return None
    if shutil.which("go"):
        for line in output_of(["go", "version", "-m", command[-1]]).splitlines():
            fields = line.split()
            if fields[:2] == ["mod", _MODULE] and fields[2] != "(devel)":
                return fields[2]
    return output_of([*command, "--version"]).strip().partition("\n")[0] or "unknown"


def _go_install(target: Path, workspace: Workspace) -> builds.Build[None]:
    """Build the pinned version; put it into place in one step at the end.

    With the flags of the entries in Go, Go compiles its own packages once for all of them.
    """
    log = workspace.tools / "ghz-build.log"
    target.parent.mkdir(parents=True, exist_ok=True)
    words = f"build ghz {VERSION} (once)"
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=DRAFT) as folder:
        environment = ["env", f"GOBIN={folder}", "CGO_ENABLED=0"]
        argv = [*environment, "go", "install", "-trimpath", f"{_MODULE}/cmd/ghz@{VERSION}"]
        yield from build(builds.Command(argv, target.parent, log, words, "go install"), _INSTALL)
        Path(folder, "ghz").replace(target)


def _image(workspace: Workspace, named: str | None) -> Image:
    """Return the image of docker/ghz.Dockerfile; another image goes by its own name."""
    folder = workspace.root / "docker"
    options = ("--file", str(folder / "ghz.Dockerfile"))
    pinned = ("--build-arg", f"GHZ_VERSION={VERSION.removeprefix('v')}")
    name = named or f"httparena-ghz:{VERSION}"
    return Image(name, folder, (*options, *pinned), version=named or VERSION)


GHZ = Description(
    name="ghz",
    # Go decides how many threads ghz has, from its CPUs.
    ways={
        Closed: Way(lambda profile, _, __: ghz_flags.closed(profile), measurements.of_ghz),
        Scheduled: Way(lambda profile, _, __: ghz_flags.scheduled(profile), measurements.of_ghz),
    },
    version_of=version_of,
    install=_INSTALL,
    image=_image,
    build=Build("go", "go install", _go_install),
    stand_ins=(VOLLEY,),
    # On a busy host, its window can be over before its own goroutines begin.
    false_start="panic: send on closed channel",
)
