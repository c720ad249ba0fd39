"""Stub programs that note their calls in $OUTSIDE, what they noted, and their command lines."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.program import Program
from arena.machine.child import whole_command
from arena.what.profile import MeasuredProfile
from tests.fakes import FakeProgress

Find = Callable[..., Program]


def finder(name: str, bin_: Path, workspace: Workspace) -> Find:
    """Return what finds a generator, with only the stubs on PATH."""

    def find(**environment: str) -> Program:
        located = generators.locate(name, workspace, {"PATH": str(bin_), **environment})
        return located.ready(workspace, None, FakeProgress())

    return find


def docker_stub(version: str) -> str:
    """Return the script of a `docker` that has one image, once built: it prints this version."""
    return f"""
echo "$*" >>"$OUTSIDE/docker.calls"
case "$1" in
version) echo 29.1 ;;
images) [ ! -e "$OUTSIDE/images" ] || cat "$OUTSIDE/images" ;;
build) echo abc >"$OUTSIDE/images" ;;
run) echo {version} ;;
inspect) echo '[{{"Id": "sha256:0123456789abcdef", "State": {{"Pid": 1}}}}]' ;;
esac
"""


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def bare(argv: Sequence[str]) -> list[str]:
    """Return a whole command line without its beginning, which must be there."""
    bound = whole_command([])
    assert list(argv[: len(bound)]) == bound
    return list(argv[len(bound) :])


def argv(program: Program, profile: MeasuredProfile) -> list[str]:
    """Return what a record says of a run."""
    return bare(program.info(profile).argv)


def preview(
    profile: MeasuredProfile, workspace: Workspace, environment: Mapping[str, str]
) -> list[str]:
    """Return what a dry run says of a run."""
    located = generators.locate(profile.generator, workspace, environment)
    return argv(located.preview(workspace, None), profile)
