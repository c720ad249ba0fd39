"""`python -m tools.bench_sentinel`, which scripts/bench_sentinel.sh calls."""

import os
import shlex
import sys
import tempfile
from pathlib import Path

import click

from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.entry import start
from arena.cli.options import Duration
from arena.run.limits import limits_here
from arena.run.plan import plan_sessions
from arena.run.request import Request
from arena.run.runner import Runner, only_here
from arena.what import selection
from tools import quiet
from tools.bench_sentinel.bursts import bursts
from tools.bench_sentinel.rig import Rig, TimedFiles, Trial
from tools.bench_sentinel.scatter import scatter
from tools.bench_sentinel.stranger import loops_beside, stranger


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@options.root
@click.argument("frameworks", default="grpc-go")
@click.argument("profile", default="stream-grpc")
@click.option(
    "--windows", type=click.IntRange(1, 10_000), default=100, show_default=True,
    help="How many windows with a burst.",
)  # fmt: skip
@click.option(
    "--calm", type=click.IntRange(1, 10_000),
    help="How many windows without one.  [default: as many]",
)  # fmt: skip
@click.option(
    "--scatter", "starts", type=click.IntRange(2, 1000), metavar="STARTS",
    help="Instead of bursts: start each framework so often with the wait and without it, and "
    "print how far the figures scatter.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(1, 100), default=3, show_default=True,
    help="Windows of each start, with --scatter.",
)  # fmt: skip
@click.option("--duration", type=Duration(), default="5s", show_default=True, help="A window.")
@click.option(
    "--warm-up", type=Duration(), default="10s", show_default=True,
    help="The warm-up before a window; with bursts, 5s are enough.",
)  # fmt: skip
@click.option(
    "--beside", type=click.IntRange(0, 100), default=0, metavar="LOOPS",
    help="So many other processes use 1 % of a CPU each, from before the background is measured.",
)  # fmt: skip
@quiet.option
@click.option("--generator", default="volley", show_default=True, help="What makes the load.")
@options.wait
def command(
    root: Path,
    *,
    frameworks: str,
    profile: str,
    windows: int,
    calm: int | None,
    starts: int | None,
    runs: int,
    duration: float,
    warm_up: float,
    beside: int,
    quiet_wait: float,
    generator: str,
    wait: bool,
) -> None:
    """Try the sentinel on FRAMEWORKS (grpc-go) under PROFILE (stream-grpc), natively.

    Measures windows with and without a burst: one second of another process that spins on one CPU,
    at a random time. Prints how many of each the sentinel voids and by what, the steal it saw, what
    the wait for quiet cost, the background and who makes it, and what the watching cost.
    """
    workspace, shows = Workspace(root.resolve()), progress()
    asked = Request(
        frameworks=(frameworks,), profiles=(profile,), duration=duration, runtime="native",
        generator=generator, wait=wait, no_save=True,
    )  # fmt: skip
    selected = selection.frameworks(workspace, frameworks)
    plans = plan_sessions(workspace, asked, os.environ, selected)
    # They must have lost their parent before this process adopts orphans.
    with (
        stranger() as them,
        loops_beside(beside),
        only_here(Runner, workspace, asked, plans[0].cpus, shlex.join(sys.argv), shows) as runner,
        tempfile.TemporaryDirectory() as fresh,
    ):
        plans = runner.runnable(plans)
        found = runner.find_generators(plans)
        files = TimedFiles()
        rig = Rig(
            workspace,
            runner,
            found,
            files,
            Trial(limits_here(Workspace(Path(fresh)), shows, is_kept=False), files),
        )
        if starts:
            text = scatter(rig, plans, starts, runs, warm_up, quiet_wait)
        else:
            counts = (windows, calm or windows)
            text = bursts(rig, plans[0], them, counts, warm_up_s=warm_up, wait_s=quiet_wait)
    click.echo(text)


if __name__ == "__main__":
    start(command, "bench_sentinel.sh")
