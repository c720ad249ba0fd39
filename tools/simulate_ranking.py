"""How often the ranks of blocks are wrong: nights of servers whose true rates are known.

`python -m tools.simulate_ranking`, which scripts/simulate_ranking.sh calls. The functions that rank
the boards (arena.judge.ranking) rank two boards of each night, from the same noise: one of
identical servers, and one on which the first server is 5 % slower. The first server also has a
twin. Nights are drawn by lot from a fixed seed, each from its own, so the figures are the same
everywhere.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from math import exp, hypot, log, log1p, sqrt
from statistics import median
from typing import Any

import click

from arena.cli import options
from arena.cli.entry import start
from arena.judge.distributions import share_interval
from arena.judge.levels import over_levels
from arena.judge.ranking import RANKED_BLOCKS, Figure, rank_blocks

_SEED = "simulate ranking"
_SLOWER = 0.95
_TWIN = "twin"
# A visit takes about this long, and a wandering speed of the host is remembered this long.
_VISIT_S = (18.0, 22.0)
_MEMORY_S = 20 * 60.0
# Nights that one process simulates at a time.
_CHUNK = 20
_MOST_BLOCKS = 100


@dataclass(frozen=True)
class Noise:
    """What scatters the rates: shares of a rate, as standard deviations of its logarithm.

    A visit starts a server and runs it once, with the noise of `start_sd` and `run_sd`, times a
    factor of each framework, drawn from `factors` evenly on a logarithmic scale. The host's speed
    wanders by `drift_sd` (Ornstein and Uhlenbeck). A share `outliers` of the runs loses 10 to 40 %,
    and a share `stolen` loses 1 to 60 % to other guests of the host, 7 % in the mean. Of a share
    `tail`, the figure is exp(x) times as large, x being exponential with a mean of 0.5; and of the
    frameworks, a share `jumping` has two levels: three of ten starts have ten times the figure.
    """

    words: str
    run_sd: float = 0.015
    start_sd: float = 0.010
    factors: tuple[float, float] = (1.0, 1.0)
    drift_sd: float = 0.0
    outliers: float = 0.0
    stolen: float = 0.0
    tail: float = 0.0
    jumping: float = 0.0


NOISES = {
    "normal": Noise("2 % from start to start, 1 % from run to run", 0.01, 0.02),
    "drift": Noise("the host's speed wanders by 3 %, within 20 minutes", drift_sd=0.03),
    "heavy": Noise("5 % of the runs lose 10 to 40 %", outliers=0.05),
    "hetero": Noise("frameworks differ in noise, 10 times", 0.01, 0.01, (0.4, 4.0)),
    "all": Noise("drift, heavy and hetero together", 0.01, 0.01, (0.4, 4.0), 0.03, 0.05),
    "steal": Noise("44 % of the runs lose 1 to 60 %: no wait for quiet", stolen=0.44),
    "steal-waited": Noise("9 % of the runs lose 1 to 60 %: after the wait", stolen=0.09),
    "widest": Noise("like all; frameworks differ 20 times", 0.01, 0.01, (0.4, 8.0), 0.03, 0.05),
    "p99": Noise(
        "like a p99: 8 %, times 0.5 to 2; one in ten is far larger", 0.08, 0.0, (0.5, 2.0), tail=0.1
    ),
    "memory": Noise(
        "like memory: 3 %, times 0.4 to 3; one in ten servers has two levels",
        0.0,
        0.03,
        (0.4, 3.0),
        jumping=0.1,
    ),
}
# The mean of log(figure ÷ usual figure) of a run in the tail, the share of the starts that are on
# the upper level, and how far it is away.
_TAIL_MEAN = 0.5
_UPPER = 0.3
_LEVEL = log(10)


@dataclass
class Tally:
    """Counts over nights: of nights, of pairs of identical servers, and of the slower one's."""

    nights: int = 0
    wrong_nights: int = 0
    covered: int = 0
    tied: int = 0
    pairs: int = 0
    wrong_pairs: int = 0
    chances: int = 0
    found: int = 0

    def add(self, other: "Tally") -> None:
        """Add the counts of other nights."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(frozen=True)
class Row:
    """The error rates under one noise, as shares; `any_high` is the upper 95 % bound of `any`.

    `pair` and `any` are how often a pair of identical servers, or any such pair of a board, was
    told apart. `power` is how often the slower server was found slower than another one,
    `coverage` how often all intervals of a board held the truth at once, and `tied` how often the
    twin was tied.
    """

    noise: str
    blocks: int
    pair: float
    any: float
    any_high: float
    power: float
    coverage: float
    tied: float


def logs_of(
    noise: Noise, names: Sequence[str], blocks: int, lot: random.Random
) -> list[dict[str, float]]:
    """Return the noise of a night's visits, as logarithms by name, one dictionary a block.

    The visits follow each other in a shuffled order. The twin is as noisy as the first of `names`.
    """
    low, high = (log(factor) for factor in noise.factors)
    sd = hypot(noise.run_sd, noise.start_sd)
    sds = {name: sd * exp(lot.uniform(low, high)) for name in names}
    sds[_TWIN] = sds[names[0]]
    jumping = {name for name in names if noise.jumping and lot.random() < noise.jumping}
    jumping |= {_TWIN} if names[0] in jumping else set()
    host = lot.gauss(0, 1)
    night = []
    for _ in range(blocks):
        block = {}
        for name in lot.sample(list(sds), len(sds)):
            kept = exp(-lot.uniform(*_VISIT_S) / _MEMORY_S)
            host = kept * host + sqrt(1 - kept * kept) * lot.gauss(0, 1)
            value = lot.gauss(0, sds[name]) + noise.drift_sd * host
            if lot.random() < noise.outliers:
                value += log1p(-lot.uniform(0.1, 0.4))
            if lot.random() < noise.stolen:
                value += log1p(-min(0.01 + lot.expovariate(1 / 0.06), 0.6))
            if noise.tail and lot.random() < noise.tail:
                value -= lot.expovariate(1 / _TAIL_MEAN)
            if name in jumping and lot.random() < _UPPER:
                value -= _LEVEL
            block[name] = value
        night.append(block)
    return night


def counts_of(names: Sequence[str], logs: Sequence[Mapping[str, float]]) -> Tally:
    """Rank the two boards of one night, and count what is wrong and what was found."""
    slow, *others = names
    twins = {_TWIN: slow}
    board = rank_blocks(_figures(logs), twins)
    pairs = list(combinations(names, 2))
    wrong = sum(board.distinct(*pair) for pair in pairs)
    truth = exp(median(log(board.estimates[name].value) for name in names))
    covered = all(
        board.estimates[name].low <= truth <= board.estimates[name].high for name in names
    )
    slower = [{**block, slow: block[slow] + log(_SLOWER)} for block in logs]
    changed = rank_blocks(_figures(slower), twins)
    found = sum(
        changed.distinct(slow, other)
        and changed.estimates[slow].value < changed.estimates[other].value
        for other in others
    )
    return Tally(
        nights=1,
        wrong_nights=wrong > 0,
        covered=covered,
        tied=board.twins_tied[_TWIN],
        pairs=len(pairs),
        wrong_pairs=wrong,
        chances=len(others),
        found=found,
    )


def _figures(logs: Sequence[Mapping[str, float]]) -> list[dict[str, Figure]]:
    """Return what ranks the blocks; as on a board, those on two levels reach over both."""
    found = {
        name: over_levels([Figure(*[exp(block[name])] * 3) for block in logs]) for name in logs[0]
    }
    return [{name: own[at] for name, own in found.items()} for at in range(len(logs))]


def simulated(noise: str, blocks: int, frameworks: int, nights: Iterable[int]) -> Tally:
    """Simulate those nights, by their numbers."""
    names = [f"server-{number}" for number in range(frameworks)]
    tally = Tally()
    for night in nights:
        lot = random.Random(f"{_SEED}/{noise}/{blocks}/{frameworks}/{night}")
        tally.add(counts_of(names, logs_of(NOISES[noise], names, blocks, lot)))
    return tally


def row_of(noise: str, blocks: int, tally: Tally) -> Row:
    """Return the shares of a tally."""
    return Row(
        noise=noise,
        blocks=blocks,
        pair=tally.wrong_pairs / tally.pairs,
        any=tally.wrong_nights / tally.nights,
        any_high=share_interval(tally.wrong_nights, tally.nights)[1],
        power=tally.found / tally.chances,
        coverage=tally.covered / tally.nights,
        tied=tally.tied / tally.nights,
    )


def rows_of(nights: int, blocks: Sequence[int], frameworks: int) -> list[Row]:
    """Simulate every noise with each number of blocks, on all CPUs; a bar on stderr advances."""
    tallies = {(noise, count): Tally() for count in blocks for noise in NOISES}
    chunks = [range(first, min(first + _CHUNK, nights)) for first in range(0, nights, _CHUNK)]
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, initializer=_leave_signals_to_the_parent) as pool:
        jobs = {
            pool.submit(simulated, *key, frameworks, chunk): key
            for key in tallies
            for chunk in chunks
        }
        what = f"Simulating {len(tallies)} × {nights:,} nights"
        try:
            with click.progressbar(
                as_completed(jobs), len(jobs), label=what, file=sys.stderr
            ) as ended:
                for job in ended:
                    tallies[jobs[job]].add(job.result())
        finally:
            pool.shutdown(cancel_futures=True)
    return [row_of(*key, tally) for key, tally in tallies.items()]


def _leave_signals_to_the_parent() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def to_text(rows: Sequence[Row], nights: int, frameworks: int) -> str:
    """Return the rows as a table, in percent."""
    lines = [
        f"{nights:,} nights of {frameworks} frameworks, for each noise and number of blocks. In %:",
        "pair        two identical servers told apart",
        "any         any two of the board; in brackets the upper 95 % bound",
        "power       a server that is 5 % slower found to be slower than another one",
        "coverage    all intervals of the board hold the truth at once",
        "tied        a server and its twin are not told apart",
        "",
        f"{'noise':<13}{'blocks':>6}{'pair':>7}{'any':>14}{'power':>7}{'coverage':>10}{'tied':>7}",
    ]
    for row in rows:
        most = f"{100 * row.any:.1f} ({100 * row.any_high:.1f})"
        lines.append(
            f"{row.noise:<13}{row.blocks:>6}{100 * row.pair:>7.2f}{most:>14}{100 * row.power:>7.0f}"
            f"{100 * row.coverage:>10.1f}{100 * row.tied:>7.1f}"
        )
    lines += ["", *(f"{name:<13}{noise.words}" for name, noise in NOISES.items())]
    return "\n".join(lines)


class _Counts(click.ParamType[tuple[int, ...]]):
    """A list of numbers of blocks, like `8,10`."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            counts = tuple(dict.fromkeys(int(each) for each in value.split(",")))
        except ValueError:
            counts = ()
        if not counts or not all(RANKED_BLOCKS <= each <= _MOST_BLOCKS for each in counts):
            self.fail(
                f"{value!r} is not a list of numbers from {RANKED_BLOCKS} to {_MOST_BLOCKS}, "
                "such as 8,10",
                param,
                ctx,
            )
        return counts


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="docs/measuring.md explains the columns. " + options.EXIT_CODES,
)
@click.option(
    "--nights", type=click.IntRange(1, 1_000_000), default=1000, show_default=True,
    help="Nights for each noise and number of blocks.",
)  # fmt: skip
@click.option(
    "--blocks", type=_Counts(), default="8,10", show_default=True, help="Numbers of blocks."
)
@click.option(
    "--frameworks", type=click.IntRange(2, 200), default=20, show_default=True,
    help="Frameworks on the board.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print shares from 0 to 1 as JSON.")
def command(*, nights: int, blocks: tuple[int, ...], frameworks: int, as_json: bool) -> None:
    """Measure how often the ranks of blocks are wrong, on servers whose true rates are known.

    Ranks boards of identical servers, and boards on which one server is 5 % slower, under ten
    kinds of noise, with the functions that rank the real boards. The lots are the same each time.
    """
    rows = rows_of(nights, blocks, frameworks)
    if as_json:
        click.echo(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2))
    else:
        click.echo(to_text(rows, nights, frameworks))


if __name__ == "__main__":
    start(command, "simulate_ranking.sh")
