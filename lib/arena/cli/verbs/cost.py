"""`arena cost`."""

import click

from arena.base.workspace import Workspace
from arena.cli import options


@click.command(
    short_help="Print what a framework costs at a fixed rate.",
    epilog="Exit codes: 0 printed; 2 bad usage, or no such night.",
)
@click.argument("framework", metavar="FRAMEWORK")
@click.option(
    "--rate", type=options.Integer(1, 1_000_000), required=True, help="Calls a second."
)  # fmt: skip
@click.option(
    "--hours", type=options.Number(0, 1e6, min_open=True), default=730.0, show_default=True,
    help="How long; a month has 730.",
)  # fmt: skip
@click.option("--against", metavar="OTHER", help="A framework to compare its CPU time with.")
@click.option("--tls", is_flag=True, help="The loads with TLS.")
@options.one_connections
@options.load_generator
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_obj
def command(workspace: Workspace, /, framework: str, as_json: bool, **given: object) -> int:
    """Print what FRAMEWORK costs at a fixed rate: CPU-hours and GB-hours, with their bounds.

    The rate must be one at which a night of blocks has measured it, such as that of the profile
    `unary-rate-2000`. The CPU time is all that the server used, also for being idle.
    """
    from arena.base.model import to_json
    from arena.judge.cost import bill
    from arena.judge.twins import read_book

    archive = options.archive_of(workspace)
    found = bill(archive, read_book(workspace.host), framework, **given)  # type: ignore[arg-type]
    click.echo(to_json(found).rstrip() if as_json else found.words)
    return 0
