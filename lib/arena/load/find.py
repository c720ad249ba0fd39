"""Finding generators: the program that makes the load is settled before anything is planned.

It is asked for its version; it, or its image, is built only when it is to run.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.load.generators import Description, Image
from arena.load.program import Program, ProgramInDocker
from arena.machine import builds

_YES = {"true", "1", "yes"}
_NO = {"false", "0", "no", ""}


@dataclass(frozen=True)
class Located:
    """The program that makes the load for the requested generator, `asked`.

    `description` is that of the program itself; it differs from the requested one if $GHZ is a
    drop-in for ghz. `program` is its path. With an `image`, it runs in a container;
    `is_image_wanted` if LOADGEN_DOCKER demands one. With neither, `ready` builds the program.
    """

    asked: Description
    description: Description
    found: str = ""
    program: str = ""
    version: str = ""
    image: Image | None = None
    is_image_wanted: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The CPUs in words of each generator host, if it is a fleet's."""
        return ()

    @property
    def is_image_only(self) -> bool:
        """Whether this host has neither the program nor anything to build it with."""
        build = self.asked.build
        return not self.program and not (build and shutil.which(build.tool))

    def preview(self, workspace: Workspace, cpus: Sequence[int] | None) -> Program:
        """Return the program as it would be run; its name if it is not built yet."""
        if self.image:
            return self._contained(self.image, workspace, cpus, self.version)
        program = self.program or self.asked.name
        return Program(self.description, workspace, cpus, program, self.version, self.found)

    def ready(
        self, workspace: Workspace, cpus: Sequence[int] | None, progress: Progress
    ) -> Program:
        """Return the program, built if need be; HostError names the ways to provide it."""
        return builds.finished(self.build(workspace, cpus), progress)

    def build(self, workspace: Workspace, cpus: Sequence[int] | None) -> builds.Build[Program]:
        """Build the program if need be, and return it; HostError names the ways to provide it."""
        if self.program:
            return self.preview(workspace, cpus)
        if not self.image and not self.is_image_only:
            return (yield from self._built(workspace, cpus))
        if self.is_image_wanted:
            require_daemon()
        elif not has_daemon():
            raise HostError(f"there is no {self.asked.name}: {self.asked.install}")
        image = self.image or self.asked.image(workspace, None)
        return (yield from self._in_docker(image, workspace, cpus))

    def _built(self, workspace: Workspace, cpus: Sequence[int] | None) -> builds.Build[Program]:
        build, own = self.asked.build, self.asked.own_program(workspace)
        if build:
            yield from build.run(own, workspace)
            if version := self.asked.version_of([str(own)]):
                return Program(self.asked, workspace, cpus, str(own), version, build.called)
        raise HostError(f"{own} was built, but does not run; {self.asked.install}")

    def _in_docker(
        self, image: Image, workspace: Workspace, cpus: Sequence[int] | None
    ) -> builds.Build[ProgramInDocker]:
        log = workspace.tools / f"{self.asked.name}-build.log"
        digest = yield from build_image(image, log, self.asked.install)
        version = self.version or image.version or self.asked.version_of(in_image(image.name))
        if not version:
            variable = self.asked.image_variable
            raise UsageError(f"{variable}: {image.name} is not {self.asked.name}")
        return self._contained(image, workspace, cpus, f"{version} ({digest[:19]})")

    def _contained(
        self, image: Image, workspace: Workspace, cpus: Sequence[int] | None, version: str
    ) -> ProgramInDocker:
        found = f"image {image.name}"
        return ProgramInDocker(self.description, workspace, cpus, image.name, version, found)


def locate(asked: Description, workspace: Workspace, environment: Mapping[str, str]) -> Located:
    """Find a generator: an image if LOADGEN_DOCKER demands one, its variable, PATH, .tools/bin.

    Nothing is built. UsageError if a variable names an unknown program.
    """
    image = environment.get(asked.image_variable)
    if wants_docker(environment):
        return _in_image(asked, asked.image(workspace, image), is_named=bool(image), is_wanted=True)
    if named := environment.get(asked.variable):
        program = named_program(asked.variable, named)
        if found := _identified(asked, program, f"${asked.variable}"):
            return found
        raise UsageError(f"{asked.variable}: {named} is not {asked.name}: it answers otherwise")
    for where, program in _candidates(asked, workspace, environment):
        if found := _identified(asked, program, where):
            return found
    nowhere = Located(asked, asked)
    if image and nowhere.is_image_only:
        return _in_image(asked, asked.image(workspace, image), is_named=True, is_wanted=False)
    return nowhere


def _candidates(
    asked: Description, workspace: Workspace, environment: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    """Yield the programs to look at, as (where, path)."""
    on_path = shutil.which(asked.name, path=environment.get("PATH"))
    if asked.is_on_path and on_path:
        yield "PATH", Path(on_path)
    own = asked.own_program(workspace)
    if asked.build and asked.build.is_current(own, workspace):
        yield ".tools", own


def _identified(asked: Description, program: Path, where: str) -> Located | None:
    """Return the program as it identifies itself; None if it cannot be used."""
    for each in (*asked.stand_ins, asked):
        if version := each.version_of([str(program)]):
            return Located(asked, each, where, str(program), version)
    return None


def _in_image(asked: Description, image: Image, *, is_named: bool, is_wanted: bool) -> Located:
    """Return a generator in an image; an image named by the user may hold a stand-in."""
    if is_named and asked.stand_ins and is_image_here(image.name):
        for each in asked.stand_ins:
            if version := each.version_of(in_image(image.name)):
                return Located(asked, each, version=version, image=image, is_image_wanted=is_wanted)
    return Located(asked, asked, image=image, is_image_wanted=is_wanted)


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


def build(command: builds.Command, ways: str) -> builds.Build[None]:
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


def build_image(image: Image, log: Path, ways: str) -> builds.Build[str]:
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
        yield from build(builds.Command(argv, image.context, log, words, "docker build"), ways)
    digest: str = inspect("image", image.name)["Id"]
    return digest
