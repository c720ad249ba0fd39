"""The `arena` command. Each subcommand is thin: it reads its input and calls one room."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from arena.base.durations import parse_duration
from arena.base.errors import EXIT_INTERRUPTED, ArenaError, HostError, UsageError
from arena.base.workspace import Workspace
from arena.machine import interrupts

_ROOT = Path(__file__).resolve().parents[3]


class Duration(click.ParamType[float]):
    """An option like 5s, 500ms or 1m30s; its value is seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        if isinstance(value, float):
            return value
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def main() -> None:
    """Run the command line; every way out is a line and an exit code, never a traceback."""
    interrupts.install()
    try:
        code = cli.main(prog_name="arena", standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = UsageError.exit_code
    except click.UsageError as error:
        _say_error(f"{error.format_message()} (see --help)")
        code = UsageError.exit_code
    except ArenaError as error:
        _say_error(str(error))
        code = error.exit_code
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has gone: as silent an end as other programs make. click
        # exits by itself then, and only then, with a code that means something else here.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = HostError.exit_code
    except OSError as error:
        # A full disk, no more processes: it can strike anywhere, and is the host's.
        if os.environ.get("ARENA_DEBUG"):
            raise
        from arena.base.text import shown

        where = f"{shown(Path(os.fsdecode(error.filename)))}: " if error.filename else ""
        _say_error(f"{where}{error.strerror or error}")
        code = HostError.exit_code
    except Exception as error:
        if os.environ.get("ARENA_DEBUG"):
            raise
        _say_error(
            f"this is a bug: {type(error).__name__}: {error} "
            "(please report it with the output of ARENA_DEBUG=1)"
        )
        code = HostError.exit_code
    sys.exit(code if isinstance(code, int) else 0)


def _say_error(text: str) -> None:
    """Print one line; it may quote other people's files, or whoever holds a port."""
    from arena.base.text import printable

    click.echo(f"error: {printable(text)}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--root", hidden=True, type=click.Path(path_type=Path), default=_ROOT)
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Measure gRPC servers and publish an honest leaderboard."""
    context.obj = Workspace(root.resolve())


# The options that several commands have.
_runtime_option = click.option(
    "--runtime", envvar="RUNTIME", show_envvar=True, default="auto",
    help="docker, native, or auto: docker when a daemon answers. [default: auto]",
)  # fmt: skip
_generator_option = click.option(
    "--generator",
    help="Which program makes the load: ghz, h2load or volley. [default: the profile's]",
)
_wait_option = click.option(
    "--wait", is_flag=True, help="Queue behind a benchmark that is already running."
)


@cli.command(
    epilog="Environment: GHZ, H2LOAD, VOLLEY, GHZ_IMAGE, H2LOAD_IMAGE, VOLLEY_IMAGE and "
    "LOADGEN_DOCKER=true choose the generator's program; SERVER_CPUS and LOADGEN_CPUS (like 0-3) "
    "choose the CPUs. A flag wins over the environment, that over the profile. Exit codes: 0 done, "
    "1 a framework failed, 2 bad usage or input, 3 the host cannot do it, 130 interrupted."
)
@click.argument("framework")
@click.argument("profiles", nargs=-1, metavar="[PROFILE]...")
@click.option(
    "--runs", type=click.IntRange(1, 100), envvar="RUNS", show_envvar=True,
    help="Timed runs. [default: the profile's]",
)  # fmt: skip
@click.option(
    "--duration", type=Duration(), envvar="DURATION", show_envvar=True,
    help="Length of a run, like 5s or 500ms; of a blast, the most it takes. "
    "[default: the profile's]",
)  # fmt: skip
@click.option(
    "--requests", type=click.IntRange(1, 100_000_000), envvar="REQUESTS", show_envvar=True,
    help="Calls of a load schedule; of a blast, the most that leave together. "
    "[default: the profile's]",
)  # fmt: skip
@_runtime_option
@_generator_option
@click.option(
    "--ready-timeout", type=Duration(), default="60s", show_default=True,
    help="How long a server may take to start.",
)  # fmt: skip
@_wait_option
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--no-save", is_flag=True, help="Measure, but keep no record and publish nothing.")
@click.pass_obj
def run(workspace: Workspace, /, **options: object) -> int:
    """Measure FRAMEWORK (or `all`) under each PROFILE and rebuild the leaderboard.

    Builds the server, starts it, checks its answers, warms it up, loads it for the profile's
    timed runs, saves the record and renders the page. A PROFILE may be a pattern, like 'load-*'.
    Without one: every profile the framework subscribes to, the light ones first.
    """
    from arena.cli.benchmark import benchmark
    from arena.measure.plan import Request

    request = Request(**options)  # type: ignore[arg-type]
    return benchmark(workspace, request, os.environ, command=shlex.join(sys.argv[1:]))


@cli.command(
    epilog="Prints a line for each framework: its name, PASS, WARN, FAIL or SKIP, and what was "
    "wrong. WARN is for what a server should do otherwise; it is measured all the same. Exit "
    "codes: 0 done, 1 a framework failed, 2 bad usage or input, 3 the host cannot do it, 130 "
    "interrupted."
)
@click.argument("framework")
@click.argument("profile", required=False)
@_runtime_option
@click.option(
    "--ready-timeout", type=Duration(),
    help="How long a server may take to start. [default: 60s; with --running 2s]",
)  # fmt: skip
@_wait_option
@click.option(
    "--running", is_flag=True,
    help="Build and start nothing: check the server that runs already, in an IDE say. Only its "
    "answers: its CPU and memory are not looked at.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print every check as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Show the checks that pass, too.")
@click.pass_obj
def validate(workspace: Workspace, /, **options: object) -> int:
    """Check that the answers of FRAMEWORK (or `all`) are right, and measure nothing.

    Builds the server, starts it and holds it against the contract, frame by frame, on each port
    that it subscribes to, or on that of PROFILE only. `all` goes on after a failure.
    """
    from arena.measure.validate import ValidateOptions
    from arena.measure.validate import validate as check

    wanted = ValidateOptions(**options)  # type: ignore[arg-type]
    return check(workspace, wanted, command=shlex.join(sys.argv[1:]))


@cli.command()
@click.argument("name")
@click.option(
    "--language", required=True,
    help="What it is to be written in, like go or python; an unknown one is answered with all.",
)  # fmt: skip
@click.pass_obj
def new(workspace: Workspace, /, name: str, language: str) -> None:
    """Make frameworks/NAME, a server that is complete but for its four calls."""
    from arena.what import scaffold

    for line in scaffold.new(workspace, name, language):
        click.echo(line)


@cli.command(name="list")
@click.pass_obj
def list_(workspace: Workspace) -> int:
    """Show the frameworks and the profiles.

    One that cannot be read is said on stderr and left out; the exit code is then 2.
    """
    from arena.what import selection
    from arena.what.profile import load_profile, profile_names

    selected = selection.frameworks(workspace, selection.ALL)
    errors = [each.error for each in selected.broken]
    click.echo("Frameworks")
    _table(
        [
            (each.name, each.language, each.type, " ".join(each.tests))
            for each in selected.frameworks
            if each.enabled
        ]
    )
    profiles = []
    for name in profile_names(workspace.profiles):
        try:
            profiles.append(load_profile(workspace.profiles, name))
        except UsageError as error:
            errors.append(error)
    click.echo("\nProfiles")
    _table(
        [
            (
                each.name,
                each.generator,
                _connections(each.connections),
                each.title,
            )
            for each in profiles
        ]
    )
    for each in errors:
        _say_error(str(each))
    return UsageError.exit_code if errors else 0


@cli.command()
@click.option("--write", is_flag=True, help="Put the table into docs/profiles.md.")
@click.pass_obj
def profiles(workspace: Workspace, /, write: bool) -> None:
    """Print the table of all profiles, in Markdown."""
    from arena.base.text import shown
    from arena.what import profile_table

    if write:
        click.echo(f"written: {shown(profile_table.write(workspace))}")
    else:
        click.echo(profile_table.table(profile_table.all_profiles(workspace)), nl=False)


@cli.command()
@click.argument(
    "name",
    type=click.Choice(["record", "leaderboard", "board", "framework", "compare"]),
    required=False,
)
def schema(name: str | None) -> None:
    """Print the JSON Schema of records, of the leaderboard, of the site's data, or of all."""
    import json

    from arena.publish.site.schemas import MODELS, schema_of

    schemas = schema_of(name) if name else {each: schema_of(each) for each in MODELS}
    click.echo(json.dumps(schemas, indent=2))


@cli.command(name="bench-generators")
@click.option("--json", "as_json", is_flag=True, help="Print the medians as JSON.")
@click.option(
    "--runs", type=click.IntRange(1, 100), envvar="RUNS", show_envvar=True, default=3,
    show_default=True, help="Rounds.",
)  # fmt: skip
@click.option(
    "--duration", type=Duration(), envvar="DURATION", show_envvar=True, default="5s",
    show_default=True, help="Length of a run, like 5s or 1500ms.",
)  # fmt: skip
@_wait_option
@click.pass_obj
def bench_generators(
    workspace: Workspace, /, as_json: bool, runs: int, duration: float, wait: bool
) -> None:
    """Hold ghz, h2load and volley against the same server, in turn, and against its own counts.

    Prints what a message or a call costs each of them, its rate, its memory and how far its
    count is from the server's, and whether volley reaches its bars. GHZ and VOLLEY name the
    programs.
    """
    from arena.base.progress import progress
    from tools.bench import report, turns

    shots = turns.run(
        workspace, os.environ, progress(),
        command=shlex.join(sys.argv[1:]), rounds=runs, duration_s=duration, wait=wait,
    )  # fmt: skip
    click.echo(report.to_json(shots) if as_json else report.to_text(shots, runs, duration))


@cli.group(name="round")
def round_() -> None:
    """Freeze the records that the boards show, and list what was frozen."""


@round_.command(
    epilog="A round is made as a whole or not at all, and never changed. It is meant to be "
    "committed; its size is said at the end."
)
@click.argument("name")
@click.option("--note", default="", metavar="TEXT", help="Why, and on what: shown on its pages.")
@click.pass_obj
def freeze(workspace: Workspace, /, name: str, note: str) -> None:
    """Copy the records that the boards show now to results/rounds/NAME, raw outputs and all.

    These are each row's record, and that of a newer failure; of who has no full record the trial.
    """
    from arena.base.numbers import format_megabytes
    from arena.base.progress import progress
    from arena.base.text import shown
    from arena.judge import frozen_rounds

    made = frozen_rounds.freeze(workspace, name, note, progress())
    what = f"{made.records} record{'s' * (made.records != 1)} in {made.files} files"
    click.echo(f"round: {shown(made.folder)}: {what}, {format_megabytes(made.size_bytes)}")


@round_.command(name="list")
@click.pass_obj
def list_rounds(workspace: Workspace) -> int:
    """Show each round: its name, when it was frozen, its records and the machines they are of.

    One that is broken, or was altered, is said on stderr and left out; the exit code is then 2.
    """
    from arena.base.text import shown
    from arena.judge.archive import open_archive
    from arena.judge.frozen_rounds import Round, read_rounds

    rows: list[tuple[str, ...]] = []
    broken = False
    for folder, found in read_rounds(workspace.rounds, thorough=True):
        if isinstance(found, Round):
            machines = sorted({each.machine for each in open_archive(folder).entries.values()})
            count = f"{len(found.records)} record{'s' * (len(found.records) != 1)}"
            rows.append((found.name, found.frozen_at, count, "; ".join(machines)))
        else:
            _say_error(f"{shown(folder)}: {found}")
            broken = True
    if rows:
        _table(rows)
    return UsageError.exit_code if broken else 0


@cli.command(
    epilog="A session is begun only if it should end within the budget. Of what fits, the oldest "
    "is measured first, each framework once before any is measured twice. Exit codes: 0 all that "
    "fits was measured, 1 a framework failed, 2 bad usage or input, 3 the host cannot do it, 130 "
    "interrupted."
)
@click.argument("frameworks", nargs=-1, metavar="[FRAMEWORK]...")
@click.option(
    "--profile", "profiles", multiple=True, metavar="GLOB",
    help="Only these profiles; may be given several times. [default: all]",
)  # fmt: skip
@click.option(
    "--only-changed", is_flag=True,
    help="Leave out what has a good record on this machine of the same source, profile and "
    "generator.",
)  # fmt: skip
@click.option(
    "--resume", is_flag=True,
    help="Go on with the night that was cut short, by whatever: what it has measured is not "
    "measured again.",
)  # fmt: skip
@click.option(
    "--budget", type=Duration(), help="How long it may take, like 3m or 6h. [default: no limit]"
)
@_runtime_option
@_generator_option
@_wait_option
@click.option("--dry-run", is_flag=True, help="Show what would be measured, and do nothing.")
@click.pass_obj
def night(workspace: Workspace, /, **options: object) -> int:
    """Measure every enabled FRAMEWORK (default: all) under all it subscribes to; rebuild the site.

    A framework that fails is a record, and never stops the night.
    """
    from arena.measure.night.job import Request
    from arena.measure.night.job import night as measure
    from arena.publish.site.build import build as publish

    request = Request(**options)  # type: ignore[arg-type]
    command = shlex.join(sys.argv[1:])
    return measure(workspace, request, os.environ, command, publish)


@cli.group()
def site() -> None:
    """Build the pages of all records, look at them, and check them."""


@site.command()
@click.pass_obj
def build(workspace: Workspace) -> None:
    """Make the leaderboard and site/public/ from the records alone: what has changed since."""
    from arena.base.progress import progress
    from arena.base.text import shown
    from arena.publish.site.build import build as make

    click.echo(f"page: {shown(make(workspace, progress()))}")


# The name it had when the site was one page.
cli.add_command(build, "publish")


@site.command()
@click.option(
    "--port", type=click.IntRange(1, 65535), help="[default: the first free one from 8000 on]"
)
@click.pass_obj
def serve(workspace: Workspace, /, port: int | None) -> None:
    """Build the site and serve it to this machine, at 127.0.0.1, until Ctrl-C."""
    from arena.base.progress import progress
    from arena.publish.site.build import build as make
    from arena.publish.site.serve import server

    with server(workspace.public, port) as serving:
        make(workspace, progress())
        host, own = serving.server_address[:2]
        click.echo(f"site: http://{host!s}:{own}/ (Ctrl-C ends it)")
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            click.echo()


@site.command(epilog="Exit codes: 0 nothing is wrong, 1 something is, 2 there is no site yet.")
@click.pass_obj
def check(workspace: Workspace) -> int:
    """Check what was built: no error in the HTML, no link that leads nowhere.

    Looks at every page, feed and CSV file. Links must be relative and name a file, and the part of
    a page that they name must be there; links to other sites are not followed.
    """
    from arena.base.progress import progress
    from tools.site_check import check as look

    most = 50
    checked = look(workspace.public, progress())
    for problem in checked.problems[:most]:
        _say_error(problem)
    if len(checked.problems) > most:
        _say_error(f"and {len(checked.problems) - most:,} more")
    click.echo(
        f"{checked.pages:,} pages, {checked.links:,} links: {len(checked.problems):,} problems"
    )
    return 1 if checked.problems else 0


def _connections(counts: Sequence[int]) -> str:
    return f"{', '.join(map(str, counts))} connection{'s' if tuple(counts) != (1,) else ''}"


def _table(rows: list[tuple[str, ...]]) -> None:
    """Print rows in aligned columns."""
    from arena.base.text import printable

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  " + printable("  ".join(cells).rstrip()))
