"""`python -m tools.bench_instructions`, which scripts/bench_instructions.sh calls."""

import os
from pathlib import Path

import click

from arena.base.progress import progress, report_error
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.cli import options
from arena.cli.entry import start


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="VOLLEY names another program to measure. "
    + options.EXIT_CODES.replace("a framework failed", "a figure is too high"),
)
@options.root
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option(
    "--runs", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of rounds."
)
@click.option(
    "--against", type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Measure another volley beside it, in turn.",
)  # fmt: skip
@click.option("--write", is_flag=True, help="Write the figures of today as the committed ones.")
def command(root: Path, *, as_json: bool, runs: int, against: Path | None, write: bool) -> int:
    """Count volley's instructions for a message, a call and a request, in plaintext and over TLS.

    Each figure is the difference of two runs under valgrind, by what the longer one makes more.
    Fails if one is more than 2 % above the committed figure. Figures of another build,
    rustc, glibc, valgrind or CPU are printed and not judged.
    """
    from tools.bench_instructions import counting, report
    from tools.bench_instructions.figures import FIGURES
    from tools.bench_instructions.judging import COMMITTED, Committed, Outcome, read_committed

    shows, workspace = progress(), Workspace(root.resolve())
    valgrind = counting.require_valgrind()
    file = workspace.root / COMMITTED
    committed = None if write else read_committed(file, [each.name for each in FIGURES])
    volley = counting.volley_of(workspace, os.environ, shows)
    conditions = counting.conditions_of(volley, valgrind)
    measured = counting.measure(workspace, volley, against, runs, shows)
    if committed is None:
        committed = Committed.of(conditions, measured)
        write_atomic(file, committed.to_json())
    outcome = Outcome(conditions, measured, committed)
    click.echo(report.to_json(outcome) if as_json else report.to_text(outcome))
    if wrong := report.failure(outcome):
        report_error(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    start(command, "bench_instructions.sh")
