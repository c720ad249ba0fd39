"""Building volley from this checkout's sources, and knowing whether that has been done."""

import shutil
from pathlib import Path

from arena.base.errors import HostError
from arena.base.hashing import tree_sha256
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.measure.generators.provision import build

WAYS = (
    "name one with VOLLEY=/path/to/volley, install Rust (cargo) so that it can be built, "
    "or start Docker so that it can be run from an image (LOADGEN_DOCKER=true, VOLLEY_IMAGE)"
)

# What the program is built from, beside `src`.
_SOURCES = ("Cargo.toml", "Cargo.lock")


def own_program(workspace: Workspace) -> Path:
    """Return where our own volley is, once it is built."""
    return workspace.tools / "bin" / "volley"


def built_from(program: Path) -> str | None:
    """Return the hash of the sources that it was built from; None if that is not known."""
    try:
        return _marker(program).read_text().strip() if program.exists() else None
    except (OSError, UnicodeDecodeError):
        return None


def sources_sha256(workspace: Workspace) -> str:
    """Return one hash over all that volley is built from: each file's path and content."""
    files = [workspace.volley / name for name in _SOURCES]
    files += sorted(path for path in (workspace.volley / "src").rglob("*") if path.is_file())
    try:
        return tree_sha256(workspace.volley, files)
    except OSError as error:
        raise HostError(
            f"volley: {shown(Path(error.filename))}: cannot be read ({error.strerror}), "
            f"so it cannot be built; {WAYS}"
        ) from error


def cargo_build(workspace: Workspace, sources: str, progress: Progress) -> None:
    """Build `sources`, as they are now, into place; in one step at the end."""
    own = own_program(workspace)
    target = workspace.tools / "volley-target"
    argv = [
        "cargo", "build", "--release", "--locked",
        "--manifest-path", str(workspace.volley / "Cargo.toml"), "--target-dir", str(target),
    ]  # fmt: skip
    log = build_log(workspace)
    with progress.waiting(f"building volley with cargo (once, a minute or two; log: {shown(log)})"):
        build(argv, workspace.volley, log, "cargo build", WAYS)
        own.parent.mkdir(parents=True, exist_ok=True)
        fresh = own.with_name(".volley-fresh")
        shutil.copy2(target / "release" / "volley", fresh)
        # Killed between these steps, the program is not known to be of any sources: built again.
        _marker(own).unlink(missing_ok=True)
        fresh.replace(own)
        write_atomic(_marker(own), sources + "\n")


def build_log(workspace: Workspace) -> Path:
    """Return where the output of the last build is."""
    return workspace.tools / "volley-build.log"


def _marker(program: Path) -> Path:
    """Return the file that says which sources the program was built from."""
    return program.with_name(f"{program.name}.sources")
