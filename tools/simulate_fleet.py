"""Simulates how the phases of a fleet's load scale: `python -m tools.simulate_fleet`.

The coordinator passes on one message after another; hosts and links work side by side. The defaults
are what `scripts/bench_fleet.sh --costs 32` printed on two cores.
"""

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

import click

from arena_fleet.facts import EXCHANGES

_HOSTS = (4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Costs:
    """What a call costs: seconds of the coordinator's one thread, and of the way there and back.

    `jitter_s` is the mean of the delays that a message meets by chance, in each direction.
    """

    call_s: float
    way_s: float
    jitter_s: float
    report_bytes: float
    bytes_per_s: float


@dataclass(frozen=True)
class Times:
    """The seconds that the phases of one load took, and how far apart its windows opened."""

    clocks_s: float
    call_s: float
    collect_s: float
    apart_s: float


def load(hosts: int, costs: Costs, rng: random.Random) -> Times:
    """Simulate one load of so many hosts."""
    errors = []
    clocks_s = 0.0
    for _ in range(hosts):
        there, back = min(
            ((_delay(costs, rng), _delay(costs, rng)) for _ in range(EXCHANGES)), key=sum
        )
        errors.append((there - back) / 2)
        clocks_s += EXCHANGES * (2 * costs.call_s + 2 * costs.way_s + 2 * costs.jitter_s)
    return Times(
        clocks_s,
        _side_by_side(
            [_delay(costs, rng) + _delay(costs, rng) for _ in range(hosts)], costs.call_s
        ),
        _side_by_side(
            [_delay(costs, rng) + _delay(costs, rng) for _ in range(hosts)],
            costs.call_s + 2 * costs.report_bytes / costs.bytes_per_s,
        ),
        max(errors) - min(errors),
    )


def _delay(costs: Costs, rng: random.Random) -> float:
    return costs.way_s + rng.expovariate(1 / costs.jitter_s)


def _side_by_side(away_s: Sequence[float], each_s: float) -> float:
    """Return when the last answer has passed a thread that sends and receives one at a time."""
    now_s = each_s * len(away_s)  # all were sent
    answers = [each_s * (place + 1) + away for place, away in enumerate(away_s)]
    heapq.heapify(answers)
    while answers:
        now_s = max(now_s, heapq.heappop(answers)) + each_s
    return now_s


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--loads", default=200, show_default=True, help="Loads of each size.")
@click.option(
    "--call", "call_ms", default=0.25, show_default=True, help="Coordinator, ms a message."
)
@click.option("--way", "way_ms", default=0.05, show_default=True, help="Network, ms one way.")
@click.option("--jitter", "jitter_ms", default=0.15, show_default=True, help="Its mean jitter, ms.")
@click.option("--report", "report_kb", default=17.0, show_default=True, help="A host's report, kB.")
@click.option("--link", "link_mb", default=100.0, show_default=True, help="Link, MB/s.")
@click.option("--seed", default="fleet", show_default=True, help="What chance is drawn from.")
def main(
    loads: int, call_ms: float, way_ms: float, jitter_ms: float, report_kb: float, link_mb: float,
    seed: str,
) -> None:  # fmt: skip
    """Print how long clocks, calls and the collection take, and how far starts are apart."""
    rng = random.Random(seed)  # noqa: S311 - chance, not secrets
    costs = Costs(call_ms / 1e3, way_ms / 1e3, jitter_ms / 1e3, report_kb * 1e3, link_mb * 1e6)
    click.echo("hosts  clocks s  call to all ms  collect ms  windows apart ms: p50   p99")
    for hosts in _HOSTS:
        made = [load(hosts, costs, rng) for _ in range(loads)]
        apart = quantiles([each.apart_s * 1e3 for each in made], n=100)
        clocks, call, collect = (
            max(values)
            for values in (
                [each.clocks_s for each in made],
                [each.call_s * 1e3 for each in made],
                [each.collect_s * 1e3 for each in made],
            )
        )
        click.echo(
            f"{hosts:5d}  {clocks:8.1f}  {call:14.0f}  {collect:10.0f}  "
            f"{apart[49]:21.2f} {apart[98]:5.2f}"
        )


if __name__ == "__main__":
    main()
