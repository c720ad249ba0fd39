"""`arena compare`."""

import click

from arena.base.workspace import Workspace
from arena.cli import options


@click.command(
    short_help="Compare two frameworks by the blocks of a night.",
    epilog="Exit codes: 0 not told apart; 10 A is slower; 11 A is faster; 12 not comparable; "
    "2 bad usage or input.",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("profile", metavar="PROFILE")
@options.one_connections
@options.load_generator
@click.option(
    "--night", metavar="ID", help="The night, by the time of its start. [default: newest]"
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_obj
def command(workspace: Workspace, /, a: str, b: str, as_json: bool, **given: object) -> int:
    """Compare two frameworks under PROFILE by the blocks of the newest night that has both.

    The verdict is the pair's own: A is faster, slower, not told apart from B, or not comparable.
    Name a framework's twin like `grpc-go~twin`.

    The night is one of the profile's current load. Hosts of the class of the newest records come
    first, and nights with enough blocks.
    """
    from arena.base.model import to_json
    from arena.judge.compare import EXIT_CODES, compare
    from arena.judge.twins import read_book

    archive = options.archive_of(workspace)
    found = compare(archive, read_book(workspace.host), a, b, **given)  # type: ignore[arg-type]
    click.echo(to_json(found).rstrip() if as_json else found.words)
    return EXIT_CODES[found.verdict]
