"""`python -m tools.bench_scenarios`, which scripts/bench_scenarios.sh calls."""

import os
import shlex
import sys
from pathlib import Path

import click

from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.entry import start
from arena.cli.options import Duration
from tools import quiet


class WholeSeconds(Duration):
    """A duration in whole seconds: h2loadrunner and h2load know no others."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        seconds = super().convert(value, param, ctx)
        if seconds != int(seconds):
            self.fail(f"{value!r} is not in whole seconds, such as 5s", param, ctx)
        return seconds


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="VOLLEY, VOLLEY_BEFORE, H2LOADRUNNER, H2LOAD and K6 name the tools' programs. "
    + options.EXIT_CODES,
)
@options.root
@click.option("--json", "as_json", is_flag=True, help="Print the medians as JSON.")
@click.option(
    "--runs", type=click.IntRange(1, 100), envvar="RUNS", show_envvar=True, default=3,
    show_default=True, help="Number of rounds.",
)  # fmt: skip
@click.option(
    "--duration", type=WholeSeconds(), envvar="DURATION", show_envvar=True, default="5s",
    show_default=True, help="Length of a run in whole seconds, like 5s; crud-paced has 20 s.",
)  # fmt: skip
@quiet.option
@options.wait
def command(
    root: Path, *, as_json: bool, runs: int, duration: float, quiet_wait: float, wait: bool
) -> None:
    """Compare volley, h2loadrunner, h2load and k6: each makes the same dependent requests in turn.

    Prints CPU time per request by the server's count, rate and memory, and whether volley meets
    its bars. A tool that is missing is reported, and the others are measured.
    """
    from tools.bench_scenarios import report, turns

    shots = turns.run(
        Workspace(root.resolve()), os.environ, progress(),
        command=shlex.join(sys.argv), rounds=runs, duration_s=duration, wait=wait,
        quiet_wait_s=quiet_wait,
    )  # fmt: skip
    click.echo(report.to_json(shots) if as_json else report.to_text(shots, runs))


if __name__ == "__main__":
    start(command, "bench_scenarios.sh")
