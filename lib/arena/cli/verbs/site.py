"""`arena site`, which scripts/site.sh calls."""

import click

from arena.base.progress import progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.cli import options


@click.group()
def command() -> None:
    """Build the pages of all records, and serve them."""


@command.command()
@click.pass_obj
def build(workspace: Workspace) -> None:
    """Build the leaderboard and the site from the records.

    The pages are in site/public/. Only what has changed since the last build is written.
    """
    from arena.site.build import build as build_site

    click.echo(f"page: {shown(build_site(workspace, progress()))}")


@command.command()
@click.option(
    "--port", type=options.Integer(1, 65535), help="[default: the first free port from 8000]"
)
@click.pass_obj
def serve(workspace: Workspace, /, port: int | None) -> None:
    """Build the site and serve it on 127.0.0.1 until Ctrl-C."""
    from arena.site.build import build as build_site
    from arena.site.serve import server

    with server(workspace.public, port) as serving:
        build_site(workspace, progress())
        host, own = serving.server_address[:2]
        click.echo(f"site: http://{host!s}:{own}/ (press Ctrl-C to stop)")
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            click.echo()
