"""`python -m tools.bench_fleet`, which scripts/bench_fleet.sh calls."""

import os
import random
import tempfile
from pathlib import Path

import click

from arena.base.errors import HostError
from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli.entry import start
from arena_fleet.facts import find_volley
from tools.bench_fleet import bars
from tools.bench_fleet.costs import costs
from tools.bench_fleet.faults import break_at_random
from tools.bench_fleet.net import ROOT, fleet, noting, server, why_not
from tools.bench_fleet.shots import Gun

_PORT = 18080
_HOSTS = 4


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--runs", type=click.IntRange(1, 1000), default=20, show_default=True,
    help="Loads of each kind.",
)  # fmt: skip
@click.option(
    "--faults", type=click.IntRange(0, 1000), default=100, show_default=True,
    help="Faults at random moments; each takes about 15 seconds.",
)  # fmt: skip
@click.option("--seed", default="fleet", show_default=True, help="What the moments are drawn from.")
@click.option(
    "--costs", "many", type=click.IntRange(2, 64), metavar="HOSTS",
    help="Instead: print what so many hosts cost the coordinator.",
)  # fmt: skip
def command(runs: int, faults: int, seed: str, many: int | None) -> None:
    """Print what a fleet of four hosts does, all of them played by this machine. Needs root."""
    if why := why_not():
        raise HostError(f"this machine cannot play hosts: {why}")
    path, _ = find_volley(Workspace(ROOT), os.environ, progress())
    volley = str(path)
    with tempfile.TemporaryDirectory(prefix="httparena-bench-") as temporary:
        folder = Path(temporary)
        os.environ["VOLLEY"] = str(noting(path, folder))
        with fleet(many or _HOSTS, folder) as rig, server(volley, _PORT, folder) as counting:
            if many:
                for line in costs(rig, Gun(_PORT, volley)):
                    click.echo(line)
                return
            click.echo(
                f"{_HOSTS} hosts on {os.cpu_count()} CPUs, clocks off by 0, 5 s, -50, 123 ms"
            )
            click.echo(bars.idle(rig))
            gun = Gun(_PORT, volley)
            for line in bars.closed(gun, runs, counting):
                click.echo(line)
            click.echo(bars.scheduled(gun, max(1, runs // 4), volley))
            click.echo(bars.throughput(gun, max(1, runs // 4), volley, _HOSTS))
            if faults:
                rng = random.Random(seed)  # noqa: S311 - moments come by lot
                for line in break_at_random(rig, gun, faults, rng, folder):
                    click.echo(line)


if __name__ == "__main__":
    start(command, "bench_fleet")
