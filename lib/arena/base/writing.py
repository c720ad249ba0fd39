"""Writing files that must not be lost.

Text goes to a temporary file in the same folder, is fsynced, and is moved into place in one step.
"""

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.base.errors import HostError
from arena.base.text import shown
from arena.base.workspace import Workspace

# The name of a hidden file or folder that is not complete; those of killed programs are removed at
# a later start. So are those with the names of earlier versions.
DRAFT = ".httparena-draft-"
_LEFT = re.compile(rf"{re.escape(DRAFT)}.*|\..+\.json\.[a-z0-9_]{{8}}|\.(new|ghz)-[a-z0-9_]{{8}}")

# No program that is not complete after so long is still running.
_OLD_S = 24 * 3600


def write_atomic(path: Path, text: str) -> None:
    """Replace the content of `path` in one step; HostError if it cannot be written."""
    _write(path, text, os.replace)


def write_new(path: Path, text: str) -> None:
    """Create `path` in one step; HostError if it exists already: nothing is overwritten."""
    _write(path, text, put_new)


def _write(path: Path, text: str, put: Any) -> None:
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{DRAFT}{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        put(temporary, path)
        sync(path.parent)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def sweep_checkout(workspace: Workspace) -> None:
    """Remove what killed programs left in a checkout, and in the folder of temporary files."""
    sweep(workspace.results, 3)
    for folder in (workspace.frameworks, workspace.tools):
        sweep(folder)
    sweep(Path(tempfile.gettempdir()), named=re.compile(re.escape(DRAFT) + ".*"))


def sweep(folder: Path, depth: int = 0, *, named: re.Pattern[str] = _LEFT) -> None:
    """Remove what killed programs of this user left in a folder more than a day ago.

    Folders below are swept down to a depth. Links are not followed, and what cannot be removed
    stays.
    """
    with suppress(OSError), os.scandir(folder) as found:
        for each in list(found):
            with suppress(OSError):
                status = each.stat(follow_symlinks=False)
                is_ours = status.st_uid == os.getuid() and time.time() - status.st_mtime > _OLD_S
                is_folder = each.is_dir(follow_symlinks=False)
                if named.fullmatch(each.name) and is_ours:
                    shutil.rmtree(each.path) if is_folder else Path(each.path).unlink()
                elif is_folder and depth:
                    sweep(Path(each.path), depth - 1, named=named)


def put_new(temporary: str | Path, path: Path) -> None:
    """Give a finished file its name in one step; FileExistsError if it is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: take the name first, then fill it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        Path(temporary).replace(path)


def shorten(path: Path, kept: int = 1 << 20) -> None:
    """Cut a log of more than twice `kept` bytes down to that many at either end, and say so.

    A log that cannot be read or written stays as it is.
    """
    with suppress(OSError), path.open("r+b") as file:
        left_out = file.seek(0, os.SEEK_END) - 2 * kept
        if left_out <= 0:
            return
        file.seek(-kept, os.SEEK_END)
        end = file.read()
        file.seek(kept)
        file.write(f"\n[… {left_out:,} bytes are left out here …]\n".encode())
        file.write(end)
        file.truncate()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, and lock it for the block; HostError if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise HostError(f"{shown(folder)}: cannot be made ({error.strerror})") from error
    try:
        try:
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise HostError(f"{shown(folder)}: cannot be written ({error.strerror})") from error
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Fsync a file, or a folder, so that its entries survive a crash."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Fsync the files below a folder, and the folders; links are not followed."""
    for parent, _, names in os.walk(folder):
        for name in names:
            file = Path(parent, name)
            if file.is_file() and not file.is_symlink():
                sync(file)
        sync(Path(parent))
