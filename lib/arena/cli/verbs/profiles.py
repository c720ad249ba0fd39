"""`arena profiles`."""

import click

from arena.base.text import shown
from arena.base.workspace import Workspace


@click.command()
@click.option("--write", is_flag=True, help="Write the table into docs/profiles.md.")
@click.pass_obj
def command(workspace: Workspace, /, write: bool) -> None:
    """Print a table of all profiles, in Markdown."""
    from arena.what import profile

    if write:
        click.echo(f"written: {shown(profile.write_table(workspace))}")
    else:
        click.echo(profile.table(profile.all_profiles(workspace)), nl=False)
