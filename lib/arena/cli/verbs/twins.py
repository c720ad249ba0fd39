"""`arena twins`."""

import click

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.cli import options


@click.command(
    epilog="Two nights in a row with a difference suspend the ranks of their load, until "
    "--looked says that somebody has found out why. " + options.EXIT_CODES
)
@click.option("--looked", metavar="PROFILE", help="Lift the suspension for all nights so far.")
@options.one_connections
@options.load_generator
@click.pass_obj
def command(
    workspace: Workspace, /, looked: str | None, connections: int | None, generator: str | None
) -> None:
    """List the twins of all nights, and whether they were tied.

    A twin is a framework that was entered in a night a second time, so any difference between the
    two is an invention of the board.
    """
    from arena.judge.twin_list import list_twins
    from arena.judge.twins import Look, read_book, write_look
    from arena.record.times import utc_now

    archive = options.archive_of(workspace)
    found = [
        each
        for each in list_twins(archive, read_book(workspace.host))
        if connections in (None, each.load.connections)
        and generator in (None, each.load.generator)
        and looked in (None, each.load.profile)
    ]
    if looked is None:
        for each in found:
            for line in each.lines:
                click.echo(line)
        if not found:
            click.echo("no night of such a load has a twin that was judged")
        return
    if not found:
        raise UsageError(f"--looked: no night of `{looked}` has a twin")
    now = utc_now()
    look = Look(profile=looked, connections=connections, generator=generator, looked_at=now)
    write_look(workspace.host, look)
    click.echo(f"{looked}: the twins of all nights before {now} no longer suspend ranks")
