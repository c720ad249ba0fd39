"""`arena round`."""

from pathlib import Path

import click

from arena.base.errors import UsageError
from arena.base.progress import progress, report_error
from arena.base.text import nearest, shown
from arena.base.workspace import Workspace
from arena.cli.verbs.list import print_table


@click.group(short_help="Freeze, list, verify, derive and export rounds.")
def command() -> None:
    """Freeze the records on the boards, and list, verify, derive and export the rounds."""


@command.command(
    short_help="Freeze the boards, with the names of their records.",
    epilog="A round is made as a whole or not at all. Commit its file, and the bundles that it "
    "names below results/nights/.",
)
@click.argument("name")
@click.option("--note", default="", metavar="TEXT", help="Text for its pages: purpose, host.")
@click.pass_obj
def freeze(workspace: Workspace, /, name: str, note: str) -> None:
    """Freeze the boards as results/rounds/NAME.json, with the names of their records.

    For each row, these are its record and its newer failure, if there is one, and for a night of
    blocks all its visits. If a profile has only trials, these are of its newest trials. Records
    that are loose move into a bundle, with their raw outputs.
    """
    from arena.judge import rounds

    made = rounds.freeze(workspace, name, note, progress())
    what = f"{_count(made.records, 'record')} in {_count(len(made.bundles), 'bundle')}"
    click.echo(f"round: {shown(made.file)}: {what}")
    into = "a new bundle" if made.new == 1 else _count(made.new, "new bundle")
    parts = [f"{_count(made.moved, 'record')} moved into {into}"] if made.moved else []
    if already := made.records - made.moved:
        parts.append(f"{already:,} {'is' if already == 1 else 'are'} in bundles already")
    click.echo(", ".join(parts))
    files = " ".join(map(shown, [made.file, *made.bundles]))
    click.echo(f"publish it with: git add --force {files}")


@command.command(name="list", short_help="List all rounds.")
@click.pass_obj
def list_rounds(workspace: Workspace) -> int:
    """List each round: its name, the time of its freeze, its number of records, its rules.

    A round that is broken is reported on stderr and left out; the exit code is then 2.
    """
    from arena.judge.rounds import Round, read_rounds

    rows = []
    is_broken = False
    for file, found in read_rounds(workspace.rounds):
        if isinstance(found, Round):
            count = _count(len(found.records), "record")
            versions = ", ".join(str(each.leaderboard.rules) for each in found.judged)
            rows.append((found.name, found.frozen_at, count, f"rules {versions}"))
        else:
            report_error(f"{shown(file)}: {found}")
            is_broken = True
    print_table(rows)
    return UsageError.exit_code if is_broken else 0


@command.command(short_help="Check rounds: their bundles, records and boards.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--raw", is_flag=True, help="Check every raw output, too; all must be there.")
@click.pass_obj
def verify(workspace: Workspace, /, names: tuple[str, ...], *, raw: bool) -> int:
    """Check rounds, or all: their bundles, their records, and their boards.

    Boards by today's rules are derived again, those by older rules have a sum. Each problem is
    reported on stderr; the exit code is then 2.
    """
    from arena.judge.archive import open_archive
    from arena.judge.rounds import Round, problems_of, read_rounds

    shows, is_broken = progress(), False
    archive = open_archive(workspace.results, progress=shows)
    every = dict(read_rounds(workspace.rounds))
    for file in [_file(workspace, name) for name in names] or every:
        found = every[file]
        problems = [
            str(each)
            for each in (
                problems_of(found, archive, raw=raw) if isinstance(found, Round) else [found]
            )
        ]
        for each in problems:
            report_error(f"{shown(file)}: {each}")
        if isinstance(found, Round) and not problems:
            how = f", with boards by older rules: arena.sh round derive {found.name}"
            older = how if found.is_older else ""
            click.echo(f"{found.name}: is as it was frozen{older}")
        is_broken |= bool(problems)
    return UsageError.exit_code if is_broken else 0


@command.command(short_help="Add the boards by this runner's rules to a round.")
@click.argument("name")
@click.pass_obj
def derive(workspace: Workspace, /, name: str) -> None:
    """Add the boards by this runner's rules to a round, from the same records.

    The boards by older rules stay as they are. Pages show the newest, and link to the others.
    """
    from arena.judge import rounds

    file = rounds.derive(workspace, _file(workspace, name).stem)
    click.echo(f"round: {shown(file)}: has boards by today's rules")


@command.command(short_help="Write the records of a round as loose files.")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def export(workspace: Workspace, /, name: str, folder: Path) -> None:
    """Write the records of a round as loose files into a new FOLDER, each with its raw outputs.

    Each has SHA256SUMS, as if it had been measured there.
    """
    from arena.judge import rounds
    from arena.judge.archive import open_archive

    try:
        found = rounds.read_round(_file(workspace, name))
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    rounds.export(found, open_archive(workspace.results, progress=progress()), folder)
    click.echo(f"{shown(folder)}: {_count(len(found.records), 'record')}")


def _file(workspace: Workspace, name: str) -> Path:
    """Return a round's file; UsageError if there is none of this name."""
    from arena.judge.rounds import round_files

    known = {file.stem: file for file in round_files(workspace.rounds)}
    if name not in known:
        raise UsageError(f"there is no round {name!r:.80}{nearest(name, list(known))}")
    return known[name]


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
