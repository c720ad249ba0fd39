"""The volley of a host: the program itself, which a fleet's hosts must have in common."""

from collections.abc import Mapping
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.load import generators


def find_volley(
    workspace: Workspace, environment: Mapping[str, str], shows: Progress
) -> tuple[Path, str]:
    """Return volley and its version, built if need be; HostError if only an image has it."""
    found = generators.locate("volley", workspace, environment).ready(workspace, None, shows)
    if found.is_away:
        raise HostError("volley: a fleet runs it as a program, not from an image (LOADGEN_DOCKER)")
    return Path(found.program), found.version
