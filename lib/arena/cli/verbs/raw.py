"""`arena raw`."""

import sys

import click

from arena.base.errors import UsageError
from arena.base.text import nearest
from arena.base.workspace import Workspace
from arena.cli import options


@click.command()
@click.argument("record")
@click.argument("file", required=False)
@click.pass_obj
def command(workspace: Workspace, /, record: str, file: str | None) -> None:
    """Show what was saved of a RECORD: the record itself, and the names of the files beside it.

    RECORD is its path, or the beginning of its name, as the site's pages have both. With FILE, that
    file is written to stdout, byte for byte: a generator's raw output, or a log.
    """
    archive = options.archive_of(workspace)
    record = record.removeprefix(f"{workspace.results.name}/")
    found = [
        path
        for path, entry in archive.entries.items()
        if record in (path, path.removesuffix(".json")) or entry.sha256.startswith(record)
    ]
    if not found:
        broken = "".join(f"; {where} is left out: {why}" for where, why in archive.broken.items())
        raise UsageError(f"there is no record {record!r:.200}: give its path or its name{broken}")
    if len(found) > 1:
        raise UsageError(f"{record!r:.200} is the beginning of {len(found)} names: give more of it")
    if file is None:
        click.echo(archive.text(found[0]), nl=False)
    try:
        files = archive.files(found[0])
    except ValueError as error:
        raise UsageError(f"{found[0]}: {error}") from error
    if file is None:
        for name, content in files.items():
            click.echo(f"{name}: {len(content):,} bytes", err=True)
    elif file in files:
        sys.stdout.buffer.write(files[file])
    else:
        raise UsageError(f"{found[0]}: has no file {file!r:.80}{nearest(file, list(files))}")
