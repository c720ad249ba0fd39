"""`arena run`, which scripts/benchmark.sh calls."""

import os
import shlex
import sys
from functools import partial

import click

from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.options import CountList, Duration
from arena.what.environment import IMAGES, PROGRAMS, listed


@click.command(
    epilog=f"Environment: {listed(PROGRAMS)} name a generator's program; {listed(IMAGES)} name "
    "its Docker image, which LOADGEN_DOCKER=true selects; "
    "SERVER_CPUS and LOADGEN_CPUS (like 0-3) choose the CPUs. Precedence: flag, environment, "
    f"profile. {options.EXIT_CODES}"
)
@click.argument("frameworks", metavar="FRAMEWORKS")
@click.argument("profiles", nargs=-1, metavar="[PROFILES]...")
@click.option(
    "--runs", type=options.Integer(1, 100), envvar="RUNS", show_envvar=True,
    help="Number of timed runs. [default: the profile's]",
)  # fmt: skip
@click.option(
    "--duration", type=Duration(), envvar="DURATION", show_envvar=True,
    help="Length of a run, like 5s or 500ms; for a blast, its time limit. "
    "[default: the profile's]",
)  # fmt: skip
@click.option(
    "--requests", type=options.Integer(1, 100_000_000), envvar="REQUESTS", show_envvar=True,
    help="Number of calls in a scheduled load; for a blast, the most calls sent at once. "
    "[default: the profile's]",
)  # fmt: skip
@click.option(
    "--connections", type=CountList(), envvar="CONNECTIONS", show_envvar=True,
    help="Connection counts, like 1024 or 256,1024. A count that the profile has is measured as "
    "usual; any other makes a trial. [default: all of the profile's]",
)  # fmt: skip
@options.runtime
@options.server_quota
@options.generator
@options.fleet
@click.option(
    "--rack", metavar="NAME",
    help="The rack of the fleet whose generator hosts make the load. [default: this host's]",
)  # fmt: skip
@click.option(
    "--ready-timeout", type=Duration(), default="60s", show_default=True,
    help="How long a server may take to start.",
)  # fmt: skip
@options.blocks(trials=True)
@click.option(
    "--resume", is_flag=True,
    help="With --blocks: continue the last night of these blocks if it was interrupted. Whole "
    "blocks are kept.",
)  # fmt: skip
@options.wait
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--no-save", is_flag=True, help="Measure, but save no record and build no site.")
@click.pass_obj
def command(workspace: Workspace, /, frameworks: str, **given: object) -> int:
    """Measure FRAMEWORKS under PROFILES and build the site.

    FRAMEWORKS is `all`, or names and patterns with commas between them, like 'grpc-go,tonic*'.
    PROFILES are names and patterns too, like 'load-*'. Without PROFILES: every profile that a
    framework subscribes to, the lightest load first. Quote patterns, so that the shell does not
    expand them.

    Each session builds the server, starts it, checks its answers, warms it up, makes the timed
    runs and saves one record. A run with --runs, --duration, --requests or another connection
    count is a trial: it never replaces a full record.

    With --blocks, a session is a visit: one run after a longer warm-up, with the checks in the
    first and the last block only. The first block's visit makes the profile's runs, too.

    The site is built at the end and, in a long run, at most once a minute. If you interrupt the
    run, the next build shows its records.
    """
    from arena.night.benchmark import benchmark
    from arena.site.build import build

    request = options.request_of(frameworks=(frameworks,), **given)
    fleet_of = partial(options.fleet_of, workspace, request)
    return benchmark(workspace, request, os.environ, shlex.join(sys.argv[1:]), build, fleet_of)
