"""`arena round`."""

import click

from arena.base.errors import UsageError
from arena.base.progress import progress, report_error
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.cli.verbs.list import print_table


@click.group()
def command() -> None:
    """Freeze the records on the boards, and list the rounds."""


@command.command(
    epilog="A round is made as a whole or not at all, and never changed afterwards. Commit it; "
    "its size is printed at the end."
)
@click.argument("name")
@click.option("--note", default="", metavar="TEXT", help="Text for its pages: purpose, host.")
@click.pass_obj
def freeze(workspace: Workspace, /, name: str, note: str) -> None:
    """Copy the records on the boards, with their raw outputs, to results/rounds/NAME.

    For each row, these are its record and its newer failure, if there is one, and for a night of
    blocks all its visits. If a profile has only trials, its newest trials are copied.
    """
    from arena.base.numbers import format_megabytes
    from arena.judge import frozen_rounds

    made = frozen_rounds.freeze(workspace, name, note, progress())
    what = f"{_records(made.records)} in {made.files} files"
    click.echo(f"round: {shown(made.folder)}: {what}, {format_megabytes(made.size_bytes)}")


@command.command(name="list")
@click.pass_obj
def list_rounds(workspace: Workspace) -> int:
    """List each round: its name, the time of its freeze, its number of records and its machines.

    A round that is broken or was changed is reported on stderr and left out; the exit code is
    then 2.
    """
    from arena.judge.archive import open_archive
    from arena.judge.frozen_rounds import Round, read_rounds

    rows = []
    is_broken = False
    for folder, found in read_rounds(workspace.rounds, thorough=True):
        if isinstance(found, Round):
            machines = sorted(
                {each.machine for each in open_archive(folder, is_frozen=True).entries.values()}
            )
            count = _records(len(found.records))
            rows.append((found.name, found.frozen_at, count, "; ".join(machines)))
        else:
            report_error(f"{shown(folder)}: {found}")
            is_broken = True
    print_table(rows)
    return UsageError.exit_code if is_broken else 0


def _records(count: int) -> str:
    return f"{count} record{'s' * (count != 1)}"
