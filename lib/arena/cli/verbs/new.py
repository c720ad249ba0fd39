"""`arena new`."""

import click

from arena.base.workspace import Workspace


@click.command(short_help="Create a framework that lacks only its RPC methods.")
@click.argument("name")
@click.option(
    "--language", required=True,
    help="Programming language, like go or python. An unknown one prints the list.",
)  # fmt: skip
@click.pass_obj
def command(workspace: Workspace, /, name: str, language: str) -> None:
    """Create frameworks/NAME, a server that lacks only its four RPC methods."""
    from arena.what import scaffold

    for line in scaffold.new(workspace, name, language):
        click.echo(line)
