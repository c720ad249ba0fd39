"""`arena list`."""

from collections.abc import Iterable

import click

from arena.base.errors import UsageError
from arena.base.progress import progress, report_error
from arena.base.text import columns, printable
from arena.base.workspace import Workspace


@click.command()
@click.pass_obj
def command(workspace: Workspace) -> int:
    """List the frameworks and the profiles.

    A framework or profile that cannot be read is reported on stderr and left out; the exit code is
    then 2.
    """
    from arena.what import selection
    from arena.what.profile import load_profile, profile_names

    selected = selection.frameworks(workspace, selection.ALL)
    enabled = [each for each in selected.frameworks if each.enabled]
    errors = [each.error for each in selected.broken]
    profiles = []
    for name in profile_names(workspace.profiles):
        try:
            profiles.append(load_profile(workspace.profiles, name))
        except UsageError as error:
            errors.append(error)
    click.echo("Frameworks")
    print_table((each.name, each.language, each.type, " ".join(each.tests)) for each in enabled)
    click.echo("\nProfiles")
    print_table(
        (each.name, each.generator, _connections(each.connections), each.title) for each in profiles
    )
    selection.warn_of_typos(workspace, enabled, progress())
    for each in errors:
        report_error(str(each))
    return UsageError.exit_code if errors else 0


def print_table(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows in aligned columns, indented."""
    for line in columns(list(rows)):
        click.echo(f"  {printable(line)}")


def _connections(counts: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, counts))} connection{'s' if counts != (1,) else ''}"
