"""The `arena` command: a group whose verbs are the modules of arena.cli.verbs."""

import pkgutil
from importlib import import_module
from pathlib import Path

import click

from arena.base.text import nearest
from arena.base.workspace import Workspace
from arena.cli import options, verbs
from arena.cli.entry import start


class _Verbs(click.Group):
    """Finds a verb by its module's name, and imports only the one that is called."""

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(each.name for each in pkgutil.iter_modules(verbs.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        known = self.list_commands(ctx)
        if cmd_name not in known:
            ctx.fail(f"there is no command `{cmd_name}`{nearest(cmd_name, known)}")
        command: click.Command = import_module(f"{verbs.__name__}.{cmd_name}").command
        return command


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=options.EXIT_CODES,
)
@options.root
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Measure gRPC servers and publish an honest leaderboard."""
    context.obj = Workspace(root.resolve())


def main() -> None:
    """Run the command line."""
    start(cli, "arena.sh")
