"""`arena validate`, which scripts/validate.sh calls."""

import os
import shlex
import sys

import click

from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.options import Duration


def _jobs() -> int:
    return min(2, len(os.sched_getaffinity(0)))


@click.command(
    epilog="Prints a line for each framework: its name, PASS, WARN, FAIL or SKIP, and the reason. "
    "WARN marks what a server should do differently; it is measured all the same. "
    + options.EXIT_CODES
)
@click.argument("frameworks", metavar="FRAMEWORKS")
@click.argument("profiles", nargs=-1, metavar="[PROFILES]...")
@options.runtime
@options.server_quota
@click.option(
    "--ready-timeout", type=Duration(),
    help="How long a server may take to start. [default: 60s; with --running 2s]",
)  # fmt: skip
@click.option(
    "-j", "--jobs", type=options.Integer(1, 16), default=_jobs,
    help="How many to check at once. Those after the first have ports of their own; entries that "
    "do not take their ports from their environment wait for 8080 and 8443. [default: 2, or 1 on "
    "one CPU]",
)  # fmt: skip
@click.option("--part", "is_part", is_flag=True, hidden=True)
@options.wait
@click.option(
    "--running", is_flag=True,
    help="Check a server that is already running, such as one in an IDE: build and start nothing. "
    "Its CPU and memory use are not checked.",
)  # fmt: skip
@click.option(
    "--record", is_flag=True, help="Save the verdicts as proofs in frameworks/validated.json."
)
@click.option(
    "--stale", is_flag=True,
    help="Check only frameworks that failed, or have no proof of their source, this version of the "
    "contract, this runtime and this host's toolchain.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Also print the checks that pass.")
@click.option("--json", "as_json", is_flag=True, help="Print every check as JSON.")
@click.pass_obj
def command(workspace: Workspace, /, **given: object) -> int:
    """Check that FRAMEWORKS answer correctly; measure nothing.

    FRAMEWORKS is `all`, or names and patterns with commas between them, like 'grpc-go,tonic*'.
    PROFILES are names and patterns too, like 'stream-*'. Without PROFILES: every profile that a
    framework subscribes to. Quote patterns, so that the shell does not expand them.

    Builds each server, starts it and checks it against the contract, frame by frame, on every port
    that the profiles use. A framework that fails does not stop the others. PORT_H2C and PORT_TLS
    give the server other ports than 8080 and 8443.
    """
    from arena.run.validate import ValidateOptions, validate

    wanted = ValidateOptions(**given)  # type: ignore[arg-type]
    return validate(workspace, wanted, command=shlex.join(sys.argv[1:]))
