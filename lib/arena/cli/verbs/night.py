"""`arena night`, which scripts/nightly.sh calls."""

import os
import shlex
import sys
from functools import partial

import click

from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.options import CountList, Duration


@click.command(
    epilog="A session begins only if it should end within the budget. What was never measured "
    "comes first: every framework has a turn before any has a second. Then come the sessions with "
    "old and uncertain records: those with the largest age times relative width of the interval. "
    + options.EXIT_CODES
)
@click.argument("words", nargs=-1, metavar="[FRAMEWORKS]... [PROFILES]...")
@click.option(
    "--profile", "more_profiles", multiple=True, metavar="PROFILES",
    help="PROFILES, given as an option; may be repeated.",
)  # fmt: skip
@click.option(
    "--connections", type=CountList(), envvar="CONNECTIONS", show_envvar=True,
    help="Only sessions with these connection counts, like 1024 or 256,1024. [default: all]",
)  # fmt: skip
@click.option(
    "--only-changed", is_flag=True,
    help="Skip a session whose newest record on this machine is good and has the same source, "
    "profile, generator, generator version, runtime and CPUs.",
)  # fmt: skip
@click.option(
    "--resume", is_flag=True,
    help="Continue the last night if it was interrupted. What it measured is not measured again; "
    "of a night of blocks, only the block in progress is.",
)  # fmt: skip
@options.blocks(trials=False)
@click.option("--budget", type=Duration(), help="Time limit, like 3m or 6h. [default: none]")
@options.runtime
@options.server_quota
@options.generator
@options.fleet
@click.option(
    "--class", "host_class", metavar="NAME",
    help="Of a fleet with racks of several classes: the class that measures. [default: the only "
    "one]",
)  # fmt: skip
@click.option(
    "--quarantine", type=options.Number(0, 100), metavar="PERCENT",
    help="Leave out a rack for this night if its references are off its class by more than this; "
    "0 measures no references. [default: 2]",
)  # fmt: skip
@options.wait
@click.option("--dry-run", is_flag=True, help="Print what would be measured, and do nothing.")
@click.pass_obj
def command(
    workspace: Workspace,
    /,
    words: tuple[str, ...],
    more_profiles: tuple[str, ...],
    **given: object,
) -> int:
    """Measure what fits into a time budget, and build the site.

    The sessions are those of FRAMEWORKS under PROFILES; the site is built at the end.

    FRAMEWORKS are names and patterns like 'grpc-go,tonic*', or `all`, which is the default.
    PROFILES are names and patterns too, like 'stream-*'. Without PROFILES: every profile that a
    framework subscribes to. Each word is recognised as a framework or a profile. Disabled
    frameworks are left out.

    If a framework fails, its record says so, and the night continues.

    In a fleet without racks, the server runs on this host. Racks run the sessions themselves, and
    this host collects the records.
    """
    from arena.night.night import night
    from arena.site.build import build
    from arena.what.selection import by_kind

    frameworks, profiles = by_kind(workspace, words)
    request = options.request_of(
        frameworks=frameworks, profiles=(*profiles, *more_profiles), **given
    )
    fleet_of = partial(options.fleet_of, workspace, request)
    return night(workspace, request, os.environ, shlex.join(sys.argv[1:]), build, fleet_of)
