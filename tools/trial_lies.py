"""`python -m tools.trial_lies`, which scripts/trial_lies.sh calls: who finds lies under load.

A session is an ordinary benchmark of a server that takes some calls for those of a load, and lies
in some of these (tools/peers/grpc-go/faulty). It has a checkout of its own, and saves nothing.
"""

import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from arena.base.errors import HostError
from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli import options
from arena.cli.entry import start
from tools.bench import counting_server

TELLS = ("settings", "agent", "connections", "time")
RATES = (1, 100, 10_000)
GENERATORS = ("volley", "ghz", "h2load")

_LINKED = ("lib", "requests", "site", "volley", ".tools", "pyproject.toml")
_SESSION_S = 300.0
_PROFILE = """
name: lies
title: Unary calls, some of which are lies
generator: ghz
call: benchmark.BenchmarkService/GetSum
request: {a: 1, b: 2}
messages_per_call: 1
expect: [result = a + b]
port: 8080
tls: false
connections: [128]
streams_per_connection: 1
duration: 2s
warmup: 1s
runs: 1
pick: best
metric: requests/s
"""
# What the error line of a session says, by where the lie was seen.
_SEEN = {
    "checks before": r"liar: contract: ",
    "checks after": r"liar: contract after the runs: ",
    "generator": r"liar: [^:]+: [\d,]+ of [\d,]+ calls had a wrong reply",
    "sampling": r"liar: [^:]+: \d+ of \d+ replies that were checked during the load are wrong",
}


def checkout(root: Path, folder: Path) -> None:
    """Make a checkout with one profile."""
    for name in _LINKED:
        (folder / name).symlink_to(root / name)
    for name in ("profiles", "frameworks/liar", "results"):
        (folder / name).mkdir(parents=True)
    (folder / "profiles" / "lies.yaml").write_text(_PROFILE)


def session(folder: Path, server: Path, tell: str, every: int, generator: str) -> str:
    """Make one session of the lying server; return where the lie was seen: nowhere, or in _SEEN."""
    meta = {
        "display_name": "Liar",
        "language": "Go",
        "type": "production",
        "tests": ["lies"],
        "native": {"run": f"exec {server} sly {tell} {every}"},
    }
    (folder / "frameworks" / "liar" / "meta.json").write_text(json.dumps(meta))
    argv = [
        sys.executable, str(folder / "lib"), "--root", str(folder), "run", "liar", "lies",
        "--no-save", "--runtime", "native", "--generator", generator, "--wait",
    ]  # fmt: skip
    done = subprocess.run(
        argv, check=False, capture_output=True, text=True, timeout=_SESSION_S, cwd=folder
    )
    if done.returncode == 0:
        return "nowhere"
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    for where, words in _SEEN.items():
        if any(re.search(words, line) for line in errors):
            return where
    raise HostError(f"a session ended otherwise: {(errors or [done.stderr[-300:]])[0]}")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@options.root
@click.option(
    "--sessions", type=click.IntRange(1, 1000), default=10, show_default=True,
    help="Sessions of each cell. All cells take about an hour and a half.",
)  # fmt: skip
@click.option("--tell", multiple=True, type=click.Choice(TELLS), help="Only these tells.")
@click.option("--every", multiple=True, type=int, help="Only lies in one of so many calls.")
@click.option("--generator", multiple=True, type=click.Choice(GENERATORS), help="Only these.")
def command(
    root: Path,
    sessions: int,
    tell: tuple[str, ...],
    every: tuple[int, ...],
    generator: tuple[str, ...],
) -> None:
    """Print in how many sessions a server that lies only under load is found, and by what."""
    workspace = Workspace(root.resolve())
    with tempfile.TemporaryDirectory(prefix="httparena-lies-") as made:
        folder = Path(made)
        checkout(workspace.root, folder)
        server = counting_server.build(progress(), "faulty")
        for one in itertools.product(tell or TELLS, every or RATES, generator or GENERATORS):
            seen = Counter(session(folder, server, *one) for _ in range(sessions))
            found = sessions - seen["nowhere"]
            words = ", ".join(f"{count} by {name}" for name, count in seen.most_common())
            click.echo(
                f"{one[2]:<7} told by {one[0]:<12} wrong in 1 of {one[1]:<6,} "
                f"found in {found} of {sessions} ({words.replace('by nowhere', 'not found')})"
            )


if __name__ == "__main__":
    start(command, "trial_lies.sh")
