"""`arena raw`."""

import hashlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from arena.base.errors import UsageError
from arena.base.text import nearest, printable
from arena.base.workspace import Workspace
from arena.cli import options

if TYPE_CHECKING:
    from arena.judge.archive import Archive


@click.command(short_help="Show a record, and the files that were saved beside it.")
@click.argument("record")
@click.argument("file", required=False)
@click.pass_obj
def command(workspace: Workspace, /, record: str, file: str | None) -> None:
    """Show what was saved of a RECORD: the record itself, and the names of the files beside it.

    RECORD is its path, or the beginning of its name: the 16 digits in the address of its page have
    that. With FILE, that file is written to stdout, byte for byte: a generator's raw output, or a
    log. A warning on stderr says if the record, or a raw output, is not what was saved.
    """
    archive = options.archive_of(workspace)
    path = _path(archive, record.removeprefix(f"{workspace.results.name}/"))
    if file is None:
        click.echo(archive.text(path), nl=False)
    try:
        files = archive.files(path)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if problem := _problem(archive, path, files):
        click.echo(f"warning: {path}: {printable(problem)}", err=True)
    if file is None:
        for name, content in files.items():
            click.echo(f"{name}: {len(content):,} bytes", err=True)
    elif file in files:
        sys.stdout.buffer.write(files[file])
    else:
        raise UsageError(f"{path}: has no file {file!r:.80}{nearest(file, list(files))}")


def _path(archive: "Archive", record: str) -> str:
    """Return the path of the one record that is meant; UsageError if there is none."""
    found = [
        path
        for path, entry in archive.entries.items()
        if record in (path, path.removesuffix(".json")) or entry.sha256.startswith(record)
    ]
    if not found:
        for where in (record, f"{record}.json"):
            if where in archive.broken:
                raise UsageError(f"{where}: {archive.broken[where]}")
        broken = "".join(f"; {where} is left out: {why}" for where, why in archive.broken.items())
        raise UsageError(f"there is no record {record!r:.200}: give its path or its name{broken}")
    if len(found) > 1:
        raise UsageError(f"{record!r:.200} is the beginning of {len(found)} names: give more of it")
    return found[0]


def _problem(archive: "Archive", path: str, files: Mapping[str, bytes]) -> str:
    """Return how a record, or a raw output of its own, differs from what was saved, or nothing."""
    if problem := archive.entries[path].problem:
        return problem
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    for raw in archive.read(path).raws:
        name = raw.path.rpartition("/")[2]
        if sums.get(name, raw.sha256) != raw.sha256:
            return f"{name} is not what was measured"
    return ""
