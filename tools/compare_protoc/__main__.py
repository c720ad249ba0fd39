"""`python -m tools.compare_protoc`, which scripts/compare-protoc.sh calls."""

import tempfile
import time
from collections.abc import Iterator
from itertools import count as counted
from pathlib import Path

import click

from arena.base.progress import report_error
from arena.cli import options
from arena.cli.entry import start
from tools.compare_protoc import allowed, report
from tools.compare_protoc.asking import Asker, Tally
from tools.compare_protoc.collecting import collected
from tools.compare_protoc.generating import case_of, faults, oddities
from tools.compare_protoc.volley import Volley


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=options.EXIT_CODES.replace("a framework failed", "something differs"),
)
@options.root
@click.argument("peer", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")
@click.option("--count", type=click.IntRange(0), help="Number of generated files.")
@click.option("--seconds", type=click.IntRange(1), help="Time to spend; 60 without --count.")
@click.option("--seeds-only", is_flag=True, help="Leave out files of packages and faults alone.")
@click.option("--all", "show_all", is_flag=True, help="Show allowed differences as well.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the differences to a file.")
def command(
    root: Path, peer: Path, *, seed: int, count: int | None, seconds: int | None,
    seeds_only: bool, show_all: bool, write: Path | None,
) -> int:  # fmt: skip
    """Compare what volley makes of .proto files and messages with what protoc makes of them.

    Files are those of installed packages, and others made by seed; messages are made of their
    types. The kinds of differences that volley/GHZ.md allows are counted and not shown. PEER is
    the program that scripts/compare-protoc.sh builds.
    """
    tally = Tally(is_allowed=(lambda _: False) if show_all else allowed.read(root))
    last = count if count is not None else None
    until = None if count is not None and seconds is None else time.monotonic() + (seconds or 60)
    with tempfile.TemporaryDirectory(prefix="compare-protoc-") as folder:
        volley = Volley(peer, Path(folder))
        try:
            asker = Asker(Path(folder), volley, tally)
            steps = _steps(asker, root, seed, last, collect=not seeds_only)
            for _ in steps:
                if until is not None and time.monotonic() > until:
                    break
        finally:
            volley.close()
    text = report.to_text(tally, show_all=show_all)
    if write:
        write.write_text(text, "utf-8")
    click.echo(text if not write else report.summary(tally))
    wrong = [kind for kind in tally.differences if not tally.is_allowed(kind)]
    if wrong:
        report_error(
            f"{len(wrong)} kinds of differences are not in the table of {allowed.DOCUMENT}: "
            f"{', '.join(wrong[:20])}{', …' * (len(wrong) > 20)}"
        )
    return 1 if wrong else 0


def _steps(
    asker: Asker, root: Path, seed: int, last: int | None, *, collect: bool
) -> Iterator[None]:
    files = list(collected(root)) if collect else []
    paths = sorted({file.folder for file in files})
    for place, file in enumerate(files):
        asker.collected(file.folder, file.name, paths, place)
        yield
    if collect:
        for case in (*faults(), *oddities()):
            asker.made(case, seed)
            yield
    for place in counted() if last is None else range(last):
        asker.made(case_of(seed + place), seed + place)
        yield


if __name__ == "__main__":
    start(command, "compare-protoc.sh")
